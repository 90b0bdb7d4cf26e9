//! The page that shows a run and its gate, for hosts that show apps. One file, nothing from
//! outside; it speaks with its host, and through it calls the tools.

use serde_json::{Value, json};

/// Where the page is.
pub(crate) const URI: &str = "ui://milepost/run.html";
/// What it is.
pub(crate) const MIME: &str = "text/html;profile=mcp-app";
/// The page.
pub(crate) const PAGE: &str = include_str!("app/run.html");
/// What it is for, in one line.
pub(crate) const DESCRIPTION: &str = "Shows where a run is, and answers its gate";
/// The tools whose answers it shows.
pub(crate) const TOOLS: &[&str] = &["get_workflow_status", "advance_workflow", "start_workflow"];

/// What a host must know to show the page.
pub(crate) fn meta() -> Value {
    json!({ "ui": { "prefersBorder": true, "csp": { "connectDomains": [], "resourceDomains": [] } } })
}

/// What a host must know of a tool whose answers it shows.
pub(crate) fn tool_meta() -> Value {
    json!({ "ui": { "resourceUri": URI, "visibility": ["model", "app"] } })
}
