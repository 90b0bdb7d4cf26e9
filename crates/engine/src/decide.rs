//! Decides what a command leads to. One arm a command, one file a command.
//!
//! A decision is drafted on a copy of the state: each event is folded in as soon as it is decided,
//! so that what follows (the next step's condition, the limit on visits) sees it. The rest of the
//! folder is what several commands share: the [`flow`] from step to step, the [`route`] away from
//! one, its [`parts`], its [`review`], its [`gate`], its [`lease`], and the language model that is
//! asked. `tidy/tests/engine_layers.rs` lists the files from the bottom up.

mod advance;
mod answer_gate;
mod approve_step;
mod ask_model;
mod budget;
mod change_context;
mod claim_step;
mod complete_found_parts;
mod complete_step;
mod contradiction;
mod due;
mod end_run;
mod expire_step;
mod fail_step;
mod files;
mod flow;
pub(crate) mod gate;
pub(crate) mod lease;
mod left_out;
mod make_move;
mod mode;
pub(crate) mod open_parts;
mod part_list;
mod part_rules;
mod parts;
mod place_run;
mod react;
mod record_entry;
mod report_chore;
mod report_step;
mod resume_run;
mod review;
pub(crate) mod route;
mod rulebook;
mod rules;
mod scope;
mod settle_run;
mod start_run;
mod start_step;
mod stretch;
mod take_file;
mod then;
mod verdict;
mod waive_gate;

