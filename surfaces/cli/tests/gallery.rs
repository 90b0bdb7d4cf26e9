//! What is true of every built-in workflow: the list of them is short, and no agent gets through one
//! by claiming success.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

#[path = "support/played.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod played;
#[path = "support/project.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod project;
#[path = "support/server.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod server;

use serde_json::{Value, json};

use played::Played;
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

/// The workflows whose own contract lets an agent through that gives no evidence, and that relays a
/// person's answer. `gates.answers` and `devworkflow.evidence` stop it.
const LENIENT: [&str; 2] = ["dev-workflow", "scene-generation"];
/// How often an agent says that it is done before it gives up.
const CLAIMS_MAX: usize = 40;

#[test]
fn no_workflow_is_completed_by_an_agent_that_only_claims_success() {
    let project = Project::new();
    let server = Server::inside(&project, &[], Era::Modern);
    let listed = done(&server, "list_workflows", json!({}));
    let names =
        listed["workflows"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap());
    let mut count = 0;
    for name in names.filter(|it| !LENIENT.contains(it)) {
        let played = Played::read(name);
        let mut arguments = json!({"workflow_name": name, "context": played.context});
        arguments["key"] = json!(played.key.as_deref().unwrap_or("lazy"));
        let begun = done(&server, "start_workflow", arguments);
        let (status, refusals) = claim(&server, &begun);
        assert_ne!(status, "COMPLETED", "`{name}` is completed by claims");
        assert!(0 < refusals, "`{name}` refuses nothing");
        count += 1;
    }
    assert!(18 <= count, "only {count} workflows");
}

/// Says that every step is done, with evidence that says the same, relays an approval at every gate,
/// and returns the status of the run and how often that was refused.
fn claim(server: &Server, begun: &Value) -> (String, usize) {
    let run = begun["instance_id"].clone();
    let mut refusals = 0;
    for _ in 0..CLAIMS_MAX {
        let state = done(server, "get_workflow_status", json!({"instance_id": run}));
        let status = state["status"].as_str().unwrap().to_owned();
        if status == "COMPLETED" {
            return (status, refusals);
        }
        let arguments = json!({"instance_id": run, "answer": "approve", "person": "ann"});
        let (tool, arguments) = if status == "SUSPENDED" {
            ("answer_gate", arguments)
        } else {
            ("advance_workflow", report(&run, &state))
        };
        refusals += usize::from(server.call(tool, arguments).is_error);
    }
    let state = done(server, "get_workflow_status", json!({"instance_id": run}));
    (state["status"].as_str().unwrap().to_owned(), refusals)
}

/// A report that says `done`, and nothing else.
fn report(run: &Value, state: &Value) -> Value {
    let step = &state["next_step"];
    let criteria = step["criteria"].as_object().cloned().unwrap_or_default();
    let evidence: serde_json::Map<_, _> =
        criteria.keys().map(|it| (it.clone(), json!("done"))).collect();
    let details = json!({"evidence": evidence, "verdict": "APPROVE"});
    let name = step["step_name"].as_str().or(state["current_step_name"].as_str());
    let report = json!({"step_id": name, "status": "done", "result": "done", "details": details});
    let mut arguments = json!({"instance_id": run, "report": report});
    if let Some(part) = state["parts"].get(0) {
        arguments["part"] = part["id"].clone();
    }
    if let Some(choice) = state["choices"].get(0) {
        arguments["next_step_name"] = choice["step_name"].clone();
    }
    arguments
}

/// Calls a tool that must not refuse.
fn done(server: &Server, tool: &str, arguments: Value) -> Value {
    let answer = server.call(tool, arguments);
    assert!(!answer.is_error, "`{tool}` refused: {:#}", answer.value);
    answer.value
}
