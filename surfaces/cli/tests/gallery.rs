//! What is true of every built-in workflow: the list of them is short, and no agent gets through one
//! by claiming success.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

#[path = "support/project.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod project;
#[path = "support/server.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod server;

use serde_json::{Value, json};

use project::Project;
use server::{Era, Server};

/// What a token has at least, in bytes, as the brief counts them.
const TOKEN_BYTES: usize = 3;
/// The most that the whole list may take.
const LIST_TOKENS_MAX: usize = 1500;

#[test]
fn the_list_of_all_workflows_is_short() {
    let project = Project::new();
    let server = Server::inside(&project, &[], Era::Modern);
    let answer = done(&server, "list_workflows", json!({}));
    let bytes = answer.to_string().len();
    assert!(bytes <= LIST_TOKENS_MAX * TOKEN_BYTES, "{bytes} bytes: {answer:#}");
    for listed in answer["workflows"].as_array().unwrap() {
        let line = listed["description"].as_str().unwrap();
        assert!(!line.is_empty() && !line.contains('…'), "{listed}");
    }
}

/// Calls a tool that must not refuse.
fn done(server: &Server, tool: &str, arguments: Value) -> Value {
    let answer = server.call(tool, arguments);
    assert!(!answer.is_error, "`{tool}` refused: {:#}", answer.value);
    answer.value
}
