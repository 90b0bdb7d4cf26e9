//! The rendered state file beside what release 0.1 wrote, which changed a document with each event: a
//! seeded player drives both.

use std::{collections::BTreeSet, time::Duration};

use definition::{Answers, PartId, StepName};
use engine::Projection as _;
use engine::{
    Actor, Advance, Answer, AnswerGate, ChoreOutcome, Command, Done, Entry, ForkPoint, GatePolicy,
    How, MakeMove, Onward, PartPlaced, Progress, ReportChore, RunId, StartStep, find_chore, fold,
    fork,
};
use serde_json::{Map, Value, json};

use super::{
    super::SpecFiles,
    play::{self, KEY, Pipeline, report},
    release_0_1::State,
    wanted::settle,
};

const SEEDS: u64 = 500;
/// How many things happen in one run.
const STEPS: usize = 30;
/// How much of what went wrong is shown.
const SHOWN: usize = 4;
const PHASES: [&str; 16] = super::super::super::state_file::PHASES;

#[test]
fn a_rendered_file_says_what_was_written_event_by_event() {
    let mut wrong: Vec<(String, String)> = Vec::new();
    for seed in 0..SEEDS {
        let mut player = Player::new(seed);
        for _ in 0..STEPS {
            if let Err((fields, problem)) = player.check() {
                let story = player.story.join("\n");
                wrong.push((fields, format!("## seed {seed}\n{problem}\n{story}")));
                break;
            }
            player.play();
        }
    }
    wrong.sort_by_key(|it| it.1.len());
    let all = wrong.len();
    // One of each kind is enough.
    let mut kinds = BTreeSet::new();
    wrong.retain(|it| kinds.insert(it.0.clone()));
    let shown: Vec<&str> = wrong.iter().take(SHOWN).map(|it| it.1.as_str()).collect();
    assert!(wrong.is_empty(), "{all} runs differ in {kinds:?}\n{}", shown.join("\n"));
}

struct Player {
    pipeline: Pipeline,
    /// What an earlier release wrote.
    written: State,
    known: usize,
    chance: u64,
    story: Vec<String>,
}

impl Player {
    fn new(seed: u64) -> Self {
        let pipeline = Pipeline::blank();
        let written = State::new(&pipeline.workflow);
        let chance = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(1);
        let mut player = Self { pipeline, written, known: 0, chance, story: Vec::new() };
        player.draw(2);
        if player.draw(8) == 0 {
            player.pipeline.gates = Some(Answers::Verified);
        }
        if player.draw(5) == 0 {
            let text = player.spoilt(&json!({ "specName": "old", "currentPhase": "phase-1" }));
            player.take(&text);
        }
        if player.pipeline.log.is_empty() {
            let flow = [None, None, Some("light"), Some("standard")][player.draw(4)];
            let vars = [
                json!({}),
                json!({ "auto_approve": true }),
                json!({ "effort": "M", "branch": "feature/x", "skip_pr": true }),
                json!({ "skipped_phases": ["phase-4b", "checkpoint-b"] }),
                json!({ "from": "phase-3" }),
                json!({ "budget_tokens": 500 }),
            ];
            let start = play::start(&vars[player.draw(vars.len())]);
            let start = engine::StartRun { flow: flow.map(str::to_owned), ..start };
            player.attempt(&Command::StartRun(Box::new(start)));
        }
        player
    }

    /// Returns which fields of the two texts differ, and how.
    fn check(&self) -> Result<(), (String, String)> {
        let (written, rendered) = (self.written.text(), self.pipeline.text());
        if written == rendered {
            return Ok(());
        }
        let read = |it: &str| serde_json::from_str::<Value>(it).unwrap();
        let (mut before, mut after) = (read(&written), read(&rendered));
        settle(&self.pipeline.state, &mut before, &mut after);
        let mut told = Vec::new();
        differ("", &before, &after, &mut told);
        if told.is_empty() && before == read(&written) && after == read(&rendered) {
            told.push(format!("another order\n{written}\n{rendered}"));
        }
        let fields: Vec<&str> = told.iter().filter_map(|it| it.split(':').next()).collect();
        let fields = fields.join(" ").replace(|it: char| it.is_ascii_digit(), "");
        if told.is_empty() { Ok(()) } else { Err((fields, told.join("\n"))) }
    }

