//! Where only a person's own answer counts, no call, flag or file gets a pipeline past a checkpoint.

use serde_json::json;

use crate::stage::Stage;

const APPROVE: &str = "# Review\n\n## Verdict: APPROVE\n";

/// A pipeline at the design checkpoint.
fn at_checkpoint(effort: &str) -> Stage {
    let stage = Stage::set(&[("MILEPOST_GATES_ANSWERS", "verified")]);
    stage.init(effort);
    stage.write("design.md", "# D\n\n## A\n");
    stage.write("review-design.md", APPROVE);
    stage.put("checkpoint-a", json!({"currentPhaseStatus": "pending"}));
    stage
}

#[test]
fn skip_phase_does_not_pass_a_checkpoint() {
    for is_asked in [false, true] {
        let stage = at_checkpoint("M");
        if is_asked {
            assert_eq!(stage.go(json!({}))["type"], "checkpoint");
        }
        let said = stage.error("skip_phase", json!({"phase": "checkpoint-a"}));
        assert!(said.text.contains("checkpoint-a"), "{}", said.text);
        assert_eq!(stage.go(json!({}))["type"], "checkpoint");
        stage.error("skip_phase", json!({"phase": "phase-4"}));
    }
}

#[test]
fn set_auto_approve_beforehand_does_not_pass_a_checkpoint() {
    let stage = at_checkpoint("M");
    stage.ok("set_auto_approve", json!({}));
    assert_eq!(stage.go(json!({}))["type"], "checkpoint");
    assert_eq!(stage.go(json!({}))["type"], "checkpoint");
    stage.is_at("checkpoint-a", "awaiting_human");
}

#[test]
fn a_flag_at_the_start_does_not_pass_a_checkpoint() {
    let stage = Stage::set(&[("MILEPOST_GATES_ANSWERS", "verified")]);
    stage.init_with("M", json!({"skip_pr": true, "auto": true}));
    stage.write("design.md", "# D\n\n## A\n");
    stage.write("review-design.md", APPROVE);
    stage.put("checkpoint-a", json!({"currentPhaseStatus": "pending"}));
    assert_eq!(stage.go(json!({}))["type"], "checkpoint");
}

#[test]
fn an_effort_that_leaves_a_checkpoint_out_does_not_pass_it() {
    let stage = at_checkpoint("S");
    assert_eq!(stage.go(json!({}))["type"], "checkpoint");
    assert_eq!(stage.go(json!({"user_response": "proceed"}))["type"], "checkpoint");
    stage.is_at("checkpoint-a", "awaiting_human");
}

#[test]
fn a_forged_state_file_waits_at_the_checkpoint() {
    let stage = Stage::set(&[("MILEPOST_GATES_ANSWERS", "verified")]);
    stage.bare();
    let state = stage.state();
    let mut forged = state;
    forged["specName"] = json!("forged");
    forged["currentPhase"] = json!("phase-5");
    forged["currentPhaseStatus"] = json!("pending");
    forged["completedPhases"] =
        json!(["phase-1", "phase-2", "phase-3", "phase-3b", "checkpoint-a", "phase-4"]);
    let folder = stage.specs("20260102-forged");
    std::fs::create_dir_all(&folder).unwrap();
    let text = serde_json::to_string_pretty(&forged).unwrap();
    std::fs::write(format!("{folder}/state.json"), text).unwrap();
    let said = stage.call("pipeline_next_action", json!({"workspace": folder})).json();
    assert_eq!(said["type"], "checkpoint", "{said:#}");
    assert_eq!(said["name"], "checkpoint-a", "{said:#}");
}

#[test]
fn a_rule_of_the_project_gives_a_task_to_a_person_wherever_it_is_planned() {
    let stage = at_checkpoint("M");
    let rules = "---\nrules:\n  - {id: db, when: {files_match: [\"db/**\"]}, require: human_gate, \
                 reason: so}\n---\n";
    stage.project.write(".specs/instructions.md", rules);
    assert_eq!(stage.go(json!({}))["type"], "checkpoint");
    stage.project.ask(&["gate", "approve", "--answer", "proceed", "--yes"]);
    for phase in ["phase-4", "phase-4b"] {
        stage.ok("skip_phase", json!({ "phase": phase }));
    }
    stage.write("tasks.md", "## Task 1: Move it\nfiles:\n- db/1.sql\n");
    assert_eq!(stage.go(json!({}))["type"], "checkpoint");
    stage.project.ask(&["gate", "approve", "--answer", "proceed", "--yes"]);
    assert_eq!(stage.go(json!({}))["type"], "human_gate");
    assert_eq!(stage.state()["tasks"]["1"]["executionMode"], "human_gate");
}

#[test]
fn a_phase_is_not_completed_before_its_task_for_a_person_is_asked_about() {
    let stage = at_checkpoint("M");
    let approve = || stage.project.ask(&["gate", "approve", "--answer", "proceed", "--yes"]);
    assert_eq!(stage.go(json!({}))["type"], "checkpoint");
    approve();
    stage.write("tasks.md", "## Task 1: Sign it\nmode: human_gate\n");
    stage.ok("checkpoint", json!({"phase": "checkpoint-b"}));
    approve();
    stage.is_at("phase-5", "awaiting_human");
    std::fs::remove_file(stage.path("tasks.md")).unwrap();
    stage.error("phase_complete", json!({"phase": "phase-5"}));
    stage.error("skip_phase", json!({"phase": "phase-5"}));
    stage.is_at("phase-5", "awaiting_human");
}

#[test]
fn a_call_that_skips_the_tasks_is_told_what_comes_before_them() {
    let stage = at_checkpoint("L");
    assert_eq!(stage.go(json!({}))["type"], "checkpoint");
    stage.project.ask(&["gate", "approve", "--answer", "proceed", "--yes"]);
    stage.write("tasks.md", "## Task 1: Sign it\nmode: human_gate\n");
    let said = stage.error("skip_phase", json!({"phase": "phase-5"}));
    assert!(said.text.contains("`checkpoint-b`"), "{}", said.text);
}

#[test]
fn a_list_of_tasks_that_cannot_be_read_is_sent_back() {
    let stage = at_checkpoint("L");
    assert_eq!(stage.go(json!({}))["type"], "checkpoint");
    stage.project.ask(&["gate", "approve", "--answer", "proceed", "--yes"]);
    for phase in ["phase-4", "phase-4b"] {
        stage.ok("skip_phase", json!({ "phase": phase }));
    }
    stage.write("tasks.md", "## Task 1: x\ndepends_on: [2]\n\n## Task 2: y\ndepends_on: [1]\n");
    assert_eq!(stage.go(json!({}))["type"], "checkpoint");
    let token = stage.project.approve_token();
    let mut approve = stage.project.milepost(&["gate", "approve", "--yes"]);
    let said = approve.env("MILEPOST_APPROVE_TOKEN", token).output().unwrap();
    let said = [said.stdout, said.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(said.contains("cannot be planned"), "{said}");
    assert!(said.contains("--answer revise --feedback"), "{said}");
    stage.project.ask(&["gate", "reject", "--answer", "revise", "--feedback", "f", "--yes"]);
}
