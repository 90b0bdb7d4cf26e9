//! What the server writes down itself, what it takes from callers, and how it shows both.

use serde_json::json;

use crate::{
    fixtures::{CHANGED, KEYS, NAMES, STATUSES, TITLES, state},
    stage::{Stage, start_of},
};

const SCENE: &str = "0204";

#[test]
fn a_step_is_named_by_its_number_or_its_name_and_not_by_both() {
    let stage = Stage::new();
    stage.begin(SCENE);
    let both = json!({"scene_id": SCENE, "step_number": 1, "step_name": NAMES[0]});
    stage.refused("start_step", both).has(&["step_number", "step_name"]);
    let unknown = json!({"scene_id": SCENE, "step_name": "scene:gen:none"});
    let said = stage.refused("start_step", unknown);
    said.has(&["Invalid step_name", "scene:gen:none"]).has(&NAMES);
    // Without a name of its own the step has its title.
    stage.done("start_step", json!({"scene_id": SCENE, "step_number": 1}));
    assert_eq!(stage.state(SCENE)["current_phase"], TITLES[0]);
}

#[test]
fn callers_cannot_overwrite_what_the_server_keeps() {
    let stage = Stage::new();
    let metadata = json!({"initiated_by": "x", "total_duration_seconds": 9, "mood": "calm"});
    let arguments = json!({"scene_id": SCENE, "blueprint_path": "b.md", "metadata": metadata});
    stage.done("start_generation", arguments);
    let kept = &stage.state(SCENE)["metadata"];
    assert_eq!(kept["initiated_by"], "generation-coordinator");
    assert_eq!(kept["total_duration_seconds"].as_f64(), Some(0.0));
    assert_eq!(kept["mood"], "calm");
    let metadata = json!({
        "status": "COMPLETED", "started_at": "then", "duration_seconds": 7, "tool": "pen",
    });
    let mut start = start_of(SCENE, 1);
    start["metadata"] = metadata;
    stage.done("start_step", start);
    let step = &stage.state(SCENE)["steps"][KEYS[0]];
    assert_eq!((&step["status"], &step["tool"]), (&json!("IN_PROGRESS"), &json!("pen")));
    assert!(step["started_at"] != "then" && step["duration_seconds"] != 7, "{step:#}");
    let metadata = json!({
        "step": 6, "timestamp": "then", "message": "mine", "status": "PENDING", "state": 1,
        "step_name": "mine", "failed_at": "then", "failure_reason": "mine", "severity": "LOW",
    });
    let mut fail = json!({"scene_id": SCENE, "step_number": 1, "failure_reason": "theirs"});
    fail["metadata"] = metadata.clone();
    stage.done("fail_step", fail).has(&["theirs", "LOW"]);
    let state = stage.state(SCENE);
    let (step, error) = (&state["steps"][KEYS[0]], &state["errors"][0]);
    assert_eq!((&step["status"], &step["failure_reason"]), (&json!("FAILED"), &json!("theirs")));
    assert_eq!((&error["step"], &error["message"]), (&json!(1), &json!("theirs")));
    assert_eq!((&error["step_name"], &error["severity"]), (&json!(KEYS[0]), &json!("LOW")));
    assert!(error["timestamp"] != "then" && step["failed_at"] != "then", "{state:#}");
    assert!(step["metadata"] == metadata || error["metadata"] == metadata, "{state:#}");
}

#[test]
fn every_write_moves_the_clock_and_the_revision_and_no_read_does() {
    let stage = Stage::new();
    stage.begin(SCENE);
    let marks = || {
        let state = stage.state(SCENE);
        let updated = state["updated_at"].as_str().unwrap().to_owned();
        assert!(updated.ends_with('Z'), "{updated}");
        (state["revision"].as_u64().unwrap(), updated)
    };
    let mut before = marks();
    assert!(1 <= before.0);
    for tool in ["get_generation_status", "resume_generation", "list_generations"] {
        let arguments =
            if tool == "list_generations" { json!({}) } else { json!({"scene_id": SCENE}) };
        stage.unchanged(tool, arguments);
    }
    let log = json!({"scene_id": SCENE, "question": "q", "answer": "a"});
    let error = json!({
        "scene_id": SCENE, "step_number": 1, "error_type": "t", "error_message": "m",
        "severity": "LOW",
    });
    let writes = [
        ("start_step", start_of(SCENE, 1)),
        ("record_error", error),
        ("log_question_answer", log),
        ("complete_step", json!({"scene_id": SCENE, "step_number": 1, "duration_seconds": 1})),
        ("cancel_generation", json!({"scene_id": SCENE})),
    ];
    for (tool, arguments) in writes {
        stage.done(tool, arguments);
        let after = marks();
        assert!(before.0 < after.0 && before.1 <= after.1, "{tool}: {before:?}, {after:?}");
        before = after;
    }
}

