//! Runs that are over do not come back.

use serde_json::{Value, json};

use crate::{
    checkpoints::waiting,
    player::Player,
    stage::{Stage, answer, done},
};

/// Everything that would move a run.
fn attempts() -> Vec<(&'static str, Value)> {
    let mut found = Vec::new();
    for phase in ["phase-1", "phase-3", "checkpoint-a", "final-commit"] {
        for tool in
            ["phase_start", "phase_complete", "phase_fail", "skip_phase", "pipeline_report_result"]
        {
            found.push((tool, json!({"phase": phase})));
        }
    }
    found.push(("checkpoint", json!({"phase": "checkpoint-a"})));
    found
}

/// Tries everything, and checks that the run is as dead as before.
#[track_caller]
fn stays(stage: &Stage, (phase, status): (&str, &str)) {
    let state = stage.state();
    for (tool, arguments) in attempts() {
        stage.error(tool, arguments);
        stage.is_at(phase, status);
    }
    for arguments in [json!({}), answer("proceed"), answer("revise"), done()] {
        let mut on_workspace = arguments.clone();
        on_workspace["workspace"] = json!(stage.workspace());
        let said = stage.call("pipeline_next_action", on_workspace);
        if arguments == json!({}) {
            assert!(!said.is_error, "{}", said.text);
        }
        if !said.is_error {
            assert_eq!(said.json()["type"], "done", "{arguments}: {}", said.text);
        }
        stage.is_at(phase, status);
    }
    for key in ["completedPhases", "phaseLog", "tasks", "revisions", "error"] {
        assert_eq!(stage.state()[key], state[key], "{key}");
    }
}

#[test]
fn a43_an_abandoned_run_gives_nothing_more_to_do() {
    let stage = Stage::begun("M");
    stage.go(json!({}));
    assert_eq!(stage.ok("abandon", json!({})).text, "ok");
    stage.is_at("phase-1", "abandoned");
    let action = stage.go(json!({}));
    assert_eq!(action["type"], "done", "{action:#}");
    stage.is_at("phase-1", "abandoned");
    assert_eq!(stage.state()["status"], "abandoned");
}

#[test]
fn an_abandoned_run_refuses_everything_that_would_move_it() {
    let stage = Stage::begun("M");
    stage.go(json!({}));
    stage.write("analysis.md", "An analysis.\n");
    stage.write("design.md", "# D\n\n## A\n");
    stage.ok("abandon", json!({}));
    stays(&stage, ("phase-1", "abandoned"));
}

#[test]
fn a_run_that_was_abandoned_at_its_checkpoint_is_not_approved_afterwards() {
    let mut stage = waiting();
    stage.go(answer("abandon"));
    stage.kill();
    stays(&stage, ("checkpoint-a", "abandoned"));
}

#[test]
fn a_completed_run_refuses_everything_that_would_move_it() {
    let mut stage = Stage::begun("S");
    Player::new(&mut stage, &[]).play();
    stage.kill();
    stays(&stage, ("completed", "completed"));
    assert_eq!(stage.state()["status"], "completed");
}

#[test]
fn a_completed_run_cannot_be_abandoned() {
    let mut stage = Stage::begun("S");
    Player::new(&mut stage, &[]).play();
    stage.error("abandon", json!({}));
    stage.is_at("completed", "completed");
}

#[test]
fn a_run_that_failed_goes_on_only_when_its_phase_is_started_again() {
    let stage = Stage::begun("M");
    stage.go(json!({}));
    stage.ok("phase_fail", json!({"phase": "phase-1", "message": "boom"}));
    assert_eq!(stage.state()["status"], "failed");
    let said = stage.call("pipeline_next_action", json!({"workspace": stage.workspace()}));
    assert!(said.is_error || said.json()["type"] != "spawn_agent", "{}", said.text);
    stage.is_at("phase-1", "failed");
    stage.ok("phase_start", json!({"phase": "phase-1"}));
    assert_eq!(stage.go(json!({}))["agent"], "situation-analyst");
}
