//! The acceptance scenarios of the toolset `forge`, over MCP in a repository of its own; and what its
//! rules say beyond them. Commands of the terminal, races and crashes start the binary.
//!
//! Here is what all tools share. The tests were written from the contract alone.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

#[path = "forge/advice.rs"]
mod advice;
#[path = "forge/by_hand.rs"]
mod by_hand;
#[path = "forge/checkpoints.rs"]
mod checkpoints;
#[path = "forge/code.rs"]
mod code;
#[path = "forge/confirming.rs"]
mod confirming;
#[path = "support/dialect.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod dialect;
#[path = "forge/elsewhere.rs"]
mod elsewhere;
#[path = "forge/ended.rs"]
mod ended;
#[path = "forge/extras.rs"]
mod extras;
#[path = "forge/file.rs"]
mod file;
#[path = "forge/fixtures.rs"]
mod fixtures;
#[path = "forge/found.rs"]
mod found;
#[path = "forge/git.rs"]
mod git;
#[path = "forge/guards.rs"]
mod guards;
#[path = "forge/importing.rs"]
mod importing;
#[path = "forge/input.rs"]
mod input;
#[path = "forge/intake.rs"]
mod intake;
#[path = "forge/intelligence.rs"]
mod intelligence;
#[path = "forge/interrupted.rs"]
mod interrupted;
#[path = "forge/many.rs"]
mod many;
#[path = "forge/onward.rs"]
mod onward;
#[path = "forge/player.rs"]
mod player;
#[path = "support/project.rs"]
mod project;
#[path = "forge/prompts.rs"]
mod prompts;
#[path = "forge/put_aside.rs"]
mod put_aside;
#[path = "support/random.rs"]
mod random;
#[path = "forge/reports.rs"]
mod reports;
#[path = "forge/reviews.rs"]
mod reviews;
#[path = "support/said.rs"]
mod said;
#[path = "support/server.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod server;
#[path = "forge/stage.rs"]
mod stage;
#[path = "forge/state_tools.rs"]
mod state_tools;
#[path = "forge/task_reviews.rs"]
mod task_reviews;
#[path = "forge/tasks.rs"]
mod tasks;
#[path = "forge/told.rs"]
mod told;
#[path = "forge/verified.rs"]
mod verified;
#[path = "forge/whole_runs.rs"]
mod whole_runs;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use fixtures::TOOLS;
use server::Era;
use stage::{Stage, words, world};

/// What the list of tools cost in the server that this toolset takes the place of.
const LIST_BYTES_BEFORE: usize = 25_989;

#[test]
fn a01_exactly_the_tools_of_the_contract_are_listed_in_both_eras() {
    let project = world(&[]);
    let expected: BTreeSet<&str> = TOOLS.iter().map(|it| it.0).collect();
    assert_eq!(expected.len(), 47);
    for era in [Era::Legacy, Era::Modern] {
        let server = Stage::serve(&project, era);
        let message = server.request("tools/list", json!({})).unwrap();
        let tools = message["result"]["tools"].as_array().unwrap();
        assert_eq!(tools.len(), expected.len());
        let names: BTreeSet<&str> = tools.iter().filter_map(|it| it["name"].as_str()).collect();
        assert_eq!(names, expected);
    }
}

fn listed() -> Vec<Value> {
    let stage = Stage::new();
    let message = stage.server.request("tools/list", json!({})).unwrap();
    message["result"]["tools"].as_array().unwrap().clone()
}

fn tool<'a>(listed: &'a [Value], name: &str) -> &'a Value {
    listed.iter().find(|it| it["name"] == name).unwrap_or_else(|| panic!("there is no {name}"))
}

#[test]
fn a01_every_schema_is_an_object_that_requires_what_the_contract_does() {
    let listed = listed();
    for (name, required, _) in TOOLS {
        let schema = &tool(&listed, name)["inputSchema"];
        assert_eq!(schema["type"], "object", "{name}: {schema:#}");
        let found: BTreeSet<String> = words(&schema["required"]).into_iter().collect();
        let mut expected: BTreeSet<String> = required.iter().map(|it| (*it).to_owned()).collect();
        // The schema asks for what a log entry is made of; anyone who leaves it out is still served.
        if name == "phase_log" && expected.len() < found.len() {
            expected.extend(["tokens", "duration_ms", "model"].map(ToOwned::to_owned));
        }
        assert_eq!(found, expected, "{name}: {schema:#}");
    }
}

