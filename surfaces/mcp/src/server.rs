//! Serves the tools over MCP. This file and its folder are the only ones that know the MCP library.
//!
//! What the library leaves to a server is done here: a panic is answered, every result names the
//! server, malformed requests get the right code, and the end of input ends the process in time.

mod caught;
mod lines;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use engine::{Actor, Surface};
use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt as _,
    model::{
        CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock,
        CustomRequest, CustomResult, DiscoverResult, Implementation, ListToolsResult, MetaObject,
        PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig, Tool,
        ToolAnnotations,
    },
    service::{RequestContext, ServerInitializeError},
    transport::stdio_pipes,
};
use runtime::Runtime;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::{
    tool::{Call, Effect, Entry, Reply},
    toolsets::{Tools, ToolsetUnknown},
};
use lines::Lines;

/// How long a client may keep what it was told of the server and its tools.
const TTL_MS: u64 = 3_600_000;
/// How long it may take to tell calls in flight that they are cancelled.
const PARTING: Duration = Duration::from_millis(200);
/// Where a result names the server.
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// Requests that the library knows. One of them that it could not read is malformed, not unknown.
const METHODS: &[&str] = &[
    "initialize",
    "ping",
    "server/discover",
    "tools/call",
    "tools/list",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "resources/templates/list",
    "completion/complete",
    "logging/setLevel",
    "subscriptions/listen",
];

/// What an agent is told before anything else.
const INSTRUCTIONS: &str = "\
Milepost keeps your place in long work: start, follow, report, repeat.
1. `list_workflows`, then `start_workflow`. Do exactly what `next_step.instructions` says.
2. Report each step with `advance_workflow`, honestly; it returns the next one, until `step_name` is FINISH.
3. After a break or a lost context, or when another agent began it: `list_runs`, then `resume_workflow`. Do not redo what its brief says is done.
4. With `choices`, name one as `next_step_name` in your next report. While SUSPENDED, ask the person what `waiting` asks and pass the answer on with `answer_gate`; if only the person can answer, wait with `get_workflow_status` and `wait_seconds`.
5. An error has `refusal.hint`: the way out. Arguments are flat; `{\"input_data\": {…}}` works too.";

/// What the server is told by the configuration.
#[derive(Debug, Clone)]
pub struct Options {
    /// The names of the toolsets to serve.
    pub toolsets: Vec<String>,
    /// The version of the program.
    pub version: String,
    /// How long calls in flight may take once the input has ended.
    pub drain: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            toolsets: vec!["core".to_owned()],
            version: env!("CARGO_PKG_VERSION").to_owned(),
            drain: Duration::from_millis(1500),
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
    let server = Server::new(runtime, &options)?;
    let (lines, ended) = Lines::new(read, write);
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
        _ = ended => match tokio::time::timeout(options.drain, &mut waiting).await {
            Ok(quit) => Some(quit),
            Err(_) => {
                tracing::warn!("calls in flight were cancelled, since the input ended");
                cancel.cancel();
                tokio::time::timeout(PARTING, &mut waiting).await.ok()
            }
        },
    };
    match quit {
        Some(Err(error)) => Err(ServeError::Broken(error.to_string())),
        Some(Ok(_)) | None => Ok(()),
    }
}

/// The tools, and whom they ask.
struct Server {
    runtime: Arc<Runtime>,
    tools: Tools,
    /// As they are listed. Made once.
    listed: Vec<Tool>,
    info: Implementation,
    incidents: AtomicU64,
}

impl Server {
    fn new(runtime: Arc<Runtime>, options: &Options) -> Result<Self, ToolsetUnknown> {
        let tools = Tools::new(&options.toolsets)?;
        let listed = tools.entries().map(listed).collect();
        let info = Implementation::new("milepost", options.version.as_str())
            .with_title("Milepost")
            .with_description("Keeps an AI agent's place in long work");
        Ok(Self { runtime, tools, listed, info, incidents: AtomicU64::new(0) })
    }

