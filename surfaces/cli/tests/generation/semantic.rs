//! The other dialect: steps by name, six of them, with retries and a flag for the end.

use serde_json::{Value, json};

use crate::{
    fixtures::{BEGUN, CHANGED, FINAL, KEYS, NAMES, TITLES, state},
    stage::Stage,
};

const SCENE: &str = "0204";
const PROSE: &str = NAMES[3];

fn step(name: &str, more: &Value) -> Value {
    let mut all = json!({"scene_id": SCENE, "step_name": name});
    all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    all
}

/// A scene whose first steps are done by name.
fn begun(done: usize) -> Stage {
    let stage = Stage::new();
    stage.begin(SCENE);
    for name in &NAMES[..done] {
        stage.done("start_step", step(name, &json!({})));
        stage.done("complete_step", step(name, &json!({"duration_seconds": 10})));
    }
    stage
}

fn status_of(stage: &Stage, number: usize) -> Value {
    stage.state(SCENE)["steps"][KEYS[number - 1]]["status"].clone()
}

#[test]
fn a28_a_scene_is_done_in_six_named_steps() {
    let stage = begun(3);
    let metadata = json!({"agent_name": "prose-writer", "phase_name": "Write", "model": "m"});
    let said = stage.done("start_step", step(PROSE, &json!({"metadata": metadata})));
    said.has(&[
        "⏳ STEP STARTED: scene:gen:draft:prose",
        "4/6",
        "step_name='scene:gen:draft:prose'",
    ]);
    let state = stage.state(SCENE);
    assert_eq!((&state["current_step"], &state["current_phase"]), (&json!(4), &json!("Write")));
    assert_eq!(state["steps"][KEYS[3]]["agent_used"], "prose-writer");
    assert_eq!(state["steps"][KEYS[3]]["model"], "m");
    stage.done("complete_step", step(PROSE, &json!({"duration_seconds": 200.5})));
    let folded = stage.state(SCENE)["steps"][KEYS[4]].clone();
    assert_eq!(folded["status"], "SKIPPED");
    assert_eq!(folded["skipped_reason"], "folded into step 4");
    stage.done("start_step", step(NAMES[4], &json!({})));
    stage.done("complete_step", step(NAMES[4], &json!({"duration_seconds": 60})));
    stage.done("start_step", step(NAMES[5], &json!({})));
    let end = json!({
        "duration_seconds": 5,
        "artifacts": {"final_scene_path": FINAL, "validation_report_path": "r.md"},
        "metadata": {
            "workflow_complete": true, "word_count": 487, "total_duration_seconds": 300,
            "retry_count": 1,
        },
    });
    let said = stage.done("complete_step", step(NAMES[5], &end));
    said.has(&["🎉 WORKFLOW COMPLETE"]);
    let state = stage.state(SCENE);
    assert_eq!(state["workflow_status"], "COMPLETED");
    assert_eq!(state["current_step"], 7);
    assert!(state["completed_at"].is_string(), "{state:#}");
    let metrics = &state["completion_metrics"];
    assert_eq!(metrics["word_count"], 487);
    assert_eq!(metrics["total_duration_seconds"].as_f64(), Some(300.0));
    assert_eq!(metrics["retry_count"], 1);
    assert_eq!(metrics["final_scene_path"], FINAL);
    assert_eq!(metrics["validation_report_path"], "r.md");
    let said = stage.read("get_generation_status", json!({"scene_id": SCENE, "detailed": true}));
    assert_eq!(said.lines("✓").len(), 6, "{}", said.text);
    let row = said.text.lines().find(|it| it.contains(TITLES[4])).unwrap();
    assert!(row.contains("SKIPPED"), "{row}");
    assert_eq!(state["steps"].as_object().unwrap().len(), 7, "{state:#}");
}

