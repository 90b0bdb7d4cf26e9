//! Where a scene goes on, what that saves, and how it is taken up again.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::{
    fixtures::{BEGUN, CHANGED, FINAL, KEYS, TITLES, all_steps, completed, state},
    said::Said,
    stage::Stage,
};

const SCENE: &str = "0204";

/// A server over one state, changed from how it is usually written.
fn stage(status: &str, change: impl FnOnce(&mut Value)) -> Stage {
    let mut state = state(SCENE, status);
    change(&mut state);
    Stage::with(&[state])
}

fn plan(stage: &Stage) -> Said {
    stage.read("resume_generation", json!({"scene_id": SCENE}))
}

/// Checks the machine's part of a plan.
#[track_caller]
fn goes_on(said: &Said, step: u64, done: &[u64], seconds: f64) {
    assert_eq!(said.value["resume_step"], step, "{:#}", said.value);
    assert_eq!(said.value["completed_steps"], json!(done), "{:#}", said.value);
    assert_eq!(said.value["time_saved_seconds"].as_f64(), Some(seconds), "{:#}", said.value);
    assert!(said.value["warnings"].is_array(), "{:#}", said.value);
}

#[test]
fn a17_a_plan_skips_what_is_done_and_changes_nothing() {
    let stage = stage("FAILED", |_| {});
    let said = plan(&stage);
    let mut parts = Vec::new();
    for (number, seconds) in [(1, "1s"), (2, "19s"), (3, "12s")] {
        let title = TITLES[number - 1];
        parts.push(format!("✓ Step {number}: {title} (SKIP - already completed, {seconds})"));
    }
    parts.push("⚠️ Step 4: Prose Generation (RESUME - was at this step)".to_owned());
    for number in 5..=7 {
        let (title, before) = (TITLES[number - 1], number - 1);
        parts.push(format!("Step {number}: {title} (will run after Step {before})"));
    }
    parts.push("⚡ Time saved: ~32s (Steps 1-3 already completed)".to_owned());
    said.has_in_order(&parts.iter().map(String::as_str).collect::<Vec<_>>());
    said.has(&["the place is wrong", "2025-11-03-143045-scene-0204", BEGUN]);
    goes_on(&said, 4, &[1, 2, 3], 32.0);
    assert_eq!(said.value["workflow_status"], "FAILED");
}

#[test]
fn a18_a_confirmed_plan_takes_the_scene_up_again() {
    let stage = stage("FAILED", |state| state["steps"][KEYS[5]] = completed(95.0));
    let before = stage.state(SCENE);
    let said = stage.done("resume_generation", json!({"scene_id": SCENE, "confirm": true}));
    said.has(&["RESUME - was at this step", "~32s", "IN_PROGRESS", "resume #1"]);
    goes_on(&said, 4, &[1, 2, 3], 32.0);
    let state = stage.state(SCENE);
    assert_eq!(state["workflow_status"], "IN_PROGRESS");
    assert_eq!((&state["current_step"], &state["current_phase"]), (&json!(4), &json!(TITLES[3])));
    for (index, key) in KEYS.iter().enumerate() {
        let step = &state["steps"][key];
        match index {
            0..3 => assert_eq!(step, &before["steps"][key], "{key}"),
            3 => assert_eq!(step["status"], "PENDING", "{key}"),
            // What was never begun may be left out.
            _ => assert!(step.is_null() || step["status"] == "PENDING", "{key}: {step}"),
        }
    }
    assert_eq!(state["steps"][KEYS[5]]["status"], "PENDING");
    for gone in ["failed_at_step", "failure_reason", "cancellation_reason"] {
        assert!(state.get(gone).is_none(), "{gone} is still there: {state:#}");
    }
    let attempts = &state["generation_attempts"];
    assert_eq!(attempts["current_attempt"], 0);
    assert_eq!(attempts["attempts_history"], before["generation_attempts"]["attempts_history"]);
    assert_eq!(state["errors"], before["errors"]);
    let [entry] = state["resume_history"].as_array().unwrap().as_slice() else {
        panic!("{state:#}")
    };
    assert_eq!((&entry["from_step"], &entry["previous_status"]), (&json!(4), &json!("FAILED")));
    assert_eq!((&entry["reason"], &entry["forced"]), (&json!("the place is wrong"), &json!(false)));
    assert!(entry["resumed_at"].as_str().unwrap().ends_with('Z'), "{entry}");
    stage.start(SCENE, 4);
    let state = stage.state(SCENE);
    assert_eq!(state["generation_attempts"]["current_attempt"], 1);
    // It fails and is taken up once more.
    let fail = json!({"scene_id": SCENE, "step_number": 4, "failure_reason": "wrong again"});
    stage.done("fail_generation", fail);
    let said = stage.done("resume_generation", json!({"scene_id": SCENE, "confirm": true}));
    said.has(&["wrong again", "resume #2"]);
    let history = stage.state(SCENE)["resume_history"].clone();
    assert_eq!(history.as_array().unwrap().len(), 2, "{history:#}");
    assert_eq!(history[1]["reason"], "wrong again");
}

