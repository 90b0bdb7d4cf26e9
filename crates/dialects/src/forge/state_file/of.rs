//! A state file, rendered from the state of its run.
//!
//! What someone wrote into the file is where it starts from: unknown keys, their order and forms that
//! nobody here writes stay as they are until the run says something else.

mod log;
mod place;
mod tasks;

use definition::{StepName, Workflow};
use engine::{Asked, GateReason, History, Kind, Mark, RunState};
use serde_json::Value;

use super::{PHASES, SETUP, StateFile, Status, vars};
use crate::kit::json::{Json, Object};

pub use tasks::SET;
pub(super) use tasks::{BUILDING, JUDGING};

impl StateFile {
    /// Returns what the file of a run says.
    pub fn of(workflow: &Workflow, state: &RunState) -> Self {
        let base = Base::of(workflow, state);
        if base.is_changed() { base.lay_over() } else { base.file }
    }

    /// Returns it letter by letter. What someone wrote stays as it is until something happens.
    pub fn text_of(workflow: &Workflow, state: &RunState) -> String {
        let base = Base::of(workflow, state);
        match &state.history.placed {
            Some(placed) if !base.is_changed() => placed.text.clone(),
            Some(_) | None => base.lay_over().write(),
        }
    }
}

/// What a file starts from, and the run that goes on from there.
struct Base<'a> {
    workflow: &'a Workflow,
    state: &'a RunState,
    history: &'a History,
    /// The event by which the text was taken in; 0 where nobody wrote one.
    seq: u64,
    file: StateFile,
}

impl<'a> Base<'a> {
    fn of(workflow: &'a Workflow, state: &'a RunState) -> Self {
        let history = &*state.history;
        let file = match &history.placed {
            Some(placed) => StateFile::read(&placed.text).unwrap_or_default(),
            None => template(state),
        };
        Self { workflow, state, history, seq: history.placed_by(), file }
    }

    /// Whether the text does not know of it.
    fn is_new(&self, mark: Mark) -> bool {
        self.seq < mark.seq
    }

    /// Whether any event that is meant happened since the text; all did where there is none.
    fn has(&self, is_meant: impl Fn(Kind) -> bool) -> bool {
        self.seq == 0 || self.newest(is_meant).is_some()
    }

    /// Returns the last event that is meant since the text.
    fn newest(&self, is_meant: impl Fn(Kind) -> bool) -> Option<Mark> {
        self.history.counts.newest(is_meant).filter(|it| self.is_new(*it))
    }

    /// Lays what the run says over the text.
    fn lay_over(&self) -> StateFile {
        let mut file = self.file.clone();
        self.set_vars(&mut file);
        self.set_place(&mut file);
        self.set_completed(&mut file);
        self.set_tasks(&mut file);
        self.add_log(&mut file);
        self.set_times(&mut file);
        self.set_error(&mut file);
        self.set_dispatch(&mut file);
        file.settle();
        file
    }

    fn is_changed(&self) -> bool {
        self.history.placed.is_none() || self.changed().is_some()
    }

    /// Returns the last event since the text that the file has something to say of.
    fn changed(&self) -> Option<Mark> {
        let asked = self.asked().map(|it| it.opened);
        let committed = self.committed().filter(|it| self.is_new(*it));
        self.newest(counts).into_iter().chain(asked).chain(self.set()).chain(committed).max()
    }

    /// Returns when variables that the file shows were set since the text.
    fn set(&self) -> impl Iterator<Item = Mark> {
        let set = self.history.vars.iter().filter(|it| vars::is_shown(it.0)).map(|it| *it.1);
        set.filter(|it| self.is_new(*it))
    }

