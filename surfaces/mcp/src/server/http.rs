//! Serves the tools over streamable HTTP, to clients of both eras on one endpoint.
//!
//! The library's own service does the protocol. Before it stands what it leaves open: a body that
//! cannot be read is answered in JSON-RPC, and old-fashioned sessions are counted, since each takes
//! memory until it is given up. So are calls and streams.

mod kept;
mod room;

use std::{borrow::Cow, collections::HashMap, sync::Arc, time::Duration};

use axum::{
    body::{Body, Bytes, to_bytes},
    extract::Request,
    http::{HeaderMap, Method, StatusCode, header},
    response::{IntoResponse as _, Response},
    routing::{MethodRouter, any},
};
use parking_lot::Mutex;
use rmcp::{
    ErrorData, ServerHandler,
    model::{ErrorCode, RequestId},
    transport::{
        StreamableHttpServerConfig, StreamableHttpService,
        streamable_http_server::session::local::{LocalSessionManager, SessionConfig},
    },
};
use runtime::Runtime;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::{
    Limits, Options, Server,
    door::{Credential, Line},
};
use crate::toolsets::ToolsetUnknown;
use room::{Full, Room};

pub use kept::keep_until_written;

/// The header that names the session of an older client.
const SESSION: &str = "mcp-session-id";
/// For how much longer a session is kept than its longest silence.
const MARGIN: Duration = Duration::from_secs(5);
/// How long the body of a request may take to come.
const BODY_WAIT: Duration = Duration::from_secs(30);
/// How much of what the library says is passed on, in bytes.
const SAID_BYTES_MAX: usize = 4 * 1024;
/// Up to which length a body is read before there is a place for its call.
const BODY_SMALL: u64 = 64 * 1024;
/// The request that is answered with a stream of news.
const LISTEN: &str = "subscriptions/listen";
/// After how many seconds a client that was turned away may come again.
const RETRY_AFTER_S: &str = "5";

/// How the endpoint is reached.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// The names under which it may be asked for, without a port.
    pub hosts: Vec<String>,
    /// The most sessions of older clients at once.
    pub sessions_max: usize,
    /// For how long such a session may be silent.
    pub session_idle: Duration,
    /// The longest that a call may be silent.
    pub silence_max: Duration,
    /// The largest body that is taken, in bytes.
    pub body_max: usize,
    /// Ends all streams when it is cancelled.
    pub stop: CancellationToken,
}

/// Returns the endpoint, to be served wherever the caller puts it.
pub fn endpoint(
    runtime: Arc<Runtime>,
    options: &Options,
    http: &HttpOptions,
) -> Result<MethodRouter, ToolsetUnknown> {
    let server = Server::new(runtime, options, Line::Http)?;
    #[cfg(feature = "conformance")]
    let server = super::fixtures::Fixtures::new(server);
    Ok(over(move || server.for_client(), options.limits, http))
}

/// Serves what `make` makes, again for each session.
fn over<S: ServerHandler>(
    make: impl Fn() -> S + Send + Sync + 'static,
    limits: Limits,
    http: &HttpOptions,
) -> MethodRouter {
    let mut sessions = SessionConfig::default();
    // A session that waits for a person or for news is silent, but not idle.
    sessions.keep_alive = Some(http.session_idle.max(http.silence_max) + MARGIN);
    let mut manager = LocalSessionManager::default();
    manager.session_config = sessions;
    let manager = Arc::new(manager);
    let origins = http.hosts.iter().flat_map(|it| {
        let host = if it.contains(':') { format!("[{it}]") } else { it.clone() };
        [format!("http://{host}:*"), format!("https://{host}:*")]
    });
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(http.hosts.iter().cloned())
        .with_allowed_origins(origins)
        .enforce_origin_validation()
        .with_json_response(true)
        .with_max_request_body_bytes(http.body_max)
        .with_cancellation_token(http.stop.child_token());
    let service = StreamableHttpService::new(move || Ok(make()), Arc::clone(&manager), config);
    let (sessions_max, body_max) = (http.sessions_max, http.body_max);
    let room = Room::new(limits);
    let owners = Mutex::default();
    let door = Arc::new(Door { service, manager, owners, room, sessions_max, body_max });
    any(move |request: Request| admit(Arc::clone(&door), request))
}

/// What of a message tells what it is. The rest is left for the library to read.
struct Head<'a> {
    method: Option<Cow<'a, str>>,
    id: Option<RequestId>,
}