use alloc::{
    collections::BTreeMap,
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use definition::{Condition, Digest, EvaluationError, Step, StepName, Workflow};
use serde_json::Value;

use crate::{
    Actor, Artifact, Command, Event, FileFact, GateReason, Known, Note, Recorded, Refusal, Report,
    RunState, Standing, Stop, evolve,
    invariant::{self, Watch},
    known,
};

pub use advance::awaits_revision;
pub use expire_step::find_due;
pub use lease::lease_until;
pub(crate) use left_out::left_out;
use mode::{Mode, Reach};
pub use route::target_name;
pub(crate) use scope::{EvalContext, scope};
pub use start_run::resolve_decider;

/// How many steps one command may pass through without any work being done.
const HOPS_MAX: u32 = 80;
/// How deeply a value may be nested. A stored event adds a few levels, and must stay readable.
const DEPTH_MAX: usize = 64;
/// The longest name that a caller may give for a step, a holder or a person, in bytes.
const NAME_BYTES_MAX: usize = 200;

/// What a command leads to.
#[derive(Debug, Clone, PartialEq)]
pub struct Decided {
    pub events: Vec<Event>,
    /// The state once they have happened.
    pub state: RunState,
    /// What the caller should know besides.
    pub notes: Vec<Note>,
    /// Why the run did not go on, although what was said of it was taken.
    pub halted: Option<Refusal>,
}

/// Returns the events that `command` leads to, or why it stops: something must be known first, or
/// the rules do not allow it.
pub fn decide(
    workflow: &Workflow,
    state: &RunState,
    known: &Known,
    command: &Command,
) -> Result<Decided, Stop> {
    draft(workflow, state, known, command).map_err(|stop| match stop {
        Stop::Refused(refusal) => as_left(refusal, state).into(),
        stop @ Stop::Ask(_) => stop,
    })
}

/// Says of a refusal whether there is a run and a person is asked: what the decision itself began and
/// asked is gone with it.
#[expect(clippy::wildcard_enum_match_arm, reason = "no other refusal says so")]
fn as_left(refusal: Refusal, left: &RunState) -> Refusal {
    let is_begun = left.standing != Standing::New;
    match refusal {
        Refusal::GateNeedsPerson { step, .. } => {
            let is_asked = left.standing.open_gate().is_some_and(|it| it.step == step);
            Refusal::GateNeedsPerson { step, is_asked, is_begun }
        }
        Refusal::PartNeedsPerson { step, part, .. } => {
            let is_asked = left.asks_at(&step, Some(&part));
            Refusal::PartNeedsPerson { step, part, is_asked, is_begun }
        }
        refusal => refusal,
    }
}

fn draft(
    workflow: &Workflow,
    state: &RunState,
    known: &Known,
    command: &Command,
) -> Result<Decided, Stop> {
    // What a copy has from its original is not an excuse for where it stands.
    let nothing = RunState::new(state.run);
    let before = if matches!(command, Command::SettleRun { .. }) { &nothing } else { state };
    let mut state = state.clone();
    state.harden(known.gates);
    let mut draft = Draft {
        before,
        watch: Watch::default(),
        workflow,
        known,
        state,
        events: Vec::new(),
        hops: 0,
        left: BTreeMap::new(),
        notes: Vec::new(),
        halted: None,
    };
    change_context::follow_settings(&mut draft)?;
    apply(&mut draft, Mode::default(), command)?;
    rules::settle(&mut draft, before)?;
    gate::ask_reworded(&mut draft)?;
    // A copy looks where its branch stands when it is first worked on.
    if !matches!(command, Command::SettleRun { .. }) {
        due::note_branch(&mut draft)?;
    }
    draft.check_invariant()?;
    let Draft { events, state, notes, halted, .. } = draft;
    let halted = halted.map(|it| as_left(it, &state));
    Ok(Decided { events, state, notes, halted })
}

fn apply(draft: &mut Draft<'_>, mode: Mode, command: &Command) -> Result<(), Stop> {
    check_not_owed(draft, command)?;
    match command {
        Command::StartRun(start) => start_run::decide(draft, mode, start),
        Command::AdoptRun(start, placement) => take_file::adopt(draft, mode, start, placement),
        Command::TakeEdit(placement) => take_file::edit(draft, placement),
        Command::NoteReplaced { path, problem, kept } => {
            take_file::note_replaced(draft, path, problem, kept.as_deref())
        }
        Command::StartStep(start) => start_step::decide(draft, mode, start),
        Command::ReportStep(report) => report_step::decide(draft, mode, report),
        Command::FailStep { step, reason, details } => {
            fail_step::fail(draft, step, reason, details)
        }
        Command::RetryStep { step, details } => fail_step::retry(draft, step, details),
        Command::ResumeRun(resume) => resume_run::decide(draft, mode, resume),
        Command::AnswerGate(answer) => answer_gate::decide(draft, mode, answer),
        Command::ApproveStep { step } => approve_step::decide(draft, mode, step),
        Command::ClaimStep(claim) => claim_step::decide(draft, claim),
        Command::ExtendLease { generation, .. } => {
            claim_step::find_held(draft, *generation).map(drop)
        }
        Command::ReleaseStep { generation } => claim_step::release(draft, *generation),
        Command::RecordEntry { step, entry } => record_entry::decide(draft, step.as_deref(), entry),
        Command::SetVars { set } => change_context::set_vars(draft, set),
        Command::Move(made) => make_move::decide(draft, mode, made),
        Command::GoTo { step, passing } => place_run::go_to(draft, mode, step, *passing),
        Command::SkipStep { step } => place_run::skip(draft, mode, step),
        Command::AskPerson { step } => place_run::ask(draft, step),
        Command::PlanParts { set, parts } => place_run::plan(draft, set, parts),
        Command::PlacePart(placed) => place_run::place_part(draft, placed),
        Command::Advance(advance) => advance::decide(draft, mode, advance),
        Command::AddItem { text } => make_move::add_item(draft, text),
        Command::CloseItem { id } => make_move::close_item(draft, *id),
        Command::CancelRun { reason } => end_run::cancel(draft, reason),
        Command::CompleteRun { details, context, early } => {
            end_run::complete(draft, details, context, *early)
        }
        Command::FailRun { reason, step, errors } => {
            end_run::fail(draft, reason, step.as_deref(), errors)
        }
        Command::ReopenRun { reason, force } => end_run::reopen(draft, mode, reason, *force),
        Command::GiveUpKey => end_run::give_up_key(draft),
        Command::ExpireStep => expire_step::decide(draft, mode),
        Command::ReportChore(report) => advance::after_chore(draft, mode, report),
        Command::SettleRun { goes_on } => settle_run::decide(draft, mode, *goes_on),
        Command::StopAtNextStep(command) => {
            apply(draft, Mode { reach: Reach::RecordOnly, ..mode }, command)
        }
        Command::All(commands) => apply_all(draft, mode, commands),
    }
}

/// Makes one change after the other, up to one that a person must be asked again after: the question
/// stands, and the rest waits for the answer.
fn apply_all(draft: &mut Draft<'_>, mode: Mode, commands: &[Command]) -> Result<(), Stop> {
    let is_owed = |it: &Draft<'_>| {
        let open = it.state.standing.open_gate();
        open.is_some_and(|it| it.why == GateReason::Owed)
    };
    let was_owed = is_owed(draft);
    for command in commands {
        apply(draft, mode, command)?;
        if !was_owed && is_owed(draft) {
            break;
        }
    }
    Ok(())
}

