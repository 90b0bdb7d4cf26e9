//! Tools as functions: what a call asks for, what the engine decides on it, and what is answered.
//! There is no process, no store and no file here.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use std::{fs, path::Path, sync::Arc, time::Duration};

use definition::{MemoryFiles, Workflow, WorkflowName, parse};
use dialects::{
    core, generation,
    kit::{
        Ask, Beside, Caller, Deed, Entry, Look, Outcome, Reply, Snapshot, Stopped, Tell, Toolset,
    },
};
use engine::{
    Actor, Command, Fact, FileFact, Known, Projection as _, Question, Recorded, RunFile, RunId,
    RunState, Stop, Timestamp, View, decide, evolve,
};
use serde_json::{Value, json};

/// One run, and the tools that it is worked on with.
struct Stage {
    toolset: Toolset,
    workflow: Arc<Workflow>,
    state: RunState,
    now: Timestamp,
    /// What was asked for since the last look at it, in words.
    asked: Vec<String>,
}

impl Stage {
    fn new(toolset: Toolset) -> Self {
        Self {
            toolset,
            workflow: workflow(),
            state: RunState::new(RunId::from_bytes([7; 16])),
            now: Timestamp::parse("2026-01-01T10:00:00Z").unwrap(),
            asked: Vec::new(),
        }
    }

    /// Calls a tool, and answers all that it asks for.
    fn call(&mut self, tool: &str, arguments: &Value) -> Reply {
        self.now = self.now.after(Duration::from_secs(60));
        let is_it = |it: &&Entry| it.name == tool;
        let entry = self.toolset.tools.iter().find(is_it).unwrap();
        let read = entry.read(&(entry.shape)(), arguments.as_object().unwrap().clone());
        let asking = match read.asking {
            Ok(asking) => asking,
            Err(said) => return said.reply(read.warnings),
        };
        let mut ask = asking(&Caller { at: self.now, ..Caller::default() });
        let mut tell = loop {
            ask = match ask {
                Ask::Look(it) => self.look(it),
                Ask::Do(deed, then) => break then(self.execute(deed)),
                Ask::Both(..) | Ask::Tend(..) => panic!("there is one run"),
                Ask::Also(..) | Ask::Await(..) => panic!("no file is written beside it"),
                Ask::Begin(..) | Ask::Write(..) | Ask::Make(..) => panic!("no file is written"),
                Ask::Tell(tell) => break tell,
            };
        };
        loop {
            tell = match tell {
                Tell::Look(it) => self.look(it),
                Tell::Say(said) => return said.reply(read.warnings),
            };
        }
    }

    fn look<N>(&mut self, look: Look<N>) -> N {
        let has_begun = 0 < self.state.length;
        match look {
            Look::Beside(_, path, then) => {
                self.asked.push(format!("beside {path}"));
                then(Beside::default())
            }
            Look::File(_, keys, then) => {
                self.asked.push(format!("file {}", keys.join(" ")));
                then(Ok(has_begun.then(|| (self.snapshot(), self.file()))))
            }
            Look::Run(text, then) => {
                self.asked.push(format!("run {text}"));
                then(Ok(self.state.run))
            }
            Look::View(_, _, then) => {
                self.asked.push("view".to_owned());
                then(Ok(self.snapshot()))
            }
            Look::Live(..)
            | Look::Wait(..)
            | Look::History(..)
            | Look::Brief(..)
            | Look::Runs(..)
            | Look::Keyed(..)
            | Look::Survey(..)
            | Look::Search(..)
            | Look::Sessions(..)
            | Look::Session(..)
            | Look::Trial(..)
            | Look::Shown(..)
            | Look::NewRun(_)
            | Look::Folder(..)
            | Look::Library(..)
            | Look::Listed(..)
            | Look::Shipped(_)
            | Look::Graph(..)
            | Look::Index(..)
            | Look::Workflows(..)
            | Look::Workflow(..)
            | Look::Files(_) => panic!("nothing else is there to be looked at"),
        }
    }

    fn execute(&mut self, deed: Deed) -> Result<Outcome, Stopped> {
        let command = match deed {
            Deed::Start { start, .. } => Command::StartRun(start),
            Deed::Change { command, .. } => *command,
            Deed::ChangeCopy { .. }
            | Deed::Fork { .. }
            | Deed::TakeReply(_)
            | Deed::Begin { .. }
            | Deed::StartWith { .. }
            | Deed::Replace { .. }
            | Deed::PutAway { .. } => {
                panic!("there is one run")
            }
        };
        self.asked.push(format!("do {}", format!("{command:?}").split(['(', ' ']).next().unwrap()));
        let mut known = self.known();
        let decided = loop {
            match decide(&self.workflow, &self.state, &known, &command) {
                Ok(decided) => break decided,
                Err(Stop::Refused(refusal)) => return Err(Stopped::Refused(refusal)),
                Err(Stop::Ask(questions)) => {
                    known.facts.extend(questions.into_iter().map(|it| {
                        let fact = answer(&it);
                        (it, fact)
                    }));
                }
            }
        };
        let mut events = Vec::new();
        for event in decided.events {
            let (seq, at) = (self.state.length + 1, self.now);
            let recorded = Recorded { seq, at, steady: at, by: Actor::default(), event };
            self.state = evolve(self.state.clone(), &recorded);
            events.push(recorded);
        }
        let file = Some(self.file());
        Ok(Outcome::new(self.snapshot(), events, file))
    }