/// The same, as it is sent.
#[derive(Deserialize)]
struct Sent<'a> {
    #[serde(borrow)]
    jsonrpc: Option<Cow<'a, str>>,
    id: Option<Value>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
}

/// Who stands before the library's service.
struct Door<S> {
    service: StreamableHttpService<S, LocalSessionManager>,
    manager: Arc<LocalSessionManager>,
    /// The credentials that sessions were opened with.
    owners: Mutex<HashMap<String, Option<Credential>>>,
    room: Room,
    sessions_max: usize,
    body_max: usize,
}

impl<S> Door<S> {
    /// Whether a request comes with the credential that its session was opened with. What is said in
    /// a session counts as its owner's.
    fn is_owner(&self, headers: &HeaderMap, credential: Option<&Credential>) -> bool {
        let Some(session) = headers.get(SESSION).and_then(|it| it.to_str().ok()) else {
            return true;
        };
        // A session that nobody opened is refused by the library.
        self.owners.lock().get(session).is_none_or(|it| it.as_ref() == credential)
    }

    async fn note_owner(&self, session: String, credential: Option<Credential>) {
        let open = self.manager.sessions.read().await;
        let mut owners = self.owners.lock();
        owners.retain(|it, _| open.contains_key(it.as_str()));
        owners.insert(session, credential);
    }
}

/// Refuses what is said in a session with another credential than it was opened with.
fn refuse_stranger() -> Response {
    let text = "this session was opened with another credential: send the same one, or open a \
                session of your own";
    refuse(StatusCode::FORBIDDEN, &ErrorData::invalid_request(text, None), None)
}

/// Answers what the library would not answer well, and lets everything else pass.
async fn admit<S: ServerHandler>(door: Arc<Door<S>>, request: Request) -> Response {
    let credential = request.extensions().get::<Credential>().cloned();
    if !door.is_owner(request.headers(), credential.as_ref()) {
        return refuse_stranger();
    }
    if request.method() != Method::POST {
        // Streams and their end belong to sessions; who has none only posts.
        if request.headers().contains_key(SESSION) {
            return pass(&door, request).await;
        }
        return (StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, "POST")]).into_response();
    }
    let (parts, body) = request.into_parts();
    let mut taken = None;
    if !is_small(&parts.headers) {
        taken = match door.room.call(&parts.headers).await {
            Ok(taken) => Some(taken),
            Err(full) => return turn_away(&full, None),
        };
    }
    let bytes = match read(body, door.body_max).await {
        Ok(bytes) => bytes,
        Err(refused) => return refused,
    };
    let Head { method, id } = match parse_head(&bytes) {
        Ok(head) => head,
        Err((error, id)) => return refuse(StatusCode::BAD_REQUEST, &error, id.as_ref()),
    };
    let begins = method.as_deref() == Some("initialize");
    if begins && door.sessions_max <= door.manager.sessions.read().await.len() {
        let text = "too many sessions are open; try again later, or use revision 2026-07-28, \
                    which needs none";
        let error = ErrorData::new(ErrorCode::INTERNAL_ERROR, text, None);
        return refuse(StatusCode::SERVICE_UNAVAILABLE, &error, id.as_ref());
    }
    // A notification and an answer to a question of ours take no place.
    let method = method.as_deref().filter(|_| id.is_some());
    let place = match (method, taken.take()) {
        (None, _) => Ok(None),
        (Some(LISTEN), _) => door.room.stream().map(Some),
        (Some(_), Some(taken)) => Ok(Some(taken)),
        (Some(_), None) => door.room.call(&parts.headers).await.map(Some),
    };
    let place = match place {
        Ok(place) => place,
        Err(full) => return turn_away(&full, id.as_ref()),
    };
    let request = Request::from_parts(parts, Body::from(bytes));
    let response = door.service.handle(request).await.map(Body::new);
    let opened = response.headers().get(SESSION).and_then(|it| it.to_str().ok());
    if let Some(session) = opened.filter(|_| begins).map(str::to_owned) {
        door.note_owner(session, credential).await;
    }
    let response = word(response, begins, id.as_ref()).await;
    match place {
        Some(place) => keep_until_written(response, place),
        None => response,
    }
}