#[test]
fn a29_a_step_fails_and_is_tried_again() {
    let stage = begun(3);
    stage.done("start_step", step(PROSE, &json!({})));
    let metadata = json!({"attempt": 1, "severity": "MEDIUM", "terminal": false});
    let fail = step(PROSE, &json!({"failure_reason": "x", "metadata": metadata}));
    let said = stage.done("fail_step", fail);
    said.has(&["**Terminal**: NO (can retry)", "MEDIUM", "Error Count: 1 total", "retry_step"]);
    let state = stage.state(SCENE);
    assert_eq!(state["workflow_status"], "IN_PROGRESS");
    assert_eq!(status_of(&stage, 4), "FAILED");
    let error = &state["errors"][0];
    assert_eq!((&error["step"], &error["step_name"]), (&json!(4), &json!(KEYS[3])));
    assert_eq!((&error["message"], &error["attempt"]), (&json!("x"), &json!(1)));
    let retry = step(PROSE, &json!({"metadata": {"attempt_number": 2}}));
    stage.done("retry_step", retry.clone()).has(&["**Attempt**: 2", "PENDING"]);
    assert_eq!(status_of(&stage, 4), "PENDING");
    let kept = &stage.state(SCENE)["steps"][KEYS[3]]["retry_metadata"];
    assert_eq!(kept, &json!({"attempt_number": 2}));
    stage.refused("retry_step", retry).has(&["not FAILED (status: PENDING)"]);
    let unstarted = step(NAMES[5], &json!({}));
    stage.refused("retry_step", unstarted).has(&["not found in state"]);
    // A word is not a flag.
    stage.done("start_step", step(PROSE, &json!({})));
    let metadata = json!({"terminal": "true"});
    let fail = step(PROSE, &json!({"failure_reason": "y", "metadata": metadata}));
    stage.done("fail_step", fail).has(&["**Terminal**: NO (can retry)"]);
    assert_eq!(stage.state(SCENE)["workflow_status"], "IN_PROGRESS");
}

#[test]
fn a_terminal_failure_ends_the_scene() {
    let stage = begun(3);
    stage.done("start_step", step(PROSE, &json!({})));
    let metadata = json!({"terminal": true, "severity": "CRITICAL"});
    let fail = step(PROSE, &json!({"failure_reason": "no way", "metadata": metadata}));
    let said = stage.done("fail_step", fail.clone());
    said.has(&["**Terminal**: YES", "🚨", "FAILED"]);
    let state = stage.state(SCENE);
    assert_eq!(state["workflow_status"], "FAILED");
    assert_eq!(state["failed_at_step"], 4);
    assert_eq!(state["failure_reason"], "no way");
    assert_eq!(state["errors"][0]["terminal"], true);
    stage.refused("fail_step", fail);
    stage.refused("retry_step", step(PROSE, &json!({}))).has(&["resume_generation"]);
}

#[test]
fn a_retried_step_need_not_be_started_again() {
    let fail = step(PROSE, &json!({"failure_reason": "x"}));
    let retry = step(PROSE, &json!({"metadata": {"attempt_number": 2}}));
    let stage = begun(3);
    stage.done("start_step", step(PROSE, &json!({})));
    for _ in 0..2 {
        stage.done("fail_step", fail.clone());
        stage.done("retry_step", retry.clone());
    }
    stage.done("complete_step", step(PROSE, &json!({"duration_seconds": 90})));
    assert_eq!(status_of(&stage, 4), "COMPLETED");
    assert_eq!(status_of(&stage, 5), "SKIPPED");
    // Without a retry it is as any step that was not started.
    let next = step(NAMES[4], &json!({"failure_reason": "x"}));
    stage.refused("fail_step", next);
}

#[test]
fn retries_beyond_the_limit_are_allowed_with_a_warning() {
    let stage = begun(3);
    for number in 1..=4 {
        stage.done("start_step", step(PROSE, &json!({})));
        let metadata = json!({"attempt": number, "severity": "LOW"});
        let fail = step(PROSE, &json!({"failure_reason": "x", "metadata": metadata}));
        stage.done("fail_step", fail);
        let metadata = json!({"attempt_number": number + 1});
        let said = stage.done("retry_step", step(PROSE, &json!({"metadata": metadata})));
        // Three attempts may be made. The retry after the third may warn of the one to come.
        let warns = said.text.contains('⚠');
        assert!(number == 3 || warns == (3 < number), "retry {number}:\n{}", said.text);
    }
}

