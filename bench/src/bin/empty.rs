//! The least that an MCP server over stdio can do: one tool that does nothing. What it costs to call
//! it is what the protocol costs, and the measure for everything else.

use std::{error::Error, sync::Arc};

use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt as _,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
        ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
    transport::stdio_pipes,
};

struct Empty {
    tools: Vec<Tool>,
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
        Ok(CallToolResult::success(vec![ContentBlock::text("")]).into())
    }
}

// The same kind of runtime that `milepost mcp` has.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let schema = serde_json::json!({"type": "object"}).as_object().cloned().unwrap_or_default();
    let tools = vec![Tool::new("nothing", "Does nothing", Arc::new(schema))];
    let running = Empty { tools }.serve(stdio_pipes()).await?;
    running.waiting().await?;
    Ok(())
}