    /// Names the server in a result, as the newest protocol wants it.
    fn stamp(&self, context: &RequestContext<RoleServer>, meta: &mut Option<MetaObject>) {
        let is_modern =
            context.protocol_version().is_some_and(|it| ProtocolVersion::V_2026_07_28 <= it);
        if let Ok(info) = serde_json::to_value(&self.info)
            && is_modern
        {
            meta.get_or_insert_default().insert(SERVER_INFO.to_owned(), info);
        }
    }

    /// Answers a call that broke down. What broke is in the log, under the number of the incident.
    fn incident(&self, tool: &str, panic: &str) -> ErrorData {
        let number = self.incidents.fetch_add(1, Ordering::Relaxed) + 1;
        let incident = format!("{:x}-{number}", self.runtime.now().0);
        tracing::error!(%incident, tool, "tool `{tool}` broke down: {panic}");
        let text = format!("internal error in `{tool}`, logged as incident `{incident}`");
        ErrorData::internal_error(text, Some(json!({ "incident": incident })))
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(self.info.clone())
            .with_instructions(INSTRUCTIONS)
    }

    async fn discover(
        &self,
        _context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, self.get_info())
            .with_ttl_ms(TTL_MS)
            .with_cache_scope(CacheScope::Public))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        if request.is_some_and(|it| it.cursor.is_some()) {
            return Err(ErrorData::invalid_params("there is only one page of tools", None));
        }
        let mut result = ListToolsResult::with_all_items(self.listed.clone())
            .with_ttl_ms(TTL_MS)
            .with_cache_scope(CacheScope::Public);
        self.stamp(&context, &mut result.meta);
        Ok(result)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let call = Call { runtime: &self.runtime, actor: actor_of(&context) };
        let arguments = request.arguments.unwrap_or_default();
        let Some(calling) = self.tools.call(&request.name, &call, arguments) else {
            let names: Vec<&str> = self.tools.entries().map(|it| it.name).collect();
            let text =
                format!("there is no tool `{}`; there are: {}", request.name, names.join(", "));
            return Err(ErrorData::invalid_params(text, None));
        };
        let reply = tokio::select! {
            reply = caught::caught(calling) => reply,
            // Nobody waits for the answer any more.
            () = context.ct.cancelled() => {
                return Err(ErrorData::internal_error("the call was cancelled", None));
            }
        };
        let reply = reply.map_err(|panic| self.incident(&request.name, &panic))?;
        let mut result = result_of(reply);
        self.stamp(&context, &mut result.meta);
        Ok(result.into())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method;
        if METHODS.contains(&method.as_str()) {
            let text = format!("the parameters of `{method}` cannot be read");
            return Err(ErrorData::invalid_params(text, None));
        }
        let code = rmcp::model::ErrorCode::METHOD_NOT_FOUND;
        Err(ErrorData::new(code, format!("there is no method `{method}`"), None))
    }
}

fn actor_of(context: &RequestContext<RoleServer>) -> Actor {
    let client = context.client_info().map(|it| format!("{} {}", it.name, it.version));
    Actor { name: None, client, surface: Surface::Mcp }
}

fn listed(entry: &Entry) -> Tool {
    let hints = ToolAnnotations::with_title(entry.title)
        .read_only(entry.hints.effect == Effect::Reads)
        .destructive(entry.hints.effect == Effect::Ends)
        .idempotent(entry.hints.is_idempotent)
        // Runs live in the project; nothing outside is asked.
        .open_world(false);
    Tool::new(entry.name, entry.description, entry.input_schema())
        .with_title(entry.title)
        .with_raw_output_schema(Arc::new(entry.output_schema()))
        .with_annotations(hints)
}

fn result_of(reply: Reply) -> CallToolResult {
    let Reply { text, body, is_error } = reply;
    let content = vec![ContentBlock::text(text)];
    let mut result =
        if is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
    result.structured_content = Some::<Value>(body);
    result
}
