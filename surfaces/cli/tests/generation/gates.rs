//! Attempts at the prose, the way back from the fast check, and the approval at step 3.

use serde_json::{Value, json};

use crate::{
    fixtures::KEYS,
    project::Project,
    stage::{Stage, start_of},
};

const SCENE: &str = "0204";

fn begun(done: usize) -> Stage {
    let stage = Stage::new();
    stage.begin(SCENE);
    stage.work(SCENE, 1..=done);
    stage
}

fn record_error(stage: &Stage, step: usize, message: &str) {
    let arguments = json!({
        "scene_id": SCENE, "step_number": step, "error_type": "place", "error_message": message,
        "severity": "MEDIUM",
    });
    stage.done("record_error", arguments);
}

/// Returns the number of the attempt, and how each so far ended.
fn attempts(stage: &Stage) -> (u64, Vec<String>) {
    let attempts = stage.state(SCENE)["generation_attempts"].clone();
    assert_eq!(attempts["max_attempts"], 3);
    let history = attempts["attempts_history"].as_array().unwrap();
    for (number, it) in (1..).zip(history) {
        assert_eq!(it["attempt"], number, "{attempts:#}");
        assert!(it["started_at"].is_string(), "{attempts:#}");
        let is_over = it["status"] != "IN_PROGRESS";
        assert_eq!(it["completed_at"].is_string(), is_over, "{attempts:#}");
        assert_eq!(it["error"].is_string(), it["status"] == "FAILED", "{attempts:#}");
    }
    let statuses = history.iter().map(|it| it["status"].as_str().unwrap().to_owned()).collect();
    (attempts["current_attempt"].as_u64().unwrap(), statuses)
}

fn expect(stage: &Stage, current: u64, statuses: &[&str]) {
    assert_eq!(attempts(stage), (current, statuses.iter().map(|it| (*it).to_owned()).collect()));
}

#[test]
fn an_attempt_is_opened_by_a_start_and_closed_by_how_it_ends() {
    let stage = begun(3);
    expect(&stage, 0, &[]);
    stage.start(SCENE, 4);
    expect(&stage, 1, &["IN_PROGRESS"]);
    // One that is open already is not another.
    stage.start(SCENE, 4);
    expect(&stage, 1, &["IN_PROGRESS"]);
    record_error(&stage, 4, "the place is wrong");
    expect(&stage, 1, &["FAILED"]);
    let history = stage.state(SCENE)["generation_attempts"]["attempts_history"].clone();
    assert_eq!(history[0]["error"], "the place is wrong");
    stage.start(SCENE, 4);
    expect(&stage, 2, &["FAILED", "IN_PROGRESS"]);
    let fail = json!({"scene_id": SCENE, "step_number": 4, "failure_reason": "again"});
    stage.done("fail_step", fail);
    expect(&stage, 2, &["FAILED", "FAILED"]);
    stage.start(SCENE, 4);
    stage.complete(SCENE, 4, 100.0);
    expect(&stage, 3, &["FAILED", "FAILED", "SUCCESS"]);
    let said = stage.read("get_generation_status", json!({"scene_id": SCENE}));
    said.has(&["3/3"]);
}

#[test]
fn a_failed_generation_closes_its_attempt() {
    let stage = begun(3);
    stage.start(SCENE, 4);
    let fail = json!({"scene_id": SCENE, "step_number": 4, "failure_reason": "no more"});
    stage.done("fail_generation", fail);
    expect(&stage, 1, &["FAILED"]);
}

#[test]
fn attempts_beyond_the_limit_are_allowed_with_a_warning() {
    let stage = begun(3);
    for number in 1..=4 {
        let said = stage.start(SCENE, 4);
        assert_eq!(said.text.contains('⚠'), 3 < number, "attempt {number}:\n{}", said.text);
        record_error(&stage, 4, "still wrong");
    }
    expect(&stage, 4, &["FAILED"; 4]);
}

#[test]
fn errors_of_other_steps_close_no_attempt() {
    let stage = begun(2);
    stage.start(SCENE, 3);
    record_error(&stage, 3, "the plan is thin");
    expect(&stage, 0, &[]);
}

