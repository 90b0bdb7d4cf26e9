//! How a scene is given up, and begun again.

use serde_json::json;

use crate::{
    fixtures::{CHANGED, DRAFT, KEYS, state},
    stage::{Stage, place},
};

const SCENE: &str = "0204";

#[test]
fn a22_a_cancelled_scene_keeps_its_work_and_the_reason() {
    let stage = Stage::with(&[state(SCENE, "IN_PROGRESS")]);
    let arguments = json!({"scene_id": SCENE, "reason": "Blueprint has error"});
    let said = stage.done("cancel_generation", arguments.clone());
    said.has_in_order(&[
        "Previous status: IN_PROGRESS (Step 4/7)",
        "✓ Step 1: File System Check (1s)",
        "✓ Step 2: Blueprint Validation (19s)",
        "✓ Step 3: Verification Plan (12s)",
        "⏳ Step 4: Prose Generation (",
        "INTERRUPTED)",
        "📝 Cancellation reason: Blueprint has error",
        "acts/act-1/scene-0204-blueprint.md",
        DRAFT,
    ]);
    assert_eq!(said.lines("✓ Step").len(), 3, "{}", said.text);
    let interrupted = said.lines("⏳")[0];
    // It is timed until now, and has run since 2025.
    assert!(!interrupted.contains("(0s"), "{interrupted}");
    let state = stage.state(SCENE);
    assert_eq!(state["workflow_status"], "CANCELLED");
    assert_eq!(state["cancellation_reason"], "Blueprint has error");
    assert_eq!(state["cancelled_from"], "IN_PROGRESS");
    assert!(state["cancelled_at"].as_str().unwrap().ends_with('Z'));
    let step = &state["steps"][KEYS[3]];
    assert_eq!(step["status"], "PENDING");
    assert!(step["interrupted_at"].as_str().unwrap().ends_with('Z'), "{step}");
    let again = stage.refused("cancel_generation", arguments);
    again.has(&["already cancelled", "Blueprint has error"]);
}

#[test]
fn a22_without_a_reason_one_is_kept_and_none_is_shown() {
    let stage = Stage::with(&[state(SCENE, "IN_PROGRESS")]);
    let said = stage.done("cancel_generation", json!({"scene_id": SCENE, "reason": null}));
    said.lacks(&["📝"]);
    assert_eq!(stage.state(SCENE)["cancellation_reason"], "User requested cancellation");
    let again = stage.refused("cancel_generation", json!({"scene_id": SCENE}));
    again.has(&["already cancelled", "User requested cancellation"]);
}

#[test]
fn a23_what_is_completed_is_not_cancelled_and_a_reason_has_a_limit() {
    let done = Stage::with(&[state(SCENE, "COMPLETED")]);
    let said = done.refused("cancel_generation", json!({"scene_id": SCENE}));
    said.has(&["Cannot cancel completed workflow", CHANGED]);
    let waits = Stage::with(&[state(SCENE, "WAITING_USER_APPROVAL")]);
    let reason = |length: usize| json!({"scene_id": SCENE, "reason": "ж".repeat(length)});
    waits.refused("cancel_generation", reason(501)).has(&["reason"]);
    waits.done("cancel_generation", reason(500)).has(&["WAITING_USER_APPROVAL (Step 3/7)"]);
    let state = waits.state(SCENE);
    assert_eq!(state["workflow_status"], "CANCELLED");
    assert_eq!(state["cancelled_from"], "WAITING_USER_APPROVAL");
}

#[test]
fn a_failed_scene_can_be_given_up() {
    let stage = Stage::with(&[state(SCENE, "FAILED")]);
    let said = stage.done("cancel_generation", json!({"scene_id": SCENE}));
    said.has(&["Previous status: FAILED (Step 4/7)"]);
    let state = stage.state(SCENE);
    assert_eq!(state["cancelled_from"], "FAILED");
    // A step that is not running is not interrupted.
    assert_eq!(state["steps"][KEYS[3]]["status"], "FAILED");
}