#[test]
fn a_status_is_shown_for_every_kind_of_state() {
    let states = STATUSES.map(|status| state(SCENE, status));
    for state in states {
        let stage = Stage::with(std::slice::from_ref(&state));
        let arguments = json!({"scene_id": SCENE, "detailed": true});
        let said = stage.read("get_generation_status", arguments);
        let status = state["workflow_status"].as_str().unwrap();
        let step = format!("Step {}/7", state["current_step"]);
        said.has(&[status, &step, state["session_id"].as_str().unwrap()]);
        said.has_in_order(&TITLES);
        let is_over = !["IN_PROGRESS", "WAITING_USER_APPROVAL"].contains(&status);
        // What has ended took its time; what goes on is timed until now.
        assert_eq!(said.text.contains("(5m 39s total)"), is_over, "{}", said.text);
        assert_eq!(said.text.contains(" ago)"), !is_over, "{}", said.text);
        for message in state["errors"].as_array().unwrap().iter().map(|it| &it["message"]) {
            said.has(&[message.as_str().unwrap()]);
        }
    }
}

#[test]
fn errors_of_every_form_are_shown_and_empty_artifacts_are_not() {
    let mut state = state(SCENE, "FAILED");
    state["errors"] = json!([
        {"step": 4, "timestamp": CHANGED, "message": "by number", "attempt": 1},
        {"step": NAMES[3], "timestamp": CHANGED, "message": "by name", "terminal": false},
        {"step_name": KEYS[3], "error_type": "t", "error_message": "by key", "severity": "LOW"},
        {"step": 4},
    ]);
    state["artifacts"] = json!({"draft_path": "draft.md", "empty_path": "", "null_path": null});
    let stage = Stage::with(&[state]);
    let said = stage.read("get_generation_status", json!({"scene_id": SCENE}));
    said.has(&["draft_path", "draft.md"]).lacks(&["empty_path", "null_path"]);
    said.has_in_order(&["by number", "by name", "by key", "Unknown error"]);
}

#[test]
fn steps_are_counted_and_not_guessed_from_their_place() {
    let mut state = state(SCENE, "IN_PROGRESS");
    state["steps"][KEYS[1]] = json!({"status": "PENDING"});
    let stage = Stage::with(&[state]);
    stage.complete(SCENE, 4, 10.0).has(&["3/7"]);
}

#[test]
fn a_path_that_climbs_is_refused_and_named() {
    let stage = Stage::new();
    let start = json!({"scene_id": SCENE, "blueprint_path": "acts/../../secret.md"});
    stage.refused("start_generation", start).has(&["blueprint_path", ".."]);
    stage.begin(SCENE);
    stage.start(SCENE, 1);
    let before = stage.bytes(SCENE);
    let complete = json!({
        "scene_id": SCENE, "step_number": 1, "duration_seconds": 1,
        "artifacts": {"draft_path": "..\\draft.md"},
    });
    stage.refused("complete_step", complete).has(&["artifacts.draft_path", ".."]);
    let finish = |scene: &str, report: &str| {
        json!({
            "scene_id": SCENE, "final_scene_path": scene, "validation_report_path": report,
            "word_count": 1, "total_duration_seconds": 1,
        })
    };
    stage.refused("complete_generation", finish("..", "v.md")).has(&["final_scene_path"]);
    stage.refused("complete_generation", finish("s.md", "a/..")).has(&["validation_report_path"]);
    assert_eq!(stage.bytes(SCENE), before);
}

#[test]
fn a_call_that_is_sent_again_with_its_id_is_taken_once() {
    let stage = Stage::new();
    stage.begin(SCENE);
    let call = json!({
        "name": "log_question_answer",
        "arguments": {"scene_id": SCENE, "question": "q", "answer": "a"},
        "_meta": {"milepost/request_id": "one"},
    });
    for _ in 0..2 {
        let said = stage.server.request("tools/call", call.clone()).unwrap();
        let text = said["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("Total Q&A entries: 1"), "{text}");
    }
    assert_eq!(stage.state(SCENE)["user_questions"].as_array().unwrap().len(), 1);
}
