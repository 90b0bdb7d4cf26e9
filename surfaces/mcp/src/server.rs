//! Serves the tools over MCP. This file and its folder are the only ones that know the MCP library.
//!
//! What the library leaves to a server is done here: a panic is answered, every result names the
//! server, malformed requests get the right code, and the end of input ends the process in time.

mod ask;
mod caught;
mod door;
#[cfg(feature = "conformance")]
mod fixtures;
mod handler;
mod http;
mod limits;
mod lines;
mod lists;
mod tasks;
mod watch;

use std::{
    convert::Infallible,
    future::pending,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use engine::{Actor, Surface};
use rmcp::{
    ErrorData, RoleServer, ServiceExt as _,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
        MetaObject, ProgressNotificationParam, ProtocolVersion, Tool,
    },
    service::{RequestContext, ServerInitializeError},
    transport::stdio_pipes,
};
use runtime::{Phase, Runtime, Watch};
use serde_json::{Map, Value, json};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::{MissedTickBehavior, interval},
};

use crate::{
    tool::{Call, Person, Reply, Then},
    toolsets::{Dialects, Tools, ToolsetUnknown},
};
use ask::Seal;
use door::Line;
use lines::Lines;
use tasks::Wait;
use watch::Watcher;

pub use door::{Credential, PersonsDoor, Scope};
pub use http::{HttpOptions, endpoint, keep_until_written};
pub use limits::Limits;

/// How often a person is asked again because what was shown has changed meanwhile.
const ASKS_MAX: usize = 3;
/// How long it may take to tell calls in flight that they are cancelled.
const PARTING: Duration = Duration::from_millis(200);
/// Where a result names the server.
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// What the server is told by the configuration.
#[derive(Debug, Clone)]
pub struct Options {
    /// The names of the toolsets to serve.
    pub toolsets: Vec<String>,
    /// What the configuration says of them.
    pub dialects: Dialects,
    /// The version of the program.
    pub version: String,
    /// How long calls in flight may take once the input has ended.
    pub drain: Duration,
    /// How often a client that wants to know is told that its call is still being worked on.
    pub progress: Duration,
    /// How long a person may take to answer a question that a client shows.
    pub ask: Duration,
    pub limits: Limits,
    /// Seals what clients must bring back. The same for all processes that share the work.
    pub seal_key: [u8; 32],
}

impl Default for Options {
    fn default() -> Self {
        Self {
            toolsets: vec!["core".to_owned()],
            dialects: Dialects::default(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            drain: Duration::from_millis(1500),
            progress: Duration::from_secs(1),
            ask: Duration::from_secs(600),
            limits: Limits::default(),
            seal_key: [0; 32],
        }
    }
}

/// Why the server could not serve.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error(transparent)]
    Toolset(#[from] ToolsetUnknown),
    /// The client broke the protocol before anything could be served.
    #[error("the client could not be served: {0}")]
    Client(String),
    /// The part that speaks with the client broke down.
    #[error("serving ended with a fault: {0}")]
    Broken(String),
}

/// Serves on standard input and output until the input ends.
pub async fn serve_stdio(runtime: Arc<Runtime>, options: Options) -> Result<(), ServeError> {
    let (read, write) = stdio_pipes();
    serve(runtime, options, read, write).await
}

/// Serves one client until `read` ends.
pub async fn serve<R, W>(
    runtime: Arc<Runtime>,
    options: Options,
    read: R,
    write: W,
) -> Result<(), ServeError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let server = Server::new(runtime, &options, Line::Pipes)?;
    let watcher = Arc::clone(&server.watcher);
    let (lines, ended) = Lines::new(read, write, options.limits.calls_per_client);
    let running = match server.serve(lines).await {
        Ok(running) => running,
        // The client only asked what there is, and went away.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(ServeError::Client(error.to_string())),
    };
    let cancel = running.cancellation_token();
    let mut waiting = Box::pin(running.waiting());
    let quit = tokio::select! {
        quit = &mut waiting => Some(quit),
        _ = ended => {
            // Anyone who listens for news would listen for ever; it is not work to be finished.
            watcher.end();
            match tokio::time::timeout(options.drain, &mut waiting).await {
                Ok(quit) => Some(quit),
                Err(_) => {
                    tracing::warn!("calls in flight were cancelled, since the input ended");
                    cancel.cancel();
                    tokio::time::timeout(PARTING, &mut waiting).await.ok()
                }
            }
        }
    };
    match quit {
        Some(Err(error)) => Err(ServeError::Broken(error.to_string())),
        Some(Ok(_)) | None => Ok(()),
    }
}

/// The tools, and whom they ask.
struct Shared {
    runtime: Arc<Runtime>,
    tools: Tools,
    dialects: Dialects,
    /// As they are listed. Made once.
    listed: Vec<Tool>,
    info: Implementation,
    /// The same, as results carry it.
    stamp: Value,
    seal: Seal,
    limits: Limits,
    progress: Duration,
    incidents: AtomicU64,
}

