//! How much is asked at once over HTTP, by one client and by all. A call and a stream have their
//! place until the last piece of the answer is written or the client is gone.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
    time::Duration,
};

use axum::{
    body::Body,
    http::{HeaderMap, StatusCode, header},
    response::Response,
};
use http_body_util::BodyExt as _;
use parking_lot::Mutex;
use rmcp::ErrorData;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use super::{Limits, SESSION};
use crate::server::limits::too_many;

/// How long a call waits for others to be answered before it is turned away.
const WAIT: Duration = Duration::from_secs(10);

/// What is taken by calls and streams.
pub(super) struct Room {
    limits: Limits,
    calls: Arc<Semaphore>,
    streams: Arc<Semaphore>,
    /// Clients with calls under way, by session or credential.
    clients: Mutex<HashMap<String, Weak<Semaphore>>>,
}

/// A place that is given back when it is dropped.
pub(super) struct Taken {
    _all: OwnedSemaphorePermit,
    _own: Option<OwnedSemaphorePermit>,
}

/// Why there is no place.
pub(super) type Full = (StatusCode, ErrorData);

impl Room {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            limits,
            calls: Arc::new(Semaphore::new(limits.calls)),
            streams: Arc::new(Semaphore::new(limits.streams)),
            clients: Mutex::default(),
        }
    }

    /// Waits for a place for a call.
    pub(super) async fn call(&self, headers: &HeaderMap) -> Result<Taken, Full> {
        let own = match client_of(headers) {
            Some(client) => {
                let max = self.limits.calls_per_client;
                let full = || too_many("calls of one client", max, "mcp.calls_per_client");
                let own = acquire(self.client(client)).await;
                Some(own.ok_or_else(|| (StatusCode::TOO_MANY_REQUESTS, full()))?)
            }
            None => None,
        };
        let full = || too_many("calls", self.limits.calls, "mcp.calls");
        let all = acquire(Arc::clone(&self.calls)).await;
        let all = all.ok_or_else(|| (StatusCode::SERVICE_UNAVAILABLE, full()))?;
        Ok(Taken { _all: all, _own: own })
    }

    /// Takes a place for a stream of news, if there is one.
    pub(super) fn stream(&self) -> Result<Taken, Full> {
        let full = || too_many("streams of news", self.limits.streams, "mcp.streams");
        let all = Arc::clone(&self.streams).try_acquire_owned();
        let all = all.map_err(|_| (StatusCode::SERVICE_UNAVAILABLE, full()))?;
        Ok(Taken { _all: all, _own: None })
    }

    fn client(&self, name: String) -> Arc<Semaphore> {
        let mut clients = self.clients.lock();
        if let Some(known) = clients.get(&name).and_then(Weak::upgrade) {
            return known;
        }
        clients.retain(|_, it| 0 < it.strong_count());
        let new = Arc::new(Semaphore::new(self.limits.calls_per_client));
        clients.insert(name, Arc::downgrade(&new));
        new
    }
}

impl Taken {
    /// Keeps the place until the answer is written.
    pub(super) fn until_written(self, response: Response) -> Response {
        response.map(|body| {
            Body::new(body.map_frame(move |frame| {
                let _ = &self;
                frame
            }))
        })
    }
}

async fn acquire(from: Arc<Semaphore>) -> Option<OwnedSemaphorePermit> {
    timeout(WAIT, from.acquire_owned()).await.ok()?.ok()
}

/// Returns what tells a client from others. Those that come without anything are told apart from
/// nobody, and share what all have.
fn client_of(headers: &HeaderMap) -> Option<String> {
    let name = headers.get(SESSION).or_else(|| headers.get(header::AUTHORIZATION))?;
    name.to_str().ok().map(ToOwned::to_owned)
}
