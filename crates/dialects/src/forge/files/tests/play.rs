//! A pipeline in memory: commands in, events through the engine, text out.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    sync::{Arc, OnceLock},
    time::Duration,
};

use definition::{
    Answers, Digest, MemoryFiles, PartId, PartSpec, StepName, Workflow, WorkflowName, parse,
};
use engine::{
    Actor, Advance, Answer, AnswerGate, ChoreOutcome, Command, ContextChange, Event, Fact,
    FileClaim, FileFact, How, Known, Onward, PartPlaced, Progress, Question, Recorded, Report,
    ReportChore, ReportOptions, ReportStep, RunId, RunState, StartRun, StartStep, Stop, Timestamp,
    decide, evolve, find_chore,
};
use engine::{Basis, Projection as _, Reading};
use serde_json::{Map, Value};

use super::super::{super::state_file::StateFile, SpecFiles};
use crate::kit::json::Json;

/// The key of every run.
pub(super) const KEY: &str = ".specs/20260101-x";

pub(super) struct Pipeline {
    pub(super) workflow: Arc<Workflow>,
    pub(super) state: RunState,
    pub(super) log: Vec<Recorded>,
    files: BTreeMap<String, String>,
    pub(super) now: Timestamp,
    /// Where only a person's own answer counts.
    pub(super) gates: Option<Answers>,
}

impl Pipeline {
    /// Begins a run with these variables.
    pub(super) fn start(vars: &Value) -> Self {
        let mut pipeline = Self::blank();
        pipeline.run(&Command::StartRun(Box::new(start(vars))));
        pipeline
    }

    /// Begins a run from what a file says.
    pub(super) fn adopt(text: &str) -> Self {
        let mut pipeline = Self::blank();
        let placement = placement(text, SpecFiles::default().read(text).unwrap());
        pipeline.run(&Command::AdoptRun(Box::new(start(&Value::Null)), Box::new(placement)));
        pipeline
    }

    pub(super) fn blank() -> Self {
        static WORKFLOW: OnceLock<Arc<Workflow>> = OnceLock::new();
        let workflow = Arc::clone(WORKFLOW.get_or_init(|| Arc::new(workflow())));
        let state = RunState::new(RunId::from_bytes([7; 16]));
        let now = Timestamp::parse("2026-01-01T10:00:00Z").unwrap();
        Self { workflow, state, log: Vec::new(), files: BTreeMap::new(), now, gates: None }
    }

    /// Has the engine decide a command, which it must not refuse.
    pub(super) fn run(&mut self, command: &Command) {
        let refused = self.attempt(command);
        assert_eq!(refused, None, "{command:?}");
        // What the server does itself is done at once.
        while let Ok(Some(due)) = find_chore(&self.workflow, &self.state) {
            let outcome =
                ChoreOutcome::Done { detail: String::new(), warnings: Vec::new(), pushed: None };
            let report = ReportChore { name: due.name, deed: due.deed, outcome, then: None };
            let refused = self.attempt(&Command::ReportChore(report.into()));
            assert_eq!(refused, None, "{command:?}");
        }
    }

    /// Has the engine decide a command, and returns why it is refused.
    pub(super) fn attempt(&mut self, command: &Command) -> Option<String> {
        self.now = self.now.after(Duration::from_secs(1));
        let mut known =
            Known { now: self.now, steady: self.now, gates: self.gates, ..Known::default() };
        let decided = loop {
            match decide(&self.workflow, &self.state, &known, command) {
                Ok(decided) => break decided,
                Err(Stop::Refused(refusal)) => return Some(refusal.to_string()),
                Err(Stop::Ask(questions)) => self.look(&mut known, questions),
            }
        };
        for event in decided.events {
            if let Event::FileLeft { path, text: None, .. } = &event {
                self.files.remove(path);
            }
            let seq = self.state.length + 1;
            let recorded =
                Recorded { seq, at: self.now, steady: self.now, by: Actor::default(), event };
            self.state = evolve(self.state.clone(), &recorded);
            self.log.push(recorded);
        }
        None
    }

