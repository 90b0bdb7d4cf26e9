//! A scene in memory: commands that a seed picks in, events through the engine, both texts out.

use std::{fs, path::Path, sync::Arc, time::Duration};

use definition::{MemoryFiles, PartId, Workflow, WorkflowName, parse};
use engine::{
    Actor, Answer, AnswerGate, AtEnd, Command, Consent, ContextChange, Entry, Event, Fact,
    FileFact, ForkPoint, How, Known, Question, Recorded, Report, ReportOptions, ReportStep, RunId,
    RunState, StartRun, StartStep, Stop, Timestamp, decide, evolve, fold, fork,
};
use serde_json::{Map, Value, json};

use super::{
    super::{super::words::STEPS, project::render},
    release_0_1::State,
};

pub(super) struct Player {
    pub(super) workflow: Arc<Workflow>,
    pub(super) state: RunState,
    log: Vec<Recorded>,
    file_text: State,
    now: Timestamp,
    chance: u64,
    story: Vec<String>,
}

impl Player {
    pub(super) fn new(seed: u64) -> Self {
        let mut player = Self {
            workflow: workflow(),
            state: RunState::new(RunId::from_bytes([7; 16])),
            log: Vec::new(),
            file_text: State::default(),
            now: Timestamp::parse("2026-01-01T10:00:00Z").unwrap(),
            chance: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(1),
            story: Vec::new(),
        };
        if player.picks(4) == 0 {
            player.adopt();
        }
        if player.log.is_empty() {
            let start = player.start();
            player.attempt(&Command::StartRun(Box::new(start)));
        }
        player
    }

    pub(super) fn written(&self) -> String {
        self.file_text.text()
    }

    pub(super) fn rendered(&self) -> String {
        render(&self.workflow, &self.state)
    }

    /// Says what was done so far.
    pub(super) fn story(&self) -> String {
        self.story.join("\n")
    }

    pub(super) fn log(&self) -> &[Recorded] {
        &self.log
    }

    /// Returns a number below `below`.
    pub(super) fn picks(&mut self, below: u64) -> u64 {
        self.chance ^= self.chance << 13;
        self.chance ^= self.chance >> 7;
        self.chance ^= self.chance << 17;
        (self.chance >> 11) % below
    }

    pub(super) fn start(&mut self) -> StartRun {
        let mut context = Map::new();
        if self.picks(2) == 0 {
            context.insert("blueprint_path".to_owned(), "acts/b.md".into());
        }
        if self.picks(3) == 0 {
            context.insert("metadata".to_owned(), json!({ "mood": "dark" }));
        }
        let key = Some("0204".to_owned());
        StartRun {
            goes_on: false,
            key,
            flow: None,
            context,
            vars: Map::new(),
            root: "/project".to_owned(),
        }
    }

    /// Plays the next command. Returns whether anything happened.
    pub(super) fn play(&mut self) -> bool {
        let length = self.state.length;
        match self.picks(40) {
            0 => self.copy(),
            1..=3 => self.edit(),
            _ => {
                let command = self.pick();
                self.attempt(&command);
            }
        }
        length != self.state.length
    }

    fn pick(&mut self) -> Command {
        let current = self.state.current.as_ref().map(ToString::to_string).unwrap_or_default();
        let step = if self.picks(10) == 0 { self.some_step() } else { current };
        let words = ["it broke", "no luck", "x"];
        let reason = words[usize::try_from(self.picks(3)).unwrap()].to_owned();
        match self.picks(36) {
            0..=7 => self.begin(step),
            8..=15 => self.report(step, "success"),
            16 => self.report_plainly(step),
            17..=18 => Command::FailStep { step, reason, details: self.details() },
            19 => Command::RetryStep { step, details: self.details() },
            20..=21 => {
                let details = self.details();
                let severity = (self.picks(2) == 0).then(|| "LOW".to_owned());
                let entry = Entry::Error { message: reason, severity, details };
                Command::RecordEntry { step: Some(step), entry }
            }
            22 => Command::RecordEntry { step: None, entry: self.entry() },
            23..=26 => self.answer(),
            27 => Command::CancelRun { reason },
            28 => self.fail_run(step, reason),
            29..=31 => Command::ReopenRun { reason, force: self.picks(2) == 0 },
            32 => {
                let details = json!({ "word_count": 900, "final_scene_path": "s.md" });
                let details = details.as_object().cloned().unwrap();
                let early = self.picks(2) == 0;
                Command::CompleteRun { details, context: ContextChange::default(), early }
            }
            33 => self.report(step, "working"),
            34 => self.part(),
            _ => {
                let fail = Command::FailStep {
                    step: step.clone(),
                    reason: reason.clone(),
                    details: Map::new(),
                };
                let end = Command::FailRun { reason, step: Some(step), errors: Vec::new() };
                Command::All(vec![fail, end])
            }
        }
    }

