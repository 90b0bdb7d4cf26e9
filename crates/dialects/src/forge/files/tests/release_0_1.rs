//! The state file of a pipeline as release 0.1 wrote it: event by event.

mod answers;
mod document;
mod tasks;

use std::collections::{BTreeMap, BTreeSet};

use definition::{StepName, Workflow};
use engine::{
    ClaimedStatus, CompletedBy, Entry, Event, OpenGate, Recorded, Ruling, RunStarted, SkipCause,
    Timestamp,
};
use serde_json::{Map, Value};

use super::super::super::state_file::{COMPLETED, PHASES, SETUP, StateFile, Status};
use crate::kit::json::{Json, Object};

/// The model of an entry of the log that nobody worked for.
const SKIPPED: &str = "skipped";

/// The state file of one run in the making.
#[derive(Clone)]
pub(super) struct State {
    pub(super) document: StateFile,
    /// What someone wrote, until the next event: until then it stays as it was written.
    written: Option<String>,
    /// The steps at which a person is asked.
    pub(super) gated: BTreeSet<String>,
    /// What each flow leaves out.
    flows: BTreeMap<String, Vec<String>>,
    /// What the run's own flow leaves out.
    left_out: Vec<String>,
    /// What a person is asked now.
    pub(super) gate: Option<Box<OpenGate>>,
    /// The phase that is done but for a person's word.
    pub(super) unanswered: Option<String>,
    /// The phase at which a person has just answered.
    pub(super) answered: Option<String>,
    pub(super) way: Way,
    /// Whether anyone reported work on the current phase since the run came to it.
    is_worked: bool,
}

/// How the run comes to the next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Way {
    #[default]
    Onward,
    /// A review sent it back. The reviewing phase is shown until the work starts over.
    Held,
    /// A person sent it back.
    Sent,
}

impl State {
    /// Returns the file of a run of which nothing is known.
    pub(super) fn new(workflow: &Workflow) -> Self {
        let gated = workflow.steps.iter().filter(|it| it.gate.is_some());
        let skips = |name: &str| {
            let flow = workflow.flows.get(name);
            let is_left_out = |it: &&&str| {
                flow.is_some_and(|flow| flow.skips.iter().any(|step| step.as_str() == **it))
            };
            PHASES.iter().filter(is_left_out).map(|it| (*it).to_owned()).collect()
        };
        Self {
            document: StateFile::default(),
            written: None,
            gated: gated.map(|it| it.name.to_string()).collect(),
            flows: workflow.flows.keys().map(|it| (it.clone(), skips(it))).collect(),
            left_out: Vec::new(),
            gate: None,
            unanswered: None,
            answered: None,
            way: Way::Onward,
            is_worked: false,
        }
    }
}

impl State {
    /// Takes the next event of the log in.
    pub(super) fn apply(&mut self, recorded: &Recorded) {
        if let Event::RunPlaced(placement) = &recorded.event {
            self.document = StateFile::read(&placement.text).unwrap_or_default();
            self.written = Some(placement.text.clone());
            self.way = Way::Onward;
            // A question that is open stays so while the file says that someone is asked.
            if placement.stood != ClaimedStatus::Waiting {
                self.gate = None;
                self.unanswered = None;
            }
            return;
        }
        if self.write(recorded) {
            self.written = None;
            let now = recorded.at.to_string();
            if self.document.moment("timestamps", "created").is_none() {
                self.document.set_inside("timestamps", "created", now.as_str());
            }
            self.document.set_inside("timestamps", "lastUpdated", now);
        }
    }

    pub(super) fn text(&self) -> String {
        if let Some(written) = &self.written {
            return written.clone();
        }
        let mut document = self.document.clone();
        document.settle();
        document.write()
    }
}

/// The phase whose work the server does, and the chore that it consists of.
const FINAL_COMMIT: &str = "final-commit";
/// The phase in which the client runs a command.
const PR_CREATION: &str = "pr-creation";

impl State {
    /// Whether nothing has happened since someone wrote it.
    pub(super) fn is_written(&self) -> bool {
        self.written.is_some()
    }

