//! What the tools say that only look at a document.

use expect_test::expect;
use insight::past::SpecState;

use super::StateFile;

/// A document with a log and tasks, of which all else is missing.
const TEXT: &str = r#"{
  "branch": null,
  "completedPhases": ["setup"],
  "tasks": {
    "10": {"title": "t", "implStatus": "pending", "reviewStatus": "pending"},
    "2": {"implStatus": "completed", "reviewStatus": "completed_fail", "implRetries": 2},
    "b": {"implStatus": "completed", "reviewStatus": "completed_pass_with_notes"},
    "1": {"implStatus": "completed", "reviewStatus": "completed_pass", "reviewRetries": 1}
  },
  "phaseLog": [
    {"phase": "phase-1", "tokens": 10, "duration_ms": 90000, "model": "sonnet"},
    {"phase": "phase-1", "tokens": 5, "duration_ms": 3571000, "model": "sonnet"}
  ]
}"#;

fn document() -> StateFile {
    StateFile::read(TEXT).unwrap()
}

#[test]
fn a_field_is_told_bare_or_as_json() {
    let get = |field: &str| document().get(field);
    for (field, wanted) in [
        ("version", "2"),
        ("forge-state-mcp-version", ""),
        ("branch", "null"),
        ("specName", ""),
        ("autoApprove", "false"),
        ("completedPhases", "[\"setup\"]"),
        ("revisions.designRevisions", "0"),
        ("checkpointRevisionPending", "{\"checkpoint-a\":false,\"checkpoint-b\":false}"),
        ("timestamps.phaseStarted", "null"),
        ("error", "null"),
        ("status", "in_progress"),
    ] {
        assert_eq!(get(field).as_deref(), Some(wanted), "{field}");
    }
    for field in ["branchPushed", "revisions.foo", "lastDispatch", "tasks.1", "", "."] {
        assert_eq!(get(field), None, "{field}");
    }
    assert!(StateFile::readable().iter().all(|it| get(it).is_some()));
}

#[test]
fn the_log_is_added_up() {
    expect![[r#"{"totalTokens":15,"totalDurationMs":3661000,"totalDuration":"1h 1m 1s","entries":[{"phase":"phase-1","tokens":10,"duration_ms":90000,"model":"sonnet"},{"phase":"phase-1","tokens":5,"duration_ms":3571000,"model":"sonnet"}]}"#]].assert_eq(&document().phase_stats().compact());
    let empty = StateFile::read("{}").unwrap();
    expect![[r#"{"totalTokens":0,"totalDurationMs":0,"totalDuration":"0s","entries":[]}"#]]
        .assert_eq(&empty.phase_stats().compact());
}

#[test]
fn whoever_comes_back_is_told_what_is_left() {
    expect![[r#"
        {
          "currentPhase": "",
          "currentPhaseStatus": "",
          "completedPhases": [
            "setup"
          ],
          "skippedPhases": [],
          "effort": null,
          "flowTemplate": null,
          "autoApprove": false,
          "skipPr": false,
          "useCurrentBranch": false,
          "branch": null,
          "specName": "",
          "revisions": {
            "designRevisions": 0,
            "taskRevisions": 0,
            "designInlineRevisions": 0,
            "taskInlineRevisions": 0
          },
          "error": null,
          "pendingTasks": [
            "2",
            "10"
          ],
          "completedTasks": [
            "1",
            "b"
          ],
          "totalTasks": 4,
          "phaseLogEntries": 2,
          "totalTokens": 15,
          "totalDuration_ms": 3661000,
          "debug": false,
          "tasksWithRetries": [
            {
              "task": "1",
              "implRetries": 0,
              "reviewRetries": 1
            },
            {
              "task": "2",
              "implRetries": 2,
              "reviewRetries": 0
            }
          ],
          "checkpointRevisionPending": {
            "checkpoint-a": false,
            "checkpoint-b": false
          }
        }"#]]
    .assert_eq(&document().resume_info().render());
}

#[test]
fn a_glance_takes_what_is_missing_or_odd_as_empty() {
    let glance = |text: &str| SpecState::from(&StateFile::glance(text).unwrap());
    for text in ["{}", r#"{"tasks":null,"phaseLog":null,"effort":null,"timestamps":[1]}"#] {
        assert_eq!(glance(text), SpecState::default());
    }
    assert_eq!((StateFile::glance("[]"), StateFile::glance("{")), (None, None));
    let log =
        glance(r#"{"phaseLog":[{"tokens":2.9,"duration_ms":"x","model":"opus"},{"tokens":-3},7]}"#);
    assert_eq!((log.tokens(), log.duration_ms(), log.log.len()), (2, 0, 3));
    assert_eq!(log.log[0].usage.model, "opus");
    let split = glance(r#"{"phaseLog":[{"input_tokens":3,"output_tokens":1}]}"#);
    assert_eq!((split.tokens(), split.log[0].usage.split), (4, Some((3, 1))));
    let tasks =
        r#"{"tasks":{"1":{"implRetries":2,"reviewRetries":1},"2":{"implRetries":4},"3":1}}"#;
    assert_eq!(glance(tasks).retries, 7);
    let most =
        format!(r#"{{"tasks":{{"1":{{"implRetries":{0},"reviewRetries":{0}}}}}}}"#, u64::MAX);
    assert_eq!(glance(&most).retries, u64::MAX);
    assert_eq!(glance(r#"{"currentPhase":"phase-1","status":"abandoned"}"#).status, "abandoned");
}

#[test]
fn a_glance_tells_what_is_going_on() {
    let file = |phase: &str, status: &str| {
        let text = format!(r#"{{"currentPhase":"{phase}","currentPhaseStatus":"{status}"}}"#);
        StateFile::glance(&text).unwrap()
    };
    assert!(file("phase-3", "in_progress").is_active());
    assert!(file("phase-3", "failed").is_active());
    for (phase, status) in [("completed", "completed"), ("phase-3", "abandoned")] {
        assert!(!file(phase, status).is_active(), "{phase} {status}");
    }
    assert!(!StateFile::glance(r#"{"currentPhase":"phase-1"}"#).unwrap().is_active());
    let text = r#"{"specName":"x","branch":null,"timestamps":{"lastUpdated":"then"},"tasks":{
        "10":{"executionMode":"parallel","implStatus":"in_progress"},"3":4,
        "2":{"executionMode":"parallel","implStatus":"in_progress"},
        "1":{"executionMode":"sequential","implStatus":"in_progress"}}}"#;
    let file = StateFile::glance(text).unwrap();
    assert_eq!((file.name(), file.branch(), file.updated()), ("x", None, "then"));
    assert_eq!(file.under_way(), ["2", "10"]);
}
