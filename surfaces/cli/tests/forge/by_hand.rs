//! States that someone wrote by hand, and folders that are none of the project's: what is there
//! counts, and what cannot be right is told.

use serde_json::json;

use crate::{
    checkpoints::waiting,
    player::line,
    stage::{Stage, answer, task},
};

#[test]
fn a_confirmation_outside_of_the_project_writes_nothing() {
    let stage = Stage::new();
    let outside = stage.project.path("../outside/20260101-z");
    let arguments = json!({"workspace": outside.to_str().unwrap(), "task_text": "Add a thing",
                           "user_confirmation": {"effort": "M", "use_current_branch": true}});
    stage.refused("pipeline_init_with_context", arguments).has(&["not in the project"]);
    assert!(!outside.exists(), "{}", outside.display());
}

#[test]
fn tasks_that_wait_for_each_other_are_told_also_where_nobody_planned_them() {
    let stage = Stage::begun("M");
    let waits = |after: u32| {
        let mut task = task("sequential", "pending", "pending");
        task["depends_on"] = json!([after]);
        task
    };
    stage.put("phase-5", json!({"tasks": {"1": waits(2), "2": waits(1)}}));
    stage.error("pipeline_next_action", json!({})).has(&["cycle"]);
}

#[test]
fn tasks_that_are_known_stay_whatever_the_plan_says_later() {
    let stage = Stage::begun("M");
    let mut known = task("sequential", "pending", "pending");
    known["title"] = json!("kept");
    stage.write("design.md", "# D\n\n## A\n");
    stage.write("tasks.md", "# T\n\n## Task 1: another\n\n## Task 2: more\n");
    stage.put("phase-4", json!({"tasks": {"1": known}}));
    stage.report("phase-4");
    assert_eq!(
        line(&stage.go(json!({}))),
        "phase-5 implementer [tasks.md, design.md] -> impl-1.md"
    );
    let tasks = stage.state()["tasks"].clone();
    assert_eq!(tasks.as_object().unwrap().len(), 1, "{tasks:#}");
    assert_eq!(tasks["1"]["title"], "kept");
}

#[test]
fn a_review_without_a_verdict_is_made_again_by_whoever_goes_on() {
    let stage = Stage::begun("M");
    let built = || task("sequential", "completed", "pending");
    stage.put("phase-6", json!({"tasks": {"1": built(), "2": built()}}));
    for (file, text) in [
        ("impl-1.md", "Done.\n"),
        ("impl-2.md", "Done.\n"),
        ("review-1.md", "## Verdict: PASS\n"),
        ("review-2.md", "hmm\n"),
    ] {
        stage.write(file, text);
    }
    let again = "phase-6 impl-reviewer [impl-2.md, tasks.md] -> review-2.md";
    assert_eq!(line(&stage.go(json!({}))), again);
    assert_eq!(stage.state()["tasks"]["1"]["reviewStatus"], "completed_pass");
}

#[test]
fn an_answer_at_a_checkpoint_with_a_revision_pending_says_the_way_out() {
    let stage = waiting();
    stage.ok("set_revision_pending", json!({"checkpoint": "checkpoint-a"}));
    let said = stage.error("pipeline_next_action", answer("proceed"));
    said.blocked().has(&["clear_revision_pending"]);
}

#[test]
fn what_was_only_prepared_is_reported_of_the_current_phase_alone() {
    let stage = Stage::begun("M");
    stage.error("pipeline_report_result", json!({"phase": "phase-7", "setup_only": true}));
    let said = json!({"phase": "phase-1", "setup_only": true, "tokens_used": 5});
    let told = stage.ok("pipeline_report_result", said.clone()).json();
    assert_eq!(told["next_action_hint"], "setup_continue", "{told:#}");
    assert_eq!(stage.stands().0, "phase-1");
    stage.ok("abandon", json!({}));
    stage.error("pipeline_report_result", said);
}
