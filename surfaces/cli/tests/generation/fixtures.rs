//! States as a person or an agent writes them by hand, in the numbered form.

use serde_json::{Value, json};

pub(crate) const KEYS: [&str; 7] = [
    "step_1_file_check",
    "step_2_blueprint_validation",
    "step_3_verification_plan",
    "step_4_generation",
    "step_5_fast_compliance",
    "step_6_full_validation",
    "step_7_final_output",
];

pub(crate) const TITLES: [&str; 7] = [
    "File System Check",
    "Blueprint Validation",
    "Verification Plan",
    "Prose Generation",
    "Fast Compliance Check",
    "Full Validation",
    "Final Output",
];

/// The names of steps 1, 2, 3, 4, 6 and 7 in the other dialect.
pub(crate) const NAMES: [&str; 6] = [
    "scene:gen:setup:files",
    "scene:gen:setup:blueprint",
    "scene:gen:setup:plan",
    "scene:gen:draft:prose",
    "scene:gen:review:validation",
    "scene:gen:publish:output",
];

pub(crate) const STATUSES: [&str; 5] =
    ["IN_PROGRESS", "WAITING_USER_APPROVAL", "FAILED", "CANCELLED", "COMPLETED"];

pub(crate) const BEGUN: &str = "2025-11-03T14:30:45Z";
pub(crate) const CHANGED: &str = "2025-11-03T14:36:24Z";
pub(crate) const DRAFT: &str = "workspace/artifacts/scene-0204/draft.md";
pub(crate) const FINAL: &str = "acts/act-1/content/scene-0204.md";

/// Seconds that the steps of a state took.
pub(crate) const SECONDS: [f64; 7] = [1.0, 19.0, 12.0, 180.0, 8.0, 95.0, 6.0];

/// Returns a scene in one of the five statuses.
pub(crate) fn state(scene: &str, status: &str) -> Value {
    let mut state = running(scene);
    state["workflow_status"] = json!(status);
    match status {
        "IN_PROGRESS" => {}
        "WAITING_USER_APPROVAL" => {
            at(&mut state, 3, "IN_PROGRESS");
            let entry = json!({"step": 3, "timestamp": CHANGED, "action": "REQUESTED"});
            state["user_interactions"] = json!([entry]);
            state["generation_attempts"] = attempts(0, json!([]));
        }
        "FAILED" => {
            at(&mut state, 4, "FAILED");
            let error = json!({"step": 4, "timestamp": CHANGED, "message": "the place is wrong"});
            state["errors"] = json!([error]);
            state["failed_at_step"] = json!(4);
            state["failure_reason"] = json!("the place is wrong");
            let attempt = json!({
                "attempt": 1, "started_at": BEGUN, "completed_at": CHANGED, "status": "FAILED",
                "error": "the place is wrong",
            });
            state["generation_attempts"] = attempts(1, json!([attempt]));
        }
        "CANCELLED" => {
            at(&mut state, 4, "PENDING");
            state["cancellation_reason"] = json!("the blueprint has an error");
            state["cancelled_at"] = json!(CHANGED);
            state["cancelled_from"] = json!("IN_PROGRESS");
        }
        "COMPLETED" => complete(&mut state),
        _ => panic!("there is no status {status}"),
    }
    state
}

/// A scene whose prose is being written.
fn running(scene: &str) -> Value {
    let attempt = json!({"attempt": 1, "started_at": BEGUN, "status": "IN_PROGRESS"});
    let mut state = json!({
        "scene_id": scene,
        "session_id": format!("2025-11-03-143045-scene-{scene}"),
        "started_at": BEGUN,
        "updated_at": CHANGED,
        "workflow_status": "IN_PROGRESS",
        "steps": {},
        "generation_attempts": attempts(1, json!([attempt])),
        "artifacts": {
            "blueprint_path": format!("acts/act-1/scene-{scene}-blueprint.md"),
            "draft_path": DRAFT,
        },
        "user_interactions": [],
        "user_questions": [],
        "errors": [],
        "metadata": {"initiated_by": "generation-coordinator", "total_duration_seconds": 32},
    });
    at(&mut state, 4, "IN_PROGRESS");
    state
}

/// Puts a state at a step, which has `status`; those before it are completed.
pub(crate) fn at(state: &mut Value, step: usize, status: &str) {
    let mut steps = json!({});
    for index in 0..step - 1 {
        steps[KEYS[index]] = completed(SECONDS[index]);
    }
    steps[KEYS[step - 1]] = json!({"status": status, "started_at": BEGUN});
    state["steps"] = steps;
    state["current_step"] = json!(step);
    state["current_phase"] = json!(TITLES[step - 1]);
}

/// Returns a completed step.
pub(crate) fn completed(seconds: f64) -> Value {
    json!({
        "status": "COMPLETED",
        "started_at": BEGUN,
        "completed_at": CHANGED,
        "duration_seconds": seconds,
    })
}

/// Returns the steps of a scene of which all are completed.
pub(crate) fn all_steps() -> Value {
    let mut steps = json!({});
    for (key, seconds) in KEYS.iter().zip(SECONDS) {
        steps[*key] = completed(seconds);
    }
    steps
}

fn complete(state: &mut Value) {
    state["steps"] = all_steps();
    state["current_step"] = json!(7);
    state["current_phase"] = json!("COMPLETED");
    state["completed_at"] = json!(CHANGED);
    state["artifacts"]["final_scene_path"] = json!(FINAL);
    state["artifacts"]["validation_report_path"] = json!("workspace/report.md");
    state["completion_metrics"] = json!({
        "final_scene_path": FINAL,
        "validation_report_path": "workspace/report.md",
        "word_count": 2847,
        "total_duration_seconds": 321,
        "retry_count": 0,
    });
    let attempt =
        json!({"attempt": 1, "started_at": BEGUN, "completed_at": CHANGED, "status": "SUCCESS"});
    state["generation_attempts"] = attempts(1, json!([attempt]));
}

fn attempts(current: u64, history: Value) -> Value {
    let mut attempts = json!({"current_attempt": current, "max_attempts": 3});
    attempts["attempts_history"] = history;
    attempts
}
