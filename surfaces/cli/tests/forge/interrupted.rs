//! Runs with everything that can go wrong in them, whose server is killed again and again: they
//! end as if it had not been.

use serde_json::{Value, json};

use crate::{
    player::{Cue, Kill, Player},
    random,
    stage::{Stage, word, world},
};

/// A design that is sent back by its reviewer and then by a person, and a task that fails once.
const HARD: [Cue; 7] = [
    ("review-design.md", 1, "## Verdict: REVISE\n**1. [CRITICAL] Errors are swallowed**\n"),
    ("checkpoint-a", 1, "revise"),
    (
        "tasks.md",
        1,
        "# T\n\n## Task 1: Ground\nmode: sequential\n\n## Task 2: Left\nmode: parallel\nfiles:\n- \
         left.txt\ndepends_on: [1]\n\n## Task 3: Right\nmode: parallel\nfiles:\n- \
         right.txt\ndepends_on: [1]\n\n## Task 4: Roof\nmode: sequential\ndepends_on: [2, 3]\n",
    ),
    ("review-tasks.md", 1, "## Verdict: APPROVE_WITH_NOTES\n"),
    ("checkpoint-b", 1, "proceed"),
    ("review-3.md", 1, "## Verdict: FAIL\n\nThe tests PASS, but it leaks.\n"),
    ("review-4.md", 1, "## Verdict: PASS_WITH_NOTES\n"),
];

/// Returns the state without what differs from run to run: times and places.
fn still(stage: &Stage) -> Value {
    let mut state = stage.state();
    blank(&mut state, stage.project.path("").to_str().unwrap());
    state
}

