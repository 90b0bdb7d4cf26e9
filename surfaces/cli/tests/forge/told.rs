//! Others are told of what happens to a pipeline, no matter who makes it happen.

use std::fs;

use serde_json::json;

use crate::{
    checkpoints::waiting,
    said::Said,
    server::{Era, Server},
    stage::{Stage, answer},
};

const KEY: &str = ".specs/20260101-x";

fn terminal(stage: &Stage, arguments: &[&str]) -> String {
    let mut command = stage.project.milepost(arguments);
    command.env("MILEPOST_APPROVE_TOKEN", stage.project.approve_token());
    let output = command.output().unwrap();
    let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(output.status.success(), "{said}");
    said
}

/// Returns the event and the phase of everything that was told after the first `known`.
fn told(stage: &Stage, known: usize) -> Vec<String> {
    let events = stage.events().into_iter().skip(known);
    events.map(|(event, phase, _)| format!("{event} {phase}")).collect()
}

#[test]
fn what_a_person_does_at_the_terminal_is_told_once() {
    let stage = waiting();
    let known = stage.events().len();
    terminal(&stage, &["gate", "approve", KEY, "--yes"]);
    assert_eq!(told(&stage, known), ["phase-complete checkpoint-a"]);
    stage.go(json!({}));
    let dispatched =
        ["phase-complete checkpoint-a", "phase-start phase-4", "agent-dispatch phase-4"];
    assert_eq!(told(&stage, known), dispatched);
    terminal(&stage, &["run", "cancel", KEY, "--reason", "enough"]);
    assert_eq!(told(&stage, known)[3..], ["abandon phase-4"]);
}

#[test]
fn what_is_answered_with_the_tools_of_another_toolset_is_told() {
    let stage = waiting();
    let known = stage.events().len();
    let server = Server::inside(&stage.project, &[], Era::Modern);
    let arguments = json!({"instance_id": KEY, "answer": "abandon"});
    let said = Said::hear(&server, "answer_gate", arguments).unwrap_or_else(|_| panic!());
    assert!(!said.is_error, "{}", said.text);
    assert_eq!(told(&stage, known), ["abandon checkpoint-a"]);
}

#[test]
fn what_someone_writes_into_the_state_file_is_told() {
    let stage = Stage::begun("M");
    let known = stage.events().len();
    stage.put("phase-3", json!({"completedPhases": ["setup", "phase-1", "phase-2"]}));
    stage.field("currentPhase");
    assert_eq!(
        told(&stage, known),
        ["phase-complete phase-1", "phase-complete phase-2", "phase-start phase-3"]
    );
    stage.fixture(json!({"currentPhaseStatus": "abandoned"}));
    stage.field("currentPhase");
    stage.field("currentPhase");
    assert_eq!(told(&stage, known)[3..], ["abandon phase-3"]);
}

#[test]
fn a_pipeline_that_begins_bare_is_told_and_one_that_is_found_is_not() {
    let stage = Stage::new();
    stage.bare();
    assert_eq!(told(&stage, 0), ["pipeline-init setup"]);
    let found = stage.specs("20260202-y");
    fs::create_dir_all(&found).unwrap();
    fs::write(format!("{found}/state.json"), stage.state().to_string()).unwrap();
    stage.done("get", json!({"workspace": found, "field": "currentPhase"}));
    stage.done("phase_start", json!({"workspace": found, "phase": "phase-1"}));
    assert_eq!(told(&stage, 1), ["phase-start phase-1"]);
}

#[test]
fn what_nobody_could_be_told_is_told_later() {
    let stage = waiting();
    let known = stage.events().len();
    let (log, aside) = (stage.project.path("events.jsonl"), stage.project.path("aside.jsonl"));
    fs::rename(&log, &aside).unwrap();
    fs::create_dir(&log).unwrap();
    terminal(&stage, &["gate", "approve", KEY, "--yes"]);
    fs::remove_dir(&log).unwrap();
    fs::rename(&aside, &log).unwrap();
    assert!(told(&stage, known).is_empty());
    stage.go(json!({}));
    assert_eq!(told(&stage, known)[..2], ["phase-complete checkpoint-a", "phase-start phase-4"]);
}

#[test]
fn an_answer_of_the_agent_is_told_as_that_of_a_person_is() {
    let stage = waiting();
    let known = stage.events().len();
    stage.go(answer("proceed"));
    assert_eq!(told(&stage, known)[0], "phase-complete checkpoint-a");
}

#[test]
fn a_run_is_known_at_the_terminal_by_every_form_of_its_workspace() {
    let stage = waiting();
    let whole = stage.workspace();
    for form in [KEY, ".specs/20260101-x/", "./.specs/20260101-x", &whole, &format!("{whole}/")] {
        let shown = terminal(&stage, &["gate", "show", form]);
        assert!(shown.contains("│ # D"), "the design itself is shown: {shown}");
    }
    terminal(&stage, &["gate", "approve", &whole, "--yes"]);
    stage.is_at("phase-4", "pending");
}