#[test]
fn a30_the_fast_check_sends_the_prose_back_until_it_gives_up() {
    let stage = begun(4);
    for attempt in 1..=3 {
        expect(&stage, attempt, &[&["FAILED"; 2][..attempt_index(attempt)], &["SUCCESS"]].concat());
        stage.start(SCENE, 5);
        record_error(&stage, 5, "the blueprint is not kept");
        expect(&stage, attempt, &["FAILED"; 3][..attempt_index(attempt) + 1]);
        if attempt < 3 {
            stage.start(SCENE, 4);
            let state = stage.state(SCENE);
            assert_eq!(state["steps"][KEYS[3]]["status"], "IN_PROGRESS");
            assert_eq!(state["steps"][KEYS[4]]["status"], "PENDING");
            assert_eq!(state["current_step"], 4);
            assert_eq!(state["generation_attempts"]["current_attempt"], attempt + 1);
            // The check has to be made again, after the prose.
            stage.refused("start_step", start_of(SCENE, 5)).has(&["Step order violation"]);
            stage.complete(SCENE, 4, 60.0);
        }
    }
    let fail = json!({"scene_id": SCENE, "step_number": 4, "failure_reason": "3/3"});
    stage.done("fail_generation", fail);
    let state = stage.state(SCENE);
    assert_eq!(
        (&state["workflow_status"], &state["failed_at_step"]),
        (&json!("FAILED"), &json!(4))
    );
    expect(&stage, 3, &["FAILED"; 3]);
}

fn attempt_index(attempt: u64) -> usize {
    usize::try_from(attempt).unwrap() - 1
}

#[test]
fn there_is_no_way_back_but_from_the_fast_check() {
    // Not before the check has begun.
    let stage = begun(4);
    stage.refused("start_step", start_of(SCENE, 4)).has(&["already COMPLETED"]);
    // A check that failed as a step sends back too.
    stage.start(SCENE, 5);
    let fail = json!({"scene_id": SCENE, "step_number": 5, "failure_reason": "too long"});
    stage.done("fail_step", fail);
    stage.start(SCENE, 4);
    stage.complete(SCENE, 4, 60.0);
    // Not once it was passed.
    stage.work(SCENE, 5..=5);
    stage.refused("start_step", start_of(SCENE, 4)).has(&["already COMPLETED"]);
    // And from nowhere else.
    stage.start(SCENE, 6);
    for earlier in 1..=5 {
        stage.refused("start_step", start_of(SCENE, earlier)).has(&["already COMPLETED"]);
    }
}

/// A scene that waits for a person at step 3.
fn waiting() -> Stage {
    let stage = begun(2);
    let mut start = start_of(SCENE, 3);
    start["awaiting_approval"] = json!(true);
    stage.done("start_step", start).has(&["STEP STARTED", "Verification Plan"]);
    let state = stage.state(SCENE);
    assert_eq!(state["workflow_status"], "WAITING_USER_APPROVAL");
    assert_eq!((&state["current_step"], interactions(&state)), (&json!(3), 1));
    stage
}

/// Returns how many interactions a state has, each with its step and time.
fn interactions(state: &Value) -> usize {
    let entries = state["user_interactions"].as_array().unwrap();
    for entry in entries {
        assert!(entry["timestamp"].as_str().is_some_and(|it| it.ends_with('Z')), "{entry}");
        assert!(entry.as_object().unwrap().len() > 1, "{entry}");
    }
    entries.len()
}