fn blank(value: &mut Value, root: &str) {
    match value {
        Value::String(text) if is_time(text) => *value = json!("TIME"),
        Value::String(text) => *value = json!(text.replace(root, "ROOT/")),
        Value::Array(items) => items.iter_mut().for_each(|it| blank(it, root)),
        Value::Object(members) => members.values_mut().for_each(|it| blank(it, root)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn is_time(text: &str) -> bool {
    text.parse::<jiff::Timestamp>().is_ok()
}

/// Goes through a hard run, and returns what it came to: its state, and the commits.
fn hard_run(effort: &str, kill: Kill, seed: u64) -> (Value, Vec<String>, Vec<String>) {
    // Only a process dies in the middle of a call.
    let begin = if kill == Kill::InReport { Stage::apart } else { Stage::over };
    let mut stage = begin(world(&[]));
    stage.init(effort);
    let lines = Player::new(&mut stage, &HARD).killing(kill, seed).play();
    let commits = stage.git(&["log", "--format=%s"]).lines().map(ToOwned::to_owned).collect();
    (still(&stage), lines, commits)
}

fn ends_the_same(effort: &str, kill: Kill) {
    let seed = random::seed();
    let expected = hard_run(effort, Kill::Never, seed);
    let found = hard_run(effort, kill, seed);
    assert_eq!(found.1, expected.1, "seed {seed}: other actions");
    assert_eq!(found.0, expected.0, "seed {seed}: another state");
    assert_eq!(found.2, expected.2, "seed {seed}: other commits");
}

fn count(lines: &[String], start: &str) -> usize {
    lines.iter().filter(|it| it.starts_with(start)).count()
}

#[test]
fn a_hard_run_of_each_effort_comes_to_its_end() {
    for effort in ["S", "M", "L"] {
        let (state, lines, commits) = hard_run(effort, Kill::Never, 1);
        assert_eq!(word(&state["currentPhase"]), "completed", "{effort}: {lines:#?}");
        assert_eq!(word(&state["currentPhaseStatus"]), "completed");
        assert_eq!(count(&lines, "phase-3 architect"), 3, "{effort}: {lines:#?}");
        assert_eq!(count(&lines, "phase-3b design-reviewer"), 3, "{effort}: {lines:#?}");
        assert_eq!(count(&lines, "checkpoint checkpoint-a"), 2, "{effort}: {lines:#?}");
        assert_eq!(state["revisions"]["designRevisions"], 1, "{effort}");
        let has_tasks = effort != "S";
        let commits = count(&commits, "chore: batch commit parallel tasks");
        assert_eq!(0 < commits, has_tasks, "{effort}");
        if has_tasks {
            has_retried(&state, &lines);
        }
    }
}

/// Checks that the failing task was done again, and the others once.
fn has_retried(state: &Value, lines: &[String]) {
    let fan_out = "phase-5 implementer [tasks.md, design.md] -> impl-2.md, impl-3.md";
    assert_eq!(count(lines, fan_out), 1, "{lines:#?}");
    let retry = "phase-5 implementer [tasks.md, design.md, review-3.md] -> impl-3.md";
    assert_eq!(count(lines, retry), 1, "{lines:#?}");
    for (number, retries, review) in [
        ("1", 0, "completed_pass"),
        ("2", 0, "completed_pass"),
        ("3", 1, "completed_pass"),
        ("4", 0, "completed_pass_with_notes"),
    ] {
        let task = &state["tasks"][number];
        assert_eq!(task["implRetries"], retries, "{number}: {task:#}");
        assert_eq!(task["implStatus"], "completed", "{number}: {task:#}");
        assert_eq!(task["reviewStatus"], review, "{number}: {task:#}");
    }
}

#[test]
fn a_small_run_killed_while_its_agents_work_ends_the_same() {
    ends_the_same("S", Kill::AgentsWork);
}

#[test]
fn a_medium_run_killed_while_its_agents_work_ends_the_same() {
    ends_the_same("M", Kill::AgentsWork);
}

#[test]
fn a_large_run_killed_while_its_agents_work_ends_the_same() {
    ends_the_same("L", Kill::AgentsWork);
}

#[test]
fn a_small_run_killed_before_each_report_ends_the_same() {
    ends_the_same("S", Kill::BeforeReport);
}

#[test]
fn a_medium_run_killed_before_each_report_ends_the_same() {
    ends_the_same("M", Kill::BeforeReport);
}

#[test]
fn a_large_run_killed_before_each_report_ends_the_same() {
    ends_the_same("L", Kill::BeforeReport);
}

#[test]
fn a_small_run_killed_in_the_midst_of_each_report_ends_the_same() {
    ends_the_same("S", Kill::InReport);
}

#[test]
fn a_medium_run_killed_in_the_midst_of_each_report_ends_the_same() {
    ends_the_same("M", Kill::InReport);
}

#[test]
fn a_large_run_killed_in_the_midst_of_each_report_ends_the_same() {
    ends_the_same("L", Kill::InReport);
}

#[test]
fn a49_a_review_that_nobody_was_told_of_leads_to_its_checkpoint_after_a_crash() {
    let mut stage = Stage::begun("M");
    let mut player = Player::new(&mut stage, &[]);
    let action = player.play_until(|it| it["phase"] == "phase-3b");
    player.act(&action);
    stage.kill();
    let action = stage.go(json!({}));
    assert_eq!(action["type"], "checkpoint", "{action:#}");
    assert_eq!(action["name"], "checkpoint-a", "{action:#}");
    let action = stage.go(json!({"user_response": "proceed"}));
    assert_eq!(action["phase"], "phase-4", "{action:#}");
}

#[test]
fn a_run_is_resumed_by_its_name_in_another_process() {
    let mut stage = Stage::begun("M");
    Player::new(&mut stage, &[]).play_until(|it| it["phase"] == "phase-4");
    stage.kill();
    let said = stage.done("pipeline_init", json!({"arguments": "20260101-x"})).json();
    assert_eq!(said["resume_mode"], "auto", "{said:#}");
    let told = stage.ok("resume_info", json!({})).json();
    assert_eq!(told["currentPhase"], "phase-4", "{told:#}");
    assert_eq!(stage.go(json!({}))["agent"], "task-decomposer");
}
