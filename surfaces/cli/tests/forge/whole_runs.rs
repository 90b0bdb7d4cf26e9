//! Whole runs of each effort, from the first action to the end.

use serde_json::{Value, json};

use crate::{
    player::{Player, line},
    stage::{Stage, answer, done},
};

const ASKED_A: &str = "checkpoint checkpoint-a [proceed, revise, abandon]";

/// What is to be done up to the design, and the rest from the implementation on.
const MEDIUM: [&str; 12] = [
    "phase-1 situation-analyst [request.md] -> analysis.md",
    "phase-2 investigator [request.md, analysis.md] -> investigation.md",
    "phase-3 architect [request.md, analysis.md, investigation.md] -> design.md",
    "phase-3b design-reviewer [design.md] -> review-design.md",
    ASKED_A,
    "phase-4 task-decomposer [design.md] -> tasks.md",
    "phase-5 implementer [tasks.md, design.md] -> impl-1.md",
    "phase-6 impl-reviewer [impl-1.md, tasks.md] -> review-1.md",
    "phase-7 comprehensive-reviewer [design.md, tasks.md] -> comprehensive-review.md",
    "final-verification verifier [tasks.md, design.md] -> final-verification.md",
    "final-summary verifier [comprehensive-review.md, request.md, design.md, tasks.md, \
     analysis.md, investigation.md] -> summary.md",
    "done pipeline completed",
];

/// Returns the log as lines of phase and model.
fn log(stage: &Stage) -> Vec<String> {
    stage.log().iter().map(|(phase, model)| format!("{phase} {model}").trim().to_owned()).collect()
}

#[test]
fn a18_a_run_of_effort_m_goes_through_its_phases_in_order() {
    let mut stage = Stage::begun("M");
    let lines = Player::new(&mut stage, &[]).play();
    assert_eq!(lines, MEDIUM);
    stage.is_at("completed", "completed");
    let state = stage.state();
    let task = &state["tasks"]["1"];
    assert_eq!(task["implStatus"], "completed", "{task:#}");
    assert_eq!(task["reviewStatus"], "completed_pass", "{task:#}");
}

#[test]
fn a18_the_log_of_a_run_of_effort_m_has_each_phase_once() {
    let mut stage = Stage::begun("M");
    Player::new(&mut stage, &[]).play();
    let expected = [
        "phase-1 sonnet",
        "phase-2 sonnet",
        "phase-3 sonnet",
        "phase-3b sonnet",
        "checkpoint-a checkpoint",
        "phase-4 sonnet",
        "phase-4b skipped",
        "checkpoint-b skipped",
        "phase-5 sonnet",
        "phase-6 sonnet",
        "phase-7 sonnet",
        "final-verification sonnet",
        "pr-creation skipped",
        "final-summary sonnet",
        "post-to-source skipped",
        "final-commit skipped",
    ];
    assert_eq!(log(&stage), expected);
    let told = stage.ok("analytics_pipeline_summary", json!({})).json();
    assert_eq!(told["total_tokens"], 10_000, "{told:#}");
    assert_eq!(told["total_duration_ms"], 20_000, "{told:#}");
    assert_eq!(told["phases_skipped"], 2, "{told:#}");
}

#[test]
fn a18_a_checkpoint_tells_what_the_run_has_cost_so_far() {
    let mut stage = Stage::begun("M");
    let mut player = Player::new(&mut stage, &[]);
    let action = player.play_until(|it| it["type"] == "checkpoint");
    assert_eq!(action["current_phase"], "checkpoint-a", "{action:#}");
    assert_eq!(action["current_phase_status"], "awaiting_human", "{action:#}");
    let shown = action["display_message"].as_str().unwrap();
    assert!(shown.contains("4,000 tokens") && shown.contains("5 phases"), "{shown}");
    assert_eq!(action["analytics"]["total_tokens"], 4000, "{action:#}");
    assert!(action["present_to_user"].as_str().unwrap().contains("Phase 4"), "{action:#}");
    stage.is_at("checkpoint-a", "awaiting_human");
}

#[test]
fn an_action_tells_what_is_begun_and_where_the_run_stands() {
    let stage = Stage::begun("M");
    let action = stage.go(json!({}));
    assert_eq!(
        action["display_message"],
        "▶ Phase 1 — Situation Analysis  ·  spawning situation-analyst…"
    );
    assert_eq!(action["model"], "sonnet");
    assert_eq!(action["current_phase"], "phase-1");
    assert_eq!(action["current_phase_status"], "in_progress");
}

