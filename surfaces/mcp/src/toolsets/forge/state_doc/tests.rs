//! What the tools say that only look at a document.

use expect_test::expect;

use super::SpecDocument;

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

fn document() -> SpecDocument {
    SpecDocument::parse(TEXT).unwrap()
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
    assert!(SpecDocument::readable().iter().all(|it| get(it).is_some()));
}

#[test]
fn the_log_is_added_up() {
    expect![[r#"{"totalTokens":15,"totalDurationMs":3661000,"totalDuration":"1h 1m 1s","entries":[{"phase":"phase-1","tokens":10,"duration_ms":90000,"model":"sonnet"},{"phase":"phase-1","tokens":5,"duration_ms":3571000,"model":"sonnet"}]}"#]].assert_eq(&document().phase_stats().compact());
    let empty = SpecDocument::parse("{}").unwrap();
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
