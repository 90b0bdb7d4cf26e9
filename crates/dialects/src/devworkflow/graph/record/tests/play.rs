//! A session in memory: commands that a seed picks in, events through the engine, both texts out.

use std::{collections::BTreeMap, fs, path::Path, sync::Arc, time::Duration};

use definition::{Digest, MemoryFiles, Workflow, parse_graph};
use engine::{
    Actor, Answer, AnswerGate, Command, Consent, ContextChange, Entry, FileClaim, ForkPoint,
    GatePolicy, How, Known, Recorded, Report, ReportOptions, ReportStep, RunId, RunState, Standing,
    StartRun, Stop, Timestamp, decide, evolve, fold, fork,
};
use serde_json::{Map, Value, json};

use super::{
    super::{
        super::{files::read_session, words},
        render,
    },
    release_0_1::Page,
};

const NAMES: [&str; 4] =
    ["Approval Example Workflow", "Classic", "Debugging Workflow", "Simple Decision Workflow"];

pub(super) struct Player {
    workflow: Arc<Workflow>,
    state: RunState,
    /// What an earlier release wrote.
    pub(super) page: Page,
    log: Vec<Recorded>,
    now: Timestamp,
    chance: u64,
    story: Vec<String>,
}

/// Reads graphs that are shipped.
pub(super) fn workflows() -> Vec<Arc<Workflow>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workflows");
    let read = |name: &str| {
        let path = format!("{name}/graph.yaml");
        let text = fs::read_to_string(root.join(&path)).unwrap();
        let files = MemoryFiles(BTreeMap::from([(path.clone(), text)]));
        Arc::new(parse_graph(Some(name), &path, &files).unwrap().0)
    };
    NAMES.iter().map(|it| read(it)).collect()
}

impl Player {
    pub(super) fn new(workflow: &Arc<Workflow>, seed: u64) -> Self {
        let mut player = Self {
            workflow: Arc::clone(workflow),
            state: RunState::new(RunId::from_bytes([7; 16])),
            page: Page::blank(workflow),
            log: Vec::new(),
            now: Timestamp::parse("2026-01-01T10:00:00Z").unwrap(),
            chance: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(1),
            story: Vec::new(),
        };
        if player.draw(4) == 0 {
            player.adopt();
        }
        if player.log.is_empty() {
            let start = player.start();
            player.attempt(&Command::StartRun(Box::new(start)));
        }
        player
    }

    pub(super) fn rendered(&self) -> String {
        render(&self.workflow, &self.state)
    }

