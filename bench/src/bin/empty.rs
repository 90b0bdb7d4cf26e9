//! The least that an MCP server can do, over stdio or (`empty http [LETTERS]`) over HTTP: one tool that
//! does nothing, and answers with so many letters. What it costs to call it is what the protocol costs,
//! and the measure for everything else.
#![expect(clippy::print_stdout, reason = "it says where it is")]

use std::{error::Error, sync::Arc};

use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt as _,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
        ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
    transport::{
        StreamableHttpServerConfig, StreamableHttpService, stdio_pipes,
        streamable_http_server::session::local::LocalSessionManager,
    },
};
use tokio::{net::TcpListener, runtime::Builder};

#[derive(Clone)]
struct Empty {
    tools: Vec<Tool>,
    answer: Arc<str>,
}

impl ServerHandler for Empty {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("empty", "1"))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.clone()))
    }

    async fn call_tool(
        &self,
        _request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        Ok(CallToolResult::success(vec![ContentBlock::text(&*self.answer)]).into())
    }
}

// The same kinds of runtime that `milepost mcp` and `milepost serve` have.
fn main() -> Result<(), Box<dyn Error>> {
    let schema = serde_json::json!({"type": "object"}).as_object().cloned().unwrap_or_default();
    let letters = std::env::args().nth(2).map_or(Ok(0), |it| it.parse())?;
    let empty = Empty {
        tools: vec![Tool::new("nothing", "Does nothing", Arc::new(schema))],
        answer: "x".repeat(letters).into(),
    };
    if std::env::args().nth(1).as_deref() == Some("http") {
        return Builder::new_multi_thread().enable_all().build()?.block_on(serve(empty));
    }
    Builder::new_current_thread().enable_all().build()?.block_on(async {
        empty.serve(stdio_pipes()).await?.waiting().await?;
        Ok(())
    })
}

async fn serve(empty: Empty) -> Result<(), Box<dyn Error>> {
    let config = StreamableHttpServerConfig::default().with_json_response(true);
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(empty.clone()), sessions, config);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{{\"address\": \"http://{}\"}}", listener.local_addr()?);
    let listener = axum::serve::ListenerExt::tap_io(listener, |stream| {
        drop(stream.set_nodelay(true));
    });
    axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await?;
    Ok(())
}