    fn some_step(&mut self) -> String {
        STEPS[usize::try_from(self.picks(7)).unwrap()].key.to_owned()
    }

    fn details(&mut self) -> Map<String, Value> {
        let said = match self.picks(4) {
            0 => json!({ "attempt": 2, "severity": "HIGH", "status": "mine" }),
            1 => json!({ "note": null, "extra": [1, 2] }),
            _ => json!({}),
        };
        said.as_object().cloned().unwrap()
    }

    fn context(&mut self) -> ContextChange {
        let value = ["d1.md", "d2.md"][usize::try_from(self.picks(2)).unwrap()];
        let set = match self.picks(4) {
            0 => json!({ "draft_path": value }),
            1 => json!({ "word_count": 7 }),
            2 => json!({ "draft_path": value, "plan_path": "p.md" }),
            _ => json!({}),
        };
        let remove = if self.picks(4) == 0 { vec!["word_count".to_owned()] } else { Vec::new() };
        ContextChange { set: set.as_object().cloned().unwrap(), remove }
    }

    fn begin(&mut self, step: String) -> Command {
        let details = match self.picks(4) {
            0 => json!({ "phase_name": "My phase", "agent_name": "ann" }),
            1 => json!({ "metadata": { "model": "m", "status": "x", "void": null } }),
            _ => json!({}),
        };
        let details = details.as_object().cloned().unwrap();
        let asks = step.contains("step_3") && self.picks(2) == 0;
        Command::StartStep(StartStep { step, part: None, details, again: true, asks })
    }

    fn report(&mut self, step: String, status: &str) -> Command {
        let details = match self.picks(4) {
            0 => json!({ "duration_seconds": 3.5, "metadata": { "a": 1 } }),
            1 => json!({ "artifacts": { "draft_path": "d.md", "other": "o" } }),
            2 => json!({ "duration_seconds": null }),
            _ => json!({}),
        };
        let context = self.context();
        let terms = ReportOptions {
            is_begun: true,
            consent: if self.picks(4) == 0 { Consent::None } else { Consent::Implied },
            end: AtEnd::StaysOpen,
            ..ReportOptions::default()
        };
        let report =
            Report { step_id: step, status: status.to_owned(), details, ..Report::default() };
        let (part, next, holder) = (None, None, None);
        Command::ReportStep(Box::new(ReportStep { part, report, context, next, holder, terms }))
    }

    /// Reports as a caller of the other tools does.
    fn report_plainly(&mut self, step: String) -> Command {
        let status = if self.picks(3) == 0 { "failure" } else { "success" };
        let Command::ReportStep(mut report) = self.report(step, status) else {
            unreachable!("it is a report")
        };
        report.terms = ReportOptions::default();
        Command::ReportStep(report)
    }

    fn entry(&mut self) -> Entry {
        let (question, answer) = ("Which?".to_owned(), "This".to_owned());
        match self.picks(3) {
            0 => Entry::Note { text: "n".to_owned(), tags: Vec::new() },
            1 => Entry::Question { question, answer, answered_at: None },
            _ => Entry::Question { question, answer, answered_at: Some("yesterday".to_owned()) },
        }
    }

    fn answer(&mut self) -> Command {
        let names = ["approve", "approve", "changes", "stop"];
        let name = names[usize::try_from(self.picks(4)).unwrap()];
        let answer = AnswerGate {
            answer: Answer::Named(name.to_owned()),
            feedback: if name == "approve" { String::new() } else { "not yet".to_owned() },
            by: "ann".to_owned(),
            how: if self.picks(2) == 0 { How::Relayed } else { How::Verified },
            digest: None,
        };
        Command::AnswerGate(Box::new(answer))
    }