    fn known(&self) -> Known {
        Known { now: self.now, steady: self.now, ..Known::default() }
    }

    fn snapshot(&self) -> Snapshot {
        let view = View {
            project: "p".to_owned(),
            workflow: Arc::clone(&self.workflow),
            state: Arc::new(self.state.clone()),
            leases: Vec::new(),
        };
        Snapshot { view, known: self.known(), at: self.now }
    }

    fn file(&self) -> RunFile {
        let text = generation::StateFiles::default().render(&self.workflow, &self.state);
        RunFile { path: "workspace/s.json".to_owned(), text, notices: Vec::new() }
    }

    /// Returns what was asked for since it was last called.
    fn asked(&mut self) -> String {
        std::mem::take(&mut self.asked).join(", ")
    }

    /// Begins a scene, and does its first steps.
    fn scene(steps: u8) -> Self {
        let mut stage = Self::new(generation::TOOLSET);
        let scene = json!({ "scene_id": "0204", "blueprint_path": "b.md" });
        assert!(!stage.call("start_generation", &scene).is_error);
        for step in 1..=steps {
            assert!(!stage.call("start_step", &at(step)).is_error);
            assert!(!stage.call("complete_step", &done(step)).is_error);
        }
        stage.asked();
        stage
    }
}

fn at(step: u8) -> Value {
    json!({ "scene_id": "0204", "step_number": step })
}

fn done(step: u8) -> Value {
    json!({ "scene_id": "0204", "step_number": step, "duration_seconds": 1 })
}

/// Nothing is there.
fn answer(question: &Question) -> Fact {
    match question {
        Question::File(_) | Question::Beside(_) => Fact::File(FileFact::Missing),
        Question::Git => Fact::Git(None),
        Question::Branch(_) => Fact::Branch(None),
        Question::Check { .. } | Question::Model { .. } => panic!("{question:?}"),
    }
}

fn workflow() -> Arc<Workflow> {
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
}

#[test]
fn a_call_looks_and_then_asks_for_one_command() {
    let mut stage = Stage::scene(0);
    let reply = stage.call("start_step", &at(1));
    assert!(reply.text.starts_with("⏳ STEP STARTED: Step 1/7"), "{}", reply.text);
    assert_eq!(stage.asked(), "beside session.lock, file 0204, do StartStep");
    let reply = stage.call("get_generation_status", &json!({ "scene_id": "0204" }));
    assert_eq!(reply.body["current_step"], 1);
    assert_eq!(stage.asked(), "beside session.lock, file 0204");
    let reply = stage.call("start_step", &json!({ "scene_id": "204", "step_number": 1 }));
    assert_eq!(reply.body["refusal"]["code"], "parameter_invalid");
    assert_eq!(stage.asked(), "");
}

#[test]
fn a_step_that_is_done_is_not_done_again() {
    let mut stage = Stage::scene(2);
    let length = stage.state.length;
    let reply = stage.call("complete_step", &done(1));
    assert!(!reply.is_error && reply.text.starts_with("ℹ️ INFO: Step 1"), "{}", reply.text);
    let reply = stage.call("complete_step", &done(4));
    assert_eq!(reply.body["refusal"]["code"], "step_not_current");
    assert_eq!(stage.state.length, length);
}

#[test]
fn a_plan_resumes_where_the_engine_does() {
    let mut stage = Stage::scene(3);
    let plan = json!({ "scene_id": "0204" });
    let reply = stage.call("resume_generation", &plan);
    assert_eq!(reply.body["refusal"]["code"], "run_not_ended");
    stage.call("cancel_generation", &plan);
    stage.asked();
    let reply = stage.call("resume_generation", &plan);
    assert_eq!(reply.body["resume_step"], 4, "{}", reply.text);
    assert_eq!(stage.asked(), "beside session.lock, file 0204");
    let reply = stage.call("resume_generation", &json!({ "scene_id": "0204", "confirm": true }));
    assert_eq!((&reply.body["resume_step"], &reply.body["current_step"]), (&json!(4), &json!(4)));
    assert_eq!(stage.asked(), "beside session.lock, file 0204, do ReopenRun");
}

#[test]
fn core_speaks_of_the_same_run_in_its_own_words() {
    let mut stage = Stage::scene(1);
    stage.toolset = core::TOOLSET;
    let report = json!({ "step_id": "step_1_file_check", "status": "success" });
    let reply = stage.call("advance_workflow", &json!({ "instance_id": "0204", "report": report }));
    assert_eq!(reply.body["error_code"], "CONFLICT", "{}", reply.text);
    stage.call("cancel_workflow", &json!({ "instance_id": "0204" }));
    stage.asked();
    let reply = stage.call("advance_workflow", &json!({ "instance_id": "0204", "report": report }));
    assert_eq!((reply.is_error, &reply.body["status"]), (false, &json!("CANCELLED")));
    assert_eq!(stage.asked(), "run 0204, do ReportStep, view");
}
