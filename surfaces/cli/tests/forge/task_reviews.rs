//! Reviews of the tasks before they are implemented, and checkpoints that come up only when
//! something is unclear.

use serde_json::json;

use crate::{
    player::{Cue, Player, line},
    stage::{Stage, answer, done},
};

const BACK: [Cue; 1] =
    [("review-tasks.md", 1, "## Verdict: REVISE\n**[MINOR] Task 1 is vague**\n")];

#[test]
fn tasks_that_are_sent_back_are_made_and_reviewed_again() {
    let mut stage = Stage::begun("L");
    let lines = Player::new(&mut stage, &BACK).play();
    let count = |wanted: &str| lines.iter().filter(|it| *it == wanted).count();
    let again = "phase-4 task-decomposer [design.md, review-tasks.md] -> tasks.md";
    assert_eq!(count(again), 1, "{lines:#?}");
    let review = "phase-4b task-reviewer [tasks.md] -> review-tasks.md";
    assert_eq!(count(review), 2, "{lines:#?}");
    stage.is_at("completed", "completed");
    assert_eq!(stage.state()["revisions"]["taskRevisions"], 1);
}

/// A run with a review of its tasks that nobody was told of, after so many rejections.
fn resumed(review: &str, revisions: u32) -> Stage {
    let stage = Stage::begun("L");
    stage.write_at("design.md", "# D\n\n## A\n", 0);
    stage.write_at("tasks.md", "## Task 1: One\n", 0);
    stage.write_at("review-tasks.md", review, 10);
    let revisions = json!({
        "designRevisions": 0, "taskRevisions": revisions,
        "designInlineRevisions": 0, "taskInlineRevisions": 0,
    });
    stage.put("phase-4b", json!({"revisions": revisions}));
    stage
}

/// Checks that a checkpoint comes up, and what each of its answers leads to.
#[track_caller]
fn leads(begin: impl Fn() -> Stage, asked: &str, answers: &[(&str, &[&str])]) {
    for (said, phases) in answers {
        let stage = begin();
        assert_eq!(line(&stage.go(json!({}))), asked);
        assert_eq!(stage.stands().1, "awaiting_human");
        let action = stage.go(answer(said));
        let (phase, status) = stage.stands();
        assert!(phases.contains(&phase.as_str()), "{said} led to {phase}: {action:#}");
        assert_eq!(action["type"] == "done", *said == "abandon", "{said}: {action:#}");
        assert_eq!(status == "abandoned", *said == "abandon", "{said}: {status}");
    }
}

#[test]
fn tasks_that_were_rejected_too_often_are_for_a_person_to_decide() {
    leads(
        || resumed("## Verdict: REVISE\n", 5),
        "checkpoint task-retry-limit [approve, abandon]",
        &[("approve", &["checkpoint-b", "phase-5"]), ("abandon", &["phase-4b"])],
    );
}

#[test]
fn a_review_of_tasks_without_a_verdict_is_for_a_person_to_decide() {
    leads(
        || resumed("It is what it is.\n", 0),
        "checkpoint task-review-unknown [approve, revise, abandon]",
        &[
            ("approve", &["checkpoint-b", "phase-5"]),
            ("revise", &["phase-4"]),
            ("abandon", &["phase-4b"]),
        ],
    );
}

#[test]
fn a_review_of_a_design_without_a_verdict_is_for_a_person_to_decide() {
    let begin = || {
        let stage = Stage::begun("M");
        stage.write_at("design.md", "# D\n\n## A\n", 0);
        stage.write_at("review-design.md", "It is what it is.\n", 10);
        stage.put("phase-3b", json!({}));
        stage
    };
    leads(
        begin,
        "checkpoint design-review-unknown [approve, revise, abandon]",
        &[
            ("approve", &["checkpoint-a", "phase-4"]),
            ("revise", &["phase-3"]),
            ("abandon", &["phase-3b"]),
        ],
    );
}

#[test]
fn a_review_of_tasks_that_nobody_was_told_of_is_no_dead_end() {
    let mut stage = resumed("## Verdict: APPROVE\n", 0);
    stage.kill();
    let mut player = Player::new(&mut stage, &[]);
    let action = player.play_until(|it| it["phase"] == "phase-5");
    assert_eq!(action["agent"], "implementer", "{action:#}");
    let asked = player.lines();
    assert!(asked.iter().any(|it| it.starts_with("checkpoint ")), "nobody was asked: {asked:#?}");
}

#[test]
fn tasks_without_a_verdict_do_not_go_on_by_a_report() {
    let stage = resumed("It is what it is.\n", 0);
    let mut arguments = done();
    arguments["workspace"] = json!(stage.workspace());
    stage.call("pipeline_next_action", arguments);
    let state = stage.state();
    assert_eq!(state["currentPhase"], "phase-4b");
    assert!(!state["completedPhases"].to_string().contains("phase-4b"), "{state:#}");
}

#[test]
fn tasks_that_break_rules_too_often_are_for_a_person_to_decide() {
    let begin = || {
        let stage = resumed("**REVISE**\n", 5);
        stage.put("phase-4", json!({}));
        stage
    };
    leads(
        begin,
        "checkpoint task-workflow-rules-retry-limit [approve, abandon]",
        &[("approve", &["phase-4b", "checkpoint-b", "phase-5"]), ("abandon", &["phase-4"])],
    );
}
