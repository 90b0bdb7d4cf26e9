//! What a report does: artifacts are looked at, the log grows, and the run moves.

use serde_json::{Value, json};

use crate::{
    player::line,
    stage::{Stage, done, task, words},
};

fn at(effort: &str, phase: &str, members: Value) -> Stage {
    let stage = Stage::begun(effort);
    stage.put(phase, members);
    stage
}

/// Reports a phase whose artifact is not as it must be.
#[track_caller]
fn refused(stage: &Stage, phase: &str, parts: &[&str]) {
    let before = stage.stands();
    let arguments = json!({"workspace": stage.workspace(), "phase": phase, "tokens_used": 1});
    let said = stage.call("pipeline_report_result", arguments);
    assert!(said.is_error, "{}", said.text);
    said.has(parts);
    assert_eq!(stage.stands(), before);
}

#[test]
fn a20_a_report_without_its_artifact_is_refused() {
    let stage = at("L", "phase-3", json!({}));
    refused(&stage, "phase-3", &["file not found: design.md"]);
    stage.write("design.md", "No heading.\n");
    refused(&stage, "phase-3", &["## ", "design.md"]);
    // What failed may be in the log or not, but not more than once each.
    assert!(stage.log().len() <= 2);
}

#[test]
fn a20_a_new_design_takes_the_old_review_away() {
    let stage = at("L", "phase-3", json!({}));
    stage.write("design.md", "# D\n\n## A\n");
    stage.write("review-design.md", "## Verdict: REVISE\n");
    let said = stage.report("phase-3");
    assert_eq!(said["next_action_hint"], "proceed", "{said:#}");
    assert_eq!(said["artifact_written"], "design.md", "{said:#}");
    assert_eq!(said["state_updated"], true, "{said:#}");
    assert!(said["display_message"].as_str().unwrap().contains("✓ Complete"), "{said:#}");
    assert!(!stage.has("review-design.md"));
    stage.is_at("phase-3b", "pending");
}

#[test]
fn a_revision_is_logged_again_without_a_warning() {
    let stage = at("L", "phase-3", json!({}));
    stage.go(json!({}));
    stage.write("design.md", "# D\n\n## A\n");
    stage.go(done());
    stage.write("review-design.md", "## Verdict: REVISE\n");
    assert_eq!(stage.go(done())["report_result"]["next_action_hint"], "revision_required");
    assert_eq!(stage.go(json!({}))["phase"], "phase-3");
    stage.write("design.md", "# D\n\n## B\n");
    let said = stage.report("phase-3");
    assert_eq!(said.get("warning"), None, "{said:#}");
}

#[test]
fn a_report_names_the_file_that_it_brought() {
    let tasks = json!({"tasks": {
        "1": task("sequential", "completed", "pending"),
        "2": task("sequential", "pending", "pending"),
    }});
    let stage = at("M", "phase-5", tasks);
    stage.write("impl-1.md", "Done.\n");
    stage.write("impl-2.md", "Done.\n");
    let said = stage.report("phase-5");
    assert_eq!(said["artifact_written"], "impl-2.md", "{said:#}");
}

#[test]
fn what_a_report_tells_has_its_numbers_in_readable_form() {
    let stage = at("L", "phase-3", json!({}));
    stage.write("design.md", "# D\n\n## A\n");
    let report = json!({"phase": "phase-3", "tokens_used": 12345, "duration_ms": 65_000});
    let said = stage.ok("pipeline_report_result", report).json();
    let told = said["display_message"].as_str().unwrap();
    assert!(told.contains("12,345") && told.contains("1:05"), "{told}");
}

#[test]
fn a_report_that_only_sets_up_moves_nothing() {
    let stage = at("L", "phase-3", json!({}));
    stage.write("design.md", "# D\n\n## A\n");
    let report = json!({"phase": "phase-3", "setup_only": true});
    let said = stage.ok("pipeline_report_result", report).json();
    assert_eq!(said["next_action_hint"], "setup_continue", "{said:#}");
    assert_eq!(said.get("display_message"), None, "{said:#}");
    assert_eq!(stage.stands().0, "phase-3");
}