#[test]
fn a19_what_is_done_or_running_is_not_resumed_even_by_force() {
    let done = stage("COMPLETED", |_| {});
    let running = stage("IN_PROGRESS", |_| {});
    let cases = [
        (&done, ["already completed", FINAL, CHANGED]),
        (&running, ["is currently running", "Step 4/7", BEGUN]),
    ];
    for (stage, parts) in cases {
        let said = stage.refused("resume_generation", json!({"scene_id": SCENE}));
        said.has(&parts);
        for more in [json!({"force": true}), json!({"force": true, "confirm": true})] {
            let mut arguments = json!({"scene_id": SCENE});
            arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            assert_eq!(stage.refused("resume_generation", arguments).text, said.text);
        }
    }
}

#[test]
fn a20_a_damaged_state_is_resumed_only_by_force() {
    let mut damaged = state(SCENE, "FAILED");
    damaged["current_step"] = json!(9);
    damaged["scene_id"] = json!("0999");
    damaged["workflow_status"] = json!("PAUSED");
    damaged.as_object_mut().unwrap().remove("started_at");
    let stage = Stage::with_text(SCENE, &crate::stage::pretty(&damaged));
    let warnings = [
        "Missing required field: started_at",
        "Scene ID mismatch: expected 0204, got 0999",
        "Invalid workflow_status: PAUSED",
        "Invalid current_step: 9 (must be 1-7)",
    ];
    let said = plan(&stage);
    said.has_in_order(&["⚠️ WARNING: State validation issues for scene 0204"]);
    said.has_in_order(&warnings).has(&["force=True"]).lacks(&["RESUME - was at this step"]);
    let forced = json!({"scene_id": SCENE, "force": true});
    let said = stage.read("resume_generation", forced);
    said.has_in_order(&["RESUME - was at this step", "⚠️ Warnings"]);
    said.has_in_order(&warnings);
    goes_on(&said, 4, &[1, 2, 3], 32.0);
    let told = said.value["warnings"].to_string();
    assert!(warnings.iter().all(|it| told.contains(it)), "{told}");
    // A status is shown all the same.
    stage.read("get_generation_status", json!({"scene_id": SCENE}));
}

#[test]
fn damage_is_told_before_anything_else_and_no_step_at_all_is_none() {
    let nowhere = stage("CANCELLED", |state| state["current_step"] = Value::Null);
    plan(&nowhere).has(&["RESUME - was at this step"]);
    let done = stage("COMPLETED", |state| state["current_step"] = json!(0));
    plan(&done)
        .has(&["Invalid current_step: 0", "get_generation_status"])
        .lacks(&["already completed", "force=True"]);
    let not_found = stage("FAILED", |state| state["workflow_status"] = json!("NOT_FOUND"));
    plan(&not_found).has(&["Invalid workflow_status: NOT_FOUND"]);
    let bare = Stage::with_text(SCENE, "{}");
    let fields = ["scene_id", "workflow_status", "current_step", "started_at"];
    let missing = fields.map(|it| format!("Missing required field: {it}"));
    plan(&bare).has_in_order(&missing.each_ref().map(String::as_str));
}

#[test]
fn a_step_that_is_missing_is_not_jumped_over() {
    let stage = stage("FAILED", |state| {
        let steps = state["steps"].as_object_mut().unwrap();
        steps.remove(KEYS[1]);
    });
    let said = plan(&stage);
    said.has_in_order(&[
        "✓ Step 1: File System Check (SKIP - already completed, 1s)",
        "⚠️ Step 2: Blueprint Validation (RESUME - was at this step)",
        "Step 3: Verification Plan (will run after Step 2)",
        "Step 4: Prose Generation (will run after Step 3)",
        "⚡ Time saved: ~1s (Steps 1-1 already completed)",
    ]);
    goes_on(&said, 2, &[1], 1.0);
    stage.done("resume_generation", json!({"scene_id": SCENE, "confirm": true}));
    let state = stage.state(SCENE);
    assert_eq!(state["current_step"], 2);
    // What came after the gap is done again.
    assert_eq!(state["steps"][KEYS[2]]["status"], "PENDING");
    stage.start(SCENE, 2);
}

#[test]
fn with_nothing_done_nothing_is_saved() {
    let stage = stage("CANCELLED", |state| {
        state["steps"] = json!({});
        state["current_step"] = Value::Null;
    });
    let said = plan(&stage);
    said.has(&["⚡ Time saved: ~0s (Steps none-none already completed)"]);
    said.has(&["⚠️ Step 1: File System Check (RESUME - was at this step)"]);
    goes_on(&said, 1, &[], 0.0);
}

