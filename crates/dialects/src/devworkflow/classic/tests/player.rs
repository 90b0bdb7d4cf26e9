//! A run, its file and its settings, with something that happens to them by chance.

use std::{collections::BTreeMap, fs, path::Path, sync::Arc};

use definition::{Answers, Digest, MemoryFiles, Workflow, WorkflowName, parse};
use engine::{
    Actor, Answer, AnswerGate, Command, Event, FileClaim, How, Known, Projection as _, Recorded,
    Refusal, RunFile, RunId, RunState, Standing, StartRun, Stop, Timestamp, View, decide, fold,
};
use serde_json::{Map, Value, json};

use super::{
    super::{
        super::{
            TOOLS,
            files::{WorkflowFiles, render},
            options::{Options, Policy},
            state_file::StateFile,
            words::{PHASES, STATUSES},
        },
        Guidance, Row, command,
        rows::ROWS,
    },
    hints,
    release_0_1::Page,
};
use crate::kit::{Ask, Caller, Deed, Entry, Files, Look, Outcome, Reply, Snapshot, Stopped, Tell};

const TASKS: [&str; 4] = ["Add: login", "Fix: logout", "", "Refactor: the parser"];
const PATH: &str = "workflow_state.md";
const CONFIG: &str = "project_config.md";
const UPDATE: &str = "update_workflow_state_guidance";

/// What came of something that happened.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is something else that was said")]
pub(super) struct Said {
    pub(super) text: String,
    pub(super) next: Vec<Next>,
    pub(super) is_refused: bool,
    pub(super) has_rotated: bool,
    /// Whether it says where the run is.
    pub(super) knows_run: bool,
}

/// A call that an answer names.
#[derive(Clone, Debug)]
pub(super) struct Next {
    pub(super) when: String,
    pub(super) tool: &'static str,
    pub(super) params: Map<String, Value>,
}

#[derive(Clone)]
pub(super) struct Player<'a> {
    workflow: &'a Arc<Workflow>,
    pub(super) state: RunState,
    log: Vec<Recorded>,
    /// What an earlier release wrote.
    pub(super) page: Page,
    pub(super) options: Options,
    gates: Option<Answers>,
    /// The item that the plan was written for.
    planned_for: String,
    is_plan_own: bool,
    /// What the file with the project's commands says, where there is one.
    pub(super) config: Option<String>,
    chance: u64,
    story: Vec<String>,
}

fn start() -> StartRun {
    StartRun {
        goes_on: false,
        key: Some(PATH.to_owned()),
        flow: None,
        context: Map::new(),
        vars: Map::new(),
        root: String::new(),
    }
}

fn entry(tool: &str) -> Entry {
    TOOLS.into_iter().find(|it| it.name == tool).unwrap()
}

/// Reads the workflow that is shipped.
pub(super) fn workflow() -> Workflow {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workflows");
    let mut files = BTreeMap::new();
    for folder in ["dev-workflow", "dev-workflow/steps"] {
        for entry in fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let name = path.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
                files.insert(name, fs::read_to_string(&path).unwrap());
            }
        }
    }
    parse(&WorkflowName::parse("dev-workflow").unwrap(), &MemoryFiles(files)).unwrap()
}