    /// Writes an event down, and returns whether there was anything to write.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the file has a place for these only")]
    fn write(&mut self, recorded: &Recorded) -> bool {
        let at = recorded.at;
        match &recorded.event {
            Event::RunStarted(started) => self.begin(started, at),
            Event::StepEntered { step, decision } => {
                self.enter(step.as_str(), decision.is_some(), at);
            }
            Event::StepStarted { step, part: None, details, .. } => {
                self.start(step.as_str(), details, at);
            }
            Event::StepStarted { step, part: Some(part), .. } => {
                return tasks::start(&mut self.document, step.as_str(), part);
            }
            Event::StepCompleted(done) => match &done.part {
                None => {
                    let is_left = done.completed_by() == CompletedBy::NothingLeft;
                    self.complete(done.step.as_str(), is_left, at);
                }
                Some(part) => {
                    return tasks::complete(&mut self.document, done.step.as_str(), part);
                }
            },
            Event::StepFailed { step, part: None, reason, .. } => {
                self.set_status(Status::Pending);
                self.set_error(step.as_str(), reason, at);
            }
            Event::StepSkipped { step, part: None, .. } => {
                return self.skip(step.as_str(), recorded.event.skip_cause(), at);
            }
            Event::StepReopened { step, part: Some(part), .. }
            | Event::StepFailed { step, part: Some(part), .. } => {
                return tasks::reopen(&mut self.document, step.as_str(), part);
            }
            Event::StepReopened { step, part: None, .. } | Event::StepRetried { step, .. } => {
                if self.document.phase() != step.as_str() {
                    return false;
                }
                self.set_status(Status::Pending);
            }
            Event::VerdictGiven { step, part, verdict, ruling, .. } => {
                if let Some(part) = part {
                    tasks::judge(&mut self.document, part, verdict, *ruling);
                }
                self.judge(step.as_str(), (*ruling, part.is_some()), at);
            }
            Event::PartsPlanned { set, parts, by_hand } if set == tasks::SET => {
                self.document.plan_tasks(parts, *by_hand);
            }
            Event::PartPlaced(placed) => tasks::place(&mut self.document, placed),
            Event::GateOpened(gate) => return self.ask(gate),
            Event::GateAnswered { .. } => self.answer(&recorded.event, at),
            Event::GateWithdrawn { .. } => self.withdraw(),
            Event::VarsChanged { set } => return self.set_vars(set),
            Event::EntryRecorded { step, entry: Entry::Usage { tokens, duration_ms, model } } => {
                self.is_worked = true;
                self.log(step.as_str(), (*tokens, *duration_ms), model, at);
            }
            Event::ChoreDone { name, .. } if name == FINAL_COMMIT => {
                self.log(FINAL_COMMIT, (0, 0), "exec", at);
            }
            Event::RunCompleted { .. } => self.finish(at),
            Event::RunFailed { reason, step, .. } => {
                let current = self.document.phase().to_owned();
                let phase = step.as_ref().map_or(current.as_str(), StepName::as_str);
                self.set_status(Status::Failed);
                self.set_error(phase, reason, at);
            }
            Event::RunCancelled { .. } => self.set_status(Status::Abandoned),
            Event::RunReopened { .. } => {
                self.set_status(Status::Pending);
                self.document.set("error", Json::Null);
            }
            _ => return false,
        }
        true
    }

    fn begin(&mut self, started: &RunStarted, at: Timestamp) {
        let key = started.key.as_deref().unwrap_or_default();
        let document = &mut self.document;
        document.set("forge-state-mcp-version", env!("CARGO_PKG_VERSION"));
        document.set("specName", key.rsplit('/').next().unwrap_or_default());
        document.set("workspace", format!("{}/{key}", started.root.trim_end_matches('/')));
        document.set("currentPhase", *PHASES.first().unwrap_or(&SETUP));
        document.set("currentPhaseStatus", Status::Pending.word());
        document.set("completedPhases", vec![Json::from(SETUP)]);
        document.set_inside("timestamps", "created", at.to_string());
        let mut set = started.vars.clone();
        set.retain(|name, value| {
            value != "" || !matches!(name.as_str(), "spec_name" | "workspace")
        });
        if let Some(flow) = &started.flow {
            self.left_out = self.flows.get(flow).cloned().unwrap_or_default();
            set.entry("flow_template").and_modify(|it| {
                if it == "" {
                    *it = flow.as_str().into();
                }
            });
        }
        self.set_vars(&set);
    }

    fn set_vars(&mut self, set: &Map<String, Value>) -> bool {
        let is_any = document::set_vars(&mut self.document, set);
        if set.contains_key("skipped_phases") {
            let own: Vec<String> =
                self.document.texts("skippedPhases").map(str::to_owned).collect();
            let of_flow = self.left_out.iter().filter(|it| !own.contains(it)).cloned();
            let all: Vec<Json> = of_flow.chain(own.iter().cloned()).map(Json::from).collect();
            self.document.set("skippedPhases", all);
        }
        is_any
    }