#[test]
fn the_flag_ends_a_scene_only_when_nothing_else_is_left() {
    let flag = json!({"duration_seconds": 1, "metadata": {"workflow_complete": true}});
    let stage = begun(0);
    stage.done("start_step", step(NAMES[0], &json!({})));
    let said = stage.refused("complete_step", step(NAMES[0], &flag));
    said.has(&["Cannot complete workflow - steps not completed"]);
    let stage = begun(5);
    stage.done("start_step", step(NAMES[5], &json!({})));
    let word = json!({"duration_seconds": 1, "metadata": {"workflow_complete": "true"}});
    stage.done("complete_step", step(NAMES[5], &word)).lacks(&["🎉"]);
    assert_eq!(stage.state(SCENE)["workflow_status"], "IN_PROGRESS");
}

/// A state as the original's own tools wrote it.
fn written_by_the_original() -> Value {
    let mut state = state(SCENE, "FAILED");
    state["current_step"] = json!(PROSE);
    state["failed_at_step"] = json!(PROSE);
    state["started_at"] = json!("2025-11-03T14:30:45.729092+00:00");
    state["updated_at"] = json!("2025-11-03T14:36:24.000001+00:00");
    let mut steps = json!({});
    for (name, seconds) in NAMES.iter().zip([1, 19, 12]) {
        steps[*name] = json!({
            "status": "COMPLETED", "started_at": BEGUN, "completed_at": CHANGED,
            "duration_seconds": seconds,
        });
    }
    steps[PROSE] = json!({"status": "FAILED", "started_at": BEGUN, "failure_reason": "x"});
    state["steps"] = steps;
    state["errors"] = json!([{"step": PROSE, "timestamp": CHANGED, "message": "x", "attempt": 1}]);
    state
}

#[test]
fn files_of_the_original_are_read_and_written_back_by_number() {
    let stage = Stage::with(&[written_by_the_original()]);
    let detailed = json!({"scene_id": SCENE, "detailed": true});
    let said = stage.read("get_generation_status", detailed);
    said.has(&["Step 4/7"]).has_in_order(&TITLES);
    assert_eq!(said.lines("✓").len(), 3, "{}", said.text);
    assert_eq!(said.value["current_step"], 4);
    // Its timestamps have another form.
    said.has(&["(5m 38s total)"]);
    let plan = stage.read("resume_generation", json!({"scene_id": SCENE}));
    plan.has(&["~32s (Steps 1-3 already completed)", "⚠️ Step 4: Prose Generation (RESUME"]);
    stage.read("list_generations", json!({})).has(&[" 4/7 "]);
    stage.done("resume_generation", json!({"scene_id": SCENE, "confirm": true}));
    let state = stage.state(SCENE);
    assert_eq!(state["current_step"], 4);
    let keys: Vec<&String> = state["steps"].as_object().unwrap().keys().collect();
    assert!(keys.iter().all(|it| KEYS.contains(&it.as_str())), "{keys:?}");
    assert_eq!(state["steps"][KEYS[1]]["duration_seconds"].as_f64(), Some(19.0));
    stage.work(SCENE, 4..=7);
}

#[test]
fn files_of_the_original_that_have_not_begun_a_step_are_read() {
    let mut state = state(SCENE, "IN_PROGRESS");
    state["current_step"] = Value::Null;
    state["current_phase"] = json!("INITIALIZED");
    state["steps"] = json!({});
    let stage = Stage::with(&[state]);
    let said = stage.read("get_generation_status", json!({"scene_id": SCENE}));
    said.has(&["Step 0/7"]);
    stage.read("list_generations", json!({})).has(&[" 0/7 "]);
    stage.start(SCENE, 1);
}
