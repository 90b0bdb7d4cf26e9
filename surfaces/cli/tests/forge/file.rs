//! The promised file `state.json`: what it says beside the contract's fields, how edits of it are
//! taken in, and how older ones are read.

use std::fs;

use serde_json::{Value, json};

use crate::{
    fixtures::PHASES,
    player::Player,
    stage::{Stage, answer, done, world},
};

fn status(stage: &Stage) -> Value {
    stage.state()["status"].clone()
}

#[test]
fn the_status_tells_how_the_whole_run_stands() {
    let mut stage = Stage::begun("S");
    assert_eq!(status(&stage), "initialized");
    stage.go(json!({}));
    assert_eq!(status(&stage), "in_progress");
    Player::new(&mut stage, &[]).play_until(|it| it["type"] == "checkpoint");
    assert_eq!(status(&stage), "in_progress");
    stage.go(answer("proceed"));
    Player::new(&mut stage, &[]).play();
    assert_eq!(status(&stage), "completed");
}

#[test]
fn the_status_tells_of_a_failure_until_work_goes_on() {
    let stage = Stage::begun("M");
    stage.go(json!({}));
    stage.ok("phase_fail", json!({"phase": "phase-1", "message": "boom"}));
    assert_eq!(status(&stage), "failed");
    stage.ok("phase_start", json!({"phase": "phase-1"}));
    assert_eq!(status(&stage), "in_progress");
    stage.ok("abandon", json!({}));
    assert_eq!(status(&stage), "abandoned");
}

/// Returns the record of a phase.
#[track_caller]
fn record(stage: &Stage, phase: &str) -> Value {
    let state = stage.state();
    let records = state["phases"].as_array().unwrap_or_else(|| panic!("no phases: {state:#}"));
    let found = records.iter().find(|it| id(it) == phase);
    found.unwrap_or_else(|| panic!("no record of {phase}: {state:#}")).clone()
}

fn id(record: &Value) -> &Value {
    record.get("id").unwrap_or(&record["phase"])
}