    /// Returns the questions since the text, but not the one that it says to be open.
    fn asked(&self) -> impl Iterator<Item = &'a Asked> {
        let seq = self.seq;
        let mut new = self.history.asked.iter().filter(move |it| seq < it.opened.seq).peekable();
        // Events of one append have one time.
        let at = self.history.placed.as_ref().map(|it| it.mark.at);
        if self.file.status() == Status::AwaitingHuman {
            let phase = self.file.phase();
            new.next_if(|it| Some(it.opened.at) == at && it.step.as_str() == phase);
        }
        new
    }

    fn set_vars(&self, file: &mut StateFile) {
        let set = |name: &str| self.history.vars.get(name).is_some_and(|it| self.is_new(*it));
        let is_meant = |name: &str| self.seq == 0 || set(name);
        let named = |name: &str| self.state.vars.get(name) != Some(&Value::from(""));
        vars::write(file, &self.state.vars, |name| {
            let has_own = matches!(name, "spec_name" | "workspace" | "flow_template");
            is_meant(name) && (named(name) || 0 < self.seq || !has_own)
        });
        if is_meant("skipped_phases") {
            let own: Vec<String> = file.texts("skippedPhases").map(str::to_owned).collect();
            let of_flow = self.left_out().filter(|it| !own.iter().any(|own| own == it));
            let all = of_flow.map(Json::from).chain(own.iter().map(|it| it.as_str().into()));
            file.set("skippedPhases", all.collect::<Vec<Json>>());
        }
        let is_own =
            |it: &Asked| matches!(it.why, GateReason::Gate | GateReason::Early | GateReason::Owed);
        if self.asked().any(is_own) {
            file.set("branchClassified", true);
        }
    }

    /// Returns what the flow of the run leaves out.
    fn left_out(&self) -> impl Iterator<Item = &'static str> {
        let flow = self.state.flow().and_then(|it| self.workflow.flows.get(it));
        let is_skipped = move |it: &&str| {
            flow.is_some_and(|flow| flow.skips.iter().any(|step| step.as_str() == *it))
        };
        PHASES.into_iter().filter(is_skipped)
    }

    /// Says which phases are done, in the order in which they came to be.
    fn set_completed(&self, file: &mut StateFile) {
        let place = |name: &str| PHASES.iter().position(|it| *it == name);
        let closings = |phase: &str| {
            let step = StepName::parse(phase).ok()?;
            self.history.passing.closings.get(&step)
        };
        // What was done from the step that is worked on again up to the one that sent it back is to
        // be done again.
        let opened = |phase: &str| {
            let returns = self.history.passing.returns.iter().filter(|it| {
                let (from, to) = (it.from.as_str(), it.to.as_str());
                let is_between = place(to) < place(phase) && place(phase) < place(from);
                self.is_new(it.mark) && (phase == from || is_between)
            });
            let returned = returns.map(|it| it.mark.seq).max().unwrap_or_default();
            returned.max(closings(phase).map_or(0, |it| it.opened))
        };
        let is_kept = |it: &&str| place(it).is_none() || opened(it) == 0;
        let mut done: Vec<String> =
            self.file.texts("completedPhases").filter(is_kept).map(str::to_owned).collect();
        let since = |phase: &'static str| {
            let closed = closings(phase)?.closed.iter().find(|it| opened(phase) < it.seq);
            closed.map(|it| (it.seq, phase))
        };
        let mut new: Vec<(u64, &str)> = PHASES.into_iter().filter_map(since).collect();
        new.sort_unstable();
        for (_, phase) in new {
            if !done.iter().any(|it| it == phase) {
                done.push(phase.to_owned());
            }
        }
        file.set("completedPhases", done.into_iter().map(Json::from).collect::<Vec<Json>>());
        for phase in PHASES {
            self.set_record(file, phase, closings(phase).and_then(|it| it.closed.last().copied()));
        }
    }

    /// Says when a phase was begun and done.
    fn set_record(&self, file: &mut StateFile, phase: &str, closed: Option<Mark>) {
        let Ok(step) = StepName::parse(phase) else { return };
        let starts = self.history.attempts_at(&step).flat_map(|it| &it.starts).map(|it| it.mark);
        let start = starts.filter(|it| self.is_new(*it)).max();
        if let Some(start) = start {
            file.record(phase).set("started", start.at.to_string());
        }
        if start.is_some() || closed.is_some() {
            let completed = closed.filter(|it| start < Some(*it)).map(|it| it.at.to_string());
            file.record(phase).set("completed", completed);
        }
    }

    fn set_times(&self, file: &mut StateFile) {
        let placed = self.history.placed.as_ref().map(|it| it.mark.at);
        if file.moment("timestamps", "created").is_none() {
            let created = placed.unwrap_or(self.state.started_at);
            file.set_inside("timestamps", "created", created.to_string());
        }
        if let Some(changed) = self.changed() {
            file.set_inside("timestamps", "lastUpdated", changed.at.to_string());
        }
        let is_touched = self.has(|kind| match kind.event {
            "StepEntered" | "RunCompleted" => true,
            "StepStarted" | "StepCompleted" => kind.of.is_empty(),
            _ => false,
        });
        if is_touched {
            let started = self.phase_started().map(|it| it.at.to_string());
            file.set_inside("timestamps", "phaseStarted", started);
        }
    }
}

/// Whether the file has something to say of an event. Questions and variables are looked at one by
/// one.
fn counts(kind: Kind) -> bool {
    match kind.event {
        "RunStarted" | "RunCompleted" | "RunFailed" | "RunCancelled" | "RunReopened" => true,
        "StepEntered" | "StepStarted" | "StepCompleted" | "StepFailed" | "StepReopened" => true,
        "StepRetried" | "VerdictGiven" | "PartsPlanned" | "PartPlaced" => true,
        "GateAnswered" | "GateWithdrawn" => true,
        "StepSkipped" => kind.of.is_empty(),
        "EntryRecorded" => kind.of == "usage",
        _ => false,
    }
}

/// Returns what a file says of a run that nobody has told anything.
fn template(state: &RunState) -> StateFile {
    let key = state.key().unwrap_or_default();
    let mut file = StateFile { object: Object::new() };
    file.set("forge-state-mcp-version", env!("CARGO_PKG_VERSION"));
    file.set("specName", key.rsplit('/').next().unwrap_or_default());
    file.set("workspace", format!("{}/{key}", state.root().trim_end_matches('/')));
    file.set("flowTemplate", state.flow());
    file.set("completedPhases", vec![Json::from(SETUP)]);
    file
}