/// What one client speaks with.
#[derive(Clone)]
struct Server {
    line: Line,
    shared: Arc<Shared>,
    watcher: Arc<Watcher>,
}

impl Server {
    fn new(runtime: Arc<Runtime>, options: &Options, line: Line) -> Result<Self, ToolsetUnknown> {
        let tools = Tools::new(&options.toolsets)?;
        let listed = tools.entries().map(lists::tool).collect();
        let info = Implementation::new("milepost", options.version.as_str())
            .with_title("Milepost")
            .with_description("Keeps an AI agent's place in long work");
        let seal = Seal::new(&options.seal_key, options.ask);
        let shared = Shared {
            runtime,
            tools,
            dialects: options.dialects.clone(),
            listed,
            stamp: serde_json::to_value(&info).unwrap_or_default(),
            info,
            seal,
            limits: options.limits,
            progress: options.progress,
            incidents: AtomicU64::new(0),
        };
        let watcher = Arc::new(Watcher::new(options.limits));
        Ok(Self { line, shared: Arc::new(shared), watcher })
    }

    /// Returns the same for another client.
    fn for_client(&self) -> Self {
        let watcher = Arc::new(Watcher::new(self.shared.limits));
        Self { shared: Arc::clone(&self.shared), watcher, ..*self }
    }

    fn runtime(&self) -> &Runtime {
        &self.shared.runtime
    }

    /// Names the server in a result, as the newest protocol wants it.
    fn stamp(&self, context: &Context, meta: &mut Option<MetaObject>) {
        if is_modern(context) {
            let stamp = self.shared.stamp.clone();
            meta.get_or_insert_default().insert(SERVER_INFO.to_owned(), stamp);
        }
    }

    /// Answers a call that broke down. What broke is in the log, under the number of the incident.
    fn incident(&self, what: &str, panic: &str) -> ErrorData {
        let number = self.shared.incidents.fetch_add(1, Ordering::Relaxed) + 1;
        let incident = format!("{:x}-{number}", self.runtime().now().0);
        tracing::error!(%incident, what, "`{what}` broke down: {panic}");
        let text = format!("internal error in `{what}`, logged as incident `{incident}`");
        ErrorData::internal_error(text, Some(json!({ "incident": incident })))
    }

    /// Waits for an answer, which may break down, may not be wanted any more, may take so long
    /// that the caller wants to be told, or too long. Every request that does any work comes
    /// through here.
    async fn answer<T: Send>(
        &self,
        what: &str,
        context: &Context,
        answering: Answering<'_, T>,
    ) -> Result<T, ErrorData> {
        let (watch, limit) = (Watch::default(), self.shared.limits.call);
        let answering = watch.over(caught::caught(answering));
        let (progress, overdue) =
            (tell_progress(context, self.shared.progress), watch.overdue(limit));
        tokio::pin!(answering, progress, overdue);
        let mut is_wanted = true;
        loop {
            tokio::select! {
                // First, so that a quick answer sets no timer.
                biased;
                answer = &mut answering => {
                    return answer.map_err(|panic| self.incident(what, &panic))?;
                }
                never = &mut progress => match never {},
                () = &mut overdue => return Err(limits::overdue(what, limit, watch.phase())),
                () = context.ct.cancelled(), if is_wanted => {
                    if watch.phase() != Phase::Written {
                        return Err(ErrorData::internal_error("the call was cancelled", None));
                    }
                    // What belongs to what is written must not wait for the next call.
                    is_wanted = false;
                }
            }
        }
    }

    /// Calls a tool, and has the person asked where it comes to that.
    async fn call(
        &self,
        request: &CallToolRequestParams,
        context: &Context,
    ) -> Result<CallToolResponse, ErrorData> {
        self.check_scope(&request.name, context)?;
        let arguments = || request.arguments.clone().unwrap_or_default();
        let door = PersonsDoor::find(self.line, context);
        let capabilities = context.client_capabilities();
        // A client of the older era without a session could be asked, but never answer.
        let can_answer = is_modern(context) || context.meta.protocol_version().is_none();
        let can_ask = can_answer && ask::shows_forms(capabilities.as_ref());
        let reachable = || match door {
            Some(_) => Person::Reachable,
            None => Person::Unproven,
        };
        let mut person = match self.shared.seal.open(request, door.clone())? {
            Some(person) => person,
            None if can_ask => reachable(),
            None => Person::OutOfReach,
        };
        let takes_tasks = capabilities.is_some_and(|it| it.supports_tasks());
        let mut asks = 0;
        loop {
            let has_answer = matches!(person, Person::Answered(_));
            let request_id = request_id_of(context);
            let call = Call { person, takes_tasks, request_id, ..self.plain_call(context) };
            let reply = self.run(&request.name, &call, arguments()).await?;
            let is_stale = has_answer && reply.is_gate_stale();
            let run = match reply.then {
                Some(Then::Wait(run, after, until)) => {
                    let wait = Wait { after, until };
                    let mut task = Box::pin(tasks::wait(self.runtime(), run, wait)).await?;
                    self.stamp(context, &mut task.meta);
                    return Ok(task.into());
                }
                Some(Then::Ask(run)) => Some(run),
                // What was shown has changed meanwhile, so it is shown again.
                None if is_stale && can_ask => None,
                None => return Ok(self.result(reply, context).into()),
            };
            let form = match run {
                Some(run) => Box::pin(ask::form(self.runtime(), run)).await?,
                None => None,
            };
            person = match form {
                Some(form) if is_modern(context) => {
                    let mut question = self.shared.seal.question(request, form)?;
                    self.stamp(context, &mut question.meta);
                    return Ok(question.into());
                }
                Some(form) if asks < ASKS_MAX => {
                    asks += 1;
                    let lasts = self.shared.seal.lasts;
                    let asking = ask::ask(&context.peer, form, lasts, door.clone());
                    Box::pin(runtime::unhurried(asking)).await?
                }
                Some(_) => Person::Silent("what the gate shows keeps changing"),
                None => reachable(),
            };
        }
    }