    fn fail_run(&mut self, step: String, reason: String) -> Command {
        let error = |of: Option<String>| {
            let details = json!({ "terminal": true, "timestamp": "then" });
            let details = details.as_object().cloned().unwrap();
            let severity = Some("CRITICAL".to_owned());
            (of, Entry::Error { message: reason.clone(), severity, details })
        };
        let errors = match self.picks(3) {
            0 => vec![error(None)],
            1 => vec![error(Some(self.some_step()))],
            _ => Vec::new(),
        };
        let step = (self.picks(4) != 0).then_some(step);
        Command::FailRun { reason, step, errors }
    }

    fn part(&mut self) -> Command {
        let part = Some(PartId::parse("plot-structure").unwrap());
        let step = "step_6_full_validation".to_owned();
        match self.picks(3) {
            0 => Command::StartStep(StartStep { step, part, ..StartStep::default() }),
            it => {
                let status = if it == 1 { "success" } else { "failure" };
                let Command::ReportStep(mut report) = self.report(step, status) else {
                    unreachable!("it is a report")
                };
                (report.part, report.terms) = (part, ReportOptions::default());
                Command::ReportStep(report)
            }
        }
    }

    /// Goes on with a copy of the run, as a session does.
    fn copy(&mut self) {
        self.tick();
        let cut = (self.now, self.now, Actor::default());
        let point = ForkPoint::Seq(self.state.length);
        let Ok(log) = fork(self.state.run, &self.log, &point, Some("0204@s"), cut) else { return };
        self.story.push(format!("{} copied", self.state.length));
        let run = RunId::from_bytes([8; 16]);
        self.state = fold(run, &log);
        self.file_text = State::default();
        log.iter().for_each(|it| self.file_text.apply(it));
        self.log = log;
        self.decide(&Command::SettleRun { goes_on: true });
    }

    fn tick(&mut self) {
        let seconds = 1 + self.picks(90);
        self.now = self.now.after(Duration::from_secs(seconds));
    }

    /// Has the engine decide a command. Returns whether it was not refused.
    pub(super) fn attempt(&mut self, command: &Command) -> bool {
        self.tick();
        self.decide(command)
    }

    fn decide(&mut self, command: &Command) -> bool {
        let mut known = Known { now: self.now, ..Known::default() };
        let decided = loop {
            match decide(&self.workflow, &self.state, &known, command) {
                Ok(decided) => break decided,
                Err(Stop::Refused(_)) => return false,
                Err(Stop::Ask(questions)) => {
                    known.facts.extend(questions.into_iter().map(|it| (it.clone(), look(&it))));
                }
            }
        };
        for event in decided.events {
            let (seq, at) = (self.state.length + 1, self.now);
            let recorded = Recorded { seq, at, steady: at, by: Actor::default(), event };
            self.state = evolve(self.state.clone(), &recorded);
            self.file_text.apply(&recorded);
            self.story.push(tell(&recorded));
            self.log.push(recorded);
        }
        true
    }
}

/// Nothing is there.
fn look(question: &Question) -> Fact {
    match question {
        Question::File(_) | Question::Beside(_) => Fact::File(FileFact::Missing),
        Question::Git => Fact::Git(None),
        Question::Branch(_) => Fact::Branch(None),
        Question::Check { .. } | Question::Model { .. } => panic!("{question:?}"),
    }
}

/// Says what happened in a line.
fn tell(recorded: &Recorded) -> String {
    let event = if let Event::RunPlaced(placement) = &recorded.event {
        format!("RunPlaced {}", placement.text)
    } else {
        recorded.event.encode()
    };
    let event: String = event.split_whitespace().collect::<Vec<_>>().join(" ");
    let event: String = event.chars().take(400).collect();
    format!("{} {} {event}", recorded.seq, recorded.at)
}

pub(super) fn workflow() -> Arc<Workflow> {
    static PARSED: std::sync::OnceLock<Arc<Workflow>> = std::sync::OnceLock::new();
    Arc::clone(PARSED.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workflows");
        let mut files = MemoryFiles::default();
        for folder in ["scene-generation", "scene-generation/steps"] {
            for entry in fs::read_dir(root.join(folder)).unwrap() {
                let entry = entry.unwrap();
                let path = format!("{folder}/{}", entry.file_name().to_str().unwrap());
                if entry.file_type().unwrap().is_file() {
                    files.0.insert(path, fs::read_to_string(entry.path()).unwrap());
                }
            }
        }
        parse(&WorkflowName::parse("scene-generation").unwrap(), &files).unwrap().into()
    }))
}
