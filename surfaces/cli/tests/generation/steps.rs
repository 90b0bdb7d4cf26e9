//! A scene from its start to its end, by the numbers of its steps.

use regex::Regex;
use serde_json::{Value, json};

use crate::{
    fixtures::{FINAL, KEYS, TITLES, state},
    said::Said,
    stage::{Stage, start_of},
};

const SCENE: &str = "0204";

fn metrics(scene: &str, words: u64, seconds: f64, retries: u64) -> Value {
    json!({
        "scene_id": scene,
        "final_scene_path": FINAL,
        "validation_report_path": "workspace/report.md",
        "word_count": words,
        "total_duration_seconds": seconds,
        "retry_count": retries,
    })
}

fn error(step: usize, message: &str) -> Value {
    json!({
        "scene_id": SCENE, "step_number": step, "error_type": "place", "error_message": message,
        "severity": "HIGH", "retry_count": 1,
    })
}

fn failure(step: usize, reason: &str) -> Value {
    json!({"scene_id": SCENE, "step_number": step, "failure_reason": reason})
}

#[test]
fn a06_a_start_makes_the_state() {
    let stage = Stage::new();
    let blueprint = "acts/act-1/scene-0204-blueprint.md";
    let arguments = json!({"scene_id": SCENE, "blueprint_path": blueprint});
    let said = stage.done("start_generation", arguments);
    said.has(&[
        "✅ GENERATION STARTED: Scene 0204",
        "**Initiated by**: generation-coordinator",
        "Max Attempts: 3",
        blueprint,
        "workspace/generation-state-0204.json",
    ]);
    let state = stage.state(SCENE);
    assert_eq!(state["workflow_status"], "IN_PROGRESS");
    let steps = state["steps"].as_object().unwrap();
    assert!(steps.values().all(|it| it["status"] == "PENDING"), "{steps:?}");
    assert!(steps.keys().all(|it| KEYS.contains(&it.as_str())), "{steps:?}");
    assert_eq!(state["artifacts"], json!({"blueprint_path": blueprint}));
    assert_eq!(state["current_step"], Value::Null);
    assert_eq!(state["current_phase"], "INITIALIZED");
    let attempts = json!({"current_attempt": 0, "max_attempts": 3, "attempts_history": []});
    assert_eq!(state["generation_attempts"], attempts);
    for list in ["user_interactions", "user_questions", "errors"] {
        assert_eq!(state[list], json!([]), "{list}");
    }
    assert_eq!(state["metadata"]["initiated_by"], "generation-coordinator");
    assert_eq!(state["metadata"]["total_duration_seconds"].as_f64(), Some(0.0));
    let session = state["session_id"].as_str().unwrap();
    let form = Regex::new(r"^[0-9]{4}-[0-9]{2}-[0-9]{2}-[0-9]{6}-scene-0204$").unwrap();
    assert!(form.is_match(session), "{session}");
    let started = state["started_at"].as_str().unwrap();
    let moment = format!("{}-{}", &started[..10], started[11..19].replace(':', ""));
    assert_eq!(session, format!("{moment}-scene-0204"), "{started}");
    assert!(started.ends_with('Z'), "{started}");
    said.has(&[session]);
}

#[test]
fn a07_a_second_start_changes_nothing() {
    let stage = Stage::new();
    stage.begin(SCENE);
    let other = json!({"scene_id": SCENE, "blueprint_path": "other.md", "initiated_by": "ann"});
    let said = stage.read("start_generation", other);
    said.has(&["⚠️ WARNING: Generation already in progress", "0204", "IN_PROGRESS"]);
    said.has(&[stage.state(SCENE)["session_id"].as_str().unwrap()]);
}

#[test]
fn a08_the_first_step_is_first_and_is_started_before_it_is_completed() {
    let stage = Stage::new();
    stage.begin(SCENE);
    stage.refused("start_step", start_of(SCENE, 2)).has(&["First step must be"]);
    let done = json!({"scene_id": SCENE, "step_number": 1, "duration_seconds": 1});
    stage.refused("complete_step", done).has(&["not IN_PROGRESS"]);
}

