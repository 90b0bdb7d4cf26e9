//! What a run must have before it may go on, and who is told when it has not.

use serde_json::{Value, json};

use crate::{
    fixtures::PHASES,
    stage::{Stage, answer, done, task},
};

fn bare() -> Stage {
    let stage = Stage::new();
    stage.bare();
    stage
}

fn phase(name: &str) -> Value {
    json!({"phase": name})
}

#[test]
fn a11_a_phase_is_complete_only_with_its_artifact() {
    let stage = bare();
    stage.error("phase_complete", phase("phase-1")).blocked().has(&["analysis.md"]);
    stage.write("analysis.md", "An analysis.\n");
    assert_eq!(stage.ok("phase_start", phase("phase-1")).text, "ok");
    let said = stage.ok("phase_complete", phase("phase-1")).json();
    assert_eq!(said["result"], "ok");
    let warning = said["warning"].as_str().unwrap();
    assert!(warning.starts_with("WARNING:") && warning.contains("log"), "{warning}");
    assert!(!warning.contains("in_progress"), "{warning}");
    stage.is_at("phase-2", "pending");
    assert_eq!(stage.state()["completedPhases"], json!(["setup", "phase-1"]));
}

#[test]
fn a_phase_that_was_started_and_logged_is_completed_without_a_warning() {
    let stage = bare();
    stage.write("analysis.md", "An analysis.\n");
    stage.ok("phase_start", phase("phase-1"));
    stage.ok("phase_log", json!({"phase": "phase-1", "tokens": 1, "model": "sonnet"}));
    assert_eq!(stage.ok("phase_complete", phase("phase-1")).text, "ok");
}

#[test]
fn a11_a_phase_that_is_none_is_refused() {
    let stage = bare();
    for tool in ["phase_start", "phase_complete", "phase_fail", "skip_phase", "checkpoint"] {
        stage.error(tool, phase("phase-99")).has(&["phase-99"]);
    }
}

#[test]
fn a11_implementation_does_not_start_without_tasks() {
    for stage in [bare(), Stage::begun("M"), Stage::begun("L")] {
        stage.error("phase_start", phase("phase-5")).blocked().has(&["no tasks", "task_init"]);
    }
}

#[test]
fn a_phase_does_not_start_before_the_one_before_it_is_done() {
    let stage = bare();
    for later in &PHASES[2..5] {
        stage.error("phase_start", phase(later)).blocked();
    }
    stage.is_at("phase-1", "pending");
}

#[test]
fn a12_a_checkpoint_is_passed_only_after_someone_was_asked() {
    let stage = bare();
    stage.error("phase_complete", phase("checkpoint-a")).blocked().has(&["awaiting_human"]);
    stage.error("checkpoint", phase("phase-7")).has(&["phase-1"]);
    assert_eq!(stage.ok("checkpoint", phase("checkpoint-a")).text, "ok");
    stage.is_at("checkpoint-a", "awaiting_human");
}

#[test]
fn the_user_may_be_asked_about_the_tasks_from_anywhere() {
    let stage = bare();
    stage.error("checkpoint", phase("post-to-source")).has(&["phase-1"]);
    stage.ok("set_revision_pending", json!({"checkpoint": "checkpoint-a"}));
    stage.error("checkpoint", phase("checkpoint-b")).blocked().has(&["checkpoint-a"]);
    stage.ok("clear_revision_pending", json!({"checkpoint": "checkpoint-a"}));
    assert_eq!(stage.ok("checkpoint", phase("checkpoint-b")).text, "ok");
    stage.is_at("checkpoint-b", "awaiting_human");
    stage.ok("phase_complete", phase("checkpoint-b"));
    stage.is_at("phase-5", "pending");
}

#[test]
fn a_question_that_is_put_is_not_taken_back_by_one_that_comes_later() {
    let stage = bare();
    stage.ok("checkpoint", phase("checkpoint-a"));
    stage.error("checkpoint", phase("checkpoint-b")).blocked().has(&["checkpoint-a"]);
    stage.is_at("checkpoint-a", "awaiting_human");
}