    fn enter(&mut self, step: &str, is_chosen: bool, at: Timestamp) {
        self.pass(at);
        self.answered = None;
        self.is_worked = false;
        let is_judged = step == tasks::BUILDING
            && self.document.phase() == tasks::JUDGING
            && self.document.tasks().iter().any(|it| it.is_rejected());
        let way = std::mem::take(&mut self.way);
        let way = if is_judged { Way::Held } else { way };
        let (phase, status) = match way {
            Way::Held if !is_chosen => (None, Status::InProgress),
            Way::Sent if !is_chosen => (Some(step), Status::InProgress),
            Way::Onward | Way::Held | Way::Sent => (Some(step), Status::Pending),
        };
        if let Some(phase) = phase {
            self.document.set("currentPhase", phase);
        }
        self.set_status(status);
        self.document.set_inside("timestamps", "phaseStarted", Json::Null);
    }

    fn start(&mut self, step: &str, details: &Map<String, Value>, at: Timestamp) {
        let now = at.to_string();
        self.document.set("currentPhase", step);
        self.set_status(Status::InProgress);
        self.document.set_inside("timestamps", "phaseStarted", now.as_str());
        self.document.set("error", Json::Null);
        self.document.note_started(step, &now);
        // Only work that is handed out has a model, if an empty one.
        if let Some(model) = details.get("model").and_then(Value::as_str) {
            let is_bare = step == tasks::BUILDING && self.document.tasks().is_empty();
            let said = details.get("setup_only").and_then(Value::as_bool);
            let mut dispatch = Object::new();
            dispatch.set("phase", step);
            // What the client itself writes or runs has no model.
            let has_model = !is_bare && step != PR_CREATION;
            dispatch.set("model", if has_model { model } else { "" });
            dispatch.set("setupOnly", said.unwrap_or(is_bare));
            self.document.set("lastDispatch", dispatch);
        }
    }

    fn complete(&mut self, step: &str, is_left: bool, at: Timestamp) {
        self.document.set_inside("timestamps", "phaseStarted", Json::Null);
        if is_left && !self.is_worked {
            self.log(step, (0, 0), SKIPPED, at);
        }
        if self.gated.contains(step) {
            self.unanswered = Some(step.to_owned());
        } else {
            self.close(step, at);
        }
    }

    /// Puts a phase among those that are done.
    pub(super) fn close(&mut self, step: &str, at: Timestamp) {
        self.document.complete_phase(step);
        self.document.note_completed(step, &at.to_string());
    }

    /// A phase that the run has left, and at which nobody is asked any more, is done.
    fn pass(&mut self, at: Timestamp) {
        if let Some(step) = self.unanswered.take() {
            self.close(&step, at);
        }
    }

    fn skip(&mut self, step: &str, cause: Option<SkipCause>, at: Timestamp) -> bool {
        if cause == Some(SkipCause::Named) {
            self.unanswered = None;
            return false;
        }
        self.pass(at);
        self.close(step, at);
        // What a person left out is in the log by their answer.
        if self.answered.take().as_deref() != Some(step) {
            self.log(step, (0, 0), SKIPPED, at);
        }
        true
    }

    /// A review that wants something done again is not done itself.
    fn judge(&mut self, step: &str, (ruling, is_part): (Ruling, bool), at: Timestamp) {
        match ruling {
            Ruling::Revised => {
                self.document.reopen_phase(step);
                self.way = Way::Held;
            }
            // It was noted before, and is overruled now.
            Ruling::Promoted if !is_part && !self.document.is_completed(step) => {
                self.way = Way::Onward;
                self.close(step, at);
            }
            Ruling::Approved | Ruling::Promoted | Ruling::Asked | Ruling::Failed => {}
        }
    }

    fn finish(&mut self, at: Timestamp) {
        self.pass(at);
        self.document.set("currentPhase", COMPLETED);
        self.set_status(Status::Completed);
        self.document.set_inside("timestamps", "phaseStarted", Json::Null);
    }

    pub(super) fn set_status(&mut self, status: Status) {
        self.document.set("currentPhaseStatus", status.word());
    }

    fn set_error(&mut self, phase: &str, message: &str, at: Timestamp) {
        let at = at.to_string();
        let entries = [("phase", phase), ("message", message), ("timestamp", at.as_str())];
        self.document.set("error", entries.into_iter().collect::<Object>());
    }

    /// Adds an entry to the log: what a phase took, in tokens and milliseconds.
    pub(super) fn log(&mut self, phase: &str, took: (u64, u64), model: &str, at: Timestamp) {
        let mut entry = Object::new();
        entry.set("phase", phase);
        entry.set("tokens", took.0);
        entry.set("duration_ms", took.1);
        entry.set("model", model);
        entry.set("timestamp", at.to_string());
        self.document.push("phaseLog", entry);
    }
}