/// Returns how many times a record has, those of its log apart.
fn times(value: &Value) -> usize {
    match value {
        Value::String(text) => usize::from(text.parse::<jiff::Timestamp>().is_ok()),
        Value::Object(members) => {
            members.iter().filter(|it| it.0 != "log").map(|it| times(it.1)).sum()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => 0,
    }
}

#[test]
fn each_phase_has_a_record_with_its_status_its_times_and_its_log() {
    let stage = Stage::begun("M");
    stage.go(json!({}));
    stage.write("analysis.md", "An analysis.\n");
    stage.go(json!({"previous_action_complete": true, "previous_tokens": 7}));
    let first = record(&stage, "phase-1");
    assert_eq!(first["status"], "completed", "{first:#}");
    assert_eq!(times(&first), 2, "{first:#}");
    let [entry] = first["log"].as_array().unwrap().as_slice() else {
        panic!("not one entry: {first:#}")
    };
    assert_eq!((&entry["tokens"], &entry["model"]), (&json!(7), &json!("sonnet")));
    let second = record(&stage, "phase-2");
    assert_eq!(second["status"], "in_progress", "{second:#}");
    assert_eq!(times(&second), 1, "{second:#}");
    assert_eq!(second["log"], json!([]), "{second:#}");
}

#[test]
fn the_records_of_the_phases_come_in_their_order() {
    let mut stage = Stage::begun("L");
    Player::new(&mut stage, &[]).play();
    let state = stage.state();
    let records = state["phases"].as_array().unwrap();
    let place = |it: &Value| PHASES.iter().position(|phase| id(it) == phase);
    let places: Vec<usize> = records.iter().filter_map(place).collect();
    assert_eq!(places.len(), records.len(), "a record of no phase: {state:#}");
    assert!(places.is_sorted_by(|a, b| a < b), "{state:#}");
}

#[test]
fn an_edit_of_the_file_is_taken_in_by_the_next_call() {
    let stage = Stage::begun("M");
    stage.go(json!({}));
    stage.fixture(json!({
        "effort": "L", "branch": "feature/z", "autoApprove": true, "specName": "renamed",
        "currentPhase": "phase-3", "currentPhaseStatus": "pending",
        "completedPhases": ["setup", "phase-1", "phase-2"], "skippedPhases": ["phase-4b"],
    }));
    for (field, text) in [
        ("effort", "L"),
        ("branch", "feature/z"),
        ("autoApprove", "true"),
        ("specName", "renamed"),
        ("currentPhase", "phase-3"),
        ("completedPhases", r#"["setup","phase-1","phase-2"]"#),
        ("skippedPhases", r#"["phase-4b"]"#),
    ] {
        assert_eq!(stage.field(field), text, "{field}");
    }
    stage.ok("set_debug", json!({}));
    let state = stage.state();
    assert_eq!((&state["effort"], &state["debug"]), (&json!("L"), &json!(true)));
    assert_eq!(stage.go(json!({}))["agent"], "architect");
}

#[test]
fn an_edit_of_the_log_and_of_the_tasks_is_taken_in() {
    let stage = Stage::begun("M");
    let entry = json!({
        "phase": "phase-1", "tokens": 42, "duration_ms": 1, "model": "opus",
        "timestamp": "2026-01-01T00:00:00Z",
    });
    let task = json!({
        "title": "By hand", "executionMode": "parallel", "depends_on": [2], "files": ["a.txt"],
        "implStatus": "completed", "reviewStatus": "completed_fail",
        "implRetries": 3, "reviewRetries": 1,
    });
    stage.fixture(json!({"phaseLog": [entry], "tasks": {"7": task}}));
    assert_eq!(stage.ok("phase_stats", json!({})).json()["totalTokens"], 42);
    stage.ok("set_debug", json!({}));
    let state = stage.state();
    assert_eq!(state["phaseLog"], json!([entry]));
    assert_eq!(state["tasks"], json!({"7": task}));
}

/// A file as an older server wrote it: with few fields, and with nothing where lists belong.
fn older(version: &Value) -> Value {
    let mut state = json!({
        "specName": "old", "workspace": ".specs/20260101-x", "branch": "feature/old",
        "effort": "M", "flowTemplate": "standard", "skipPr": true, "useCurrentBranch": true,
        "skippedPhases": null, "currentPhase": "phase-2", "currentPhaseStatus": "in_progress",
        "completedPhases": ["setup", "phase-1"], "tasks": null, "phaseLog": null,
        "revisions": {"designRevisions": 1},
        "timestamps": {"created": "2025-01-01T00:00:00Z", "lastUpdated": "2025-01-02T00:00:00Z"},
    });
    if !version.is_null() {
        state["version"] = version.clone();
    }
    state
}

#[test]
fn an_older_file_is_read_and_written_as_the_newest() {
    for version in [Value::Null, json!(0), json!(1)] {
        let project = world(&[]);
        project.write(".specs/20260101-x/state.json", &older(&version).to_string());
        let stage = Stage::over(project);
        assert_eq!(stage.field("version"), "2", "from {version}");
        assert_eq!(stage.field("branch"), "feature/old");
        stage.ok("set_debug", json!({}));
        let state = stage.state();
        assert_eq!(state["version"], 2);
        assert_eq!((&state["effort"], &state["specName"]), (&json!("M"), &json!("old")));
        assert_eq!(state["completedPhases"], json!(["setup", "phase-1"]));
        assert_eq!(state["revisions"]["designRevisions"], 1);
        assert_eq!(state["timestamps"]["created"], "2025-01-01T00:00:00Z");
        assert_eq!((&state["tasks"], &state["phaseLog"]), (&json!({}), &json!([])));
        assert_eq!(state["skippedPhases"], json!([]));
        stage.is_at("phase-2", "in_progress");
    }
}

#[test]
fn a_run_of_an_older_server_goes_on_where_it_was() {
    let project = world(&[]);
    project.write(".specs/20260101-x/state.json", &older(&json!(1)).to_string());
    project.write(".specs/20260101-x/request.md", "---\nsource_type: text\n---\n\nOld thing\n");
    let stage = Stage::over(project);
    assert_eq!(stage.go(json!({}))["agent"], "investigator");
    stage.write("investigation.md", "Looked.\n");
    assert_eq!(stage.go(done())["agent"], "architect");
}

#[test]
fn what_the_contract_does_not_name_stays_in_the_file() {
    let stage = Stage::begun("M");
    let own = json!({"nested": [1, {"two": null}]});
    stage.fixture(json!({"teamNotes": own, "x-order": 5}));
    stage.ok("set_debug", json!({}));
    stage.go(json!({}));
    let state = stage.state();
    assert_eq!((&state["teamNotes"], &state["x-order"]), (&own, &json!(5)));
}

#[test]
fn nothing_where_a_list_belongs_becomes_an_empty_list() {
    let stage = Stage::begun("M");
    stage.fixture(json!({
        "skippedPhases": null, "tasks": null, "phaseLog": null, "checkpointRevisionPending": null,
    }));
    stage.ok("set_debug", json!({}));
    let state = stage.state();
    assert_eq!((&state["skippedPhases"], &state["phaseLog"]), (&json!([]), &json!([])));
    assert_eq!(state["tasks"], json!({}));
    assert!(state["checkpointRevisionPending"].is_object(), "{state:#}");
}

#[test]
fn the_file_alone_is_enough_to_go_on() {
    let mut stage = Stage::begun("M");
    Player::new(&mut stage, &[]).play_until(|it| it["phase"] == "phase-4");
    let before = stage.state();
    let project = stage.end();
    fs::remove_dir_all(project.path(".milepost")).unwrap();
    let stage = Stage::over(project);
    assert_eq!(stage.field("currentPhase"), "phase-4");
    assert_eq!(stage.go(json!({}))["agent"], "task-decomposer");
    assert_eq!(stage.state()["phaseLog"], before["phaseLog"]);
}

#[test]
fn a_file_that_cannot_be_read_is_told_of_and_not_written_over() {
    let project = world(&[]);
    project.write(".specs/20260101-x/state.json", "{\"version\": 2, ");
    let stage = Stage::over(project);
    stage.error("get", json!({"field": "effort"}));
    stage.error("set_debug", json!({}));
    stage.error("pipeline_next_action", json!({}));
}

#[test]
fn every_call_that_changes_something_changes_the_time_of_the_file() {
    let stage = Stage::begun("M");
    let before = stage.state()["timestamps"].clone();
    stage.ok("set_debug", json!({}));
    let after = stage.state()["timestamps"].clone();
    assert_eq!(after["created"], before["created"]);
    let time = |it: &Value| it["lastUpdated"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    assert!(time(&before) <= time(&after), "{before:#} {after:#}");
    stage.go(json!({}));
    assert!(stage.state()["timestamps"]["phaseStarted"].is_string());
}