#[test]
fn a19_a_run_of_effort_l_has_its_tasks_reviewed_and_asked_about() {
    let mut stage = Stage::new();
    let begun = stage.init("L");
    assert_eq!(begun.get("skipped_phases"), None, "{begun:#}");
    let lines = Player::new(&mut stage, &[]).play();
    let mut expected: Vec<&str> = MEDIUM.to_vec();
    let between = [
        "phase-4b task-reviewer [tasks.md] -> review-tasks.md",
        "checkpoint checkpoint-b [proceed, revise, abandon]",
    ];
    expected.splice(6..6, between);
    assert_eq!(lines, expected);
    let count = |start: &str| lines.iter().filter(|it| it.starts_with(start)).count();
    assert_eq!((count("phase-") + count("final-"), count("checkpoint ")), (11, 2));
    stage.is_at("completed", "completed");
}

#[test]
fn a_run_of_effort_s_implements_the_design_as_one_task() {
    let mut stage = Stage::begun("S");
    let lines = Player::new(&mut stage, &[]).play();
    let expected = [
        "phase-1 situation-analyst-investigator [request.md] -> analysis.md",
        "phase-3 architect [request.md, analysis.md] -> design.md",
        "phase-3b design-reviewer [design.md] -> review-design.md",
        ASKED_A,
        "write_file phase-5",
        "phase-5 implementer [tasks.md, design.md] -> impl-1.md",
        MEDIUM[8],
        MEDIUM[9],
        MEDIUM[10],
        MEDIUM[11],
    ];
    assert_eq!(lines, expected);
    stage.is_at("completed", "completed");
    let expected = [
        "phase-1 sonnet",
        "phase-2 skipped",
        "phase-3 sonnet",
        "phase-3b sonnet",
        "checkpoint-a checkpoint",
        "phase-4 skipped",
        "phase-4b skipped",
        "checkpoint-b skipped",
        "phase-5",
        "phase-5 sonnet",
        "phase-6 skipped",
        "phase-7 sonnet",
        "final-verification sonnet",
        "pr-creation skipped",
        "final-summary sonnet",
        "post-to-source skipped",
        "final-commit skipped",
    ];
    assert_eq!(log(&stage), expected);
}

#[test]
fn the_tasks_of_a_small_run_are_written_by_the_client_and_only_set_it_up() {
    let mut stage = Stage::begun("S");
    let mut player = Player::new(&mut stage, &[]);
    let action = player.play_until(|it| it["type"] == "write_file");
    assert_eq!(action["setup_only"], true, "{action:#}");
    assert!(action["path"].as_str().unwrap().ends_with("tasks.md"), "{action:#}");
    let text = action["content"].as_str().unwrap();
    assert!(text.contains("## Task 1: Implement") && text.contains("mode: sequential"), "{text}");
    player.act(&action);
    let next = stage.go(done());
    assert_eq!(line(&next), "phase-5 implementer [tasks.md, design.md] -> impl-1.md");
    assert_eq!(stage.state()["tasks"]["1"]["title"], "Implement");
}

#[test]
fn phases_that_a_flow_skips_are_among_the_skipped_and_the_completed() {
    let mut stage = Stage::begun("S");
    Player::new(&mut stage, &[]).play();
    let state = stage.state();
    for phase in ["phase-2", "phase-4", "phase-4b", "checkpoint-b", "phase-6"] {
        let is_in = |key: &str| state[key].as_array().unwrap().contains(&json!(phase));
        assert!(is_in("skippedPhases") && is_in("completedPhases"), "{phase}: {state:#}");
    }
    assert_eq!(state["timestamps"]["phaseStarted"], Value::Null);
}

#[test]
fn a46_a_run_that_approves_by_itself_asks_nobody_while_reviews_approve() {
    for effort in ["S", "M", "L"] {
        let mut stage = Stage::new();
        stage.init_with(effort, json!({"skip_pr": true, "auto": true}));
        let lines = Player::new(&mut stage, &[]).play();
        assert!(!lines.iter().any(|it| it.starts_with("checkpoint")), "{effort}: {lines:#?}");
        stage.is_at("completed", "completed");
        let state = stage.state();
        for phase in ["phase-3b", "checkpoint-a"] {
            let is_done = state["completedPhases"].as_array().unwrap().contains(&json!(phase));
            assert!(is_done, "{effort}: {phase}: {state:#}");
        }
    }
}

#[test]
fn asking_again_without_a_report_gives_the_same_action() {
    let stage = Stage::begun("M");
    let first = stage.go(json!({}));
    assert_eq!(line(&stage.go(json!({}))), line(&first));
    assert_eq!(stage.log(), []);
    // An answer where none was asked for is not taken either.
    assert_eq!(line(&stage.go(answer("proceed"))), line(&first));
}