#[test]
fn every_parameter_of_every_tool_is_described() {
    for tool in listed() {
        let empty = serde_json::Map::new();
        let properties = tool["inputSchema"]["properties"].as_object().unwrap_or(&empty);
        for (name, property) in properties {
            let text = property["description"].as_str().unwrap_or_default();
            assert!(!text.trim().is_empty(), "{}: {name} has no description", tool["name"]);
        }
    }
}

#[test]
fn the_list_of_tools_is_smaller_than_it_was() {
    let stage = Stage::new();
    let message = stage.server.request("tools/list", json!({})).unwrap();
    let bytes = message["result"].to_string().len();
    assert!(bytes < LIST_BYTES_BEFORE, "{bytes} bytes");
}

#[test]
fn tools_that_only_read_say_so() {
    let listed = listed();
    for (name, _, is_reading) in TOOLS {
        let hints = &tool(&listed, name)["annotations"];
        assert_eq!(hints["readOnlyHint"] == true, is_reading, "{name}: {hints:#}");
    }
}

#[test]
fn a_required_text_that_is_missing_or_of_the_wrong_type_is_refused_by_name() {
    let stage = Stage::begun("M");
    // Of an input that cannot be taken, `pipeline_init` tells in its answer.
    for (tool, required, _) in TOOLS.iter().filter(|it| it.0 != "pipeline_init") {
        // These two are no texts, and have refusals of their own.
        for missing in required.iter().filter(|it| !["validated", "tasks"].contains(it)) {
            let mut arguments = json!({"workspace": stage.workspace(), "validated": true});
            for other in required.iter().filter(|it| **it != "workspace" && *it != missing) {
                arguments[*other] = json!("x");
            }
            arguments.as_object_mut().unwrap().remove(*missing);
            stage.refused(tool, arguments.clone()).has(&[missing]);
            arguments[*missing] = json!(["x"]);
            stage.refused(tool, arguments).has(&[missing]);
        }
    }
}

#[test]
fn numbers_may_come_as_texts_or_with_a_fraction_and_anything_else_is_the_default() {
    let stage = Stage::begun("M");
    let most = 1_000_000_000_000_000_000_u64;
    for (given, expected) in [
        (json!(12), 12),
        (json!("12"), 12),
        (json!(3.9), 3),
        (json!("many"), 0),
        (json!([1]), 0),
        (json!(-5), 0),
        (json!("-5"), 0),
        (json!(1e18), most),
        (json!(most), most),
    ] {
        stage.ok("phase_log", json!({"phase": "phase-1", "tokens": given}));
        let state = stage.state();
        let last = state["phaseLog"].as_array().unwrap().last().unwrap();
        assert_eq!(last["tokens"], expected, "{given}");
    }
}

#[test]
fn a_switch_may_come_as_a_text_or_a_number() {
    for given in [json!(true), json!("true"), json!("1"), json!(1)] {
        let stage = Stage::new();
        std::fs::create_dir_all(stage.workspace()).unwrap();
        stage.ok("init", json!({"spec_name": "demo", "validated": given}));
    }
    for given in [json!(false), json!("false"), json!(0)] {
        let stage = Stage::new();
        std::fs::create_dir_all(stage.workspace()).unwrap();
        stage.error("init", json!({"spec_name": "demo", "validated": given})).blocked();
    }
}

#[test]
fn the_greeting_tells_how_a_pipeline_is_started() {
    let stage = Stage::new();
    stage.done("__IMPORTANT", json!({})).has(&["/forge"]).lacks(&["http://localhost"]);
}

#[test]
fn without_a_port_the_events_are_said_to_be_off_and_how_to_turn_them_on() {
    let stage = Stage::new();
    stage.done("subscribe_events", json!({})).has(&["FORGE_EVENTS_PORT"]);
}