    fn look(&self, known: &mut Known, questions: Vec<Question>) {
        for question in questions {
            let fact = match &question {
                Question::File(path) => Fact::File(match self.files.get(path) {
                    None => FileFact::Missing,
                    Some(text) => FileFact::Present {
                        sha256: Digest::of(text.as_bytes()),
                        size: text.len() as u64,
                        text: Some(text.clone()),
                        modified: None,
                    },
                }),
                Question::Beside(_) => Fact::File(FileFact::Missing),
                Question::Git => Fact::Git(None),
                Question::Branch(_) => Fact::Branch(None),
                Question::Check { .. } | Question::Model { .. } => panic!("{question:?}"),
            };
            known.facts.insert(question, fact);
        }
    }

    pub(super) fn write(&mut self, path: &str, text: &str) {
        self.files.insert(path.to_owned(), text.to_owned());
    }

    /// Writes a file and reports its phase as done.
    pub(super) fn work(&mut self, phase: &str, path: &str, text: &str) {
        self.write(path, text);
        self.run(&report(phase));
    }

    /// Takes in what someone made of the file.
    pub(super) fn edit(&mut self, text: &str) {
        let placement = placement(text, SpecFiles::default().read(text).unwrap());
        self.run(&Command::TakeEdit(Box::new(placement)));
    }

    pub(super) fn text(&self) -> String {
        SpecFiles::default().render(&self.workflow, &self.state)
    }

    /// Returns what another text is taken to be made from.
    pub(super) fn basis(&self, text: &str) -> Basis {
        SpecFiles::default().basis(&self.workflow, &self.text(), text)
    }

    pub(super) fn document(&self) -> StateFile {
        StateFile::read(&self.text()).unwrap()
    }

    pub(super) fn field(&self, key: &str) -> String {
        let json = Json::parse(&self.text()).unwrap();
        json.as_object().unwrap().get(key).map(Json::compact).unwrap_or_default()
    }

    /// Says in a few words where the pipeline is.
    pub(super) fn line(&self) -> String {
        let document = self.document();
        let join = |key: &str| document.texts(key).collect::<Vec<_>>().join(" ");
        let mut line = format!(
            "{}: {} {}\ndone: {}\n",
            document.text("status"),
            document.phase(),
            document.status().word(),
            join("completedPhases"),
        );
        let log = document.list("phaseLog").iter().map(|it| {
            let text = |key| it.as_object().unwrap().get(key).unwrap().as_text().unwrap();
            format!("{} {}", text("phase"), text("model"))
        });
        let log: Vec<String> = log.collect();
        let optional = [
            ("left out", join("skippedPhases")),
            ("log", log.join(", ")),
            ("human gate", document.text("pendingHumanGate").to_owned()),
            ("commit", if document.is("needsBatchCommit") { "yes" } else { "" }.to_owned()),
        ];
        for (name, text) in optional.into_iter().filter(|it| !it.1.is_empty()) {
            line.push_str(&format!("{name}: {text}\n"));
        }
        for task in document.tasks() {
            let [built, judged] = ["implStatus", "reviewStatus"].map(|it| task.text(it));
            let retries = task.count("implRetries");
            line.push_str(&format!("task {}: {built:?} {judged:?} {retries}\n", task.key));
        }
        line
    }

    /// Checks that what the file says is where the run is.
    pub(super) fn check_reading(&self) {
        let read = SpecFiles::default().read(&self.text()).unwrap();
        let standing = self.state.standing.as_str();
        assert_eq!(format!("{:?}", read.stood).to_lowercase(), standing);
        for (name, value) in &read.vars {
            let is_shown_only = name == "branch_classified" || name == "batch";
            if !is_shown_only {
                assert_eq!(Some(value), self.state.vars.get(name), "{name}");
            }
        }
        let parts = read.parts.get("tasks").filter(|it| !it.is_empty());
        assert_eq!(parts, self.state.parts.get("tasks"));
        let whole = self.document().write();
        assert_eq!(StateFile::read(&whole).unwrap().write(), whole);
    }

