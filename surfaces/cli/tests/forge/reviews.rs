//! Reviews of the design and of the tasks' code: verdicts, findings, and what they lead to.

use serde_json::{Value, json};

use crate::{
    player::{Cue, Player, line},
    stage::{Stage, answer, done, task},
};

const FINDINGS: &str = "Verdict: APPROVE\n## Verdict: REVISE\n**[CRITICAL] Missing error check in \
                        loop**\n**2. [MINOR] variable name unclear**\n- [MINOR] not bold\n";

const ARCHITECT_AGAIN: &str =
    "phase-3 architect [request.md, analysis.md, design.md, review-design.md] -> design.md";

/// A design whose review is there and not reported, and which of the two is the later.
fn reviewed(design_at: u64, review_at: u64) -> Stage {
    let stage = Stage::begun("M");
    stage.write_at("design.md", "# D\n\n## A\n", design_at);
    stage.write_at("review-design.md", FINDINGS, review_at);
    stage.put("phase-3b", json!({}));
    stage
}

#[test]
fn a21_the_verdict_of_the_heading_counts_and_its_findings_are_told_in_order() {
    let stage = reviewed(0, 10);
    let said = stage.report("phase-3b");
    assert_eq!(said["verdict_parsed"], "REVISE", "{said:#}");
    assert_eq!(said["next_action_hint"], "revision_required", "{said:#}");
    let findings = said["findings"].as_array().unwrap();
    let told: Vec<(&Value, &Value)> =
        findings.iter().map(|it| (&it["severity"], &it["description"])).collect();
    let expected = [
        (&json!("CRITICAL"), &json!("Missing error check in loop")),
        (&json!("MINOR"), &json!("variable name unclear")),
    ];
    assert_eq!(told, expected, "{said:#}");
    assert_eq!(stage.state()["revisions"]["designRevisions"], 1);
    assert_eq!(stage.stands().0, "phase-3b");
}

#[test]
fn a21_findings_become_patterns() {
    let stage = reviewed(0, 10);
    stage.report("phase-3b");
    let told = stage.done("history_get_patterns", json!({})).json();
    assert_eq!(told["total_reviews_analyzed"], 1, "{told:#}");
    let patterns: Vec<String> = told["patterns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| {
            format!("{} {} {} {}", it["pattern"], it["severity"], it["category"], it["agent"])
        })
        .collect();
    let expected = [
        r#""missing error check loop" "CRITICAL" "error_handling" "design-reviewer""#,
        r#""variable name unclear" "MINOR" "naming_convention" "design-reviewer""#,
    ];
    assert_eq!(patterns, expected);
}

#[test]
fn a22_a_design_that_is_sent_back_goes_to_the_architect_and_then_to_the_reviewer() {
    let stage = reviewed(0, 10);
    let said = stage.go(done());
    assert_eq!(said["type"], "", "{said:#}");
    assert_eq!(said["report_result"]["next_action_hint"], "revision_required", "{said:#}");
    assert_eq!(said["report_result"]["verdict_parsed"], "REVISE", "{said:#}");
    assert_eq!(stage.stands().0, "phase-3b");
    assert_eq!(line(&stage.go(json!({}))), ARCHITECT_AGAIN);
    stage.write("design.md", "# D\n\n## B\n");
    let action = stage.go(done());
    assert_eq!(line(&action), "phase-3b design-reviewer [design.md] -> review-design.md");
    assert!(!stage.has("review-design.md"));
}

#[test]
fn a23_a_review_of_an_older_design_is_thrown_away() {
    let stage = reviewed(10, 0);
    let said = stage.report("phase-3b");
    assert_eq!(said["next_action_hint"], "setup_continue", "{said:#}");
    assert!(!stage.has("review-design.md"));
    assert_eq!(stage.state()["revisions"]["designRevisions"], 0);
    let action = stage.go(json!({}));
    assert_eq!(action["agent"], "design-reviewer", "{action:#}");
}

/// Goes on to the first action of a phase, and has it done.
fn act_at(stage: &mut Stage, script: &[Cue], phase: &str) {
    let mut player = Player::new(stage, script);
    let action = player.play_until(|it| it["phase"] == phase);
    player.act(&action);
}

#[test]
fn a_review_counts_if_the_design_is_as_it_was_given_whatever_the_clock_says() {
    let mut stage = Stage::begun("M");
    act_at(&mut stage, &[("review-design.md", 1, FINDINGS)], "phase-3b");
    stage.touch("review-design.md", 0);
    stage.touch("design.md", 10);
    let said = stage.go(done());
    assert_eq!(said["report_result"]["next_action_hint"], "revision_required", "{said:#}");
    assert_eq!(stage.state()["revisions"]["designRevisions"], 1);
}