#[test]
fn a_cancelled_scene_is_archived_when_it_is_begun_again() {
    let stage = Stage::new();
    stage.begin(SCENE);
    stage.work(SCENE, 1..=2);
    stage.done("cancel_generation", json!({"scene_id": SCENE}));
    let old = stage.state(SCENE);
    let bytes = stage.bytes(SCENE);
    stage.done("start_generation", json!({"scene_id": SCENE, "blueprint_path": "new.md"}));
    let new = stage.state(SCENE);
    assert_eq!(new["artifacts"], json!({"blueprint_path": "new.md"}));
    assert!(new.get("cancellation_reason").is_none(), "{new:#}");
    assert_eq!(new["workflow_status"], "IN_PROGRESS");
    let session = old["session_id"].as_str().unwrap();
    let archive = format!("workspace/backups/generation-state-{SCENE}-{session}.json");
    assert_eq!(std::fs::read(stage.project.path(&archive)).unwrap(), bytes);
    // The archive is not a scene.
    let listed = stage.read("list_generations", json!({}));
    assert_eq!(listed.value["total"], 1, "{}", listed.text);
}

#[test]
fn a_cancelled_scene_that_was_put_there_by_hand_is_archived_too() {
    let old = state(SCENE, "CANCELLED");
    let stage = Stage::with(&[old]);
    let bytes = stage.bytes(SCENE);
    stage.begin(SCENE);
    let archive = "workspace/backups/generation-state-0204-2025-11-03-143045-scene-0204.json";
    assert_eq!(std::fs::read(stage.project.path(archive)).unwrap(), bytes);
    assert_ne!(stage.state(SCENE)["session_id"], "2025-11-03-143045-scene-0204");
}

#[test]
fn a_deleted_run_leaves_its_file_which_begins_a_new_run() {
    let stage = Stage::new();
    stage.begin(SCENE);
    stage.work(SCENE, 1..=2);
    stage.done("cancel_generation", json!({"scene_id": SCENE}));
    let (bytes, state) = (stage.bytes(SCENE), stage.state(SCENE));
    let deleted = stage.project.ask(&["run", "delete", SCENE, "--yes"]);
    assert_eq!(deleted["file"], json!({"path": place(SCENE), "begins_run": true}));
    assert_eq!(stage.bytes(SCENE), bytes, "the file stays");
    assert_eq!(stage.project.ask(&["run", "list"])["runs"], json!([]));
    stage.read("get_generation_status", json!({"scene_id": SCENE}));
    assert_eq!(stage.state(SCENE)["steps"], state["steps"]);
    let listed = stage.project.ask(&["run", "list"]);
    assert_eq!(listed["runs"][0]["status"], "cancelled", "{listed:#}");
    assert_ne!(listed["runs"][0]["run"], deleted["deleted"]["run"]);
}

#[test]
fn a_run_whose_file_an_earlier_run_would_take_is_not_deleted() {
    let stage = Stage::new();
    stage.begin(SCENE);
    stage.done("cancel_generation", json!({"scene_id": SCENE}));
    let copy = stage.project.ask(&["run", "fork", SCENE, "--from-seq", "2"]);
    let listed = stage.project.ask(&["run", "list"]);
    let runs = listed["runs"].as_array().unwrap();
    let runs: Vec<&str> = runs.iter().map(|it| it["run"].as_str().unwrap()).collect();
    assert_eq!((runs.len(), runs[0]), (2, copy["run"]["run"].as_str().unwrap()), "{listed:#}");
    let bytes = stage.bytes(SCENE);
    let output = stage.project.milepost(&["run", "delete", SCENE, "--yes"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains(runs[1]) && said.contains("earlier run"), "{said}");
    // The earlier one has no file any more.
    assert_eq!(stage.project.ask(&["run", "delete", runs[1], "--yes"])["file"], json!(null));
    let deleted = stage.project.ask(&["run", "delete", runs[0], "--yes"]);
    assert_eq!(deleted["file"]["path"], place(SCENE));
    assert_eq!(stage.bytes(SCENE), bytes);
}

#[test]
fn a_run_that_was_begun_over_leaves_the_file_to_the_new_one() {
    let stage = Stage::new();
    stage.begin(SCENE);
    stage.done("cancel_generation", json!({"scene_id": SCENE}));
    let listed = stage.project.ask(&["run", "list"]);
    let old = listed["runs"][0]["run"].as_str().unwrap().to_owned();
    stage.begin(SCENE);
    let bytes = stage.bytes(SCENE);
    let resume = stage.project.milepost(&["run", "resume", &old, "--yes"]).output().unwrap();
    assert!(!resume.status.success(), "{resume:?}");
    assert_eq!(stage.bytes(SCENE), bytes);
    let backups = stage.project.path("workspace/backups");
    assert_eq!(std::fs::read_dir(backups).unwrap().count(), 1);
}
