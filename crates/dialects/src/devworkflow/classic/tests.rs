//! Walks through the classic tools at random, without a process, and follows each piece of advice
//! literally: the engine must accept it, and some advice must lead on to an end of the work.
//!
//! A failure names its seed; `WALK_SEED=17` plays just that one.

mod compare;
mod edits;
mod golden;
mod hints;
mod player;
mod release_0_1;
mod texts;

use std::{collections::HashSet, env, sync::Arc};

use definition::Answers;
use engine::{Command, Standing};
use serde_json::{Map, json};

use super::{
    super::{text::VOID, words::PHASES},
    Guidance,
    rows::LATER,
};
use player::{Next, Player, Said, workflow};

/// How many walks there are, and in how many tests, which run at the same time.
const SEEDS: u64 = 2_000;
const TESTS: u64 = 4;
/// How many things happen in one walk once the work has come somewhere.
const STEPS: usize = 3;
/// How many calls may lie between a state and the end of the work.
const DEPTH_MAX: usize = 30;
/// Every how many walks the way to the end is looked for.
const ENDS_EVERY: u64 = 40;

#[test]
fn the_engine_accepts_every_call_that_is_advised_in_the_first_quarter() {
    walk(0);
}

#[test]
fn the_engine_accepts_every_call_that_is_advised_in_the_second_quarter() {
    walk(1);
}

#[test]
fn the_engine_accepts_every_call_that_is_advised_in_the_third_quarter() {
    walk(2);
}

#[test]
fn the_engine_accepts_every_call_that_is_advised_in_the_last_quarter() {
    walk(3);
}

fn walk(part: u64) {
    let workflow = Arc::new(workflow());
    #[expect(clippy::disallowed_methods, reason = "a test is told which seed to play again")]
    let only: Option<u64> = env::var("WALK_SEED").ok().and_then(|it| it.parse().ok());
    let size = SEEDS / TESTS;
    for seed in only.map_or(part * size..(part + 1) * size, |it| it..it + 1) {
        let mut player = Player::new(&workflow, seed);
        player.come_along();
        let mut advice = Vec::new();
        for _ in 0..STEPS {
            let Some(said) = player.act(&advice) else { continue };
            check(&player, &said, seed);
            follow(&player, &said, seed);
            advice = said.next;
        }
        if seed % ENDS_EVERY == 0 || only.is_some() {
            assert!(reaches_end(&player), "seed {seed}: no advice leads on\n{}", player.story());
        }
    }
}

/// Checks what an answer must say beside the calls.
fn check(player: &Player<'_>, said: &Said, seed: u64) {
    let at = || format!("seed {seed}\n{}\n{}", player.story(), said.text);
    assert!(!said.has_rotated || said.text.contains("archive"), "rotation is not said, {}", at());
    assert!(player.is_plan_own(), "the plan of another item was approved, {}", at());
    if player.is_void() {
        // Arguments that cannot be read are refused before anyone looks at the run.
        assert!(said.is_refused || said.knows_run, "the run is not shown, {}", at());
        let is_said = said.text.contains(VOID);
        assert!(is_said || !said.knows_run, "the approval is void, and nobody says so, {}", at());
        let leads = [Guidance::Validate.name(), Guidance::Complete.name()];
        assert!(!said.next.iter().any(|it| leads.contains(&it.tool)), "void, {}", at());
    }
}

/// Makes each advised call, on a copy of the run. One that relies on a call before it comes after
/// that.
fn follow(player: &Player<'_>, said: &Said, seed: u64) {
    let mut before: Option<Player<'_>> = None;
    for next in &said.next {
        let mut now = player.clone();
        let mut done = now.make(next.tool, &next.params);
        if done.is_err() {
            now = before.take().unwrap_or_else(|| player.clone());
            done = now.make(next.tool, &next.params);
        }
        if let Err(problem) = done {
            let (story, text) = (player.story(), &said.text);
            let (tool, params) = (next.tool, &next.params);
            panic!(
                "seed {seed}: advised, and refused: {tool} {params:?}\n{problem}\n{story}\n{text}"
            );
        }
        let leads =
            next.tool == Guidance::Update.name() || said.next.iter().any(|it| it.when == LATER);
        before = leads.then_some(now);
    }
}

