//! Checkpoints: who may pass them, by which answer, and how one waits for it.

use serde_json::{Value, json};

use crate::{
    confirming::linear,
    player::{Player, line},
    stage::{Stage, answer, done},
};

const ASKED_A: &str = "checkpoint checkpoint-a [proceed, revise, abandon]";

/// A run that waits at its first checkpoint.
pub(crate) fn waiting() -> Stage {
    let mut stage = Stage::begun("M");
    let action = Player::new(&mut stage, &[]).play_until(|it| it["type"] == "checkpoint");
    assert_eq!(line(&action), ASKED_A);
    stage
}

#[track_caller]
fn still_waits(stage: &Stage) {
    stage.is_at("checkpoint-a", "awaiting_human");
    let state = stage.state();
    assert!(!state["completedPhases"].to_string().contains("checkpoint-a"), "{state:#}");
}

#[test]
fn a30_an_answer_that_is_none_leaves_the_checkpoint_as_it_is() {
    let stage = waiting();
    assert_eq!(line(&stage.go(answer("banana"))), ASKED_A);
    still_waits(&stage);
}

#[test]
fn a30_a_run_can_be_abandoned_at_a_checkpoint() {
    let stage = waiting();
    let action = stage.go(answer("abandon"));
    assert_eq!(action["type"], "done");
    assert_eq!(action["summary"], "pipeline abandoned at checkpoint-a");
    stage.is_at("checkpoint-a", "abandoned");
}

#[test]
fn a_design_that_is_rejected_at_its_checkpoint_is_made_again() {
    let stage = waiting();
    let action = stage.go(answer("revise"));
    assert_eq!((&action["agent"], &action["phase"]), (&json!("architect"), &json!("phase-3")));
    assert!(!stage.has("review-design.md"));
    let state = stage.state();
    for phase in ["phase-3b", "checkpoint-a"] {
        let is_in = state["completedPhases"].as_array().unwrap().contains(&json!(phase));
        assert!(!is_in, "{phase}: {state:#}");
    }
    assert_eq!(state["revisions"]["designRevisions"], 0);
    let last = stage.log().pop().unwrap();
    assert_eq!(last, ("checkpoint-a".to_owned(), "checkpoint".to_owned()));
}

#[test]
fn tasks_that_are_rejected_at_their_checkpoint_are_made_again() {
    let mut stage = Stage::begun("L");
    Player::new(&mut stage, &[]).play_until(|it| it["name"] == "checkpoint-b");
    let action = stage.go(answer("revise"));
    assert_eq!(action["agent"], "task-decomposer", "{action:#}");
    assert_eq!(action["phase"], "phase-4", "{action:#}");
    assert!(!stage.has("review-tasks.md"));
    assert!(!stage.state()["completedPhases"].to_string().contains("phase-4b"));
}

#[test]
fn a48_a_report_does_not_pass_a_checkpoint() {
    let stage = waiting();
    assert_eq!(line(&stage.go(done())), ASKED_A);
    still_waits(&stage);
    stage.error("pipeline_report_result", json!({"phase": "checkpoint-a"}));
    still_waits(&stage);
}

#[test]
fn a_checkpoint_that_was_not_put_to_anyone_is_not_completed() {
    let stage = Stage::begun("M");
    stage.put("checkpoint-a", json!({}));
    stage.error("phase_complete", json!({"phase": "checkpoint-a"})).blocked();
    assert_eq!(stage.stands().0, "checkpoint-a");
}

#[test]
fn a_report_and_an_answer_together_are_only_an_answer_at_a_checkpoint() {
    let stage = waiting();
    let mut both = done();
    both["user_response"] = json!("proceed");
    let action = stage.go(both);
    assert_eq!(action["phase"], "phase-4", "{action:#}");
    let passed = stage.log().into_iter().filter(|it| it.0 == "checkpoint-a").count();
    assert_eq!(passed, 1);
}

#[test]
fn whoever_asks_again_at_a_checkpoint_waits_and_is_told_so() {
    let stage = waiting();
    let action = stage.go(json!({}));
    assert_eq!(line(&action), ASKED_A);
    assert_eq!(action["still_waiting"], true, "{action:#}");
    still_waits(&stage);
}