    /// Refuses a tool that changes something to a credential that only looks.
    fn check_scope(&self, name: &str, context: &Context) -> Result<(), ErrorData> {
        let is_reading = |it: &crate::tool::Entry| it.hints.effect == crate::tool::Effect::Reads;
        let reads = self.shared.tools.entries().find(|it| it.name == name).is_none_or(is_reading);
        if reads { Ok(()) } else { self.check_writes(name, context) }
    }

    fn check_writes(&self, what: &str, context: &Context) -> Result<(), ErrorData> {
        if Scope::Write <= door::scope(self.line, context) {
            return Ok(());
        }
        let text = format!("the token may only read, and `{what}` changes something");
        Err(ErrorData::invalid_request(text, None))
    }

    async fn run(
        &self,
        name: &str,
        call: &Call<'_>,
        arguments: Map<String, Value>,
    ) -> Result<Reply, ErrorData> {
        match self.shared.tools.call(name, call, arguments) {
            Some(calling) => Ok(calling.await),
            None => {
                let names: Vec<&str> = self.shared.tools.entries().map(|it| it.name).collect();
                let text = format!("there is no tool `{name}`; there are: {}", names.join(", "));
                Err(ErrorData::invalid_params(text, None))
            }
        }
    }

    /// A call of someone who cannot ask a person.
    fn plain_call(&self, context: &Context) -> Call<'_> {
        Call {
            runtime: self.runtime(),
            actor: actor_of(context),
            person: Person::OutOfReach,
            takes_tasks: false,
            options: &self.shared.dialects,
            request_id: None,
            is_stale: false,
        }
    }

    fn result(&self, reply: Reply, context: &Context) -> CallToolResult {
        let postscript = reply.postscript();
        let Reply { text, body, is_error, .. } = reply;
        let content = [Some(text), postscript].into_iter().flatten();
        let content = content.map(ContentBlock::text).collect();
        let mut result = if is_error {
            CallToolResult::error(content)
        } else {
            CallToolResult::success(content)
        };
        result.structured_content = Some::<Value>(body);
        self.stamp(context, &mut result.meta);
        result
    }
}

type Context = RequestContext<RoleServer>;

/// An answer that is being found. In a box: what is passed around on the way stays small.
type Answering<'a, T> = Pin<Box<dyn Future<Output = Result<T, ErrorData>> + Send + 'a>>;

/// Tells a client that wants to know it, again and again, that its call is being worked on.
async fn tell_progress(context: &Context, every: Duration) -> Infallible {
    let Some(token) = context.meta.get_progress_token() else { return pending().await };
    let mut ticks = interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks.tick().await;
    let mut seconds = 0.0;
    loop {
        ticks.tick().await;
        seconds += every.as_secs_f64();
        let progress = ProgressNotificationParam::new(token.clone(), seconds)
            .with_message(format!("still at it after {seconds} s"));
        if context.peer.notify_progress(progress).await.is_err() {
            return pending().await;
        }
    }
}

fn is_modern(context: &Context) -> bool {
    context.protocol_version().is_some_and(|it| ProtocolVersion::V_2026_07_28 <= it)
}

fn actor_of(context: &Context) -> Actor {
    let client = context.client_info().map(|it| format!("{} {}", it.name, it.version));
    Actor { name: None, client, surface: Surface::Mcp }
}

/// Returns the id by which a call that is sent again is known, where it is in what goes with it.
fn request_id_of(context: &Context) -> Option<String> {
    context.meta.0.get(REQUEST_ID).and_then(Value::as_str).map(ToOwned::to_owned)
}

/// The key of a request's `_meta` that makes a call safe to be sent again.
const REQUEST_ID: &str = "milepost/request_id";