#[test]
fn a24_a_report_without_a_model_is_logged_with_that_of_the_action() {
    let stage = Stage::begun("M");
    assert_eq!(stage.go(json!({}))["model"], "sonnet");
    stage.write("analysis.md", "An analysis.\n");
    stage.go(json!({"previous_action_complete": true, "previous_tokens": 7}));
    let state = stage.state();
    let entry = &state["phaseLog"][0];
    assert_eq!((&entry["phase"], &entry["model"]), (&json!("phase-1"), &json!("sonnet")));
    assert_eq!(entry["tokens"], 7);
    let dispatch = json!({"phase": "phase-2", "model": "sonnet", "setupOnly": false});
    assert_eq!(state["lastDispatch"], dispatch);
}

#[test]
fn a_report_is_one_even_if_only_its_numbers_are_given() {
    for given in [
        json!({"previous_tokens": 5}),
        json!({"previous_duration_ms": 5}),
        json!({"previous_model": "opus"}),
    ] {
        let stage = Stage::begun("M");
        stage.go(json!({}));
        stage.write("analysis.md", "An analysis.\n");
        assert_eq!(stage.go(given.clone())["phase"], "phase-2", "{given}");
    }
}

#[test]
fn a25_a_skipped_phase_is_passed_and_logged_as_such() {
    let stage = at("M", "phase-2", json!({"skippedPhases": ["phase-2"]}));
    let action = stage.go(json!({}));
    assert_eq!(line(&action), "phase-3 architect [request.md, analysis.md] -> design.md");
    assert_eq!(stage.log(), [("phase-2".to_owned(), "skipped".to_owned())]);
}

#[test]
fn a27_a_task_said_to_be_done_without_its_report_is_done_again() {
    let tasks = json!({"tasks": {
        "1": task("sequential", "completed", "pending"),
        "2": task("sequential", "completed", "pending"),
    }});
    let stage = at("M", "phase-5", tasks);
    stage.write("impl-1.md", "Done.\n");
    let said = stage.report("phase-5");
    assert_eq!(said["next_action_hint"], "setup_continue", "{said:#}");
    let warning = said["warning"].as_str().unwrap();
    assert!(warning.contains("missing impl files") && warning.contains('2'), "{warning}");
    assert_eq!(stage.state()["tasks"]["2"]["implStatus"], "");
    assert_eq!(stage.go(json!({}))["output_file"], "impl-2.md");
}

#[test]
fn a28_a_review_that_is_there_counts_and_the_other_is_asked_for() {
    let tasks = json!({"tasks": {
        "1": task("sequential", "completed", "pending"),
        "2": task("sequential", "completed", "pending"),
    }});
    let stage = at("M", "phase-6", tasks);
    stage.write("review-1.md", "## Verdict: PASS\n");
    let said = stage.report("phase-6");
    assert_eq!(said["next_action_hint"], "setup_continue", "{said:#}");
    assert_eq!(said["verdict_parsed"], "PASS", "{said:#}");
    let tasks = stage.state()["tasks"].clone();
    assert_eq!(tasks["1"]["reviewStatus"], "completed_pass");
    assert_eq!(tasks["2"]["reviewStatus"], "pending");
    let action = stage.go(json!({}));
    let expected = "phase-6 impl-reviewer [impl-2.md, tasks.md] -> review-2.md";
    assert_eq!(line(&action), expected);
}

fn validate(stage: &Stage, phase: &str) -> Vec<Value> {
    let said = stage.ok("validate_artifact", json!({"phase": phase})).json();
    said.as_array().unwrap().clone()
}

