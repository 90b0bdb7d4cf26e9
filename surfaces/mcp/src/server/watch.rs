//! Tells clients that what they watch has changed, no matter who changed it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use engine::RunId;
use parking_lot::Mutex;
use rmcp::{
    ErrorData, Peer, RoleServer,
    model::{ResourceUpdatedNotificationParam, SubscriptionFilter},
    service::SubscriptionContext,
};
use runtime::{Change, Changes, Runtime};
use tokio::sync::Semaphore;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{
    limits::{Limits, too_many},
    lists::failed,
};
use crate::resources::Address;

/// After how long it is looked again for changes that could not be read.
const AGAIN: Duration = Duration::from_secs(1);

/// What is watched, by URI, and the run that it is about now: a key may be given to another run,
/// and to one that is still to come.
type Watched = BTreeMap<String, Option<RunId>>;

/// What one client watches.
pub(super) struct Watcher {
    limits: Limits,
    /// How many streams of news the client may still open.
    streams: Semaphore,
    /// As clients of the older era name it, one by one.
    watched: Arc<Mutex<Watched>>,
    /// Ends the telling with the client.
    telling: Mutex<Option<DropGuard>>,
    /// From where on clients of the newer era will be told who were not answered yet.
    promised: Mutex<Vec<u64>>,
    /// The client has left.
    ended: CancellationToken,
}

impl Watcher {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            limits,
            streams: Semaphore::new(limits.streams),
            watched: Arc::default(),
            telling: Mutex::default(),
            promised: Mutex::default(),
            ended: CancellationToken::new(),
        }
    }

    /// Returns what of a wish can be fulfilled. The promise holds from this moment on.
    pub(super) fn accept(
        &self,
        runtime: &Runtime,
        wish: &SubscriptionFilter,
    ) -> SubscriptionFilter {
        let mut accepted = SubscriptionFilter::new();
        accepted.resources_list_changed = wish.resources_list_changed;
        accepted.resource_subscriptions = wish.resource_subscriptions.as_ref().map(|uris| {
            let is_run = |it: &&String| Address::parse(it).is_some_and(|it| it.run().is_some());
            uris.iter().filter(is_run).take(self.limits.watched).cloned().collect()
        });
        self.promised.lock().push(runtime.changes().position());
        accepted
    }

    /// Tells a client of the newer era until it has heard enough.
    pub(super) async fn listen(
        &self,
        runtime: &Runtime,
        context: SubscriptionContext,
    ) -> Result<(), ErrorData> {
        let mut changes = runtime.changes();
        self.keep_promise(&mut changes);
        let Ok(_stream) = self.streams.try_acquire() else {
            return Err(too_many("streams of news", self.limits.streams, "mcp.streams"));
        };
        let accepted = context.accepted();
        let mut watched = Watched::new();
        for uri in accepted.resource_subscriptions.iter().flatten() {
            watched.insert(uri.clone(), find_watched(runtime, uri).await?);
        }
        let tells_new = accepted.resources_list_changed == Some(true);
        let sink = context.sink().clone();
        loop {
            let changed = tokio::select! {
                changed = changes.next() => changed.map_err(|error| failed(&error))?,
                () = context.cancelled() => return Ok(()),
                () = self.ended.cancelled() => return Ok(()),
            };
            let Some(changed) = changed else { return Ok(()) };
            if changed.iter().any(|it| it.is_new) {
                for (uri, run) in &mut watched {
                    *run = find_watched(runtime, uri).await?.or(*run);
                }
            }
            for uri in find_changed(&watched, &changed) {
                if sink.notify_resource_updated(uri).await.is_err() {
                    return Ok(());
                }
            }
            if tells_new
                && has_new(runtime, &changed).await
                && sink.notify_resource_list_changed().await.is_err()
            {
                return Ok(());
            }
        }
    }

    /// Ends all listening, since the client has left.
    pub(super) fn end(&self) {
        self.ended.cancel();
    }

    /// Begins where the earliest promise was made that is not kept yet. Which of them was made to
    /// this client is not known; being told twice does no harm, being told too late would.
    fn keep_promise(&self, changes: &mut Changes) {
        let mut promised = self.promised.lock();
        if let Some(earliest) = promised.iter().min() {
            changes.rewind(*earliest);
        }
        let latest = promised.iter().enumerate().max_by_key(|it| it.1).map(|it| it.0);
        latest.map(|it| promised.swap_remove(it));
    }

    /// Lets a client of the older era watch a resource.
    pub(super) async fn subscribe(
        &self,
        runtime: &Arc<Runtime>,
        uri: &str,
        peer: Peer<RoleServer>,
    ) -> Result<(), ErrorData> {
        let Some(run) = find_watched(runtime, uri).await? else {
            let text = format!("`{uri}` cannot be watched: it is not about a run that is there");
            let data = serde_json::json!({ "uri": uri });
            return Err(ErrorData::resource_not_found(text, Some(data)));
        };
        let mut watched = self.watched.lock();
        if self.limits.watched <= watched.len() {
            return Err(too_many("resources can be watched", self.limits.watched, "mcp.watched"));
        }
        watched.insert(uri.to_owned(), Some(run));
        let mut telling = self.telling.lock();
        if telling.is_none() {
            let stop = CancellationToken::new();
            let (changes, runtime) = (runtime.changes(), Arc::clone(runtime));
            let tell = tell(Arc::clone(&self.watched), changes, runtime, peer);
            tokio::spawn(stop.clone().run_until_cancelled_owned(tell));
            *telling = Some(stop.drop_guard());
        }
        Ok(())
    }

    /// Lets go of a resource.
    pub(super) fn unsubscribe(&self, uri: &str) {
        let mut watched = self.watched.lock();
        watched.remove(uri);
        if watched.is_empty() {
            drop(self.telling.lock().take());
        }
    }
}