    fn draw(&mut self, below: usize) -> usize {
        self.chance ^= self.chance << 13;
        self.chance ^= self.chance >> 7;
        self.chance ^= self.chance << 17;
        usize::try_from(self.chance >> 11).unwrap() % below
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.draw(from.len())]
    }

    fn phase(&mut self) -> String {
        let current = self.pipeline.state.current.as_ref().map(ToString::to_string);
        let any = self.pick(&PHASES).to_owned();
        if self.draw(3) == 0 { any } else { current.unwrap_or(any) }
    }

    /// Something happens.
    fn play(&mut self) {
        match self.draw(40) {
            0 => self.copy(),
            1..=3 => {
                let text = serde_json::from_str(&self.pipeline.text()).unwrap();
                let text = self.spoilt(&text);
                self.take(&text);
            }
            4..=22 => self.work(),
            _ => {
                let command = self.command();
                self.attempt(&command);
            }
        }
        if self.draw(4) != 0 {
            self.do_chores();
        }
    }

    /// Does what an agent and a person do.
    fn work(&mut self) {
        if self.pipeline.state.standing.open_gate().is_some() {
            let answer = self.answer();
            return self.attempt(&answer);
        }
        let phase =
            self.pipeline.state.current.as_ref().map(ToString::to_string).unwrap_or_default();
        self.write_products(&phase);
        let sent = play::on(&json!({ "model": "sonnet" }));
        let usage = Entry::Usage { tokens: 70, duration_ms: 9, model: "sonnet".to_owned() };
        let usage = Command::RecordEntry { step: Some(phase.clone()), entry: usage };
        let reported = report(&phase);
        let halted = Command::StopAtNextStep(Box::new(reported.clone()));
        let done = Done { tokens: 70, duration_ms: 9, ..Done::default() };
        let command = match self.draw(8) {
            0 | 1 => sent,
            2 => advance(done, None),
            7 => advance(done, Some(Onward::default())),
            3 => reported,
            4 => halted,
            5 => Command::All(vec![usage, halted]),
            _ => Command::All(vec![usage, reported]),
        };
        self.attempt(&command);
    }

    fn write_products(&mut self, phase: &str) {
        let design = self.pick(&["APPROVE", "REVISE", "MAYBE", "APPROVE_WITH_NOTES"]);
        let files: Vec<(String, String)> = match phase {
            "phase-1" => vec![("analysis.md".to_owned(), "x".to_owned())],
            "phase-2" => vec![("investigation.md".to_owned(), "x".to_owned())],
            "phase-3" => vec![("design.md".to_owned(), format!("## {}", self.draw(9)))],
            "phase-3b" => vec![("review-design.md".to_owned(), format!("## Verdict: {design}"))],
            "phase-4" => vec![("tasks.md".to_owned(), self.tasks())],
            "phase-4b" => vec![("review-tasks.md".to_owned(), format!("## Verdict: {design}"))],
            "phase-5" => self.each("impl", |_| "x".to_owned()),
            "phase-6" => self.each("review", |it| {
                format!("## Verdict: {}", it.pick(&["PASS", "FAIL", "PASS_WITH_NOTES", "HM"]))
            }),
            "phase-7" => vec![("comprehensive-review.md".to_owned(), "x".to_owned())],
            "final-verification" => vec![("final-verification.md".to_owned(), "x".to_owned())],
            "final-summary" => vec![("summary.md".to_owned(), "x".to_owned())],
            _ => Vec::new(),
        };
        for (path, text) in files {
            self.pipeline.write(&path, &text);
        }
    }

    fn tasks(&mut self) -> String {
        let modes = ["parallel", "sequential", "human_gate"];
        let count = 1 + self.draw(3);
        let task = |at: usize, mode: &str| format!("## Task {at}: t{at}\nmode: {mode}\n\n");
        (1..=count).map(|at| task(at, self.pick(&modes))).collect()
    }

    fn each(
        &mut self,
        name: &str,
        mut text: impl FnMut(&mut Self) -> String,
    ) -> Vec<(String, String)> {
        let mut files = Vec::new();
        for id in ["1", "2", "3", "b"] {
            if self.draw(5) != 0 {
                files.push((format!("{name}-{id}.md"), text(self)));
            }
        }
        files
    }

    fn answer(&mut self) -> Command {
        let options = self.pipeline.state.standing.open_gate().map(|it| it.options.clone());
        let names = options.unwrap_or_default();
        let at = self.draw(names.len().max(1));
        // Most go on.
        let at = if self.draw(3) == 0 { at } else { 0 };
        let name = names.get(at).map_or_else(|| "approve".to_owned(), |it| it.name.clone());
        let how = if self.pipeline.gates.is_some() { How::Verified } else { How::Relayed };
        let digest = self.pipeline.state.standing.open_gate().map(|it| it.digest.clone());
        Command::AnswerGate(Box::new(AnswerGate {
            answer: Answer::Named(name),
            feedback: String::new(),
            by: "ann".to_owned(),
            how,
            digest: digest.filter(|_| how == How::Verified),
        }))
    }

    fn command(&mut self) -> Command {
        let (phase, reason) = (self.phase(), "why".to_owned());
        let usage = Entry::Usage { tokens: 7, duration_ms: 90, model: "opus".to_owned() };
        match self.draw(30) {
            0 => Command::CancelRun { reason },
            1 => {
                let step = (self.draw(2) == 0).then_some(phase);
                Command::FailRun { reason, step, errors: Vec::new() }
            }
            2..=4 => Command::ReopenRun { reason, force: self.draw(2) == 0 },
            5 => Command::FailStep { step: phase, reason, details: Map::new() },
            6 => Command::RetryStep { step: phase, details: Map::new() },
            7 | 8 => Command::SkipStep { step: phase },
            9 => Command::AskPerson { step: phase },
            10 => Command::ApproveStep { step: phase },
            11 => Command::GoTo { step: phase, passing: GatePolicy::InOrder },
            12..=14 => {
                let details = json!({ "model": "opus" }).as_object().cloned().unwrap();
                let details = if self.draw(2) == 0 { details } else { Map::new() };
                Command::StartStep(StartStep { step: phase, details, ..StartStep::default() })
            }
            15 | 16 => Command::RecordEntry { step: Some(phase), entry: usage },
            17 | 18 => Command::SetVars { set: self.vars() },
            19 => {
                let name = self.pick(&["bump_design", "bump_tasks_inline"]).to_owned();
                Command::Move(Box::new(MakeMove { name, ..MakeMove::default() }))
            }
            20 => {
                let args = json!({ "phase": phase }).as_object().cloned().unwrap();
                let name = "leave_out".to_owned();
                let left = MakeMove { name, args, ..MakeMove::default() };
                Command::All(vec![
                    Command::Move(Box::new(left)),
                    Command::StopAtNextStep(Box::new(Command::SkipStep { step: phase })),
                ])
            }
            21 => {
                let parts = vec![play::part("1", &[]), play::part("b", &["1"])];
                Command::PlanParts { set: "tasks".to_owned(), parts }
            }
            22..=24 => Command::PlacePart(self.placed()),
            25 => Command::ExpireStep,
            26 => Command::GiveUpKey,
            27 => report(&phase),
            28 => Command::StopAtNextStep(Box::new(report(&phase))),
            _ => self.answer(),
        }
    }

    fn vars(&mut self) -> Map<String, Value> {
        let set = match self.draw(8) {
            0 => json!({ "skipped_phases": [self.pick(&PHASES)] }),
            1 => json!({ "branch": "feature/y", "branch_pushed": true }),
            2 => json!({ "effort": "S" }),
            3 => json!({ "auto_approve": self.draw(2) == 0 }),
            4 => json!({ "batch": ["1"] }),
            5 => json!({ "revision_pending_a": self.draw(2) == 0 }),
            6 => json!({ "branch_at": "phase-1" }),
            _ => json!({ "debug": true, "design_revise_cap_reached": true }),
        };
        set.as_object().cloned().unwrap()
    }

    fn placed(&mut self) -> PartPlaced {
        let part = PartId::parse(self.pick(&["1", "2", "3", "b"])).unwrap();
        let name = self.pick(&["phase-5", "phase-6"]);
        let placed = PartPlaced::of(StepName::parse(name).unwrap(), part);
        let (progress, verdict) = match (name, self.draw(7)) {
            (_, 0) => return PartPlaced { revisions: Some(3), ..placed },
            ("phase-5", 1) => return PartPlaced { title: Some("new".to_owned()), ..placed },
            ("phase-5", 2) => return PartPlaced { mode: Some("parallel".to_owned()), ..placed },
            ("phase-5", 3) => (Progress::Active, None),
            ("phase-5", 4) => (Progress::Ready, None),
            ("phase-5", 5) => (Progress::Idle, None),
            ("phase-5", _) => (Progress::Done, None),
            (_, 1) => (Progress::Ready, None),
            (_, 2) => (Progress::Idle, None),
            (_, 3) => (Progress::Rejected, Some("FAIL")),
            (_, 4) => (Progress::Done, Some("PASS_WITH_NOTES")),
            (_, _) => (Progress::Done, Some("PASS")),
        };
        let verdict = verdict.map(str::to_owned);
        PartPlaced { progress: Some(progress), verdict, ..placed }
    }

    /// Returns a file as someone may have written it.
    fn spoilt(&mut self, file: &Value) -> String {
        let mut file = file.clone();
        for _ in 0..=self.draw(3) {
            self.spoil(&mut file);
        }
        if self.draw(2) == 0 { file.to_string() } else { format!("{file:#}") }
    }

    fn spoil(&mut self, file: &mut Value) {
        let phase = self.pick(&PHASES);
        let task = json!({ "title": "t", "executionMode": self.pick(&["parallel", "human_gate"]),
            "depends_on": ["2"], "implStatus": self.pick(&["completed", "pending", "in_progress", ""]),
            "reviewStatus": self.pick(&["completed_fail", "completed_pass", "pending", ""]),
            "implRetries": self.draw(3), "mine": 1 });
        match self.draw(16) {
            0 => file["currentPhase"] = phase.into(),
            1 => {
                let words = ["pending", "in_progress", "completed", "awaiting_human", "failed"];
                file["currentPhaseStatus"] = self.pick(&words).into();
            }
            2 => file["completedPhases"] = json!(["setup", "phase-1", phase, "phase-99"]),
            3 => file["skippedPhases"] = json!([phase]),
            4 => file["effort"] = self.pick(&["XS", "M", ""]).into(),
            5 => file["my_key"] = json!({ "deep": [1, null] }),
            6 => file["tasks"] = json!({ "10": task, "2": task }),
            7 if file["tasks"].is_object() => file["tasks"]["2"] = task,
            8 => file["timestamps"] = json!({ "created": "2025-01-01", "lastUpdated": "then" }),
            9 => file["phaseLog"] = json!([{ "phase": phase, "tokens": 1.5, "x": 1 }]),
            10 => file["phases"] = json!([{ "phase": phase, "started": "s", "completed": "c" }]),
            11 => file["error"] = json!({ "phase": phase, "message": "by hand" }),
            12 => file["lastDispatch"] = json!({ "phase": phase, "model": "m", "odd": 1 }),
            13 => file["pendingHumanGate"] = "2".into(),
            14 => file["autoApprove"] = json!(self.draw(2) == 0),
            _ => file["branch"] = "feature/z".into(),
        }
    }

    fn take(&mut self, text: &str) {
        let Ok(reading) = SpecFiles::default().read(text) else { return };
        let is_new = self.pipeline.log.is_empty();
        // No run that there is takes in what nobody can follow.
        if reading.doubt.is_some() && !is_new {
            return;
        }
        let claim = Box::new(play::placement(text, reading));
        self.story.push(format!("a file: {text}"));
        let command = match is_new {
            true => Command::AdoptRun(Box::new(play::start(&Value::Null)), claim),
            false => Command::TakeEdit(claim),
        };
        self.attempt(&command);
    }

    /// Goes on with a copy of the run.
    fn copy(&mut self) {
        self.pipeline.now = self.pipeline.now.after(Duration::from_secs(1));
        let now = self.pipeline.now;
        let point = ForkPoint::Seq(self.pipeline.state.length);
        let (of, run) = (self.pipeline.state.run, RunId::from_bytes([8; 16]));
        let cut = (now, now, Actor::default());
        let Ok(log) = fork(of, &self.pipeline.log, &point, Some(KEY), cut) else { return };
        self.story.push("copied".to_owned());
        self.pipeline.state = fold(run, &log);
        self.pipeline.log = log;
        self.written = State::new(&self.pipeline.workflow);
        self.known = 0;
        self.catch_up();
    }

    /// Does what the server does itself, or fails to.
    fn do_chores(&mut self) {
        for _ in 0..5 {
            let due = find_chore(&self.pipeline.workflow, &self.pipeline.state);
            let Ok(Some(due)) = due else { return };
            let outcome = match self.draw(5) {
                0 => ChoreOutcome::Failed { reason: "no".to_owned() },
                _ => {
                    ChoreOutcome::Done { detail: String::new(), warnings: Vec::new(), pushed: None }
                }
            };
            let then = (self.draw(2) == 0).then(Onward::default);
            let report = ReportChore { name: due.name, deed: due.deed, outcome, then };
            self.attempt(&Command::ReportChore(report.into()));
        }
    }

    fn attempt(&mut self, command: &Command) {
        if self.pipeline.attempt(command).is_none() {
            self.catch_up();
        }
    }

    fn catch_up(&mut self) {
        for recorded in &self.pipeline.log[self.known..] {
            self.written.apply(recorded);
            let event: String = recorded.event.encode().chars().take(300).collect();
            self.story.push(format!("{} {} {event}", recorded.seq, recorded.at));
        }
        self.known = self.pipeline.log.len();
    }
}

fn advance(report: Done, onward: Option<Onward>) -> Command {
    Command::Advance(Advance { report: Some(report), answer: None, onward }.into())
}

fn differ(path: &str, before: &Value, after: &Value, told: &mut Vec<String>) {
    match (before, after) {
        (Value::Object(one), Value::Object(two)) => {
            for key in one.keys().chain(two.keys().filter(|it| !one.contains_key(*it))) {
                differ(&format!("{path}/{key}"), &before[key], &after[key], told);
            }
        }
        (Value::Array(one), Value::Array(two)) if one.len() == two.len() => {
            for (at, (one, two)) in one.iter().zip(two).enumerate() {
                differ(&format!("{path}/{at}"), one, two, told);
            }
        }
        _ if before != after => told.push(format!("{path}: {before} -> {after}")),
        _ => {}
    }
}