#[test]
fn a29_every_review_of_the_tasks_is_looked_at() {
    let stage = Stage::begun("M");
    for (file, text) in [
        ("review-1.md", "it PASSED"),
        ("review-2.md", "FAIL"),
        ("review-3.md", "hmm"),
        ("review-design.md", "## Verdict: APPROVE\n"),
    ] {
        stage.write(file, text);
    }
    let found = validate(&stage, "phase-6");
    assert_eq!(found.len(), 3, "{found:#?}");
    // That a word has PASS in it may count as a verdict or not.
    assert!(found[0]["valid"] == false || found[0]["verdict_found"] == "PASS", "{:#}", found[0]);
    assert_eq!((&found[1]["valid"], &found[1]["verdict_found"]), (&json!(false), &json!("FAIL")));
    assert_eq!(words(&json!([found[1]["error"]])), [""], "{:#}", found[1]);
    assert_eq!((&found[2]["valid"], &found[2]["verdict_found"]), (&json!(false), &json!("")));
    assert!(found[2]["error"].as_str().unwrap().contains("review-3.md"), "{:#}", found[2]);
}

#[test]
fn a29_without_any_review_both_kinds_are_named() {
    let found = validate(&Stage::begun("M"), "phase-6");
    let [one] = found.as_slice() else { panic!("not one: {found:#?}") };
    let error = one["error"].as_str().unwrap();
    assert!(error.contains("review-") && error.contains("impl-"), "{error}");
}

#[test]
fn a29_a_phase_without_a_rule_is_unknown() {
    let found = validate(&Stage::begun("M"), "phase-1");
    let [one] = found.as_slice() else { panic!("not one: {found:#?}") };
    assert_eq!((&one["valid"], &one["file"]), (&json!(false), &json!("")));
    assert_eq!(one["error"], "unknown phase: phase-1");
}

#[test]
fn an_artifact_is_valid_by_the_rule_of_its_phase() {
    let stage = Stage::begun("L");
    for (phase, file, bad, good) in [
        ("phase-3", "design.md", "# D\n", "# D\n\n## A\n"),
        ("phase-3b", "review-design.md", "nice\n", "## Verdict: APPROVE_WITH_NOTES\n"),
        ("phase-4", "tasks.md", "# T\n", "## Task 1: One\n"),
        ("phase-4b", "review-tasks.md", "nice\n", "Verdict: REVISE\n"),
        ("phase-7", "comprehensive-review.md", " \n", "All is well.\n"),
        ("final-verification", "final-verification.md", " \n", "All is well.\n"),
        ("final-summary", "summary.md", " \n", "All is well.\n"),
    ] {
        let missing = validate(&stage, phase);
        let error = missing[0]["error"].as_str().unwrap();
        assert!(error.starts_with("file not found: ") && error.contains(file), "{error}");
        stage.write(file, bad);
        assert_eq!(validate(&stage, phase)[0]["valid"], false, "{phase}");
        stage.write(file, good);
        let found = validate(&stage, phase);
        assert_eq!((&found[0]["valid"], &found[0]["file"]), (&json!(true), &json!(file)));
    }
}

#[test]
fn findings_are_counted_by_their_weight() {
    let stage = Stage::begun("M");
    let text = "## Verdict: REVISE\n**1. [CRITICAL] a**\n**2. [MINOR] b**\n**3. [MINOR] c**\n";
    stage.write("review-design.md", text);
    let found = validate(&stage, "phase-3b");
    assert_eq!(found[0]["verdict_found"], "REVISE", "{found:#?}");
    assert_eq!(found[0]["findings_count"], json!({"CRITICAL": 1, "MINOR": 2}), "{found:#?}");
}

#[test]
fn the_same_report_twice_counts_once() {
    let stage = Stage::begun("M");
    stage.go(json!({}));
    stage.write("analysis.md", "An analysis.\n");
    let first = stage.go(done());
    // The next phase has no artifact yet, so that the report cannot be meant for it.
    assert_eq!(stage.go(done()), first);
    let stats = stage.ok("phase_stats", json!({})).json();
    assert_eq!(stats["totalTokens"], 1000, "{stats:#}");
}