    /// Puts a word in the place of the version, which changes with each release.
    pub(super) fn blur_version(&self) -> String {
        self.text().replace(env!("CARGO_PKG_VERSION"), "VERSION")
    }
}

pub(in crate::forge) fn workflow() -> Workflow {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workflows");
    let mut files = MemoryFiles::default();
    for folder in ["forge", "forge/steps"] {
        for entry in fs::read_dir(root.join(folder)).unwrap() {
            let entry = entry.unwrap();
            let path = format!("{folder}/{}", entry.file_name().to_str().unwrap());
            if entry.file_type().unwrap().is_file() {
                files.0.insert(path, fs::read_to_string(entry.path()).unwrap());
            }
        }
    }
    parse(&WorkflowName::parse("forge").unwrap(), &files).unwrap()
}

pub(super) fn start(vars: &Value) -> StartRun {
    let named = [("spec_name", "x".to_owned()), ("workspace", format!("/project/{KEY}"))];
    let named = named.map(|(name, value)| (name.to_owned(), Value::from(value)));
    let given = vars.as_object().cloned().unwrap_or_default();
    StartRun {
        goes_on: false,
        key: Some(KEY.to_owned()),
        flow: None,
        context: Map::new(),
        vars: named.into_iter().chain(given).collect(),
        root: "/project".to_owned(),
    }
}

/// Returns what a file says as the engine takes it.
pub(super) fn placement(text: &str, reading: Reading) -> FileClaim {
    FileClaim {
        path: format!("{KEY}/state.json"),
        sha256: Digest::of(text.as_bytes()),
        text: text.to_owned(),
        stood: reading.stood,
        reason: reading.reason,
        steps: reading.steps,
        stated: reading.stated,
        at: reading.at,
        current: None,
        is_work_done: false,
        vars: reading.vars,
        parts: reading.parts,
        items: reading.items,
        journal: reading.journal,
        started_at: reading.started_at,
        updated_at: reading.updated_at,
    }
}

pub(super) fn report(phase: &str) -> Command {
    Command::ReportStep(Box::new(ReportStep {
        part: None,
        report: Report {
            step_id: phase.to_owned(),
            status: "success".to_owned(),
            ..Report::default()
        },
        context: ContextChange::default(),
        next: None,
        holder: None,
        terms: ReportOptions::default(),
    }))
}

pub(super) fn begin_step(phase: &str) -> Command {
    Command::StartStep(StartStep { step: phase.to_owned(), ..StartStep::default() })
}

pub(super) fn answer(name: &str) -> Command {
    Command::AnswerGate(Box::new(AnswerGate {
        answer: Answer::Named(name.to_owned()),
        feedback: String::new(),
        by: "ann".to_owned(),
        how: How::Relayed,
        digest: None,
    }))
}

pub(super) fn part(id: &str, after: &[&str]) -> PartSpec {
    let parse = |it: &str| PartId::parse(it).unwrap();
    PartSpec {
        id: parse(id),
        title: "t".to_owned(),
        mode: "sequential".to_owned(),
        files: Vec::new(),
        after: after.iter().map(|it| parse(it)).collect(),
    }
}

pub(super) fn place(
    step: &str,
    part: &str,
    verdict: Option<&str>,
    revisions: Option<u32>,
) -> Command {
    Command::PlacePart(PartPlaced {
        progress: Some(Progress::Done),
        revisions,
        verdict: verdict.map(str::to_owned),
        ..PartPlaced::of(StepName::parse(step).unwrap(), PartId::parse(part).unwrap())
    })
}

/// The run goes on, by agents of which this is said.
pub(super) fn on(details: &Value) -> Command {
    let details = details.as_object().cloned().unwrap_or_default();
    let onward = Some(Onward { details, ..Onward::default() });
    Command::Advance(Advance { onward, ..Advance::default() }.into())
}
