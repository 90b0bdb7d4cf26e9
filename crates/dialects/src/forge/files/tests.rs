//! Pipelines that are decided by the engine, and what their `state.json` says on the way.

mod compare;
mod edits;
mod play;
mod release_0_1;
mod wanted;

pub(in crate::forge) use play::workflow;

use engine::Projection as _;
use engine::{Command, Entry};
use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::SpecFiles;
use play::{Pipeline, answer, begin_step, on, report};

/// Checks what is said of the pipeline in a line, and that its file is read as it was meant.
fn check(pipeline: &Pipeline, wanted: &Expect) {
    wanted.assert_eq(&pipeline.line());
    pipeline.check_reading();
}

/// The pipeline up to the review of its design.
fn designed() -> Pipeline {
    let mut it = Pipeline::start(&json!({ "skipped_phases": ["phase-4b", "checkpoint-b"] }));
    it.work("phase-1", "analysis.md", "x");
    it.work("phase-2", "investigation.md", "x");
    it.work("phase-3", "design.md", "## A");
    it
}

/// The pipeline up to the tasks, of which the first two are parallel and the last is for a person.
fn planned() -> Pipeline {
    let mut it = designed();
    it.work("phase-3b", "review-design.md", "## Verdict: APPROVE");
    it.run(&answer("proceed"));
    let tasks = "## Task 1: one\nmode: parallel\nfiles:\n- a.rs\n\n## Task 2: two\nmode: parallel\n\n\
                 ## Task 3: three\nmode: human_gate\ndepends_on: [1, 2]\n";
    it.work("phase-4", "tasks.md", tasks);
    it
}