#[test]
fn a09_a_step_that_is_started_again_only_begins_again() {
    let stage = Stage::new();
    stage.begin(SCENE);
    let arguments = json!({
        "scene_id": SCENE, "step_number": 1, "phase_name": "Look at the files",
        "agent_name": "generation-coordinator",
    });
    let mut moments = Vec::new();
    for _ in 0..2 {
        let said = stage.done("start_step", arguments.clone());
        said.has(&["⏳ STEP STARTED", "1/7", "Look at the files", "generation-coordinator"]);
        let state = stage.state(SCENE);
        let step = &state["steps"][KEYS[0]];
        assert_eq!(state["current_step"], 1);
        assert_eq!(state["current_phase"], "Look at the files");
        assert_eq!(step["status"], "IN_PROGRESS");
        assert_eq!(step["phase_name"], "Look at the files");
        assert_eq!(step["agent_used"], "generation-coordinator");
        moments.push(step["started_at"].as_str().unwrap().to_owned());
    }
    assert!(moments[0] < moments[1], "{moments:?}");
}

#[test]
fn a10_a_step_is_completed_once() {
    let stage = Stage::new();
    stage.begin(SCENE);
    stage.start(SCENE, 1);
    let path = "workspace/artifacts/scene-0204-constraints.json";
    let arguments = |seconds: f64| {
        json!({
            "scene_id": SCENE, "step_number": 1, "duration_seconds": seconds,
            "artifacts": {"constraints_list_path": path}, "metadata": {"files": 3},
        })
    };
    let said = stage.done("complete_step", arguments(45.2));
    let artifact = format!("constraints_list_path: {path}");
    said.has(&["✅ STEP COMPLETED", "**Duration**: 45s", &artifact, "1/7", "Blueprint Validation"]);
    let state = stage.state(SCENE);
    let step = &state["steps"]["step_1_file_check"];
    assert_eq!(step["status"], "COMPLETED");
    assert_eq!(step["duration_seconds"], 45.2);
    assert_eq!(step["artifacts"], json!({"constraints_list_path": path}));
    assert_eq!(step["metadata"], json!({"files": 3}));
    assert!(step["completed_at"].as_str().unwrap().ends_with('Z'), "{step}");
    assert_eq!(state["artifacts"]["constraints_list_path"], path);
    assert_eq!(state["artifacts"]["blueprint_path"], "acts/act-1/scene-0204-blueprint.md");
    assert_eq!(state["current_step"], 2);
    assert!(state["metadata"]["total_duration_seconds"].is_number(), "{state:#}");
    let again = stage.read("complete_step", arguments(99.0));
    again.has(&["already COMPLETED", "**Existing duration**: 45s"]);
}

#[test]
fn a11_no_step_is_jumped_over_or_done_twice() {
    let stage = Stage::new();
    stage.begin(SCENE);
    stage.work(SCENE, 1..=1);
    for later in 3..=7 {
        stage.refused("start_step", start_of(SCENE, later)).has(&["Step order violation"]);
    }
    stage.refused("start_step", start_of(SCENE, 1)).has(&["already COMPLETED"]);
    stage.start(SCENE, 2);
    // A step that has begun is not done: the next one has to wait.
    stage.refused("start_step", start_of(SCENE, 3)).has(&["Step order violation"]);
}

#[test]
fn a12_a_whole_run_shows_seven_steps_in_order() {
    let stage = Stage::new();
    stage.begin(SCENE);
    stage.work(SCENE, 1..=7);
    let said = stage.read("get_generation_status", json!({"scene_id": SCENE, "detailed": true}));
    let rows = said.lines("✓");
    assert_eq!(rows.len(), 7, "{}", said.text);
    for (row, title) in rows.iter().zip(TITLES) {
        assert!(row.contains(title) && row.contains("COMPLETED"), "{row}");
    }
    said.has(&["Step 7/7"]);
    assert_eq!(stage.state(SCENE)["current_step"], 7);
}