/// Refuses what would have an effect of work that lies behind a gate, while a run that got there
/// waits for the answer that it owes. What holds the gate is not behind it.
fn check_not_owed(draft: &Draft<'_>, command: &Command) -> Result<(), Refusal> {
    let Some(open) = draft.state.standing.open_gate().filter(|it| it.why == GateReason::Owed)
    else {
        return Ok(());
    };
    let gate = draft.workflow.find_step(&open.step).and_then(|it| it.gate.as_ref());
    let holds = gate.and_then(|it| it.holds.as_ref());
    let is_holding = |name: &String| holds.is_some_and(|it| it.mentions(&format!("vars.{name}")));
    if matches!(command, Command::SetVars { set } if set.keys().all(is_holding)) {
        return Ok(());
    }
    let has_effect = matches!(
        command,
        Command::Move(_)
            | Command::CloseItem { .. }
            | Command::SetVars { .. }
            | Command::PlanParts { .. }
            | Command::PlacePart(_)
            | Command::CompleteRun { .. }
            | Command::ReportChore(_)
    );
    if has_effect && draft.state.standing.is_live() {
        return Err(gate::refusal(open));
    }
    Ok(())
}

/// A decision in the making.
pub(crate) struct Draft<'a> {
    pub(crate) workflow: &'a Workflow,
    pub(crate) known: &'a Known,
    /// The run before the command.
    before: &'a RunState,
    pub(crate) state: RunState,
    /// What must never be decided is noticed here.
    watch: Watch,
    events: Vec<Event>,
    hops: u32,
    /// The files that are written or taken away by what is decided so far, as they will be.
    left: BTreeMap<String, FileFact>,
    notes: Vec<Note>,
    halted: Option<Refusal>,
}

/// A point of a draft that can be told from later ones.
#[derive(Debug, Clone, Copy)]
struct Mark(usize);

impl Mark {
    fn is_after(self, other: Self) -> bool {
        other.0 < self.0
    }
}

/// A point of a draft that can be gone back to.
struct Savepoint {
    mark: Mark,
    state: RunState,
    watch: Watch,
    hops: u32,
    left: BTreeMap<String, FileFact>,
}

impl<'a> Draft<'a> {
    fn mark(&self) -> Mark {
        Mark(self.events.len())
    }

    /// Whether anything was decided since `mark`.
    fn has_moved(&self, since: Mark) -> bool {
        since.0 < self.events.len()
    }

    fn save(&self) -> Savepoint {
        let (state, watch) = (self.state.clone(), self.watch.clone());
        Savepoint { mark: self.mark(), state, watch, hops: self.hops, left: self.left.clone() }
    }

    /// Drops whatever was decided since.
    fn rewind(&mut self, to: Savepoint) {
        self.events.truncate(to.mark.0);
        (self.state, self.watch, self.hops, self.left) = (to.state, to.watch, to.hops, to.left);
    }

    /// Adds an event, and folds it in.
    fn push(&mut self, event: Event) {
        if let Event::FileLeft { path, text, .. } = &event {
            self.left.insert(path.clone(), file_of(text.as_deref(), self.known));
        }
        let recorded = Recorded {
            seq: self.state.length + 1,
            at: self.known.now,
            steady: self.known.steady,
            by: Actor::default(),
            event,
        };
        let last = self.watch.has_failure().then(|| self.state.clone());
        let empty = RunState::new(self.state.run);
        let state = core::mem::replace(&mut self.state, empty);
        self.state = evolve(state, &recorded);
        let runs = (self.before, last.as_ref(), &self.state);
        self.watch.see(self.workflow, runs, &recorded.event, self.known.gates);
        self.events.push(recorded.event);
    }

    /// Refuses a decision that leaves the run where it must never be, whatever led there.
    fn check_invariant(&mut self) -> Result<(), Refusal> {
        if let Some(violation) = self.watch.violation.take() {
            return Err(violation.refusal(self.before));
        }
        invariant::check_rest(self.workflow, self.before, &self.state, self.known.gates)
            .map_err(|it| it.refusal(self.before))
    }

    /// Returns what is at `path` by what is decided so far, or stops to ask.
    pub(crate) fn file(&self, path: &str) -> Result<&FileFact, Stop> {
        self.left.get(path).map_or_else(|| self.known.file(path), Ok)
    }