/// Reads a body, up to a length and for a time.
async fn read(body: Body, bytes_max: usize) -> Result<Bytes, Response> {
    let Ok(read) = timeout(BODY_WAIT, to_bytes(body, bytes_max)).await else {
        let text = format!("the body did not come within {} s", BODY_WAIT.as_secs());
        let error = ErrorData::invalid_request(text, None);
        return Err(refuse(StatusCode::REQUEST_TIMEOUT, &error, None));
    };
    read.map_err(|_| {
        let text = format!("the body has more than {bytes_max} bytes, or was broken off");
        refuse(StatusCode::PAYLOAD_TOO_LARGE, &ErrorData::invalid_request(text, None), None)
    })
}

/// Reads what kind of message a body is; or says what is wrong with it, and with which id it came.
fn parse_head(bytes: &[u8]) -> Result<Head<'_>, (ErrorData, Option<RequestId>)> {
    let sent = serde_json::from_slice::<Sent<'_>>(bytes).map_err(|error| {
        if error.is_data() {
            let text = "this is not JSON-RPC message; send one message a request, no batches";
            (ErrorData::invalid_request(text, None), None)
        } else {
            let text = format!("the body cannot be read as JSON: {error}");
            (ErrorData::parse_error(text, None), None)
        }
    })?;
    let id = sent.id.and_then(|it| serde_json::from_value(it).ok());
    if sent.jsonrpc.as_deref() != Some("2.0") {
        let error = ErrorData::invalid_request("this is not JSON-RPC 2.0 message", None);
        return Err((error, id));
    }
    Ok(Head { method: sent.method, id })
}

/// Whether the body is known to be small.
fn is_small(headers: &HeaderMap) -> bool {
    let length = headers.get(header::CONTENT_LENGTH).and_then(|it| it.to_str().ok());
    length.and_then(|it| it.parse().ok()).is_some_and(|it: u64| it <= BODY_SMALL)
}

/// Opens the stream of a session, or ends the session.
async fn pass<S: ServerHandler>(door: &Door<S>, request: Request) -> Response {
    let ends = request.method() == Method::DELETE;
    let place = if ends { None } else { Some(door.room.stream()) };
    let place = match place.transpose() {
        Ok(place) => place,
        Err(full) => return turn_away(&full, None),
    };
    let mut response = door.service.handle(request).await.map(Body::new);
    // The session has ended by now. The Python SDK takes "accepted" for a failure.
    if ends && response.status() == StatusCode::ACCEPTED {
        *response.status_mut() = StatusCode::NO_CONTENT;
    }
    match place {
        Some(place) => keep_until_written(response, place),
        None => response,
    }
}

/// Answers a client for whom there is no place.
fn turn_away((status, error): &Full, id: Option<&RequestId>) -> Response {
    tracing::warn!("a client was turned away: {}", error.message);
    refuse(*status, error, id)
}

/// Puts what the library says in plain text into the protocol's words.
async fn word(response: Response, begins: bool, id: Option<&RequestId>) -> Response {
    let status = response.status();
    let is_plain = !response.headers().contains_key(header::CONTENT_TYPE)
        || response.headers().get(header::CONTENT_TYPE).is_some_and(|it| it == "text/plain");
    if !is_plain || !(status.is_client_error() || status.is_server_error()) {
        return response;
    }
    let said = to_bytes(response.into_body(), SAID_BYTES_MAX).await.unwrap_or_default();
    let said = String::from_utf8_lossy(&said).into_owned();
    match status {
        StatusCode::INTERNAL_SERVER_ERROR => {
            let text = "the server is stopping, or the session has ended; send it again";
            let error = ErrorData::internal_error(text, None);
            refuse(StatusCode::SERVICE_UNAVAILABLE, &error, id)
        }
        // The library could not tell what kind of message it is.
        StatusCode::UNSUPPORTED_MEDIA_TYPE | StatusCode::BAD_REQUEST if begins => {
            let text = "the parameters of `initialize` cannot be read";
            refuse(StatusCode::BAD_REQUEST, &ErrorData::invalid_params(text, None), id)
        }
        StatusCode::UNSUPPORTED_MEDIA_TYPE => {
            refuse(StatusCode::BAD_REQUEST, &ErrorData::invalid_request(said, None), id)
        }
        _ => refuse(status, &ErrorData::invalid_request(said, None), id),
    }
}

fn refuse(status: StatusCode, error: &ErrorData, id: Option<&RequestId>) -> Response {
    let body = json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string();
    let mut response = (status, [(header::CONTENT_TYPE, "application/json")], body).into_response();
    if matches!(status, StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS) {
        let wait = header::HeaderValue::from_static(RETRY_AFTER_S);
        response.headers_mut().insert(header::RETRY_AFTER, wait);
    }
    response
}