    /// Says what was done so far.
    pub(super) fn story(&self) -> String {
        self.story.join("\n")
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

    fn start(&mut self) -> StartRun {
        let mut context = Map::new();
        context.insert(words::TASK.to_owned(), "Add: login".into());
        context.insert(words::INPUTS.to_owned(), json!({ "n": 1 }));
        if self.draw(2) == 0 {
            context.insert(words::WORKFLOW_FILE.to_owned(), "flows/a.yaml".into());
            context.insert("mine".to_owned(), json!([1]));
        }
        let key = words::stem(self.state.run, self.now);
        StartRun {
            goes_on: false,
            key: Some(key),
            flow: None,
            context,
            vars: Map::new(),
            root: String::new(),
        }
    }

    /// Something happens.
    pub(super) fn play(&mut self) {
        match self.draw(30) {
            0 => self.copy(),
            1..=4 => self.edit(),
            _ => {
                let command = self.command();
                self.attempt(&command);
            }
        }
    }

    fn command(&mut self) -> Command {
        let reason = "why".to_owned();
        match self.draw(24) {
            0..=8 => self.report(),
            9..=11 => self.entry(),
            12 => Command::AddItem { text: "one".to_owned() },
            13 => Command::CloseItem { id: 1 + self.draw(3) as u64 },
            14..=15 => {
                let word = self.pick(&["READY", "RUNNING", "PAUSED", "ERROR"]);
                Command::SetVars { set: Map::from_iter([("status".to_owned(), word.into())]) }
            }
            16 => Command::CancelRun { reason },
            17 => Command::FailRun { reason, step: None, errors: Vec::new() },
            18..=19 => Command::ReopenRun { reason, force: self.draw(2) == 0 },
            20 => {
                let step = self.some_step();
                Command::GoTo { step, passing: GatePolicy::Anything }
            }
            21 => Command::CompleteRun {
                details: Map::new(),
                context: self.context(),
                early: self.draw(2) == 0,
            },
            _ => {
                let answer = if self.draw(2) == 0 { Answer::Approve } else { Answer::Reject };
                let (feedback, by) = ("more".to_owned(), "ann".to_owned());
                let how = How::Relayed;
                Command::AnswerGate(Box::new(AnswerGate {
                    answer,
                    feedback,
                    by,
                    how,
                    digest: None,
                }))
            }
        }
    }

    fn some_step(&mut self) -> String {
        let at = self.draw(self.workflow.steps.len());
        self.workflow.steps[at].name.to_string()
    }

    fn report(&mut self) -> Command {
        let current = self.state.current.as_ref().map(ToString::to_string).unwrap_or_default();
        let next = self.some_step();
        let criteria = self.workflow.steps.iter().find(|it| it.name.as_str() == current);
        let criteria = criteria.into_iter().flat_map(|it| &it.criteria);
        let mut evidence: Map<String, Value> =
            criteria.map(|it| (it.key.clone(), "seen".into())).collect();
        if self.draw(3) == 0 {
            evidence.insert("extra".to_owned(), json!({ "a": 1 }));
        }
        let is_kept = self.draw(6) == 0;
        let consent = if self.draw(2) == 0 { Consent::Stated } else { Consent::None };
        Command::ReportStep(Box::new(ReportStep {
            part: None,
            report: Report {
                step_id: current,
                status: if is_kept { words::KEPT } else { "success" }.to_owned(),
                details: json!({ "evidence": evidence }),
                ..Report::default()
            },
            context: self.context(),
            next: (self.draw(4) != 0).then_some(next),
            holder: None,
            terms: ReportOptions { consent, ..ReportOptions::default() },
        }))
    }

    fn context(&mut self) -> ContextChange {
        let set = match self.draw(5) {
            0 => json!({ "mine": "x", "other": 2 }),
            1 => json!({ "inputs": { "n": 2 }, "task_description": "Fix: it" }),
            _ => json!({}),
        };
        let remove = if self.draw(4) == 0 { vec!["mine".to_owned()] } else { Vec::new() };
        let is_kept = |it: &String| set.get(it).is_none();
        let remove = remove.into_iter().filter(is_kept).collect();
        ContextChange { set: set.as_object().cloned().unwrap(), remove }
    }

    fn entry(&mut self) -> Command {
        let size = [10, 400, 3_000][self.draw(3)];
        let text = "x".repeat(size);
        let entry = match self.draw(4) {
            0 => Entry::Error { message: text, severity: None, details: Map::new() },
            _ => Entry::Note { text, tags: Vec::new() },
        };
        Command::RecordEntry { step: None, entry }
    }

    /// Begins from a file that was there before.
    fn adopt(&mut self) {
        let node = self.some_step();
        let mut file = json!({
            "session_id": self.state.run.to_string(),
            "created_at": "2025-06-20T10:00:00.5",
            "last_updated": "2025-06-20T10:05:00+00:00",
            "current_node": node,
            "status": self.pick(&["RUNNING", "paused", "", "COMPLETED", "READY"]),
            "plan": "",
        });
        for _ in 0..self.draw(4) {
            self.spoil(&mut file);
        }
        self.take(&file.to_string());
    }

    /// Changes what the file says, and has that taken in.
    fn edit(&mut self) {
        let mut file: Value = serde_json::from_str(&self.rendered()).unwrap();
        for _ in 0..=self.draw(3) {
            self.spoil(&mut file);
        }
        self.take(&file.to_string());
    }

    fn take(&mut self, text: &str) {
        let Ok(file) = read_session(text) else { return };
        let claim = Box::new(FileClaim { sha256: Digest::of(text.as_bytes()), ..file.placement });
        let command = if self.state.standing == Standing::New {
            let start = StartRun { context: file.context, ..self.start() };
            Command::AdoptRun(Box::new(start), claim)
        } else {
            Command::TakeEdit(claim)
        };
        self.story.push(format!("a file: {text}"));
        self.attempt(&command);
    }

    fn spoil(&mut self, file: &mut Value) {
        let node = self.some_step();
        match self.draw(12) {
            0 => file["my_key"] = json!({ "deep": [1, null] }),
            1 => file["status"] = self.pick(&["RUNNING", "running", "ERROR", "FAILED"]).into(),
            2 => file["current_node"] = node.into(),
            3 => file["node_history"] = json!([node]),
            4 => file["execution_context"] = json!({ "by_hand": 1, "mine": 3 }),
            5 => file["inputs"] = json!({ "n": "by hand" }),
            6 => {
                file["items"] = json!([
                    { "id": 1, "description": "a", "status": "Completed", "x": 1 },
                    { "id": 2, "description": "b", "status": "in progress" },
                    { "id": 3 },
                ]);
            }
            7 => file["log"] = json!(["[10:00:00] by hand", "more"]),
            8 => file["archive_log"] = Value::Null,
            9 => file["node_outputs"] = json!({ node: { "goal_achieved": true, "mine": 1 } }),
            10 => file["revision"] = json!(file["revision"].as_u64().unwrap_or_default() + 5),
            _ => file["current_item"] = "Fix: by hand".into(),
        }
    }

    /// Goes on with a copy of the run.
    fn copy(&mut self) {
        self.now = self.now.after(Duration::from_secs(1));
        let cut = (self.now, self.now, Actor::default());
        let point = ForkPoint::Seq(self.state.length);
        let run = RunId::from_bytes([8; 16]);
        let key = words::stem(run, self.now);
        let Ok(log) = fork(self.state.run, &self.log, &point, Some(&key), cut) else { return };
        self.story.push("copied".to_owned());
        self.state = fold(run, &log);
        self.page = Page::blank(&self.workflow);
        log.iter().for_each(|it| self.page.apply(it));
        self.log = log;
    }

    fn attempt(&mut self, command: &Command) {
        let seconds = 1 + self.draw(90) as u64;
        self.now = self.now.after(Duration::from_secs(seconds));
        let known = Known { now: self.now, steady: self.now, ..Known::default() };
        let decided = match decide(&self.workflow, &self.state, &known, command) {
            Ok(decided) => decided,
            Err(Stop::Refused(_)) => return,
            Err(Stop::Ask(questions)) => panic!("nothing is to be looked at: {questions:?}"),
        };
        for event in decided.events {
            let (seq, at) = (self.state.length + 1, self.now);
            let recorded = Recorded { seq, at, steady: at, by: Actor::default(), event };
            self.state = evolve(self.state.clone(), &recorded);
            self.page.apply(&recorded);
            let event: String = recorded.event.encode().chars().take(300).collect();
            self.story.push(format!("{seq} {at} {event}"));
            self.log.push(recorded);
        }
    }
}