#[test]
fn an_approval_is_waited_for_and_ends_the_step() {
    let stage = waiting();
    let status = stage.read("get_generation_status", json!({"scene_id": SCENE}));
    status.has(&["WAITING_USER_APPROVAL", "Step 3/7"]);
    for later in 4..=7 {
        stage.refused("start_step", start_of(SCENE, later));
    }
    stage.done(
        "log_question_answer",
        json!({"scene_id": SCENE, "question": "Approve the plan?", "answer": "Y"}),
    );
    assert_eq!(stage.state(SCENE)["workflow_status"], "WAITING_USER_APPROVAL");
    stage.complete(SCENE, 3, 12.0);
    let state = stage.state(SCENE);
    assert_eq!(state["workflow_status"], "IN_PROGRESS");
    assert_eq!(state["steps"][KEYS[2]]["status"], "COMPLETED");
    assert_eq!((&state["current_step"], interactions(&state)), (&json!(4), 2));
    stage.start(SCENE, 4);
}

#[test]
fn a_request_for_changes_takes_the_step_up_again() {
    let stage = waiting();
    stage.start(SCENE, 3);
    let state = stage.state(SCENE);
    assert_eq!(state["workflow_status"], "IN_PROGRESS");
    assert_eq!(state["steps"][KEYS[2]]["status"], "IN_PROGRESS");
    assert_eq!(interactions(&state), 2);
    let mut start = start_of(SCENE, 3);
    start["awaiting_approval"] = json!(true);
    stage.done("start_step", start);
    let state = stage.state(SCENE);
    assert_eq!(state["workflow_status"], "WAITING_USER_APPROVAL");
    assert_eq!(interactions(&state), 3);
}

#[test]
fn a_rejection_cancels_or_fails_the_scene() {
    let terminal = json!({
        "scene_id": SCENE, "step_number": 3, "failure_reason": "not like this",
        "metadata": {"terminal": true, "severity": "CRITICAL"},
    });
    let ways = [
        ("cancel_generation", json!({"scene_id": SCENE, "reason": "not like this"}), "CANCELLED"),
        ("fail_step", terminal, "FAILED"),
    ];
    for (tool, arguments, status) in ways {
        let stage = waiting();
        stage.done(tool, arguments);
        let state = stage.state(SCENE);
        assert_eq!(state["workflow_status"], status);
        assert_eq!(interactions(&state), 2, "{tool}");
        let plan = stage.read("resume_generation", json!({"scene_id": SCENE}));
        plan.has(&["not like this"]);
        assert_eq!(plan.value["resume_step"], 3);
    }
}

#[test]
fn what_the_user_wants_changed_is_in_every_answer_until_they_are_asked_again() {
    let stage = waiting();
    let wish = "the tower, not the hospital";
    stage.project.ask(&["gate", "reject", SCENE, "--yes", "--feedback", wish]);
    let again = "start_step(scene_id='0204', step_number=3, awaiting_approval=True)";
    stage.read("get_generation_status", json!({"scene_id": SCENE})).has(&[wish, again]);
    stage.done("start_step", start_of(SCENE, 3)).has(&[wish, again]);
    let done = json!({"scene_id": SCENE, "step_number": 3, "duration_seconds": 1});
    stage.done("complete_step", done.clone()).has(&["Ask the user to approve"]);
    stage.refused("start_step", start_of(SCENE, 4)).has(&["waiting for user approval"]);
    stage.done("complete_step", done);
    stage.start(SCENE, 4);
}

#[test]
fn only_the_third_step_waits_for_approval() {
    let stage = begun(3);
    let mut start = start_of(SCENE, 4);
    start["awaiting_approval"] = json!(true);
    stage.refused("start_step", start).has(&["awaiting_approval"]);
}

#[test]
fn where_only_a_persons_answer_counts_every_answer_says_who_gives_it() {
    let stage = Stage::over(Project::new().with("MILEPOST_GATES_ANSWERS", "verified"));
    stage.begin(SCENE);
    stage.work(SCENE, 1..=2);
    stage.start(SCENE, 3);
    let person = "tell them to run `milepost gate`";
    stage.complete(SCENE, 3, 1.0).has(&[person, "start_step"]);
    stage.refused("start_step", start_of(SCENE, 4)).has(&[person, "start_step"]);
    stage.refused("resume_generation", json!({"scene_id": SCENE})).has(&[person]);
    stage.project.ask(&["gate", "approve", SCENE, "--yes"]);
    stage.start(SCENE, 4);
}