#[test]
fn a13_a_scene_is_completed_once_with_its_metrics() {
    let stage = Stage::new();
    for (scene, seconds) in [(SCENE, 324.5), ("0205", 299.9)] {
        stage.begin(scene);
        stage.work(scene, 1..=7);
        let said = stage.done("complete_generation", metrics(scene, 2847, seconds, 1));
        said.has(&["2,847 words", "Generation retries: 1/3", "after 1 retry(ies)", "7/7"]);
        if scene == SCENE {
            said.has(&["5m 24s"]).lacks(&["Performance"]);
        } else {
            said.has(&["⚡ Performance: Excellent (4m 59s)"]);
        }
        let state = stage.state(scene);
        let mut kept = metrics(scene, 2847, seconds, 1);
        kept.as_object_mut().unwrap().remove("scene_id");
        assert_eq!(state["completion_metrics"], kept);
        assert_eq!(state["workflow_status"], "COMPLETED");
        assert_eq!(state["current_phase"], "COMPLETED");
        assert_eq!(state["current_step"], 7);
        assert_eq!(state["artifacts"]["final_scene_path"], FINAL);
        assert_eq!(state["artifacts"]["validation_report_path"], "workspace/report.md");
        assert_eq!(state["metadata"]["total_duration_seconds"].as_f64(), Some(seconds));
        assert_eq!(state["metadata"]["final_word_count"], 2847);
        assert_eq!(state["metadata"]["generation_retries"], 1);
        assert!(state["completed_at"].as_str().unwrap().ends_with('Z'));
        let again = stage.read("complete_generation", metrics(scene, 1, 1.0, 0));
        again.has(&["ℹ️ INFO: Generation already COMPLETED"]);
        let shown = again.text.replace("2,847", "2847");
        assert!(shown.contains("2847"), "{shown}");
    }
    stage.begin("0206");
    let said = stage.done("complete_generation", metrics("0206", 100, 400.0, 0));
    said.lacks(&["retry(ies)", "Performance", "7/7 completed"])
        .has(&["Steps not completed", "0/7"]);
}

#[test]
fn a14_errors_are_recorded_one_by_one_and_stop_nothing() {
    let stage = Stage::new();
    stage.begin(SCENE);
    stage.work(SCENE, 1..=3);
    stage.start(SCENE, 4);
    let words = "Found больница, required Башня Книжников";
    stage.done("record_error", error(4, words)).has(&["Error Count: 1 total", words, "HIGH"]);
    stage.done("record_error", error(4, words)).has(&["Error Count: 2 total"]);
    let state = stage.state(SCENE);
    assert_eq!(state["workflow_status"], "IN_PROGRESS");
    assert_eq!(state["steps"][KEYS[3]]["status"], "IN_PROGRESS");
    let errors = state["errors"].as_array().unwrap();
    assert_eq!(errors.len(), 2, "{errors:#?}");
    for entry in errors {
        assert_eq!(entry["step"], 4);
        assert_eq!(entry["step_name"], KEYS[3]);
        assert_eq!(entry["error_type"], "place");
        assert_eq!(entry["message"], words);
        assert_eq!(entry["severity"], "HIGH");
        assert_eq!((&entry["retry_count"], &entry["attempt"]), (&json!(1), &json!(1)));
        assert!(entry["timestamp"].as_str().unwrap().ends_with('Z'), "{entry}");
    }
    let mut severe = error(4, "x");
    severe["severity"] = json!("SEVERE");
    stage.refused("record_error", severe).has(&["severity"]);
}