#[test]
fn a12_a_checkpoint_is_not_passed_while_a_revision_is_pending() {
    let stage = bare();
    let checkpoint = |name: &str| json!({"checkpoint": name});
    stage.ok("checkpoint", phase("checkpoint-a"));
    stage.error("set_revision_pending", checkpoint("checkpoint-c"));
    assert_eq!(stage.ok("set_revision_pending", checkpoint("checkpoint-a")).text, "ok");
    let said = stage.error("phase_complete", phase("checkpoint-a"));
    said.blocked();
    let text = said.text.replace('_', "-");
    assert!(text.contains("clear-revision-pending"), "{text}");
    stage.ok("clear_revision_pending", checkpoint("checkpoint-a"));
    let said = stage.ok("phase_complete", phase("checkpoint-a")).json();
    assert_eq!(said["result"], "ok");
    assert!(said["warning"].as_str().unwrap().contains("in_progress"), "{said:#}");
    stage.is_at("phase-4", "pending");
}

#[test]
fn a_pending_revision_holds_back_an_answer_too() {
    let stage = Stage::begun("M");
    stage.put("checkpoint-a", json!({"currentPhaseStatus": "awaiting_human"}));
    stage.ok("set_revision_pending", json!({"checkpoint": "checkpoint-a"}));
    stage.call(
        "pipeline_next_action",
        json!({"workspace": stage.workspace(), "user_response": "proceed"}),
    );
    let state = stage.state();
    assert_eq!(state["currentPhase"], "checkpoint-a");
    assert!(!state["completedPhases"].to_string().contains("checkpoint-a"), "{state:#}");
}

#[test]
fn a13_tasks_wait_for_their_checkpoint() {
    let stage = bare();
    let tasks = json!({"tasks": {"1": {"title": "A"}}});
    stage.error("task_init", tasks.clone()).blocked().has(&["checkpoint-b"]);
    assert_eq!(stage.ok("skip_phase", phase("checkpoint-b")).text, "ok");
    stage.is_at("phase-5", "pending");
    assert_eq!(stage.ok("task_init", tasks).text, "ok");
}

/// A run that is past its checkpoints.
fn open() -> Stage {
    let stage = bare();
    stage.ok("skip_phase", phase("checkpoint-b"));
    stage
}

#[test]
fn a13_no_tasks_are_no_tasks() {
    let stage = open();
    stage.error("task_init", json!({"tasks": {}}));
    stage.error("task_init", json!({}));
    stage.error("task_init", json!({"tasks": "one"}));
    stage.error("task_init", json!({"tasks": {"1": {"title": 5}}}));
}

#[test]
fn a13_tasks_that_wait_for_each_other_are_refused_or_warned_of() {
    let stage = open();
    let one = |waits_for: Value| {
        json!({
            "title": "A", "executionMode": "parallel", "files": ["f.go"], "depends_on": waits_for,
        })
    };
    let tasks = json!({"1": one(json!([2])), "2": one(json!([1, 9]))});
    let said = stage.call("task_init", json!({"workspace": stage.workspace(), "tasks": tasks}));
    if said.is_error {
        said.has(&["cycle"]);
        assert_eq!(stage.state()["tasks"], json!({}));
        return;
    }
    let told = said.json();
    assert_eq!(told["status"], "ok");
    assert_eq!(told["warnings"].as_array().unwrap().len(), 3, "{told:#}");
}

