//! The plain tools that read and set what a run is.

use std::{fs, os::unix::fs::PermissionsExt as _};

use serde_json::{Value, json};

use crate::stage::{Stage, done, task, words};

#[test]
fn a10_a_new_state_is_what_the_contract_says() {
    let stage = Stage::new();
    stage.bare();
    let state = stage.state();
    let expected = json!({
        "version": 2, "specName": "demo", "workspace": stage.workspace(), "branch": null,
        "effort": null, "flowTemplate": null, "autoApprove": false, "skipPr": false,
        "useCurrentBranch": false, "branchClassified": false, "branchPushed": false,
        "debug": false, "skippedPhases": [], "currentPhase": "phase-1",
        "currentPhaseStatus": "pending", "completedPhases": ["setup"],
        "revisions": {
            "designRevisions": 0, "taskRevisions": 0,
            "designInlineRevisions": 0, "taskInlineRevisions": 0,
        },
        "checkpointRevisionPending": {"checkpoint-a": false, "checkpoint-b": false},
        "needsBatchCommit": false, "tasks": {}, "phaseLog": [], "error": null,
    });
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(state.get(key), Some(value), "{key}");
    }
    let times = &state["timestamps"];
    assert_eq!(times["created"], times["lastUpdated"]);
    assert!(times["created"].as_str().unwrap().ends_with('Z'), "{times}");
    assert_eq!(times.get("phaseStarted"), Some(&Value::Null));
    for key in ["lastDispatch", "pendingHumanGate", "designReviseCapReached"] {
        assert_eq!(state.get(key), None, "{key}");
    }
}