/// Whether some advice leads from here to the end of the work: nothing is left to do.
fn reaches_end(player: &Player<'_>) -> bool {
    let mut first = player.clone();
    let advice = first.call(Guidance::Hello.name(), &Map::new()).next;
    let mut open: Vec<(Player<'_>, Vec<Next>, usize)> = vec![(first, advice, 0)];
    let mut seen = HashSet::new();
    while let Some((player, advice, depth)) = open.pop() {
        for next in &advice {
            let mut now = player.clone();
            let is_asked = matches!(now.state.standing, Standing::Waiting(_));
            let is_personal = now.known().gates == Some(Answers::Verified);
            if is_asked && is_personal && next.tool == Guidance::Hello.name() {
                // That is what the advice waits for.
                now.answer(true);
            }
            let done = now.call(next.tool, &next.params);
            if done.is_refused {
                continue;
            }
            if now.is_at_end() {
                return true;
            }
            if depth < DEPTH_MAX && seen.insert((now.place(), next.tool)) {
                open.push((now, done.next, depth + 1));
            }
        }
    }
    false
}

#[test]
fn the_way_from_a_first_task_to_the_end_is_advised_call_by_call() {
    let workflow = Arc::new(workflow());
    let mut player = Player::new(&workflow, 1);
    player.settle_settings(None);
    assert!(reaches_end(&player), "{}", player.story());
}

#[test]
fn a_file_that_is_behind_the_gate_is_led_to_the_person() {
    let workflow = Arc::new(workflow());
    let mut elsewhere = Player::new(&workflow, 1);
    elsewhere.settle_settings(None);
    for (tool, params) in [
        ("init_workflow_guidance", json!({ "task_description": "Add: a" })),
        ("analyze_phase_guidance", json!({ "task_description": "Add: a" })),
        (
            "blueprint_phase_guidance",
            json!({ "task_description": "Add: a", "requirements_summary": "r" }),
        ),
        (
            "update_workflow_state_guidance",
            json!({ "phase": "BLUEPRINT", "status": "NEEDS_PLAN_APPROVAL", "plan": "p" }),
        ),
        (
            "construct_phase_guidance",
            json!({ "task_description": "Add: a", "user_approval": true }),
        ),
    ] {
        elsewhere.make(tool, params.as_object().unwrap()).unwrap();
    }
    let mut player = Player::new(&workflow, 1);
    player.settle_settings(Some(Answers::Verified));
    player.take(elsewhere.text().unwrap());
    let said = player.call(Guidance::Hello.name(), &Map::new());
    assert!(said.text.contains("`milepost gate`"), "{}", said.text);
    let tools: Vec<&str> = said.next.iter().map(|it| it.tool).collect();
    assert_eq!(tools, [Guidance::Hello.name()]);
    player.answer(true);
    let task = json!({ "task_description": "Add: a" });
    player.make("validate_phase_guidance", task.as_object().unwrap()).unwrap();
}

#[test]
fn a_plan_that_changes_while_it_is_built_is_put_before_the_person_as_the_hint_says() {
    let workflow = Arc::new(workflow());
    let mut player = Player::new(&workflow, 1);
    player.settle_settings(Some(Answers::Verified));
    for (tool, params) in [
        ("init_workflow_guidance", json!({ "task_description": "Add: a" })),
        ("analyze_phase_guidance", json!({ "task_description": "Add: a" })),
        (
            "blueprint_phase_guidance",
            json!({ "task_description": "Add: a", "requirements_summary": "r" }),
        ),
        (
            "update_workflow_state_guidance",
            json!({ "phase": "BLUEPRINT", "status": "NEEDS_PLAN_APPROVAL", "plan": "p" }),
        ),
    ] {
        player.make(tool, params.as_object().unwrap()).unwrap();
    }
    player.answer(true);
    let other = json!({ "phase": "CONSTRUCT", "status": "RUNNING", "plan": "another" });
    let refused = player.call(Guidance::Update.name(), other.as_object().unwrap());
    assert!(refused.is_refused, "{}", refused.text);
    let first = refused.next.first().unwrap();
    let mut asked = player.clone();
    asked.make(first.tool, &first.params).unwrap();
    assert!(asked.state.standing.open_gate().is_some(), "{}", asked.story());
    assert_eq!(asked.file().unwrap().plan(), "another");
    follow(&player, &refused, 1);
}

#[test]
fn the_phases_are_the_steps_of_the_workflow() {
    let workflow = workflow();
    let steps: Vec<&str> = workflow.steps.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(steps, PHASES);
}

#[test]
fn a_run_that_a_person_cancelled_is_started_over_as_its_answer_says() {
    let workflow = Arc::new(workflow());
    let mut player = Player::new(&workflow, 1);
    player.settle_settings(None);
    let task = |task: &str| json!({ "task_description": task }).as_object().unwrap().clone();
    player.make("init_workflow_guidance", &task("Add: a")).unwrap();
    player.make("analyze_phase_guidance", &task("Add: a")).unwrap();
    player.decide(&Command::CancelRun { reason: "not now".to_owned() }).unwrap();
    let refused = player.call("validate_phase_guidance", &task("Add: a"));
    assert!(refused.is_refused && refused.text.contains("starts over"), "{}", refused.text);
    let said = player.call(Guidance::Hello.name(), &Map::new());
    assert!(said.text.contains("starts over"), "{}", said.text);
    let tools: Vec<&str> = said.next.iter().map(|it| it.tool).collect();
    assert_eq!(tools, [Guidance::Init.name()]);
    let said = player.call(Guidance::Init.name(), &task("Fix: b"));
    assert!(!said.is_refused, "{}", said.text);
    assert!(
        player.place().starts_with("Some(StepName(\"INIT\")) READY Fix: b 2"),
        "{}",
        player.place()
    );
}

#[test]
fn an_edit_that_makes_the_log_too_long_is_told_of_the_archive() {
    let workflow = Arc::new(workflow());
    let mut player = Player::new(&workflow, 1);
    player.settle_settings(None);
    player
        .make(
            "init_workflow_guidance",
            json!({ "task_description": "Add: a" }).as_object().unwrap(),
        )
        .unwrap();
    let mut file = player.file().unwrap();
    file.set_log(&"[10:00:00] much\n".repeat(500));
    player.take(file.text().to_owned());
    let said = player.call(Guidance::Hello.name(), &Map::new());
    assert!(said.text.contains("moved the Log to the archive"), "{}", said.text);
}