#[test]
fn a13_a_task_that_waits_for_none_and_a_file_of_two_tasks_are_warned_of() {
    let stage = open();
    let one = json!({"title": "A", "executionMode": "parallel", "files": ["f.go"]});
    let mut two = one.clone();
    two["depends_on"] = json!([9]);
    let told = stage.ok("task_init", json!({"tasks": {"1": one, "2": two}})).json();
    assert_eq!(told["status"], "ok");
    let warnings = told["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 2, "{told:#}");
    let text = told["warnings"].to_string();
    assert!(text.contains('9') && text.contains("f.go"), "{text}");
    let tasks = &stage.state()["tasks"];
    for number in ["1", "2"] {
        assert_eq!(tasks[number]["implStatus"], "", "{tasks:#}");
        assert_eq!(tasks[number]["reviewStatus"], "", "{tasks:#}");
        assert_eq!(tasks[number]["implRetries"], 0, "{tasks:#}");
    }
}

fn update(number: &str, field: &str, value: &str) -> Value {
    json!({"task_num": number, "field": field, "value": value})
}

fn with_task() -> Stage {
    let stage = open();
    stage.ok("task_init", json!({"tasks": {"1": {"title": "A"}}}));
    stage
}

#[test]
fn a14_a_task_passes_only_with_its_review() {
    let stage = with_task();
    let passed = update("1", "reviewStatus", "completed_pass");
    stage.error("task_update", passed.clone()).blocked().has(&["review-1.md"]);
    let notes = update("1", "reviewStatus", "completed_pass_with_notes");
    assert_eq!(stage.ok("task_update", notes).text, "ok");
    stage.write("review-1.md", "## Verdict: PASS\n");
    assert_eq!(stage.ok("task_update", passed).text, "ok");
    assert_eq!(stage.state()["tasks"]["1"]["reviewStatus"], "completed_pass");
}

#[test]
fn a14_a_task_is_updated_by_known_fields_only() {
    let stage = with_task();
    for (number, field, value) in
        [("1", "implRetries", "x"), ("9", "implStatus", "completed"), ("1", "files", "x")]
    {
        stage.error("task_update", update(number, field, value));
    }
    assert_eq!(stage.ok("task_update", update("1", "implRetries", "2")).text, "ok");
    assert_eq!(stage.state()["tasks"]["1"]["implRetries"], 2);
    stage.ok("task_update", update("1", "title", "Another title"));
    assert_eq!(stage.state()["tasks"]["1"]["title"], "Another title");
}

#[test]
fn words_that_no_list_has_are_refused() {
    let stage = with_task();
    stage.error("task_update", update("1", "implStatus", "banana"));
    stage.error("task_update", update("1", "reviewStatus", "banana"));
    stage.error("task_update", update("1", "executionMode", "banana"));
    stage.error("phase_log", json!({"phase": "phase-99", "tokens": 1}));
    for name in ["setup", "completed"] {
        stage.error("skip_phase", phase(name));
    }
}

#[test]
fn only_the_current_phase_is_reported() {
    let stage = Stage::begun("L");
    stage.write("design.md", "# D\n\n## A\n");
    stage.write("comprehensive-review.md", "All is well.\n");
    for name in ["phase-3", "phase-7", "final-commit"] {
        stage.error("pipeline_report_result", phase(name));
    }
    stage.is_at("phase-1", "pending");
}

#[test]
fn only_the_current_phase_is_completed() {
    let stage = bare();
    stage.write("comprehensive-review.md", "All is well.\n");
    stage.error("phase_complete", phase("phase-7"));
    stage.error("phase_complete", phase("final-commit"));
    stage.is_at("phase-1", "pending");
}

#[test]
fn a_phase_without_a_content_rule_still_needs_its_artifact_when_it_is_reported() {
    let stage = Stage::begun("M");
    stage.go(json!({}));
    let mut arguments = done();
    arguments["workspace"] = json!(stage.workspace());
    let said = stage.call("pipeline_next_action", arguments);
    assert!(said.is_error, "{}", said.text);
    said.has(&["analysis.md"]);
    stage.is_at("phase-1", "in_progress");
}

#[test]
fn an_answer_where_nobody_was_asked_passes_no_checkpoint() {
    let stage = Stage::begun("M");
    stage.put("checkpoint-a", json!({"currentPhaseStatus": "pending"}));
    let asked = stage.go(answer("proceed"));
    assert_eq!((&asked["type"], &asked["name"]), (&json!("checkpoint"), &json!("checkpoint-a")));
    stage.is_at("checkpoint-a", "awaiting_human");
    stage.go(json!({}));
    let action = stage.go(answer("proceed"));
    assert_eq!(action["phase"], "phase-4", "{action:#}");
}

#[test]
fn a_start_of_implementation_is_let_go_when_there_are_tasks() {
    let stage = Stage::begun("M");
    let members = json!({
        "tasks": {"1": task("sequential", "pending", "pending")},
        "completedPhases": PHASES[..9], "currentPhaseStatus": "pending",
    });
    stage.put("phase-5", members);
    assert_eq!(stage.ok("phase_start", phase("phase-5")).text, "ok");
    stage.is_at("phase-5", "in_progress");
}
