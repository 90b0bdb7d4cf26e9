//! Takes connections in, up to a number of them, and lets none stay for nothing.
//!
//! A client that connects must ask for something soon; one that has been answered may stay for a
//! while; one that does not read its answer is let go. Where there is no room for a new
//! connection, the one that has been of no use for longest makes room.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    io,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{Router, response::Response};
use hyper::{
    body::Incoming,
    server::conn::http1,
    service::{Service as _, service_fn},
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use parking_lot::Mutex;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    time::{Instant, sleep},
};
use tokio_io_timeout::TimeoutStream;
use tokio_util::sync::CancellationToken;

/// How long to wait where the system gives no connection.
const PAUSE: Duration = Duration::from_millis(100);
/// How often it is told that there is no room.
const TELL_EVERY: Duration = Duration::from_secs(10);
/// How many files the process may need besides connections.
const FILES_ELSE: u64 = 128;

/// The limits on connections, as the settings `serve.…` say.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// The most connections at once.
    pub(crate) connections: usize,
    /// How long the first request may take to come.
    pub(crate) header: Duration,
    /// How long a connection may stay without a request.
    pub(crate) idle: Duration,
    /// How long a client may take to read the next piece of an answer.
    pub(crate) write: Duration,
}

/// The connections that are open, by the order they came in.
#[derive(Default)]
struct Open {
    all: Mutex<BTreeMap<u64, Arc<Use>>>,
}

/// What a connection is used for.
#[derive(Default)]
struct Use {
    /// Requests that are being answered.
    requests: AtomicUsize,
    has_asked: AtomicBool,
    /// Whether it is to make room.
    leave: CancellationToken,
}

impl Use {
    fn is_idle(&self) -> bool {
        self.requests.load(Ordering::Relaxed) == 0
    }
}

/// A request that is being answered, until the answer is written.
struct Busy(Arc<Use>);

impl Busy {
    fn new(used: &Arc<Use>) -> Self {
        used.has_asked.store(true, Ordering::Relaxed);
        used.requests.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(used))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.requests.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Open {
    /// Has the oldest connection leave that nothing is asked on; returns whether there is one.
    fn make_room(&self) -> bool {
        let all = self.all.lock();
        let oldest = all.values().find(|it| it.is_idle() && !it.leave.is_cancelled());
        oldest.inspect(|it| it.leave.cancel()).is_some()
    }
}

/// Serves `pages` until `stop`, and until those who are connected then are done.
pub(super) async fn serve(
    listener: TcpListener,
    pages: Router,
    limits: Limits,
    stop: CancellationToken,
) {
    let room = Arc::new(Semaphore::new(limits.connections));
    let open = Arc::new(Open::default());
    let mut told: Option<Instant> = None;
    for number in 0.. {
        let accepted = tokio::select! {
            accepted = accept(&listener) => accepted,
            () = stop.cancelled() => break,
        };
        if room.available_permits() == 0 {
            let has_room = open.make_room();
            if told.is_none_or(|it| TELL_EVERY < it.elapsed()) {
                told = Some(Instant::now());
                tell_full(limits.connections, has_room);
            }
        }
        let permit = tokio::select! {
            permit = Arc::clone(&room).acquire_owned() => permit,
            () = stop.cancelled() => break,
        };
        let used = Arc::new(Use::default());
        open.all.lock().insert(number, Arc::clone(&used));
        let (open, pages, stop) = (Arc::clone(&open), pages.clone(), stop.clone());
        tokio::spawn(async move {
            attend(accepted, pages, limits, (&used, &stop)).await;
            open.all.lock().remove(&number);
            drop(permit);
        });
    }
    // Once all permits are here, all connections have ended.
    let all = u32::try_from(limits.connections).unwrap_or(u32::MAX);
    drop(room.acquire_many(all).await);
}

fn tell_full(max: usize, has_room: bool) {
    let then = if has_room { "an idle one is closed" } else { "new ones wait" };
    tracing::warn!("all {max} connections are in use (setting `serve.connections`): {then}");
}

#[expect(clippy::disallowed_methods, reason = "it waits for descriptors, not for a moment")]
async fn accept(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
            // The client is gone already.
            Err(error) if is_of_client(&error) => {}
            Err(error) => {
                tracing::warn!("no connection can be taken in for now: {error}");
                sleep(PAUSE).await;
            }
        }
    }
}

fn is_of_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// Answers what is asked on one connection.
#[expect(clippy::disallowed_methods, reason = "a limit on real time, which nothing simulates")]
async fn attend(
    stream: TcpStream,
    pages: Router,
    limits: Limits,
    (used, stop): (&Arc<Use>, &CancellationToken),
) {
    // Answers that come in pieces must not wait until the client has confirmed the first piece.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!("a connection stays slow: {error}");
    }
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(limits.write));
    let service = service_fn(|request| answer(pages.clone(), request, Busy::new(used)));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.idle)
        .serve_connection(TokioIo::new(Box::pin(stream)), service);
    let (mut connection, first) = (pin!(connection), pin!(sleep(limits.header)));
    tokio::select! {
        // What has come is read first, however busy the server is.
        biased;
        ended = connection.as_mut() => return tell_end(ended),
        () = async { first.await; has_asked(used).await } => return,
        () = used.leave.cancelled() => {}
        () = stop.cancelled() => {}
    }
    if used.is_idle() {
        return;
    }
    connection.as_mut().graceful_shutdown();
    tell_end(connection.await);
}

/// Ends only where nothing was ever asked.
async fn has_asked(used: &Use) {
    if used.has_asked.load(Ordering::Relaxed) {
        std::future::pending::<()>().await;
    }
}

fn tell_end(ended: hyper::Result<()>) {
    if let Err(error) = ended {
        tracing::debug!("a connection ended: {error}");
    }
}

async fn answer(
    pages: Router,
    request: hyper::Request<Incoming>,
    busy: Busy,
) -> Result<Response, Infallible> {
    let response = TowerToHyperService::new(pages).call(request).await?;
    Ok(mcp::keep_until_written(response, busy))
}

/// Lets the process have as many files as the system allows, and returns how many connections
/// there is room for.
pub(super) fn room(wanted: usize) -> usize {
    let Some(files) = raise_files() else { return wanted };
    let room = usize::try_from(files.saturating_sub(FILES_ELSE).max(1)).unwrap_or(usize::MAX);
    if room < wanted {
        tracing::warn!(
            "this process may have only {files} files open, so it takes {room} connections \
             instead of {wanted} (setting `serve.connections`)"
        );
    }
    room.min(wanted)
}

#[cfg(unix)]
fn raise_files() -> Option<u64> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }) {
        tracing::debug!("the number of open files stays as it is: {error}");
        return current;
    }
    maximum
}

#[cfg(not(unix))]
fn raise_files() -> Option<u64> {
    None
}
