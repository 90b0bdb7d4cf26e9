//! Random walks through the pipeline of `forge` by an agent that tries everything to get past a task
//! for a person. The person answers checkpoints, and never the question about that task.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

#[path = "support/folders.rs"]
mod folders;
#[path = "support/player.rs"]
mod player;

use definition::{MemoryFiles, Workflow, WorkflowName, parse};
use player::Player;

const WALKS: u64 = 300;
const LINES: usize = 60;

const PERSONAL: &str = r"## Task 1: one\n## Task 2: two\nmode: human_gate\n";
const PLAIN: &str = r"## Task 1: one\n";

/// What the agent tries, and the person's answers at checkpoints. `{at}` is where the run is.
const LINES_TRIED: &[&str] = &[
    "> on",
    "> on",
    "> report {at} success",
    "> halting report {at} success",
    "> halting report {at} success lax",
    "> report {at} success part=1",
    "> report {at} failure",
    "> begin {at}",
    "> skip {at}",
    "> skip {step}",
    "> move leave_out args={\"phase\":\"{step}\"}",
    "> ask checkpoint-b",
    "> goto {step}",
    "> goto {step} passing=order",
    "> agree {at}",
    "> answer proceed",
    "> answer revise",
    "> answer done relayed",
    "> answer skip relayed",
    "> part phase-5 1 progress=done",
    "> part phase-5 2 progress=done",
    "> part phase-6 2 progress=done",
    "> part phase-5 2 mode=sequential",
    "> plan tasks parts=[{\"id\":\"1\"}]",
    "> plan tasks parts=[{\"id\":\"1\"},{\"id\":\"2\"}]",
    "> fail over",
    "> cancel over",
    "> reopen force",
    "> complete early",
    "tasks personal",
    "tasks plain",
    "tasks gone",
];

/// The work before the tasks is done.
const PRELUDE: &[&str] = &[
    "write request.md Text.",
    "write analysis.md Text.",
    "write investigation.md Text.",
    "write design.md \"## Approach\\nOne page.\"",
    "write review-tasks.md \"## Verdict: APPROVE\"",
    "write impl-1.md Text.",
    "write review-1.md \"## Verdict: PASS\"",
    "gates verified",
    "> start key=one",
    "> report phase-1 success",
    "> report phase-2 success",
    "> report phase-3 success",
    "write review-design.md \"## Verdict: APPROVE\"",
    "> report phase-3b success",
    "> answer proceed",
];

/// What leads to the tasks. Every other line is one of these.
const LEADING: &[&str] = &[
    "> ask checkpoint-b",
    "> answer proceed",
    "> halting answer proceed",
    "> on",
    "tasks personal",
    "tasks personal",
    "tasks plain",
    "tasks gone",
];

const STEPS: &[&str] = &["phase-4", "phase-4b", "checkpoint-b", "phase-5", "phase-6", "phase-7"];

#[test]
fn no_walk_gets_past_a_task_for_a_person() {
    let mut files = MemoryFiles::default();
    folders::collect(&folders::built_in(), &folders::built_in().join("forge"), &mut files);
    let workflow = parse(&WorkflowName::parse("forge").unwrap(), &files).unwrap();
    let approvals: usize = (1..=WALKS).map(|seed| Walk::of(&workflow, seed).go(seed)).sum();
    assert!(WALKS < approvals as u64, "too few walks came to the tasks: {approvals} approvals");
}

struct Walk<'a> {
    workflow: &'a Workflow,
    player: Player<'a>,
    random: u64,
    tasks: Option<&'static str>,
    /// What `tasks.md` said when the person let the tasks be built, if they did.
    approved: Option<Option<&'static str>>,
    played: Vec<String>,
}

impl<'a> Walk<'a> {
    fn of(workflow: &'a Workflow, seed: u64) -> Self {
        let player = Player::new(workflow);
        Self { workflow, player, random: seed, tasks: None, approved: None, played: Vec::new() }
    }

    /// Returns how often the person let the tasks be built.
    fn go(mut self, seed: u64) -> usize {
        let mut approvals = 0;
        for line in PRELUDE {
            self.play(line);
        }
        for _ in 0..LINES {
            let line = self.choose();
            let is_asked = self.asks_about_tasks();
            self.play(&line);
            if is_asked && !self.asks_about_tasks() && line.contains("answer proceed") {
                self.approved = Some(self.tasks);
                approvals += 1;
            }
            self.check(seed);
        }
        approvals
    }

    fn choose(&mut self) -> String {
        let at = self.look("? step");
        let step = STEPS[self.below(STEPS.len())];
        if self.look("? action").starts_with("stopped") {
            return "> reopen force".to_owned();
        }
        let lines = if self.below(2) == 0 { LEADING } else { LINES_TRIED };
        let line = lines[self.below(lines.len())];
        let tasks = match line {
            "tasks personal" => Some(Some(PERSONAL)),
            "tasks plain" => Some(Some(PLAIN)),
            "tasks gone" => Some(None),
            _ => None,
        };
        let Some(tasks) = tasks else { return line.replace("{at}", &at).replace("{step}", step) };
        self.tasks = tasks;
        match tasks {
            Some(text) => format!("write tasks.md \"{text}\""),
            None => "remove tasks.md".to_owned(),
        }
    }

    fn asks_about_tasks(&mut self) -> bool {
        self.look("? action") == "wait at checkpoint-b"
    }

    fn look(&mut self, line: &str) -> String {
        self.player.play(line).concat()
    }

    fn play(&mut self, line: &str) {
        let led = self.player.play(line);
        self.played.push(format!("{line}\n    {}", led.join("\n    ")));
    }

    /// The run must not work behind the tasks while the list that the person approved has one for
    /// them. Read without the engine's own rule.
    fn check(&mut self, seed: u64) {
        let (at, action) = (self.look("? step"), self.look("? action"));
        let place = |name: &str| self.workflow.steps.iter().position(|it| it.name.as_str() == name);
        let stands = action.starts_with("wait at ") || action.starts_with("stopped");
        let is_behind = action == "done" || !stands && place("phase-5") < place(&at);
        assert!(
            !is_behind || matches!(self.approved, Some(None | Some(PLAIN))),
            "seed {seed} got past a task for a person:\n{}",
            self.played.join("\n")
        );
    }

    fn below(&mut self, count: usize) -> usize {
        self.random =
            self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_041);
        usize::try_from(self.random >> 33).unwrap() % count
    }
}
