//! Decides what a command leads to. One arm a command, one file a command.
//!
//! A decision is drafted on a copy of the state: each event is folded in as soon as it is decided,
//! so that what follows (the next step's condition, the limit on visits) sees it. The rest of the
//! folder is what several commands share: [`enter`] a step, [`route`] away from it, its [`parts`],
//! its [`review`], its [`gate`], its [`lease`], and the language model that is asked.

mod answer_gate;
mod approve_step;
mod ask_model;
mod budget;
mod change_context;
mod choose_step;
mod claim_step;
mod contradiction;
mod end_run;
mod enter;
mod expire_step;
mod fail_step;
mod files;
mod found;
pub(crate) mod gate;
mod go_on;
pub(crate) mod lease;
mod make_move;
pub(crate) mod parts;
mod place_run;
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

use alloc::{
    string::{String, ToString as _},
    vec::Vec,
};

use definition::{Condition, EvaluationError, Step, StepName, Workflow};
use serde_json::Value;

use crate::{
    Actor, AtEnd, Command, Event, GateReason, Known, Recorded, Refusal, RunState, Standing, Stop,
    evolve,
    invariant::{self, Violation, Watch},
};

pub(crate) use enter::left_out;
pub use expire_step::find_due;
pub use lease::lease_until;
pub use parts::NOTHING_LEFT;
pub use route::target_name;
pub(crate) use scope::{Sight, scope};
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
}

/// Returns the events that `command` leads to, or why it stops: something must be known first, or
/// the rules do not allow it.
pub fn decide(
    workflow: &Workflow,
    state: &RunState,
    known: &Known,
    command: &Command,
) -> Result<Decided, Stop> {
    // What a copy has from its original is no excuse for where it stands.
    let nothing = RunState::new(state.run);
    let before = if matches!(command, Command::SettleRun { .. }) { &nothing } else { state };
    let (state, events) = (state.clone(), Vec::new());
    let end = AtEnd::default();
    let mut draft = Draft {
        before,
        watch: Watch::default(),
        workflow,
        known,
        state,
        events,
        hops: 0,
        advice: None,
        end,
        counts: true,
        resumes: false,
        reach: Reach::Full,
    };
    apply(&mut draft, command)?;
    rules::settle(&mut draft, before)?;
    draft.check_invariant()?;
    Ok(Decided { events: draft.events, state: draft.state })
}

fn apply(draft: &mut Draft<'_>, command: &Command) -> Result<(), Stop> {
    check_not_owed(draft, command)?;
    match command {
        Command::StartRun(start) => start_run::decide(draft, start),
        Command::AdoptRun(start, placement) => take_file::adopt(draft, start, placement),
        Command::TakeEdit(placement) => take_file::edit(draft, placement),
        Command::StartStep(start) => start_step::decide(draft, start),
        Command::ReportStep(report) => report_step::decide(draft, report),
        Command::FailStep { step, reason, details } => {
            fail_step::fail(draft, step, reason, details)
        }
        Command::RetryStep { step, details } => fail_step::retry(draft, step, details),
        Command::ResumeRun(resume) => resume_run::decide(draft, resume),
        Command::ChooseStep { next } => choose_step::decide(draft, next),
        Command::AnswerGate(answer) => answer_gate::decide(draft, answer),
        Command::ApproveStep { step } => approve_step::decide(draft, step),
        Command::ClaimStep(claim) => claim_step::decide(draft, claim),
        Command::ReleaseStep { generation } => claim_step::release(draft, *generation),
        Command::RecordEntry { step, entry } => record_entry::decide(draft, step.as_deref(), entry),
        Command::ChangeContext(change) => change_context::decide(draft, change),
        Command::SetVars { set } => change_context::set_vars(draft, set),
        Command::Move(made) => make_move::decide(draft, made),
        Command::GoTo { step, passing } => place_run::go_to(draft, step, *passing),
        Command::SkipStep { step } => place_run::skip(draft, step),
        Command::AskPerson { step } => place_run::ask(draft, step),
        Command::PlanParts { set, parts } => place_run::plan(draft, set, parts),
        Command::PlacePart(placed) => place_run::place_part(draft, placed),
        Command::GoOn { details } => go_on::decide(draft, details),
        Command::AddItem { text } => make_move::add_item(draft, text),
        Command::CloseItem { id } => make_move::close_item(draft, *id),
        Command::CancelRun { reason } => end_run::cancel(draft, reason),
        Command::CompleteRun { details, context, early } => {
            end_run::complete(draft, details, context, *early)
        }
        Command::FailRun { reason, step, errors } => {
            end_run::fail(draft, reason, step.as_deref(), errors)
        }
        Command::ReopenRun { reason, force } => end_run::reopen(draft, reason, *force),
        Command::GiveUpKey => end_run::give_up_key(draft),
        Command::ExpireStep => expire_step::decide(draft),
        Command::ReportChore { name, deed, outcome } => {
            report_chore::decide(draft, (name, deed), outcome)
        }
        Command::NoteBranch { name, base } => {
            report_chore::note_branch(draft, name, base.as_deref())
        }
        Command::SettleRun { goes_on } => settle_run::decide(draft, *goes_on),
        Command::Halting(command) => draft.reaching(Reach::Next, |draft| apply(draft, command)),
        Command::All(commands) => commands.iter().try_for_each(|it| apply(draft, it)),
    }
}