#[test]
fn a_review_without_a_verdict_does_not_let_the_design_through() {
    let mut stage = Stage::begun("M");
    act_at(&mut stage, &[("review-design.md", 1, "I APPROVE of this.\n")], "phase-3b");
    let mut arguments = done();
    arguments["workspace"] = json!(stage.workspace());
    let said = stage.call("pipeline_next_action", arguments);
    if !said.is_error {
        assert_eq!(said.json()["name"], "design-review-unknown", "{}", said.text);
    }
    let state = stage.state();
    assert!(!state["completedPhases"].to_string().contains("phase-3b"), "{state:#}");
    assert_eq!(state["currentPhase"], "phase-3b");
}

#[test]
fn a_verdict_may_be_written_in_bold() {
    let mut stage = Stage::begun("M");
    act_at(&mut stage, &[("review-design.md", 1, "**Verdict:** APPROVE\n")], "phase-3b");
    assert_eq!(stage.go(done())["name"], "checkpoint-a");
}

#[test]
fn a40_a_failing_review_that_speaks_of_passing_is_a_failing_review() {
    let script = [("review-1.md", 1, "## Verdict: FAIL\n\nUnit tests PASS but design violated.\n")];
    let mut stage = Stage::begun("M");
    act_at(&mut stage, &script, "phase-6");
    let action = stage.go(done());
    let expected = "phase-5 implementer [tasks.md, design.md, review-1.md] -> impl-1.md";
    assert_eq!(line(&action), expected);
    assert_eq!(stage.state()["tasks"]["1"]["implRetries"], 1);
    stage.write("impl-1.md", "Done better.\n");
    let action = stage.go(done());
    assert_eq!(line(&action), "phase-6 impl-reviewer [impl-1.md, tasks.md] -> review-1.md");
    assert!(!stage.has("review-1.md"));
}

#[test]
fn a_review_that_fails_is_not_told_as_a_phase_that_is_complete() {
    let mut stage = Stage::begun("M");
    act_at(&mut stage, &[("review-1.md", 1, "## Verdict: FAIL\n")], "phase-6");
    stage.go(done());
    let events = stage.events();
    let is_told = events.iter().any(|it| it.0 == "phase-complete" && it.1 == "phase-6");
    assert!(!is_told, "{events:#?}");
}

#[test]
fn each_review_of_a_batch_counts_for_its_task() {
    let stage = Stage::begun("M");
    let tasks = json!({"tasks": {
        "1": task("sequential", "completed", "pending"),
        "2": task("sequential", "completed", "pending"),
        "3": task("sequential", "completed", "pending"),
    }});
    stage.put("phase-6", tasks);
    for (number, verdict) in [("1", "PASS"), ("2", "FAIL"), ("3", "PASS_WITH_NOTES")] {
        stage.write(&format!("impl-{number}.md"), "Done.\n");
        stage.write(&format!("review-{number}.md"), &format!("## Verdict: {verdict}\n"));
    }
    let said = stage.report("phase-6");
    assert_eq!(said["next_action_hint"], "retry_impl", "{said:#}");
    let tasks = stage.state()["tasks"].clone();
    let reviews = ["1", "2", "3"].map(|it| tasks[it]["reviewStatus"].clone());
    assert_eq!(reviews, ["completed_pass", "completed_fail", "completed_pass_with_notes"]);
    assert_eq!(tasks["2"]["implRetries"], 1);
}

#[test]
fn each_task_that_failed_is_built_again_before_any_is_reviewed_again() {
    let fail = "## Verdict: FAIL\n";
    let script = [
        ("tasks.md", 1, "## Task 1: One\n\n## Task 2: Two\n\n## Task 3: Three\n"),
        ("review-1.md", 1, fail),
        ("review-3.md", 1, fail),
    ];
    let mut stage = Stage::begun("M");
    let lines = Player::new(&mut stage, &script).play();
    let first = lines.iter().position(|it| it.starts_with("phase-6 ")).unwrap();
    let expected = [
        "phase-6 impl-reviewer [tasks.md] -> review-1.md, review-2.md, review-3.md",
        "phase-5 implementer [tasks.md, design.md, review-1.md] -> impl-1.md",
        "phase-5 implementer [tasks.md, design.md, review-3.md] -> impl-3.md",
        "phase-6 impl-reviewer [tasks.md] -> review-1.md, review-3.md",
    ];
    assert_eq!(lines[first..first + 4], expected, "{lines:#?}");
    stage.is_at("completed", "completed");
}