#[test]
fn a_skipped_step_is_not_needed() {
    let stage = stage("FAILED", |state| {
        state["steps"][KEYS[3]] = completed(180.0);
        state["steps"][KEYS[4]] = json!({"status": "SKIPPED"});
        state["current_step"] = json!(6);
        state["failed_at_step"] = json!(6);
    });
    let said = plan(&stage);
    said.has_in_order(&[
        "✓ Step 5: Fast Compliance Check (SKIP - not needed)",
        "⚠️ Step 6: Full Validation (RESUME - was at this step)",
    ]);
    said.has(&["~3m 32s"]);
    assert_eq!(said.value["resume_step"], 6);
    assert_eq!(said.value["time_saved_seconds"].as_f64(), Some(212.0));
}

#[test]
fn with_all_done_only_the_end_is_missing() {
    let stage = stage("FAILED", |state| {
        state["steps"] = all_steps();
        state["current_step"] = json!(7);
    });
    let said = plan(&stage);
    said.has(&["All steps are completed: call complete_generation to finish."]);
    said.lacks(&["RESUME - was at this step"]);
    assert_eq!(said.value["completed_steps"], json!([1, 2, 3, 4, 5, 6, 7]));
}

#[test]
fn the_reason_is_the_last_word_on_it() {
    let errors = json!([
        {"step": 4, "timestamp": CHANGED, "message": "first error"},
        {"step_name": KEYS[3], "timestamp": CHANGED, "error_message": "last error"},
    ]);
    let all = ["why it failed", "last error", "why it was cancelled", "Unknown"];
    for (known, wanted) in all.iter().enumerate() {
        let stage = stage("FAILED", |state| {
            state["errors"] = if known < 2 { errors.clone() } else { json!([]) };
            state["cancellation_reason"] = json!("why it was cancelled");
            state["failure_reason"] = json!("why it failed");
            let state = state.as_object_mut().unwrap();
            if 0 < known {
                state.remove("failure_reason");
            }
            if 2 < known {
                state.remove("cancellation_reason");
            }
        });
        let said = plan(&stage);
        said.has(&[wanted]).lacks(&["first error"]);
        for other in all.iter().filter(|it| it != &wanted) {
            said.lacks(&[other]);
        }
    }
}

#[test]
fn an_old_state_is_resumed_with_a_warning() {
    let now = Timestamp::now();
    for (hours, is_old) in [(23, false), (30, true)] {
        let then = now - SignedDuration::from_hours(hours) - SignedDuration::from_mins(20);
        let stage = stage("FAILED", |state| state["updated_at"] = json!(then.to_string()));
        let said = plan(&stage);
        let warning = format!("State is {hours}h old");
        assert_eq!(said.text.contains(&warning), is_old, "{}", said.text);
        assert_eq!(said.value["warnings"].to_string().contains(&warning), is_old);
        said.has(&["RESUME - was at this step"]);
    }
}

#[test]
fn a_scene_that_waits_for_approval_is_resumed_only_by_force() {
    let stage = stage("WAITING_USER_APPROVAL", |_| {});
    for more in [json!(false), json!(true)] {
        let arguments = json!({"scene_id": SCENE, "confirm": more});
        let said = stage.refused("resume_generation", arguments);
        said.has(&["Scene 0204 is waiting for user approval", "Step 3/7", TITLES[2]]);
    }
    let said = stage.read("resume_generation", json!({"scene_id": SCENE, "force": true}));
    goes_on(&said, 3, &[1, 2], 20.0);
    let forced = json!({"scene_id": SCENE, "force": true, "confirm": true});
    stage.done("resume_generation", forced).has(&["resume #1"]);
    let state = stage.state(SCENE);
    assert_eq!(state["workflow_status"], "IN_PROGRESS");
    let entry = &state["resume_history"][0];
    assert_eq!(entry["previous_status"], "WAITING_USER_APPROVAL");
    assert_eq!((&entry["from_step"], &entry["forced"]), (&json!(3), &json!(true)));
}

#[test]
fn the_server_resumes_what_it_wrote_itself() {
    let stage = Stage::new();
    stage.begin(SCENE);
    stage.work(SCENE, 1..=3);
    stage.start(SCENE, 4);
    stage.done("cancel_generation", json!({"scene_id": SCENE, "reason": "lunch"}));
    let stage = stage.restart();
    let said = plan(&stage);
    said.has(&["lunch", "~6s"]);
    goes_on(&said, 4, &[1, 2, 3], 6.0);
    stage.done("resume_generation", json!({"scene_id": SCENE, "confirm": true}));
    let stage = stage.restart();
    stage.work(SCENE, 4..=7);
    let entry = &stage.state(SCENE)["resume_history"][0];
    assert_eq!(
        (&entry["previous_status"], &entry["reason"]),
        (&json!("CANCELLED"), &json!("lunch"))
    );
}
