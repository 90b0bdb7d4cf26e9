//! States that nobody would write by the book, and calls that come twice or late.

use std::fs;

use serde_json::{Value, json};

use crate::{
    fixtures::{KEYS, SECONDS, state},
    stage::{Stage, start_of},
};

const SCENE: &str = "0204";

fn scene() -> Value {
    json!({"scene_id": SCENE})
}

fn done(number: usize) -> Value {
    json!({"status": "COMPLETED", "duration_seconds": SECONDS[number - 1]})
}

#[test]
fn a_plan_that_is_done_and_waits_is_approved_by_completing_it() {
    let mut waits = state(SCENE, "WAITING_USER_APPROVAL");
    waits["steps"][KEYS[2]] = done(3);
    let stage = Stage::with(&[waits]);
    stage.read("get_generation_status", scene()).has(&["WAITING_USER_APPROVAL"]);
    stage.refused("start_step", start_of(SCENE, 4)).has(&["waiting for user approval"]);
    stage.complete(SCENE, 3, 12.0);
    assert_eq!(stage.state(SCENE)["workflow_status"], "IN_PROGRESS");
    stage.start(SCENE, 4);
}

#[test]
fn a_scene_that_waits_where_nobody_is_asked_can_still_be_used() {
    let mut waits = state(SCENE, "WAITING_USER_APPROVAL");
    waits["current_step"] = json!(5);
    for number in 1..=4 {
        waits["steps"][KEYS[number - 1]] = done(number);
    }
    let stage = Stage::with(&[waits]);
    stage.read("get_generation_status", scene()).has(&["Step 5/7"]);
    stage.read("list_generations", json!({})).lacks(&["corrupted"]);
    stage.start(SCENE, 5);
}

#[test]
fn a_copy_from_before_does_not_undo_what_was_written_since() {
    let stage = Stage::new();
    stage.begin(SCENE);
    let log = |text: &str| json!({"scene_id": SCENE, "question": text, "answer": "a"});
    stage.done("log_question_answer", log("one"));
    let old = stage.bytes(SCENE);
    stage.done("log_question_answer", log("two"));
    fs::write(stage.path(SCENE), &old).unwrap();
    let said = stage.call("get_generation_status", scene());
    said.has(&["older state", "workspace/backups/"]);
    assert_eq!(stage.state(SCENE)["user_questions"].as_array().unwrap().len(), 2);
    let kept = fs::read_dir(stage.project.path("workspace/backups")).unwrap().next();
    assert_eq!(fs::read(kept.unwrap().unwrap().path()).unwrap(), old);
}

#[test]
fn nobody_is_said_to_have_approved_who_was_not_asked() {
    let stage = Stage::new();
    stage.begin(SCENE);
    stage.work(SCENE, 1..=3);
    assert_eq!(stage.state(SCENE)["user_interactions"], json!([]));
}

#[test]
fn a_second_failure_adds_its_errors_and_leaves_the_place() {
    let stage = Stage::new();
    stage.begin(SCENE);
    stage.work(SCENE, 1..=3);
    let fail = |step: u64, errors: Value| {
        let mut call = json!({"scene_id": SCENE, "step_number": step, "failure_reason": "r"});
        call["final_errors"] = errors;
        call
    };
    stage.done("fail_generation", fail(4, json!([])));
    let said = stage.done("fail_generation", fail(6, json!([{"message": "late"}])));
    said.has(&["Step 4 - Prose Generation", "Error Count: 2 total"]);
    let state = stage.state(SCENE);
    assert_eq!(state["failed_at_step"], 4);
    assert_eq!(state["errors"][1]["message"], "late");
}

#[test]
fn a_retry_of_the_prose_is_an_attempt_and_a_cancelled_one_is_over() {
    let stage = Stage::new();
    stage.begin(SCENE);
    stage.work(SCENE, 1..=3);
    stage.start(SCENE, 4);
    let fail = json!({"scene_id": SCENE, "step_number": 4, "failure_reason": "r"});
    stage.done("fail_step", fail);
    stage.done("retry_step", json!({"scene_id": SCENE, "step_number": 4}));
    assert_eq!(stage.state(SCENE)["generation_attempts"]["current_attempt"], 2);
    stage.done("cancel_generation", scene());
    stage.done("resume_generation", json!({"scene_id": SCENE, "confirm": true}));
    stage.start(SCENE, 4);
    let attempts = &stage.state(SCENE)["generation_attempts"];
    assert_eq!(attempts["current_attempt"], 1);
    let history: Vec<&Value> =
        attempts["attempts_history"].as_array().unwrap().iter().map(|it| &it["status"]).collect();
    assert_eq!(history, ["FAILED", "CANCELLED", "IN_PROGRESS"]);
}

#[test]
fn a_long_state_is_taken_like_a_short_one() {
    let mut long = state(SCENE, "FAILED");
    long["notes"] = json!("ж".repeat(700_000));
    let stage = Stage::with(&[long]);
    stage.read("get_generation_status", scene()).has(&["Step 4/7"]);
    stage.done("cancel_generation", scene());
}

#[test]
fn a_step_that_was_passed_over_can_be_made_up_for() {
    let mut gap = state(SCENE, "IN_PROGRESS");
    gap["steps"][KEYS[0]] = json!({"status": "PENDING"});
    let stage = Stage::with(&[gap]);
    stage.start(SCENE, 1);
    stage.complete(SCENE, 1, 1.0);
}

#[test]
fn a_time_beyond_all_measure_is_not_shown_as_none() {
    let stage = Stage::new();
    stage.begin(SCENE);
    stage.start(SCENE, 1);
    stage.complete(SCENE, 1, 1e300).lacks(&["**Duration**: 0s"]);
}