impl<'a> Player<'a> {
    pub(super) fn new(workflow: &'a Arc<Workflow>, seed: u64) -> Self {
        let chance = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x1234_5678_9abc_def1);
        let state = RunState::new(RunId::from_bytes([7; 16]));
        let mut player = Self {
            workflow,
            state,
            log: Vec::new(),
            page: Page::blank(),
            options: Options::default(),
            gates: None,
            planned_for: String::new(),
            is_plan_own: true,
            config: None,
            chance,
            story: Vec::new(),
        };
        player.change_settings();
        player
    }

    /// Takes the work some way along, so that walks begin everywhere.
    pub(super) fn come_along(&mut self) {
        let way = [
            ("init_workflow_guidance", json!({})),
            ("init_workflow_guidance", json!({ "task_description": TASKS[1] })),
            ("analyze_phase_guidance", json!({})),
            ("blueprint_phase_guidance", json!({})),
            (
                UPDATE,
                json!({ "phase": "BLUEPRINT", "status": "NEEDS_PLAN_APPROVAL", "plan": "1." }),
            ),
            ("construct_phase_guidance", json!({ "user_approval": true })),
            (UPDATE, json!({ "phase": "CONSTRUCT", "status": "RUNNING" })),
            ("validate_phase_guidance", json!({})),
            ("complete_workflow_guidance", json!({})),
            ("analyze_phase_guidance", json!({ "task_description": TASKS[1] })),
            ("blueprint_phase_guidance", json!({ "task_description": TASKS[1] })),
        ];
        for made in 0..self.draw(way.len() + 1) {
            let (tool, own) = &way[made.min(way.len() - 1)];
            let mut params = self.params();
            params.remove("user_approval");
            params.insert("task_description".to_owned(), TASKS[0].into());
            // Now and then something else is said.
            if *tool == UPDATE && self.draw(4) != 0 {
                params.remove("plan");
                params.remove("current_item");
            }
            params.extend(own.as_object().cloned().unwrap_or_default());
            drop(self.make(tool, &params));
            if self.gates.is_some() {
                self.answer(true);
            }
        }
    }

    /// Calls a tool, and reads nothing of its answer but why it is refused. Wording an answer tries
    /// every call that it may advise, so this is what a walk can afford to do often.
    pub(super) fn make(&mut self, tool: &str, params: &Map<String, Value>) -> Result<(), String> {
        self.story.push(format!("{tool} {}", Value::Object(params.clone())));
        let row = Row::find(tool).unwrap();
        let read = entry(tool).read(&(entry(tool).shape)(), params.clone());
        if let Err(said) = read.asking {
            return Err(said.reply(Vec::new()).text);
        }
        let task = params.get("task_description").and_then(Value::as_str).unwrap_or_default();
        let has_item = || self.file().is_some_and(|it| it.current_item().is_some());
        let lacks_task = row.takes_task && task.trim().is_empty() && !has_item();
        if row.makes.is_empty() || lacks_task {
            return Ok(());
        }
        let state = self.state.clone();
        let state = Some(&state).filter(|it| it.standing != Standing::New);
        self.decide(&command(row, params, state)).map(drop).map_err(|it| it.to_string())
    }

    /// Something happens: most often a call that was advised.
    pub(super) fn act(&mut self, advice: &[Next]) -> Option<Said> {
        match self.draw(20) {
            0 => self.answer(true),
            1 => self.answer(false),
            2 => self.change_settings(),
            3 => assert_eq!(fold(self.state.run, &self.log), self.state, "{}", self.story()),
            4..=5 => self.edit(),
            6..=14 if !advice.is_empty() => {
                let next = &advice[self.draw(advice.len())];
                return Some(self.call(next.tool, &next.params));
            }
            _ => {
                let row = &ROWS[self.draw(ROWS.len())];
                // Those that make files are no decisions.
                let is_plain = !row.makes.is_empty() || row.tool == Guidance::Hello;
                let params = self.params();
                return is_plain.then(|| self.call(row.name, &params));
            }
        }
        // Whatever happened, the next look says how to go on.
        Some(self.call(Guidance::Hello.name(), &Map::new()))
    }

    /// Calls a tool, as the server does.
    pub(super) fn call(&mut self, tool: &str, params: &Map<String, Value>) -> Said {
        self.story.push(format!("{tool} {}", Value::Object(params.clone())));
        let begun = self.log.len();
        let reply = self.reply(tool, params.clone());
        let has_rotated =
            self.log.iter().skip(begun).any(|it| matches!(it.event, Event::JournalRotated(_)));
        let knows_run = reply.body["phase"].is_string();
        let hint = reply.body["refusal"]["hint"].as_str().unwrap_or_default();
        let mut named = hints::find(hint, params);
        // A refusal names the calls that `hello_workflow` names, besides those of its hint.
        let told = if reply.is_error && !self.log.is_empty() {
            self.reply(Guidance::Hello.name(), Map::new()).body
        } else {
            reply.body
        };
        let next = told["next"].as_array().into_iter().flatten().map(|it| Next {
            when: it["when"].as_str().unwrap().to_owned(),
            tool: Row::find(it["tool"].as_str().unwrap()).unwrap().name,
            params: it["params"].as_object().unwrap().clone(),
        });
        named.extend(next);
        let next = named;
        Said { text: reply.text, next, is_refused: reply.is_error, has_rotated, knows_run }
    }

    /// Answers all that a tool asks for.
    pub(super) fn reply(&mut self, tool: &str, params: Map<String, Value>) -> Reply {
        let read = entry(tool).read(&(entry(tool).shape)(), params);
        let asking = match read.asking {
            Ok(asking) => asking,
            Err(said) => return said.reply(Vec::new()),
        };
        let options = crate::Options {
            devworkflow: Arc::new(self.options.clone()),
            ..crate::Options::default()
        };
        let mut ask = asking(&Caller { at: self.known().now, options, ..Caller::default() });
        let mut tell = loop {
            ask = match ask {
                Ask::Look(it) => self.look(it),
                Ask::Do(deed, then) => break then(self.perform(deed)),
                Ask::Make(_, _, _, then) => break then(Ok(self.config.is_none())),
                Ask::Tell(tell) => break tell,
                Ask::Both(..) | Ask::Also(..) | Ask::Await(..) => panic!("there is one run"),
                Ask::Tend(..) | Ask::Begin(..) | Ask::Write(..) => panic!("no file is written"),
            };
        };
        loop {
            tell = match tell {
                Tell::Look(it) => self.look(it),
                Tell::Say(said) => return said.reply(Vec::new()),
            };
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "classic tools look at nothing else")]
    fn look<N>(&self, look: Look<N>) -> N {
        match look {
            Look::Live(_, keys, then) => then(Ok(keys)),
            Look::File(_, _, then) => {
                let file = self.run_file();
                then(Ok(file.map(|it| (self.snapshot(), it))))
            }
            Look::Files(Files::Text(_, path, then)) => {
                then(Ok(self.config.clone().filter(|_| path == CONFIG)))
            }
            Look::Files(Files::IsThere(folder, then)) => then(folder.as_str() == "/"),
            _ => panic!("nothing else is there to be looked at"),
        }
    }

    fn perform(&mut self, deed: Deed) -> Result<Outcome, Stopped> {
        let (Deed::Change { command, .. } | Deed::StartWith { command, .. }) = deed else {
            panic!("there is one run")
        };
        let events = self.decide(&command).map_err(Stopped::Refused)?;
        let line = events.iter().find_map(|it| {
            if let Event::LineInserted { line, .. } = &it.event { Some(line.clone()) } else { None }
        });
        if let (Some(line), Some(config)) = (line, &mut self.config) {
            config.push_str(&line);
        }
        let (now, file) = (self.snapshot(), self.run_file());
        Ok(Outcome::new(now, events, file))
    }

    fn snapshot(&self) -> Snapshot {
        let known = self.known();
        let view = View {
            workflow: Arc::clone(self.workflow),
            state: Arc::new(self.state.clone()),
            project: String::new(),
            leases: Vec::new(),
        };
        Snapshot { at: known.now, known, view }
    }

    fn run_file(&self) -> Option<RunFile> {
        let text = self.text()?;
        Some(RunFile { path: PATH.to_owned(), text, notices: Vec::new() })
    }

    /// A person answers in their terminal, if they are asked.
    pub(super) fn answer(&mut self, is_yes: bool) {
        if !matches!(self.state.standing, Standing::Waiting(_)) {
            return;
        }
        self.story.push(format!("the person says {is_yes}"));
        let answer = if is_yes { Answer::Approve } else { Answer::Reject };
        let (feedback, by) = ("more tests".to_owned(), "ann".to_owned());
        let answer = AnswerGate { answer, feedback, by, how: How::Verified, digest: None };
        drop(self.decide(&Command::AnswerGate(Box::new(answer))));
    }

    /// Someone writes into the file, or has written it before there is a run.
    pub(super) fn take(&mut self, text: String) {
        let file = StateFile::parse(&text);
        self.story.push(format!("edit: {} {}", file.phase(), file.status()));
        let Ok(reading) = WorkflowFiles::new(self.options.clone()).read(&text) else { return };
        let claim = FileClaim {
            path: PATH.to_owned(),
            sha256: Digest::of(text.as_bytes()),
            text,
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
        };
        let claim = Box::new(claim);
        let command = if self.state.standing == Standing::New {
            Command::AdoptRun(Box::new(start()), claim)
        } else {
            Command::TakeEdit(claim)
        };
        if let Err(problem) = self.decide(&command) {
            self.story.push(format!("  put aside: {problem}"));
        }
    }

    pub(super) fn change_settings(&mut self) {
        self.options.auto_approve = self.draw(4) == 0;
        let is_lax = self.draw(8) == 0;
        self.options.transitions = if is_lax { Policy::Warn } else { Policy::Strict };
        self.gates = (self.draw(4) == 0).then_some(Answers::Verified);
        self.options.log_chars_max = [300, 5_000][self.draw(2)];
        let Options { auto_approve, log_chars_max, .. } = self.options;
        let gates = self.gates;
        self.story.push(format!("auto {auto_approve} lax {is_lax} {gates:?} {log_chars_max}"));
    }

    pub(super) fn settle_settings(&mut self, gates: Option<Answers>) {
        (self.options, self.gates) = (Options::default(), gates);
    }

    pub(super) fn decide(&mut self, command: &Command) -> Result<Vec<Recorded>, Refusal> {
        let start = Command::StartRun(Box::new(start()));
        let is_new = self.state.standing == Standing::New;
        let is_start = matches!(command, Command::AdoptRun(..));
        let command = if is_new && !is_start {
            Command::All(vec![start, command.clone()])
        } else {
            command.clone()
        };
        let known = self.known();
        let decided = match decide(self.workflow, &self.state, &known, &command) {
            Ok(decided) => decided,
            Err(Stop::Refused(refusal)) => return Err(refusal),
            Err(Stop::Ask(questions)) => panic!("nothing is to be looked at: {questions:?}"),
        };
        let recorded = (self.state.length + 1..).zip(decided.events).map(|(seq, event)| Recorded {
            seq,
            at: known.now,
            steady: known.steady,
            by: Actor::default(),
            event,
        });
        let recorded: Vec<Recorded> = recorded.collect();
        recorded.iter().for_each(|it| self.page.apply(it));
        self.log.extend(recorded.iter().cloned());
        self.state = decided.state;
        self.watch(&recorded);
        Ok(recorded)
    }

    /// Keeps in mind which item a plan is for, and whether that was approved.
    fn watch(&mut self, events: &[Recorded]) {
        let plan = |it: &Recorded| {
            matches!(&it.event, Event::VarsChanged { set } if set.contains_key("plan"))
                || matches!(&it.event, Event::RunPlaced(_))
        };
        if events.iter().any(plan) {
            self.planned_for = self.var("item");
        }
        let approves = |it: &Recorded| {
            matches!(&it.event, Event::GateAnswered { answer, how, .. }
                if answer == "approve" && *how != How::Automatic)
        };
        if events.iter().any(approves) && !self.var("plan").is_empty() {
            // A plan that was written for no item is for the one that is named then.
            self.is_plan_own &= ["", &self.var("item")].contains(&self.planned_for.as_str());
        }
    }

    pub(super) fn params(&mut self) -> Map<String, Value> {
        let plan = ["1. one", "2. two"][self.draw(2)];
        let (phase, status) = (PHASES[self.draw(5)], STATUSES[self.draw(5)]);
        let mut params = json!({
            "task_description": TASKS[self.draw(4)],
            "requirements_summary": "x",
            "feedback": "x",
            "error_details": "x",
            "issues": "x",
            "summary": "x",
            "phase": phase,
            "status": status,
            "log_entry": "x".repeat(self.draw(400)),
        });
        if self.draw(2) == 0 {
            params["plan"] = plan.into();
        }
        if self.draw(2) == 0 {
            params["user_approval"] = true.into();
        }
        if self.draw(3) == 0 {
            params["current_item"] = TASKS[self.draw(4)].into();
        }
        params.as_object().cloned().unwrap_or_default()
    }

    pub(super) fn known(&self) -> Known {
        // Days pass.
        let hours = i64::try_from(self.log.len()).unwrap();
        let now = Timestamp(1_767_225_600_000_000 + hours * 3_600_000_000);
        let policy = self.options.policy();
        Known { now, steady: now, gates: self.gates, policy, ..Known::default() }
    }

    /// Returns what the file says.
    pub(super) fn text(&self) -> Option<String> {
        (!self.log.is_empty()).then(|| render(&self.state))
    }

    pub(super) fn file(&self) -> Option<StateFile> {
        self.text().map(|it| StateFile::parse(&it))
    }

    fn var(&self, name: &str) -> String {
        self.state.vars.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    pub(super) fn is_plan_own(&self) -> bool {
        self.is_plan_own
    }

    /// Whether what is built or validated is not what was approved.
    pub(super) fn is_void(&self) -> bool {
        let at = self.state.current.as_ref().map_or("", |it| it.as_str());
        let is_lax = self.options.transitions == Policy::Warn;
        let is_automatic = self.options.auto_approve && self.gates.is_none();
        ["CONSTRUCT", "VALIDATE"].contains(&at)
            && !is_lax
            && !is_automatic
            && !self.is_approved()
            && self.var("status") != "COMPLETED"
    }

    /// Whether the plan at hand was approved, for the item at hand.
    fn is_approved(&self) -> bool {
        let text = [self.var("item"), self.var("plan")].join("\n");
        self.var("approved") == Digest::of(text.as_bytes()).as_str()
    }

    pub(super) fn is_at_end(&self) -> bool {
        let at = self.state.current.as_ref().map_or("", |it| it.as_str());
        at == "INIT"
            && self.var("item").is_empty()
            && self.var("status") == "READY"
            && self.state.items.iter().all(|it| it.is_done)
            && !self.log.is_empty()
    }

    /// Returns where the work is, in a word.
    pub(super) fn place(&self) -> String {
        let open = self.state.items.iter().filter(|it| !it.is_done).count();
        let (status, item) = (self.var("status"), self.var("item"));
        let (approved, asks) = (self.is_approved(), self.state.standing.open_gate().is_some());
        format!("{:?} {status} {item} {open} {approved} {asks}", self.state.current)
    }

    pub(super) fn story(&self) -> String {
        format!("{}\n=> {}", self.story.join("\n"), self.place())
    }

    pub(super) fn draw(&mut self, below: usize) -> usize {
        self.chance ^= self.chance << 13;
        self.chance ^= self.chance >> 7;
        self.chance ^= self.chance << 17;
        usize::try_from(self.chance >> 11).unwrap() % below
    }
}