#[test]
fn a15_a16_a_failure_is_the_end_and_only_its_reason_can_change() {
    let stage = Stage::new();
    stage.begin(SCENE);
    stage.work(SCENE, 1..=3);
    stage.start(SCENE, 4);
    for reason in ["r1 is why", "r2 is why"] {
        let said = stage.done("fail_generation", failure(4, reason));
        said.has(&[reason, "resume_generation(scene_id='0204')", "Prose Generation"]);
        let state = stage.state(SCENE);
        assert_eq!(state["workflow_status"], "FAILED");
        assert_eq!(state["failed_at_step"], 4);
        assert_eq!(state["failure_reason"], reason);
        assert_eq!(state["current_step"], 4);
        assert_eq!(state["steps"][KEYS[3]]["status"], "FAILED");
        assert_eq!(state["steps"][KEYS[2]]["status"], "COMPLETED");
    }
    let first = &stage.state(SCENE)["errors"][0];
    assert_eq!(first["message"], "r1 is why");
    assert_eq!((&first["severity"], &first["terminal"]), (&json!("CRITICAL"), &json!(true)));
    let start = json!({"scene_id": SCENE, "blueprint_path": "b.md"});
    stage.refused("start_generation", start).has(&["already has terminal state: FAILED"]);
    stage.refused("start_step", start_of(SCENE, 4)).has(&["workflow in terminal state: FAILED"]);
}

#[test]
fn the_last_errors_of_a_failure_are_kept_with_step_and_time() {
    let stage = Stage::new();
    stage.begin(SCENE);
    stage.work(SCENE, 1..=3);
    stage.start(SCENE, 4);
    let mut arguments = failure(4, "three times wrong");
    arguments["final_errors"] = json!([
        {"message": "one", "step": 2, "timestamp": "2025-11-03T14:30:45Z"},
        {"error_message": "two", "severity": "HIGH"},
    ]);
    stage.done("fail_generation", arguments).has(&["Error Count: 2 total"]);
    let errors = &stage.state(SCENE)["errors"];
    assert_eq!(errors.as_array().unwrap().len(), 2, "{errors:#}");
    assert_eq!((&errors[0]["message"], &errors[0]["step"]), (&json!("one"), &json!(2)));
    assert_eq!(errors[0]["timestamp"], "2025-11-03T14:30:45Z");
    assert_eq!((&errors[1]["message"], &errors[1]["step"]), (&json!("two"), &json!(4)));
    assert!(errors[1]["timestamp"].is_string(), "{errors:#}");
}

#[test]
fn a27_questions_are_logged_whole_and_shown_short() {
    let stage = Stage::with(&[state("0205", "CANCELLED")]);
    stage.begin(SCENE);
    let question = "я".repeat(250);
    let log = |scene: &str, more: Value| {
        let mut all = json!({"scene_id": scene, "question": question, "answer": "Да."});
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        stage.done("log_question_answer", all)
    };
    let given = json!({"timestamp": "2025-11-03T14:32:15Z"});
    let said = log(SCENE, given);
    said.has(&[&format!("{}...", "я".repeat(200)), "2025-11-03T14:32:15Z", "Total Q&A entries: 1"]);
    said.lacks(&["я".repeat(201).as_str()]);
    log(SCENE, json!({})).has(&["Total Q&A entries: 2"]);
    let state = stage.state(SCENE);
    let entries = &state["user_questions"];
    let first = json!({
        "question": question, "answer": "Да.", "timestamp": "2025-11-03T14:32:15Z",
    });
    assert_eq!(entries[0], first);
    assert_eq!(entries[1]["question"], question.as_str());
    let now = entries[1]["timestamp"].as_str().unwrap();
    assert!(now.ends_with('Z') && state["started_at"].as_str().unwrap() <= now, "{now}");
    log("0205", json!({})).has(&["Total Q&A entries: 1"]);
    assert_eq!(stage.state("0205")["workflow_status"], "CANCELLED");
}

#[test]
fn a34_durations_are_shown_in_whole_seconds_minutes_and_hours() {
    let stage = Stage::new();
    stage.begin(SCENE);
    let shown = [
        (0.0, "0s"),
        (59.9, "59s"),
        (60.0, "1m 0s"),
        (3599.0, "59m 59s"),
        (3600.0, "1h 0m 0s"),
        (3725.0, "1h 2m 5s"),
        (93600.0, "26h 0m 0s"),
    ];
    for (step, (seconds, text)) in (1..).zip(shown) {
        stage.start(SCENE, step);
        let said: Said = stage.complete(SCENE, step, seconds);
        let line = format!("**Duration**: {text}");
        assert!(said.text.lines().any(|it| it == line), "no `{line}` in:\n{}", said.text);
    }
}