#[test]
fn a_pipeline_that_is_begun_has_every_field_in_its_order() {
    let pipeline = Pipeline::start(&json!({ "effort": "M", "branch": "feature/x" }));
    expect![[r#"
        {
          "version": 2,
          "forge-state-mcp-version": "VERSION",
          "specName": "x",
          "workspace": "/project/.specs/20260101-x",
          "branch": "feature/x",
          "effort": "M",
          "flowTemplate": null,
          "autoApprove": false,
          "skipPr": false,
          "useCurrentBranch": false,
          "branchClassified": false,
          "branchPushed": false,
          "debug": false,
          "skippedPhases": [],
          "currentPhase": "phase-1",
          "currentPhaseStatus": "pending",
          "completedPhases": [
            "setup"
          ],
          "revisions": {
            "designRevisions": 0,
            "taskRevisions": 0,
            "designInlineRevisions": 0,
            "taskInlineRevisions": 0
          },
          "checkpointRevisionPending": {
            "checkpoint-a": false,
            "checkpoint-b": false
          },
          "needsBatchCommit": false,
          "tasks": {},
          "phaseLog": [],
          "timestamps": {
            "created": "2026-01-01T10:00:01.000000Z",
            "lastUpdated": "2026-01-01T10:00:01.000000Z",
            "phaseStarted": null
          },
          "error": null,
          "status": "initialized",
          "phases": [
            {
              "phase": "phase-1",
              "status": "pending",
              "started": null,
              "completed": null,
              "log": []
            }
          ]
        }"#]]
    .assert_eq(&pipeline.blur_version());
}

#[test]
fn phases_are_begun_done_and_logged_one_by_one() {
    let mut it = Pipeline::start(&json!({}));
    check(
        &it,
        &expect![[r#"
        initialized: phase-1 pending
        done: setup
    "#]],
    );
    it.run(&on(&json!({"model": "sonnet"})));
    check(
        &it,
        &expect![[r#"
        in_progress: phase-1 in_progress
        done: setup
    "#]],
    );
    it.write("analysis.md", "x");
    let usage = Entry::Usage { tokens: 7, duration_ms: 90, model: "sonnet".into() };
    it.run(&Command::RecordEntry { step: Some("phase-1".into()), entry: usage });
    it.run(&report("phase-1"));
    check(
        &it,
        &expect![[r#"
        in_progress: phase-2 pending
        done: setup phase-1
        log: phase-1 sonnet
    "#]],
    );
    expect![[r#"{"phase":"phase-1","model":"sonnet","setupOnly":false}"#]]
        .assert_eq(&it.field("lastDispatch"));
    expect![[r#"[{"phase":"phase-1","status":"completed","started":"2026-01-01T10:00:02.000000Z","completed":"2026-01-01T10:00:04.000000Z","log":[{"phase":"phase-1","tokens":7,"duration_ms":90,"model":"sonnet","timestamp":"2026-01-01T10:00:03.000000Z"}]},{"phase":"phase-2","status":"pending","started":null,"completed":null,"log":[]}]"#]].assert_eq(&it.field("phases"));
    it.run(&Command::FailRun {
        reason: "boom".into(),
        step: Some("phase-5".into()),
        errors: vec![],
    });
    check(
        &it,
        &expect![[r#"
        failed: phase-2 failed
        done: setup phase-1
        log: phase-1 sonnet
    "#]],
    );
    expect![[r#"{"phase":"phase-5","message":"boom","timestamp":"2026-01-01T10:00:05.000000Z"}"#]]
        .assert_eq(&it.field("error"));
    it.run(&Command::ReopenRun { reason: String::new(), force: false });
    it.run(&begin_step("phase-2"));
    check(
        &it,
        &expect![[r#"
        in_progress: phase-2 in_progress
        done: setup phase-1
        log: phase-1 sonnet
    "#]],
    );
    it.run(&Command::CancelRun { reason: "no".into() });
    check(
        &it,
        &expect![[r#"
        abandoned: phase-2 abandoned
        done: setup phase-1
        log: phase-1 sonnet
    "#]],
    );
}

#[test]
fn a_review_that_sends_back_is_shown_until_the_work_begins_again() {
    let mut it = designed();
    it.work("phase-3b", "review-design.md", "## Verdict: REVISE");
    check(
        &it,
        &expect![[r#"
        in_progress: phase-3b in_progress
        done: setup phase-1 phase-2 phase-3
        left out: phase-4b checkpoint-b
    "#]],
    );
    it.run(&on(&Value::Null));
    check(
        &it,
        &expect![[r#"
        in_progress: phase-3 in_progress
        done: setup phase-1 phase-2 phase-3
        left out: phase-4b checkpoint-b
    "#]],
    );
    it.work("phase-3", "design.md", "## B");
    check(
        &it,
        &expect![[r#"
        in_progress: phase-3b pending
        done: setup phase-1 phase-2 phase-3
        left out: phase-4b checkpoint-b
    "#]],
    );
    it.work("phase-3b", "review-design.md", "## Verdict: MAYBE");
    check(
        &it,
        &expect![[r#"
        in_progress: phase-3b awaiting_human
        done: setup phase-1 phase-2 phase-3
        left out: phase-4b checkpoint-b
    "#]],
    );
    it.run(&answer("approve"));
    check(
        &it,
        &expect![[r#"
            in_progress: checkpoint-a awaiting_human
            done: setup phase-1 phase-2 phase-3 phase-3b
            left out: phase-4b checkpoint-b
            log: phase-3b checkpoint
        "#]],
    );
}

#[test]
fn a_checkpoint_is_done_when_a_person_lets_it_pass() {
    let mut it = designed();
    it.work("phase-3b", "review-design.md", "## Verdict: APPROVE");
    check(
        &it,
        &expect![[r#"
        in_progress: checkpoint-a awaiting_human
        done: setup phase-1 phase-2 phase-3 phase-3b
        left out: phase-4b checkpoint-b
    "#]],
    );
    it.run(&answer("revise"));
    check(
        &it,
        &expect![[r#"
        in_progress: phase-3 in_progress
        done: setup phase-1 phase-2 phase-3
        left out: phase-4b checkpoint-b
        log: checkpoint-a checkpoint
    "#]],
    );
    it.work("phase-3", "design.md", "## B");
    it.work("phase-3b", "review-design.md", "## Verdict: APPROVE");
    it.run(&answer("proceed"));
    check(
        &it,
        &expect![[r#"
        in_progress: phase-4 pending
        done: setup phase-1 phase-2 phase-3 phase-3b checkpoint-a
        left out: phase-4b checkpoint-b
        log: checkpoint-a checkpoint, checkpoint-a checkpoint
    "#]],
    );
    let mut it = designed();
    it.work("phase-3b", "review-design.md", "## Verdict: APPROVE");
    it.run(&answer("abandon"));
    check(
        &it,
        &expect![[r#"
        abandoned: checkpoint-a abandoned
        done: setup phase-1 phase-2 phase-3 phase-3b
        left out: phase-4b checkpoint-b
        log: checkpoint-a checkpoint
    "#]],
    );
    let mut it = Pipeline::start(&json!({ "auto_approve": true, "skipped_phases": ["phase-4"] }));
    it.run(&Command::SkipStep { step: "phase-1".into() });
    it.run(&Command::SkipStep { step: "phase-2".into() });
    it.work("phase-3", "design.md", "## A");
    it.work("phase-3b", "review-design.md", "## Verdict: APPROVE");
    check(
        &it,
        &expect![[r#"
        in_progress: phase-4b pending
        done: setup phase-3 phase-3b checkpoint-a phase-4
        left out: phase-4
        log: checkpoint-a skipped, phase-4 skipped
    "#]],
    );
}

#[test]
fn tasks_are_built_judged_and_built_again() {
    let mut it = planned();
    check(
        &it,
        &expect![[r#"
        in_progress: phase-5 pending
        done: setup phase-1 phase-2 phase-3 phase-3b checkpoint-a phase-4 phase-4b checkpoint-b
        left out: phase-4b checkpoint-b
        log: checkpoint-a checkpoint, phase-4b skipped, checkpoint-b skipped
        task 1: "pending" "pending" 0
        task 2: "pending" "pending" 0
        task 3: "pending" "pending" 0
    "#]],
    );
    expect![[r#"{"1":{"title":"one","executionMode":"parallel","depends_on":[],"files":["a.rs"],"implStatus":"pending","reviewStatus":"pending","implRetries":0,"reviewRetries":0},"2":{"title":"two","executionMode":"parallel","depends_on":[],"files":[],"implStatus":"pending","reviewStatus":"pending","implRetries":0,"reviewRetries":0},"3":{"title":"three","executionMode":"human_gate","depends_on":[1,2],"files":[],"implStatus":"pending","reviewStatus":"pending","implRetries":0,"reviewRetries":0}}"#]].assert_eq(&it.field("tasks"));
    it.run(&on(&Value::Null));
    check(
        &it,
        &expect![[r#"
        in_progress: phase-5 in_progress
        done: setup phase-1 phase-2 phase-3 phase-3b checkpoint-a phase-4 phase-4b checkpoint-b
        left out: phase-4b checkpoint-b
        log: checkpoint-a checkpoint, phase-4b skipped, checkpoint-b skipped
        task 1: "in_progress" "pending" 0
        task 2: "in_progress" "pending" 0
        task 3: "pending" "pending" 0
    "#]],
    );
    it.write("impl-1.md", "x");
    it.write("impl-2.md", "x");
    it.run(&report("phase-5"));
    check(
        &it,
        &expect![[r#"
            in_progress: phase-5 awaiting_human
            done: setup phase-1 phase-2 phase-3 phase-3b checkpoint-a phase-4 phase-4b checkpoint-b
            left out: phase-4b checkpoint-b
            log: checkpoint-a checkpoint, phase-4b skipped, checkpoint-b skipped
            human gate: 3
            task 1: "completed" "pending" 0
            task 2: "completed" "pending" 0
            task 3: "pending" "pending" 0
        "#]],
    );
    it.run(&answer("done"));
    check(
        &it,
        &expect![[r#"
            in_progress: phase-6 pending
            done: setup phase-1 phase-2 phase-3 phase-3b checkpoint-a phase-4 phase-4b checkpoint-b phase-5
            left out: phase-4b checkpoint-b
            log: checkpoint-a checkpoint, phase-4b skipped, checkpoint-b skipped
            task 1: "completed" "pending" 0
            task 2: "completed" "pending" 0
            task 3: "completed" "completed_pass" 0
        "#]],
    );
    it.write("review-1.md", "## Verdict: PASS_WITH_NOTES");
    it.write("review-2.md", "## Verdict: FAIL");
    it.run(&report("phase-6"));
    check(
        &it,
        &expect![[r#"
            in_progress: phase-6 in_progress
            done: setup phase-1 phase-2 phase-3 phase-3b checkpoint-a phase-4 phase-4b checkpoint-b phase-5
            left out: phase-4b checkpoint-b
            log: checkpoint-a checkpoint, phase-4b skipped, checkpoint-b skipped
            task 1: "completed" "completed_pass_with_notes" 0
            task 2: "completed" "completed_fail" 1
            task 3: "completed" "completed_pass" 0
        "#]],
    );
    it.run(&on(&Value::Null));
    check(
        &it,
        &expect![[r#"
            in_progress: phase-5 in_progress
            done: setup phase-1 phase-2 phase-3 phase-3b checkpoint-a phase-4 phase-4b checkpoint-b phase-5
            left out: phase-4b checkpoint-b
            log: checkpoint-a checkpoint, phase-4b skipped, checkpoint-b skipped
            task 1: "completed" "completed_pass_with_notes" 0
            task 2: "in_progress" "completed_fail" 1
            task 3: "completed" "completed_pass" 0
        "#]],
    );
    it.run(&report("phase-5"));
    check(
        &it,
        &expect![[r#"
            in_progress: phase-6 pending
            done: setup phase-1 phase-2 phase-3 phase-3b checkpoint-a phase-4 phase-4b checkpoint-b phase-5
            left out: phase-4b checkpoint-b
            log: checkpoint-a checkpoint, phase-4b skipped, checkpoint-b skipped
            task 1: "completed" "completed_pass_with_notes" 0
            task 2: "completed" "" 1
            task 3: "completed" "completed_pass" 0
        "#]],
    );
    it.write("review-2.md", "## Verdict: PASS");
    it.run(&report("phase-6"));
    check(
        &it,
        &expect![[r#"
            in_progress: phase-7 pending
            done: setup phase-1 phase-2 phase-3 phase-3b checkpoint-a phase-4 phase-4b checkpoint-b phase-5 phase-6
            left out: phase-4b checkpoint-b
            log: checkpoint-a checkpoint, phase-4b skipped, checkpoint-b skipped
            task 1: "completed" "completed_pass_with_notes" 0
            task 2: "completed" "completed_pass" 1
            task 3: "completed" "completed_pass" 0
        "#]],
    );
}

#[test]
fn what_is_left_out_is_done_and_logged_as_such() {
    let mut it = planned();
    let vars = json!({ "skip_pr": true, "skipped_phases": ["phase-6", "phase-7"],
                       "batch": ["1"] });
    it.run(&Command::SetVars { set: vars.as_object().cloned().unwrap() });
    check(
        &it,
        &expect![[r#"
            in_progress: phase-5 pending
            done: setup phase-1 phase-2 phase-3 phase-3b checkpoint-a phase-4 phase-4b checkpoint-b
            left out: phase-6 phase-7
            log: checkpoint-a checkpoint, phase-4b skipped, checkpoint-b skipped
            task 1: "pending" "pending" 0
            task 2: "pending" "pending" 0
            task 3: "pending" "pending" 0
        "#]],
    );
    it.write("impl-1.md", "x");
    it.write("impl-2.md", "x");
    it.run(&report("phase-5"));
    it.run(&answer("skip"));
    it.work("final-verification", "final-verification.md", "x");
    it.work("final-summary", "summary.md", "x");
    check(
        &it,
        &expect![[r#"
            completed: completed completed
            done: setup phase-1 phase-2 phase-3 phase-3b checkpoint-a phase-4 phase-4b checkpoint-b phase-5 phase-6 phase-7 final-verification pr-creation final-summary post-to-source final-commit
            left out: phase-6 phase-7
            log: checkpoint-a checkpoint, phase-4b skipped, checkpoint-b skipped, phase-6 skipped, phase-7 skipped, pr-creation skipped, post-to-source skipped, final-commit skipped
            task 1: "completed" "pending" 0
            task 2: "completed" "pending" 0
            task 3: "completed" "" 0
        "#]],
    );
    expect![[r#"[{"phase":"phase-1","status":"completed","started":null,"completed":"2026-01-01T10:00:02.000000Z","log":[]},{"phase":"phase-2","status":"completed","started":null,"completed":"2026-01-01T10:00:03.000000Z","log":[]},{"phase":"phase-3","status":"completed","started":null,"completed":"2026-01-01T10:00:04.000000Z","log":[]},{"phase":"phase-3b","status":"completed","started":null,"completed":"2026-01-01T10:00:05.000000Z","log":[]},{"phase":"checkpoint-a","status":"completed","started":null,"completed":"2026-01-01T10:00:06.000000Z","log":[{"phase":"checkpoint-a","tokens":0,"duration_ms":0,"model":"checkpoint","timestamp":"2026-01-01T10:00:06.000000Z"}]},{"phase":"phase-4","status":"completed","started":null,"completed":"2026-01-01T10:00:07.000000Z","log":[]},{"phase":"phase-4b","status":"completed","started":null,"completed":"2026-01-01T10:00:07.000000Z","log":[{"phase":"phase-4b","tokens":0,"duration_ms":0,"model":"skipped","timestamp":"2026-01-01T10:00:07.000000Z"}]},{"phase":"checkpoint-b","status":"completed","started":null,"completed":"2026-01-01T10:00:07.000000Z","log":[{"phase":"checkpoint-b","tokens":0,"duration_ms":0,"model":"skipped","timestamp":"2026-01-01T10:00:07.000000Z"}]},{"phase":"phase-5","status":"completed","started":null,"completed":"2026-01-01T10:00:12.000000Z","log":[]},{"phase":"phase-6","status":"skipped","started":null,"completed":"2026-01-01T10:00:12.000000Z","log":[{"phase":"phase-6","tokens":0,"duration_ms":0,"model":"skipped","timestamp":"2026-01-01T10:00:12.000000Z"}]},{"phase":"phase-7","status":"skipped","started":null,"completed":"2026-01-01T10:00:12.000000Z","log":[{"phase":"phase-7","tokens":0,"duration_ms":0,"model":"skipped","timestamp":"2026-01-01T10:00:12.000000Z"}]},{"phase":"final-verification","status":"completed","started":null,"completed":"2026-01-01T10:00:13.000000Z","log":[]},{"phase":"pr-creation","status":"completed","started":null,"completed":"2026-01-01T10:00:13.000000Z","log":[{"phase":"pr-creation","tokens":0,"duration_ms":0,"model":"skipped","timestamp":"2026-01-01T10:00:13.000000Z"}]},{"phase":"final-summary","status":"completed","started":null,"completed":"2026-01-01T10:00:14.000000Z","log":[]},{"phase":"post-to-source","status":"completed","started":null,"completed":"2026-01-01T10:00:14.000000Z","log":[{"phase":"post-to-source","tokens":0,"duration_ms":0,"model":"skipped","timestamp":"2026-01-01T10:00:14.000000Z"}]},{"phase":"final-commit","status":"completed","started":null,"completed":"2026-01-01T10:00:14.000000Z","log":[{"phase":"final-commit","tokens":0,"duration_ms":0,"model":"skipped","timestamp":"2026-01-01T10:00:14.000000Z"}]}]"#]].assert_eq(&it.field("phases"));
}

#[test]
fn a_callers_own_tasks_have_no_status_until_they_are_given_one() {
    let mut it = planned();
    let (one, two) = (play::part("1", &[]), play::part("b", &["1", "a"]));
    it.run(&Command::PlanParts { set: "tasks".into(), parts: vec![one, two] });
    expect![[r#"{"1":{"title":"t","executionMode":"sequential","depends_on":[],"files":[],"implStatus":"","reviewStatus":"","implRetries":0,"reviewRetries":0},"b":{"title":"t","executionMode":"sequential","depends_on":[1,"a"],"files":[],"implStatus":"","reviewStatus":"","implRetries":0,"reviewRetries":0}}"#]].assert_eq(&it.field("tasks"));
    it.write("review-1.md", "x");
    it.run(&play::place("phase-6", "1", Some("PASS"), None));
    it.run(&play::place("phase-5", "1", None, Some(2)));
    it.run(&play::place("phase-5", "b", None, None));
    check(
        &it,
        &expect![[r#"
        in_progress: phase-5 pending
        done: setup phase-1 phase-2 phase-3 phase-3b checkpoint-a phase-4 phase-4b checkpoint-b
        left out: phase-4b checkpoint-b
        log: checkpoint-a checkpoint, phase-4b skipped, checkpoint-b skipped
        task 1: "completed" "completed_pass" 2
        task b: "completed" "" 0
    "#]],
    );
}

#[test]
fn a_workspace_is_a_path_inside_the_project() {
    let files = SpecFiles::default();
    assert_eq!(files.path(".specs/x").as_deref(), Some(".specs/x/state.json"));
    assert_eq!(files.key(".specs/x/state.json").as_deref(), Some(".specs/x"));
    assert_eq!(files.home(".specs/x").as_deref(), Some(".specs/x"));
    for key in ["", "/etc", "../x", ".specs/../../x", ".specs//x", "./x"] {
        assert_eq!((files.path(key), files.home(key)), (None, None), "{key}");
    }
    for path in ["state.json", "/state.json", ".specs/x/index.json", ".specs/xstate.json"] {
        assert_eq!(files.key(path), None, "{path}");
    }
}
