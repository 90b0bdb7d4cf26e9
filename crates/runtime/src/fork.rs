//! Copies a run from some point on.

use std::sync::Arc;

use engine::{Actor, Command, ForkPoint, Recorded, RunId, fold, fork, summary};
use store::Append;

use crate::{
    ExecuteError, Outcome, Runtime, View,
    execute::{Checks, definition_of, refuse_taken_key, request_key},
};

/// What to copy.
#[derive(Debug, Clone)]
pub struct Fork {
    pub run: RunId,
    pub point: ForkPoint,
    /// The copy's own key, where the original's is taken.
    pub key: Option<String>,
    pub actor: Actor,
    /// The same id with the same content is answered as it was the first time.
    pub request_id: Option<String>,
}

impl Runtime {
    /// Copies a run, and returns the copy.
    pub async fn fork(&self, request: Fork) -> Result<Outcome, ExecuteError> {
        let asked = format!("fork {} {:?} {:?}", request.run, request.point, request.key);
        let key = request_key(request.request_id, &asked)?;
        if let Some(outcome) = self.find_repeated(key.as_ref()).await? {
            return Ok(outcome);
        }
        let (view, log) = self.load_at(request.run, None).await?;
        if let Some(key) = &request.key {
            self.release_taken_away(view.workflow.name.as_str(), key).await?;
        }
        let run = self.world.new_run();
        let now = self.world.now().max(view.state.updated_at);
        let by = (now, request.actor.clone());
        let mut events: Vec<Recorded> =
            fork(request.run, &log, &request.point, request.key.as_deref(), by)?;
        let state = Arc::new(fold(run, &events));
        let cut = View { state, leases: Vec::new(), ..view };
        let settled = self.decide(&cut, &Command::SettleRun, &mut Checks::new()).await?;
        let record = |(seq, event)| Recorded { seq, at: now, by: request.actor.clone(), event };
        events.extend((cut.state.length + 1..).zip(settled.events).map(record));
        let view = View { state: Arc::new(settled.state), ..cut };
        let append = Append {
            project: view.project.clone(),
            run,
            expected: 0,
            events: events.clone(),
            summary: summary(&view.workflow, &view.state),
            definition: Some(definition_of(&view.workflow)),
            request: key.clone(),
            leases: Vec::new(),
            owes: self.owed_by(&view, view.state.key(), &[]),
        };
        let appended = self.store.append(append).await.map_err(refuse_taken_key);
        if appended.is_ok() {
            self.remember(&view);
        }
        let outcome = match appended {
            Ok(()) => {
                let file = self.keep_promise(&view, Vec::new()).await;
                Ok(Outcome { view, events, file })
            }
            Err(error) => Err(error),
        };
        self.or_repeated(outcome, key.as_ref()).await
    }
}