    /// Returns what there is of `paths` by what is decided so far.
    fn artifacts<'p>(&self, paths: impl Iterator<Item = &'p str>) -> Result<Vec<Artifact>, Stop> {
        known::artifacts(paths, |path| self.file(path))
    }

    /// Refuses whatever is asked of a run that has not begun, is over, or waits for a person.
    fn check_running(&self) -> Result<(), Refusal> {
        match &self.state.standing {
            Standing::Running => Ok(()),
            Standing::Waiting(gate) => Err(gate::refusal(gate)),
            Standing::New
            | Standing::Completed
            | Standing::Failed { .. }
            | Standing::Cancelled { .. } => Err(self
                .check_begun()
                .err()
                .unwrap_or_else(|| Refusal::RunEnded { status: self.state.standing.status() })),
        }
    }

    /// Refuses whatever is asked of a run that has not begun or is over.
    fn check_live(&self) -> Result<(), Refusal> {
        self.check_begun()?;
        if !self.state.standing.is_live() {
            let status = self.state.standing.status();
            return Err(Refusal::RunEnded { status });
        }
        Ok(())
    }

    fn check_begun(&self) -> Result<(), Refusal> {
        if self.state.standing == Standing::New {
            return Err(Refusal::RunUnknown(self.state.run.to_string()));
        }
        Ok(())
    }

    /// Returns the step that the run is at.
    fn current(&self) -> Result<&'a Step, Refusal> {
        let name = self.state.current.as_ref();
        let found = name.and_then(|name| self.workflow.find_step(name));
        found.ok_or_else(|| self.step_unknown(name.map_or("", StepName::as_str)))
    }

    /// Returns the current step if that is what `named` means.
    fn current_named(&self, named: &str) -> Result<&'a Step, Refusal> {
        let current = self.current()?;
        let Some(step) = self.workflow.find_step_loosely(named) else {
            return Err(self.step_unknown(named));
        };
        if step.name != current.name {
            let (step, current) = (step.name.to_string(), current.name.to_string());
            return Err(Refusal::StepNotCurrent { step, current });
        }
        Ok(current)
    }

    fn step_unknown(&self, step: &str) -> Refusal {
        let known = self.workflow.work_steps().map(|it| it.name.clone()).collect();
        Refusal::StepUnknown { step: step.to_string(), known }
    }

    /// Counts a step that is passed through, so that a definition that goes in circles ends.
    fn hop(&mut self, step: &StepName) -> Result<(), Refusal> {
        self.hops += 1;
        if HOPS_MAX < self.hops {
            let problem = String::from("the workflow goes in circles without any work in between");
            return Err(Refusal::ConditionFailed { step: step.clone(), problem });
        }
        Ok(())
    }

    /// Refuses a report that is too large or too deep to be kept.
    fn check_report(&self, report: &Report) -> Result<(), Refusal> {
        check_depth("the report", [&report.result, &report.details].into_iter())?;
        let bytes = serde_json::to_string(report).map_or(0, |it| it.len());
        check_size("the report", bytes, self.known.bounds.report_bytes_max)
    }

    /// Whether what is out of order is done with a warning. That never stands in for a person.
    fn is_lax(&self) -> bool {
        self.known.policy.is_lax && !invariant::asks_person(self.workflow, self.known.gates)
    }

    /// Returns whether `condition` holds; no condition always does.
    fn holds(
        &self,
        condition: Option<&Condition>,
        step: &Step,
        sight: EvalContext<'_>,
    ) -> Result<bool, Refusal> {
        let Some(condition) = condition else { return Ok(true) };
        let scope = scope(self.workflow, &self.state, sight);
        condition.evaluate(&scope).map_err(|error| condition_failed(step, &error))
    }
}

/// Returns a file as the server leaves it.
fn file_of(text: Option<&str>, known: &Known) -> FileFact {
    text.map_or(FileFact::Missing, |text| FileFact::Present {
        sha256: Digest::of(text.as_bytes()),
        size: text.len() as u64,
        text: Some(text.to_string()),
        modified: Some(known.now),
    })
}

pub(crate) fn condition_failed(step: &Step, error: &EvaluationError) -> Refusal {
    Refusal::ConditionFailed { step: step.name.clone(), problem: error.to_string() }
}

/// Refuses values that are nested too deeply to be read back from a log.
fn check_depth<'v>(what: &str, values: impl Iterator<Item = &'v Value>) -> Result<(), Refusal> {
    let mut waiting: Vec<(&Value, usize)> = values.map(|it| (it, 1)).collect();
    while let Some((value, depth)) = waiting.pop() {
        if DEPTH_MAX < depth {
            return Err(Refusal::TooDeep { what: what.to_string(), max: DEPTH_MAX });
        }
        match value {
            Value::Array(items) => waiting.extend(items.iter().map(|it| (it, depth + 1))),
            Value::Object(map) => waiting.extend(map.values().map(|it| (it, depth + 1))),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    Ok(())
}

/// Refuses a text that is too large to be kept.
fn check_size(what: &str, bytes: usize, max: usize) -> Result<(), Refusal> {
    if max < bytes {
        return Err(Refusal::TooLarge { what: what.to_string(), bytes, max });
    }
    Ok(())
}