#[test]
fn the_last_failure_that_a_task_may_have_is_told_as_one_too() {
    let stage = Stage::begun("M");
    let mut tried = task("sequential", "completed", "pending");
    tried["implRetries"] = json!(4);
    stage.put("phase-6", json!({"tasks": {"1": tried}}));
    stage.write("impl-1.md", "Done.\n");
    stage.write("review-1.md", "## Verdict: FAIL\n");
    let said = stage.report("phase-6");
    assert_eq!(said["next_action_hint"], "retry_impl", "{said:#}");
    let action = stage.go(json!({}));
    assert_eq!(line(&action), "checkpoint impl-retry-limit-1 [approve, abandon]");
}

const ALWAYS_BACK: [Cue; 3] = [
    ("review-design.md", 1, FINDINGS),
    ("review-design.md", 2, FINDINGS),
    ("review-design.md", 3, FINDINGS),
];

#[test]
fn a42_after_the_second_rejection_a_person_decides() {
    let mut stage = Stage::begun("M");
    let mut player = Player::new(&mut stage, &ALWAYS_BACK);
    let action = player.play_until(|it| it["type"] == "checkpoint");
    assert_eq!(line(&action), "checkpoint design-approved [proceed, revise]");
    assert_eq!(action["flags"]["designReviseCapReached"], true, "{action:#}");
    let state = stage.state();
    assert_eq!(state["designReviseCapReached"], true);
    assert_eq!(state["revisions"]["designRevisions"], 2);
    let action = stage.go(answer("proceed"));
    assert_eq!(action["agent"], "task-decomposer", "{action:#}");
    let state = stage.state();
    assert!(state["completedPhases"].to_string().contains("\"phase-3b\""), "{state:#}");
}

#[test]
fn a_design_at_the_cap_may_still_be_sent_back() {
    let mut stage = Stage::begun("M");
    let mut player = Player::new(&mut stage, &ALWAYS_BACK);
    player.play_until(|it| it["type"] == "checkpoint");
    let action = stage.go(answer("revise"));
    assert_eq!((&action["agent"], &action["phase"]), (&json!("architect"), &json!("phase-3")));
}

#[test]
fn the_notes_of_a_design_at_the_cap_go_on_to_the_implementation() {
    let mut stage = Stage::begun("M");
    let script = [ALWAYS_BACK[0], ALWAYS_BACK[1]];
    let mut player = Player::new(&mut stage, &script);
    let action = player.play_until(|it| it["phase"] == "phase-5");
    let expected = "phase-5 implementer [tasks.md, design.md, review-design.md] -> impl-1.md";
    assert_eq!(line(&action), expected);
}

/// A run whose design was rejected as often as it may be.
fn exhausted() -> Stage {
    let stage = Stage::begun("M");
    stage.write_at("design.md", "# D\n\n## A\n", 0);
    stage.write_at("review-design.md", FINDINGS, 10);
    let revisions = json!({
        "designRevisions": 5, "taskRevisions": 0,
        "designInlineRevisions": 0, "taskInlineRevisions": 0,
    });
    stage.put("phase-3b", json!({"revisions": revisions}));
    let action = stage.go(json!({}));
    assert_eq!(line(&action), "checkpoint design-retry-limit [approve, abandon]");
    stage
}

#[test]
fn a_design_that_was_rejected_too_often_can_be_approved() {
    let action = exhausted().go(answer("approve"));
    assert!(action["phase"] == "phase-4" || action["name"] == "checkpoint-a", "{action:#}");
}

#[test]
fn a_design_that_was_rejected_too_often_can_be_abandoned() {
    let stage = exhausted();
    assert_eq!(stage.go(answer("abandon"))["type"], "done");
    assert_eq!(stage.stands().1, "abandoned");
}

#[test]
fn a_task_that_failed_too_often_is_for_a_person_to_decide() {
    for (said, is_over) in [("approve", false), ("abandon", true)] {
        let stage = Stage::begun("M");
        let mut failed = task("sequential", "completed", "completed_fail");
        failed["implRetries"] = json!(5);
        stage.put("phase-6", json!({"tasks": {"1": failed}}));
        stage.write("impl-1.md", "Done.\n");
        stage.write("review-1.md", "## Verdict: FAIL\n");
        let action = stage.go(json!({}));
        assert_eq!(line(&action), "checkpoint impl-retry-limit-1 [approve, abandon]");
        let action = stage.go(answer(said));
        assert_eq!(action["type"] == "done", is_over, "{action:#}");
        assert_eq!(stage.stands().0 == "phase-7", !is_over, "{action:#}");
    }
}
