//! What others write into a `state.json`, and what becomes of it.

use engine::{Basis, Event, GitDeed, Projection as _};
use expect_test::expect;
use serde_json::{Value, json};

use super::{SpecFiles, check, designed, planned, play::Pipeline, play::on, play::report};

/// Returns the text with these members in it, as a program writes that knows nothing of their order.
fn merged(text: &str, members: &Value) -> String {
    let mut value: Value = serde_json::from_str(text).unwrap();
    for (key, member) in members.as_object().unwrap() {
        value[key] = member.clone();
    }
    serde_json::to_string(&value).unwrap()
}

fn task(mode: &str, built: &str, judged: &str) -> Value {
    json!({ "title": "t", "executionMode": mode, "depends_on": null, "files": null,
            "implStatus": built, "reviewStatus": judged, "implRetries": 0, "reviewRetries": 0 })
}

#[test]
fn an_edit_stays_letter_by_letter_until_something_happens() {
    let mut it = Pipeline::start(&json!({}));
    let edit = json!({ "currentPhase": "phase-2", "skippedPhases": ["phase-2"], "mine": {"b": 1} });
    let text = merged(&it.text(), &edit);
    assert_eq!(it.basis(&text), Basis::Current);
    it.edit(&text);
    assert_eq!(it.text(), text);
    check(
        &it,
        &expect![[r#"
            in_progress: phase-2 pending
            done: setup
            left out: phase-2
        "#]],
    );
    it.run(&on(&Value::Null));
    check(
        &it,
        &expect![[r#"
        in_progress: phase-3 in_progress
        done: setup phase-2
        left out: phase-2
        log: phase-2 skipped
    "#]],
    );
    assert!(it.text().ends_with("  \"mine\": {\n    \"b\": 1\n  }\n}"), "{}", it.text());
    assert!(it.text().starts_with("{\n  \"version\": 2,\n"), "{}", it.text());
}

#[test]
fn tasks_that_are_written_are_gone_on_with() {
    let mut it = Pipeline::start(&json!({}));
    let mut second = task("sequential", "completed", "completed_fail");
    second["implRetries"] = json!(2);
    let tasks = json!({ "1": task("sequential", "completed", "completed_pass"), "2": second,
                        "10": task("parallel", "completed", "pending") });
    it.edit(&merged(
        &it.text(),
        &json!({ "currentPhase": "phase-6", "tasks": tasks,
                                         "currentPhaseStatus": "in_progress" }),
    ));
    check(
        &it,
        &expect![[r#"
            in_progress: phase-6 in_progress
            done: setup
            task 1: "completed" "completed_pass" 0
            task 2: "completed" "completed_fail" 2
            task 10: "completed" "pending" 0
        "#]],
    );
    it.write("review-1.md", "## Verdict: PASS");
    it.write("review-10.md", "## Verdict: PASS");
    it.run(&report("phase-6"));
    check(
        &it,
        &expect![[r#"
            in_progress: phase-6 in_progress
            done: setup
            task 1: "completed" "completed_pass" 0
            task 2: "completed" "completed_fail" 2
            task 10: "completed" "completed_pass" 0
        "#]],
    );
    it.run(&on(&Value::Null));
    check(
        &it,
        &expect![[r#"
            in_progress: phase-5 in_progress
            done: setup
            task 1: "completed" "completed_pass" 0
            task 2: "in_progress" "completed_fail" 2
            task 10: "completed" "completed_pass" 0
        "#]],
    );
}

#[test]
fn a_file_that_wants_a_commit_gets_one_whoever_made_the_changes() {
    let touching = |mode: &str, file: &str| {
        let mut task = task(mode, "completed", "pending");
        task["files"] = json!([file]);
        task
    };
    let (one, two) = (touching("parallel", "one.txt"), touching("sequential", "two.txt"));
    let cases = [
        (json!({ "1": one, "2": two }), vec!["one.txt"]),
        // What was changed is named where no parallel task is done.
        (json!({ "2": two }), vec![]),
        (json!({}), vec![]),
    ];
    for (tasks, expected) in cases {
        let mut it = Pipeline::start(&json!({}));
        let edit = json!({ "currentPhase": "phase-6", "needsBatchCommit": true, "tasks": tasks });
        it.edit(&merged(&it.text(), &edit));
        let committed = it.log.iter().find_map(|it| {
            let Event::ChoreDone { deed, .. } = &it.event else { return None };
            let GitDeed::Commit { paths, or_changed, .. } = deed else { return None };
            Some((paths.iter().map(String::as_str).collect(), *or_changed))
        });
        assert_eq!(committed, Some((expected, true)));
        assert_eq!(it.field("needsBatchCommit"), "false");
    }
}

#[test]
fn a_file_that_waits_asks_and_its_answer_leads_on() {
    let mut it = Pipeline::start(&json!({}));
    let edit = json!({ "currentPhase": "checkpoint-a", "currentPhaseStatus": "awaiting_human" });
    let text = merged(&it.text(), &edit);
    it.edit(&text);
    assert_eq!(it.text(), text);
    it.run(&super::answer("proceed"));
    check(
        &it,
        &expect![[r#"
        in_progress: phase-4 pending
        done: setup checkpoint-a
        log: checkpoint-a checkpoint
    "#]],
    );
}

#[test]
fn what_an_old_file_lacks_is_filled_in() {
    let text = "{\"specName\":\"x\",\"workspace\":\".specs/x\",\"currentPhase\":\"phase-3\",\
                \"currentPhaseStatus\":\"pending\",\"completedPhases\":[\"setup\",\"phase-1\"],\
                \"tasks\":null,\"phaseLog\":null,\"skippedPhases\":null,\"error\":null,\
                \"timestamps\":{\"created\":\"2025-01-01T00:00:00.123456789Z\"}}";
    let mut it = Pipeline::adopt(text);
    assert_eq!(it.text(), text);
    it.run(&on(&Value::Null));
    expect![[r#"
        {
          "version": 2,
          "specName": "x",
          "workspace": ".specs/x",
          "branch": null,
          "effort": null,
          "flowTemplate": null,
          "autoApprove": false,
          "skipPr": false,
          "useCurrentBranch": false,
          "branchClassified": false,
          "branchPushed": false,
          "debug": false,
          "skippedPhases": [],
          "currentPhase": "phase-3",
          "currentPhaseStatus": "in_progress",
          "completedPhases": [
            "setup",
            "phase-1"
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
            "created": "2025-01-01T00:00:00.123456789Z",
            "lastUpdated": "2026-01-01T10:00:02.000000Z",
            "phaseStarted": "2026-01-01T10:00:02.000000Z"
          },
          "error": null,
          "status": "in_progress",
          "phases": [
            {
              "phase": "phase-1",
              "status": "completed",
              "started": null,
              "completed": null,
              "log": []
            },
            {
              "phase": "phase-3",
              "status": "in_progress",
              "started": "2026-01-01T10:00:02.000000Z",
              "completed": null,
              "log": []
            }
          ]
        }"#]]
    .assert_eq(&it.text());
}

#[test]
fn a_file_that_makes_no_sense_says_why() {
    let problem = |text: &str| SpecFiles::default().read(text).unwrap_err();
    for (text, wanted) in [
        ("[]", "it is not an object"),
        ("{\"tasks\": []}", "`tasks` is not an object"),
        ("{\"tasks\": {\"1\": 2}}", "`tasks.1` is not an object"),
        (
            "{\"tasks\": {\"1\": {\"implRetries\": \"x\"}}}",
            "`tasks.1.implRetries` is not a whole number",
        ),
        ("{\"autoApprove\": \"yes\"}", "`autoApprove` is not true or false"),
        (
            "{\"revisions\": {\"taskRevisions\": -1}}",
            "`revisions.taskRevisions` is not a whole number",
        ),
        ("{\"timestamps\": {\"created\": 1}}", "`timestamps.created` is not a text"),
    ] {
        assert_eq!(problem(text), wanted);
    }
    assert!(problem("{\"tasks\": {\"../x\": {}}}").starts_with("task `../x`: "));
    assert!(problem("{").contains("EOF"));
}

#[test]
fn a_text_of_an_older_state_is_told_and_other_times_are_no_other_run() {
    let mut it = Pipeline::start(&json!({}));
    let before = it.text();
    it.run(&super::begin_step("phase-1"));
    let at = it.log.first().unwrap().at;
    assert!(matches!(it.basis(&before), Basis::At(said, _) if said == at));
    let other = it.text().replace("2026-01-01T10:00:01", "2026-01-01T10:00:00");
    assert_eq!(it.basis(&other), Basis::Current);
    assert!(matches!(it.basis("no state"), Basis::Other(_)));
}

#[test]
fn reading_what_was_written_places_the_run_where_it_is() {
    for mut it in [Pipeline::start(&json!({})), designed(), planned()] {
        let before = it.state.clone();
        it.edit(&it.text().replace("\"debug\": false", "\"debug\": true"));
        assert_eq!((&it.state.current, &it.state.standing), (&before.current, &before.standing));
        assert_eq!(it.state.parts, before.parts);
        for (step, known) in before.steps.iter().filter(|it| it.1.is_begun()) {
            assert_eq!(it.state.progress(step), known.effort.progress, "{step}");
        }
        assert_eq!(it.state.vars["debug"], true);
    }
}
