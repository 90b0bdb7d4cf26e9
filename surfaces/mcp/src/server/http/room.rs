//! How much is asked at once over HTTP, by one client and by all. A call and a stream have their
//! place until the last piece of the answer is written or the client is gone.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
    time::Duration,
};

use axum::http::{HeaderMap, StatusCode, header};
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

async fn acquire(from: Arc<Semaphore>) -> Option<OwnedSemaphorePermit> {
    timeout(WAIT, from.acquire_owned()).await.ok()?.ok()
}

/// Returns what tells a client from others. Those that come without anything are told apart from
/// nobody, and share what all have.
fn client_of(headers: &HeaderMap) -> Option<String> {
    let name = headers.get(SESSION).or_else(|| headers.get(header::AUTHORIZATION))?;
    name.to_str().ok().map(ToOwned::to_owned)
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderMap, HeaderValue, StatusCode};

    use super::{Limits, Room, SESSION};

    fn of(session: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(
            axum::http::HeaderName::from_static(SESSION),
            HeaderValue::from_static(session),
        )])
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_with_too_many_calls_waits_and_others_do_not() {
        let limits = Limits { calls: 3, calls_per_client: 2, ..Limits::default() };
        let room = Room::new(limits);
        let first = room.call(&of("one")).await.unwrap();
        let _second = room.call(&of("one")).await.unwrap();
        let (status, error) = room.call(&of("one")).await.err().unwrap();
        assert_eq!(status, StatusCode::TOO_MANY_REQUESTS);
        assert!(error.message.contains("mcp.calls_per_client"), "{}", error.message);
        let _other = room.call(&of("two")).await.unwrap();
        let (status, error) = room.call(&HeaderMap::new()).await.err().unwrap();
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
        assert!(error.message.contains("mcp.calls`"), "{}", error.message);
        drop(first);
        assert!(room.call(&of("one")).await.is_ok());
    }

    #[tokio::test]
    async fn streams_are_no_calls() {
        let room = Room::new(Limits { calls: 1, streams: 1, ..Limits::default() });
        let _call = room.call(&HeaderMap::new()).await.unwrap();
        let stream = room.stream().unwrap();
        assert!(room.stream().is_err_and(|it| it.1.message.contains("mcp.streams")));
        drop(stream);
        assert!(room.stream().is_ok());
    }
}
