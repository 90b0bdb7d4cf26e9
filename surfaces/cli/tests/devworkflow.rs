//! The acceptance scenarios of the toolset `devworkflow`, over MCP in a folder of its own; and what
//! its rules say beyond them. Commands of the terminal, races and crashes start the binary.
//!
//! Here is what all tools share. The tests were written from the contract alone.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

#[path = "devworkflow/advisory.rs"]
mod advisory;
#[path = "devworkflow/approval.rs"]
mod approval;
#[path = "devworkflow/calls.rs"]
mod calls;
#[path = "devworkflow/classic.rs"]
mod classic;
#[path = "devworkflow/config.rs"]
mod config;
#[path = "devworkflow/definitions.rs"]
mod definitions;
#[path = "support/dialect.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod dialect;
#[path = "devworkflow/file.rs"]
mod file;
#[path = "devworkflow/file_edits.rs"]
mod file_edits;
#[path = "devworkflow/file_text.rs"]
mod file_text;
#[path = "devworkflow/fixtures.rs"]
mod fixtures;
#[path = "devworkflow/graph_sessions.rs"]
mod graph_sessions;
#[path = "devworkflow/graph_start.rs"]
mod graph_start;
#[path = "devworkflow/graph_state.rs"]
mod graph_state;
#[path = "devworkflow/graph_walk.rs"]
mod graph_walk;
#[path = "devworkflow/importing.rs"]
mod importing;
#[path = "devworkflow/kept.rs"]
mod kept;
#[path = "devworkflow/moving.rs"]
mod moving;
#[path = "support/project.rs"]
mod project;
#[path = "devworkflow/refusals.rs"]
mod refusals;
#[path = "devworkflow/rules.rs"]
mod rules;
#[path = "support/said.rs"]
mod said;
#[path = "devworkflow/search.rs"]
mod search;
#[path = "support/server.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod server;
#[path = "devworkflow/shipped.rs"]
mod shipped;
#[path = "devworkflow/stage.rs"]
mod stage;
#[path = "devworkflow/story.rs"]
mod story;
#[path = "devworkflow/taking_over.rs"]
mod taking_over;
#[path = "devworkflow/transitions.rs"]
mod transitions;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use file_text::file_text;
use fixtures::{ANALYZE, BLUEPRINT, CHECK_FILES, HELLO, TOOLS};
use server::Era;
use stage::Stage;

fn names(list: &Value) -> BTreeSet<&str> {
    list.as_array()
        .map(Vec::as_slice)
        .unwrap_or_default()
        .iter()
        .filter_map(Value::as_str)
        .collect()
}

#[test]
fn b01_every_tool_is_listed_with_its_inputs_in_both_eras() {
    let stage = Stage::new();
    for era in [Era::Legacy, Era::Modern] {
        let server = Stage::serve(&stage.project, era);
        let message = server.request("tools/list", json!({})).unwrap();
        let listed = message["result"]["tools"].as_array().unwrap();
        for (name, required, optional) in TOOLS {
            let tool = listed.iter().find(|it| it["name"] == name);
            let tool = tool.unwrap_or_else(|| panic!("there is no {name}"));
            let schema = &tool["inputSchema"];
            assert_eq!(names(&schema["required"]), required.iter().copied().collect(), "{tool:#}");
            for input in required.iter().chain(optional) {
                let input = &schema["properties"][input];
                assert!(input["description"].is_string(), "{name}: {input:#}");
            }
        }
    }
}

#[test]
fn b01_defaults_are_in_the_schemas() {
    let stage = Stage::new();
    let message = stage.server.request("tools/list", json!({})).unwrap();
    let listed = message["result"]["tools"].as_array().unwrap();
    let cases = [
        (ANALYZE, "project_config_path", json!("project_config.md")),
        ("changelog_update_guidance", "project_config_path", json!("project_config.md")),
        ("workflow_guidance", "action", json!("")),
        ("workflow_guidance", "session_id", json!("")),
        ("workflow_discovery", "client_id", json!("default")),
        ("workflow_creation_guidance", "workflow_type", json!("general")),
        ("workflow_creation_guidance", "complexity_level", json!("medium")),
        ("workflow_semantic_search", "max_results", json!(3)),
        ("workflow_semantic_search", "min_similarity", json!(0.1)),
    ];
    for (name, input, default) in cases {
        let tool = listed.iter().find(|it| it["name"] == name).unwrap();
        assert_eq!(tool["inputSchema"]["properties"][input]["default"], default, "{name} {input}");
    }
}

#[test]
fn b02_standard_output_carries_messages_only() {
    // The client checks every line, and the end of the server tells if one was none.
    let project = stage::project(&[]);
    project.write_all(fixtures::TINY_FILES);
    let stage = Stage::apart(project);
    stage.init("Add: login");
    for number in 0..25 {
        stage.log(&format!("entry {number}"));
        stage.call(BLUEPRINT, json!({"task_description": "x", "requirements_summary": ""}));
        stage.call("workflow_state", json!({"operation": "get"}));
    }
}

#[test]
fn the_greeting_needs_nothing_and_changes_nothing() {
    let stage = Stage::new();
    let said = stage.read(HELLO, json!({}));
    assert!(!said.text.trim().is_empty());
}

#[test]
fn both_eras_get_the_same_answers() {
    let stage = Stage::with_state(&file_text("ANALYZE", "RUNNING").text());
    let modern = Stage::serve(&stage.project, Era::Modern);
    for tool in [HELLO, CHECK_FILES] {
        let said = Stage::try_call(&modern, tool, json!({})).ok().unwrap();
        assert_eq!(stage.read(tool, json!({})), said);
    }
}

#[test]
fn an_argument_that_is_missing_or_of_the_wrong_type_is_refused_by_name() {
    let stage = Stage::with_state(&file_text("ANALYZE", "RUNNING").text());
    for (tool, required, _) in TOOLS {
        for missing in required {
            let mut arguments = json!({});
            for other in required.iter().filter(|it| *it != missing) {
                arguments[*other] = json!("x");
            }
            let said = stage.refused(tool, arguments.clone());
            let told = said.value["refusal"].to_string();
            assert!(told.contains(missing), "{tool} without {missing}: {told}");
            arguments[*missing] = json!(["x"]);
            let said = stage.refused(tool, arguments);
            let told = said.value["refusal"].to_string();
            assert!(told.contains(missing), "{tool} with a list as {missing}: {told}");
        }
    }
}

#[test]
fn an_answer_shows_the_state_the_items_and_the_end_of_the_log_but_not_a_long_file() {
    let filler = "a line of the plan that is quite long\n".repeat(2000);
    let state = file_text::FileText {
        plan: filler.trim_end().to_owned(),
        log: (0..20).map(|it| format!("[2025-05-28T19:17:{it:02}Z] entry {it}\n")).collect(),
        ..file_text("ANALYZE", "RUNNING")
    };
    let stage = Stage::with_state(&state.text());
    let said = stage.update("ANALYZE", "READY", json!({"log_entry": "the end of it"}));
    said.has(&["Phase: ANALYZE", "Status: READY", "Add: login", "Add: logout", "the end of it"]);
    assert!(said.text.len() < 8 * 1024, "{} bytes", said.text.len());
}