#[test]
fn an_answer_in_one_process_ends_the_wait_in_another() {
    let mut stage = Stage::set(&[("MILEPOST_FORGE_POLL", "50")]);
    stage.init("M");
    Player::new(&mut stage, &[]).play_until(|it| it["type"] == "checkpoint");
    let other = Stage::serve(&stage.project, crate::server::Era::Modern);
    let action = std::thread::scope(|scope| {
        let wait = scope.spawn(|| stage.go(json!({})));
        let mut arguments = answer("proceed");
        arguments["workspace"] = json!(stage.workspace());
        let said = crate::said::Said::hear(&other, "pipeline_next_action", arguments).unwrap();
        assert!(!said.is_error, "{}", said.text);
        wait.join().unwrap()
    });
    assert_eq!(action["phase"], "phase-4", "{action:#}");
    assert!(stage.state()["completedPhases"].to_string().contains("checkpoint-a"));
}

#[test]
fn an_approval_by_the_plain_tool_ends_the_wait_too() {
    let mut stage = Stage::set(&[("MILEPOST_FORGE_POLL", "50")]);
    stage.init("M");
    Player::new(&mut stage, &[]).play_until(|it| it["type"] == "checkpoint");
    let action = std::thread::scope(|scope| {
        let wait = scope.spawn(|| stage.go(json!({})));
        stage.ok("phase_complete", json!({"phase": "checkpoint-a"}));
        wait.join().unwrap()
    });
    assert_eq!(action["phase"], "phase-4", "{action:#}");
}

#[test]
fn many_who_wait_keep_nobody_else_waiting() {
    let mut stage = Stage::set(&[("MILEPOST_FORGE_POLL", "50")]);
    stage.init("M");
    Player::new(&mut stage, &[]).play_until(|it| it["type"] == "checkpoint");
    std::thread::scope(|scope| {
        let waits: Vec<_> = (0..8).map(|_| scope.spawn(|| stage.go(json!({})))).collect();
        for _ in 0..8 {
            stage.done("__IMPORTANT", json!({}));
        }
        assert!(waits.iter().all(|it| !it.is_finished()), "the wait was over before its time");
        let next = stage.go(answer("proceed"));
        assert_eq!(next["phase"], "phase-4", "{next:#}");
        for wait in waits {
            let action = wait.join().unwrap();
            assert_eq!(action["phase"], "phase-4", "{action:#}");
        }
    });
}

/// A run about an issue of Linear that is about to be told of.
fn posting() -> (Stage, String) {
    let stage = Stage::new();
    let workspace = linear(&stage)["workspace"].as_str().unwrap().to_owned();
    let path = format!("{workspace}/state.json");
    let mut state: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    state["currentPhase"] = json!("post-to-source");
    state["skipPr"] = json!(true);
    std::fs::write(path, state.to_string()).unwrap();
    (stage, workspace)
}

#[test]
fn a31_where_the_task_came_from_is_told_by_the_tool_of_that_place() {
    let (stage, workspace) = posting();
    let ask = json!({"workspace": workspace});
    let action = stage.done("pipeline_next_action", ask).json();
    assert_eq!(line(&action), "checkpoint post-to-source [post, skip]");
    let method = json!({
        "mcp_tool": "mcp__linear__save_comment", "mcp_params": {"issueId": "ENG-7"},
        "body_source": format!("{workspace}/summary.md"),
    });
    let mut found = action["post_method"].clone();
    found.as_object_mut().unwrap().retain(|key, _| method.get(key).is_some());
    assert_eq!(found, method, "{action:#}");
}

#[test]
fn a31_the_run_ends_whether_it_was_told_or_not() {
    for said in ["post", "skip"] {
        let (stage, workspace) = posting();
        stage.done("pipeline_next_action", json!({"workspace": workspace}));
        let arguments = json!({"workspace": workspace, "user_response": said});
        let action = stage.done("pipeline_next_action", arguments).json();
        assert_eq!(action["type"], "done", "{action:#}");
        let bytes = std::fs::read(format!("{workspace}/state.json")).unwrap();
        let state: Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(state["currentPhase"], "completed");
        let log: Vec<(&Value, &Value)> = state["phaseLog"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| (&it["phase"], &it["model"]))
            .collect();
        let expected = [
            (&json!("post-to-source"), &json!("checkpoint")),
            (&json!("final-commit"), &json!("skipped")),
        ];
        assert_eq!(log, expected);
    }
}