#[test]
fn a10_the_state_file_is_for_its_owner_and_in_the_promised_form() {
    let stage = Stage::new();
    stage.bare();
    let mode = fs::metadata(stage.path("state.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let text = fs::read_to_string(stage.path("state.json")).unwrap();
    assert!(text.starts_with("{\n  \"version\": 2,\n") && text.ends_with("\n}"), "{text}");
    let order = [
        "version",
        "specName",
        "workspace",
        "branch",
        "effort",
        "flowTemplate",
        "autoApprove",
        "skipPr",
        "useCurrentBranch",
        "branchClassified",
        "branchPushed",
        "debug",
        "skippedPhases",
        "currentPhase",
        "currentPhaseStatus",
        "completedPhases",
        "revisions",
        "checkpointRevisionPending",
        "needsBatchCommit",
        "tasks",
        "phaseLog",
        "timestamps",
        "error",
    ];
    let places = order.map(|key| text.find(&format!("\n  \"{key}\":")).unwrap_or_default());
    assert!(places.is_sorted() && places[0] != 0, "{text}");
}

#[test]
fn a10_a_state_is_made_only_after_its_input_was_found_valid() {
    let stage = Stage::new();
    fs::create_dir_all(stage.workspace()).unwrap();
    stage.error("init", json!({"spec_name": "demo"})).blocked().has(&["validate_input"]);
    stage.error("init", json!({"spec_name": "demo", "validated": false})).blocked();
    assert!(!stage.has("state.json"));
}

#[test]
fn an_empty_name_is_told_of_by_its_parameter() {
    let stage = Stage::new();
    stage.error("init", json!({"spec_name": "", "validated": true})).has(&["spec_name"]);
    let nowhere = json!({"workspace": "", "spec_name": "demo", "validated": true});
    stage.refused("init", nowhere).has(&["workspace"]);
}

#[test]
fn a10_a_field_is_read_by_its_name() {
    let stage = Stage::new();
    stage.bare();
    for (field, text) in [
        ("branch", "null"),
        ("autoApprove", "false"),
        ("completedPhases", "[\"setup\"]"),
        ("revisions.designRevisions", "0"),
        ("version", "2"),
        ("specName", "demo"),
        ("currentPhase", "phase-1"),
        ("tasks", "{}"),
        ("phaseLog", "[]"),
        ("timestamps.phaseStarted", "null"),
        ("error", "null"),
    ] {
        assert_eq!(stage.field(field), text, "{field}");
    }
    for field in ["branchPushed", "revisions.foo", "lastDispatch", "needsBatchCommit", "x"] {
        stage.error("get", json!({"field": field})).has(&[field]);
    }
}

#[test]
fn a15_what_a_phase_took_is_logged_and_summed_up() {
    let stage = Stage::new();
    stage.bare();
    let log = |tokens: u32, duration_ms: u32| {
        let entry = json!({
            "phase": "phase-1", "tokens": tokens, "duration_ms": duration_ms, "model": "sonnet",
        });
        stage.ok("phase_log", entry)
    };
    assert_eq!(log(10, 90_000).text, "ok");
    let again = log(5, 3_571_000).json();
    assert_eq!(again["result"], "ok");
    assert!(again["warning"].as_str().unwrap().starts_with("WARNING:"), "{again:#}");
    let stats = stage.ok("phase_stats", json!({})).json();
    assert_eq!(stats["totalTokens"], 15);
    assert_eq!(stats["totalDurationMs"], 3_661_000);
    assert_eq!(stats["totalDuration"], "1h 1m 1s");
    let entries = &stats["entries"];
    assert!(entries == 2 || entries.as_array().is_some_and(|it| it.len() == 2), "{stats:#}");
}

#[test]
fn durations_are_told_without_empty_parts_before_them() {
    let stage = Stage::new();
    stage.bare();
    let told = || stage.ok("phase_stats", json!({})).json()["totalDuration"].clone();
    assert_eq!(told(), "0s");
    stage.ok("phase_log", json!({"phase": "phase-1", "duration_ms": 90_000}));
    assert_eq!(told(), "1m 30s");
}

#[test]
fn a16_a_setting_of_an_unknown_word_is_refused_with_the_known_ones() {
    let stage = Stage::new();
    stage.bare();
    stage.error("set_effort", json!({"effort": "XS"})).has(&["S", "M", "L"]);
    let template = json!({"flow_template": "lite"});
    stage.error("set_flow_template", template).has(&["light", "standard", "full"]);
    for tool in ["revision_bump", "inline_revision_bump"] {
        stage.error(tool, json!({"rev_type": "zzz"})).has(&["design", "tasks"]);
    }
}

#[test]
fn a16_the_effort_is_set_alone() {
    let stage = Stage::new();
    stage.init("M");
    assert_eq!(stage.ok("set_effort", json!({"effort": "S"})).text, "ok");
    let state = stage.state();
    assert_eq!(state["effort"], "S");
    assert_eq!(state["flowTemplate"], "standard");
    assert_eq!(state["skippedPhases"], json!(["phase-4b", "checkpoint-b"]));
}

#[test]
fn each_setting_is_seen_in_the_file() {
    let stage = Stage::new();
    stage.bare();
    for tool in ["set_auto_approve", "set_skip_pr", "set_debug"] {
        assert_eq!(stage.ok(tool, json!({})).text, "ok");
    }
    stage.ok("set_flow_template", json!({"flow_template": "full"}));
    stage.ok("set_branch", json!({"branch": "feature/y"}));
    stage.ok("revision_bump", json!({"rev_type": "design"}));
    stage.ok("inline_revision_bump", json!({"rev_type": "tasks"}));
    let state = stage.state();
    for (key, value) in [
        ("autoApprove", json!(true)),
        ("skipPr", json!(true)),
        ("debug", json!(true)),
        ("flowTemplate", json!("full")),
        ("branch", json!("feature/y")),
        ("useCurrentBranch", json!(false)),
    ] {
        assert_eq!(state[key], value, "{key}");
    }
    assert_eq!(state["revisions"]["designRevisions"], 1);
    assert_eq!(state["revisions"]["taskInlineRevisions"], 1);
    stage.ok("set_use_current_branch", json!({"branch": "main"}));
    let state = stage.state();
    assert_eq!((&state["branch"], &state["useCurrentBranch"]), (&json!("main"), &json!(true)));
}

#[test]
fn a16_a_failure_is_kept_until_the_phase_is_started_again() {
    let stage = Stage::new();
    stage.bare();
    stage.ok("phase_fail", json!({"phase": "phase-5", "message": "boom"}));
    let state = stage.state();
    assert_eq!(state["currentPhaseStatus"], "failed");
    assert_eq!(state["currentPhase"], "phase-1");
    assert_eq!(state["error"]["phase"], "phase-5");
    assert_eq!(state["error"]["message"], "boom");
    stage.ok("phase_start", json!({"phase": "phase-1"}));
    assert_eq!(stage.state()["error"], Value::Null);
    stage.is_at("phase-1", "in_progress");
}

#[test]
fn a17_what_is_left_of_the_tasks_is_told_on_resuming() {
    let mut stage = Stage::begun("M");
    let mut failed = task("sequential", "completed", "completed_fail");
    failed["implRetries"] = json!(2);
    stage.fixture(json!({"tasks": {
        "1": task("sequential", "completed", "completed_pass"),
        "2": failed,
        "3": task("parallel", "pending", "pending"),
    }}));
    stage.kill();
    let told = stage.ok("resume_info", json!({})).json();
    assert_eq!(words(&told["pendingTasks"]), ["2", "3"], "{told:#}");
    assert_eq!(words(&told["completedTasks"]), ["1"], "{told:#}");
    assert_eq!(told["totalTasks"], 3);
    let retried = json!([{"task": "2", "implRetries": 2, "reviewRetries": 0}]);
    assert_eq!(told["tasksWithRetries"], retried);
}

#[test]
fn tasks_are_told_in_the_order_of_their_numbers() {
    let stage = Stage::begun("M");
    let mut tasks = json!({});
    for number in ["10", "9", "1", "2", "11"] {
        tasks[number] = task("sequential", "pending", "pending");
    }
    stage.fixture(json!({"tasks": tasks}));
    let told = stage.ok("resume_info", json!({})).json();
    assert_eq!(words(&told["pendingTasks"]), ["1", "2", "9", "10", "11"]);
}

#[test]
fn resuming_tells_every_member_of_the_contract() {
    let stage = Stage::begun("M");
    let told = stage.ok("resume_info", json!({})).json();
    for key in [
        "currentPhase",
        "currentPhaseStatus",
        "completedPhases",
        "skippedPhases",
        "effort",
        "flowTemplate",
        "autoApprove",
        "skipPr",
        "useCurrentBranch",
        "branch",
        "specName",
        "revisions",
        "error",
        "pendingTasks",
        "completedTasks",
        "totalTasks",
        "phaseLogEntries",
        "totalTokens",
        "totalDuration_ms",
        "debug",
        "tasksWithRetries",
        "checkpointRevisionPending",
    ] {
        assert!(told.get(key).is_some(), "no {key}: {told:#}");
    }
}

#[test]
fn a50_a_wrong_path_does_not_stand_in_the_way_of_a_right_one() {
    let stage = Stage::begun("M");
    let nowhere = json!({"workspace": stage.specs("nope"), "field": "effort"});
    stage.refused("get", nowhere);
    assert_eq!(stage.field("effort"), "M");
}

#[test]
fn a50_a_workspace_is_one_however_its_path_is_written() {
    let stage = Stage::begun("M");
    let workspace = stage.workspace();
    for path in [
        format!("{workspace}/"),
        ".specs/20260101-x".to_owned(),
        "./.specs/20260101-x/".to_owned(),
        stage.specs("../.specs/20260101-x"),
    ] {
        stage.done("set_debug", json!({"workspace": path}));
        let arguments = json!({"workspace": path, "phase": "phase-1", "tokens": 1});
        stage.done("phase_log", arguments);
    }
    assert_eq!(stage.state()["phaseLog"].as_array().unwrap().len(), 4);
}

#[test]
fn the_plain_tools_see_what_the_pipeline_did_and_the_other_way_round() {
    let stage = Stage::begun("M");
    assert_eq!(stage.field("currentPhase"), "phase-1");
    stage.go(json!({}));
    assert_eq!(stage.field("currentPhaseStatus"), "in_progress");
    stage.write("analysis.md", "An analysis.\n");
    stage.go(done());
    assert_eq!(stage.field("currentPhase"), "phase-2");
    stage.ok("set_debug", json!({}));
    stage.is_at("phase-2", "in_progress");
    assert_eq!(stage.log(), [("phase-1".to_owned(), "sonnet".to_owned())]);
    let told = stage.ok("resume_info", json!({})).json();
    assert_eq!(told["completedPhases"], json!(["setup", "phase-1"]));
    assert_eq!(told["totalTokens"], 1000);
    stage.ok("set_skip_pr", json!({}));
    assert_eq!(stage.go(json!({}))["agent"], "investigator");
}