/// Refuses what would have an effect of work that lies behind a gate, while a run that got there
/// waits for the answer that it owes.
fn check_not_owed(draft: &Draft<'_>, command: &Command) -> Result<(), Refusal> {
    let Some(open) = draft.state.standing.open_gate().filter(|it| it.why == GateReason::Owed)
    else {
        return Ok(());
    };
    let has_effect = matches!(
        command,
        Command::Move(_)
            | Command::CloseItem { .. }
            | Command::SetVars { .. }
            | Command::PlanParts { .. }
            | Command::PlacePart(_)
            | Command::CompleteRun { .. }
            | Command::ReportChore { .. }
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
    /// What a language model said to the report before the step was left.
    advice: Option<ask_model::Advice>,
    /// What happens after the last step.
    end: AtEnd,
    /// Whether a verdict to revise counts. One that a file speaks of was counted before.
    counts: bool,
    /// Whether nobody reported, and what is there is taken all the same.
    resumes: bool,
    reach: Reach,
}

/// How far a command takes the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// To a step at which there is something to do, or a person to ask.
    Full,
    /// To the next step, whatever is to be found there.
    Next,
    /// From one step to the next, with a look at each.
    Stepwise,
}

impl<'a> Draft<'a> {
    /// Does something that takes the run this far.
    fn reaching<T>(&mut self, reach: Reach, act: impl FnOnce(&mut Self) -> T) -> T {
        let before = core::mem::replace(&mut self.reach, reach);
        let done = act(self);
        self.reach = before;
        done
    }

    /// Adds an event, and folds it in.
    fn push(&mut self, event: Event) {
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
            return Err(violation.refusal());
        }
        invariant::check_rest(self.workflow, self.before, &self.state, self.known.gates)
            .map_err(Violation::refusal)
    }

    /// Whether a file is taken away by what is decided so far.
    fn is_removed(&self, path: &str) -> bool {
        let left = self.events.iter().rev().find_map(|it| {
            let Event::FileLeft { path: left, text, .. } = it else { return None };
            (left == path).then_some(text)
        });
        left.is_some_and(Option::is_none)
    }

    /// Refuses whatever is asked of a run that has not begun, is over, or waits for a person.
    fn check_running(&self) -> Result<(), Refusal> {
        match &self.state.standing {
            Standing::Running => Ok(()),
            Standing::Waiting(gate) => Err(gate::refusal(gate)),
            Standing::New
            | Standing::Completed
            | Standing::Failed { .. }
            | Standing::Cancelled { .. } => Err(self.check_begun().err().unwrap_or_else(|| {
                Refusal::RunEnded { status: self.state.standing.as_str().to_string() }
            })),
        }
    }

    /// Refuses whatever is asked of a run that has not begun or is over.
    fn check_live(&self) -> Result<(), Refusal> {
        self.check_begun()?;
        if !self.state.standing.is_live() {
            let status = self.state.standing.as_str().into();
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

    /// Returns whether `condition` holds; no condition always does.
    fn holds(
        &self,
        condition: Option<&Condition>,
        step: &Step,
        sight: Sight<'_>,
    ) -> Result<bool, Refusal> {
        let Some(condition) = condition else { return Ok(true) };
        let scope = scope(self.workflow, &self.state, sight);
        condition.evaluate(&scope).map_err(|error| condition_failed(step, &error))
    }
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