/// Tells a client of the older era, until it is gone.
async fn tell(
    watched: Arc<Mutex<Watched>>,
    mut changes: Changes,
    runtime: Arc<Runtime>,
    peer: Peer<RoleServer>,
) {
    loop {
        let changed = match changes.next().await {
            Ok(Some(changed)) => changed,
            Ok(None) => return,
            Err(error) => {
                tracing::warn!("what changed could not be read, and is looked for again: {error}");
                runtime.sleep(AGAIN).await;
                continue;
            }
        };
        if changed.iter().any(|it| it.is_new) {
            let uris: Vec<String> = watched.lock().keys().cloned().collect();
            for uri in uris {
                let found = find_watched(&runtime, &uri).await.ok().flatten();
                if let (Some(found), Some(run)) = (found, watched.lock().get_mut(&uri)) {
                    *run = Some(found);
                }
            }
        }
        let uris = find_changed(&watched.lock(), &changed);
        for uri in uris {
            let update = ResourceUpdatedNotificationParam::new(uri);
            if peer.notify_resource_updated(update).await.is_err() {
                return;
            }
        }
    }
}

/// Returns the run that a URI is about, if it is about one that is there.
async fn find_watched(runtime: &Runtime, uri: &str) -> Result<Option<RunId>, ErrorData> {
    let Some(address) = Address::parse(uri) else { return Ok(None) };
    let Some(name) = address.run() else { return Ok(None) };
    let view = match runtime.find_run(name).await {
        Ok(run) => runtime.view(run, None).await,
        Err(error) => Err(error),
    };
    match view {
        Ok(view) => Ok(Some(view.state.run)),
        Err(runtime::ExecuteError::Refused(_)) => Ok(None),
        Err(error) => Err(failed(&error)),
    }
}

fn find_changed(watched: &Watched, changed: &[Change]) -> Vec<String> {
    let changed: BTreeSet<RunId> = changed.iter().map(|it| it.run).collect();
    let is_changed = |run: &Option<RunId>| run.is_some_and(|it| changed.contains(&it));
    watched.iter().filter(|it| is_changed(it.1)).map(|it| it.0.clone()).collect()
}

/// Returns whether there is a run of this project that was not there before.
async fn has_new(runtime: &Runtime, changed: &[Change]) -> bool {
    for change in changed.iter().filter(|it| it.is_new) {
        if runtime.view(change.run, None).await.is_ok() {
            return true;
        }
    }
    false
}
