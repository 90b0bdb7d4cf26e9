//! Which steps count as done, and how a run got past them. Sees the state as it was before an event.

use alloc::{collections::BTreeMap, string::String, vec::Vec};

use definition::{Effect, PartId, PartSpec, StepName};
use rpds::VectorSync;

use super::{Mark, PlannedPart, Visited};
use crate::{
    CompletedBy, Effort, Entry, Event, FileClaim, GateReason, How, OpenGate, Recorded, Ruling,
    RunState, Shared, SkipCause, SkipReason, StepCompleted,
};

/// How a run got past its steps.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Passing {
    /// When steps came to count as done since the run's file was last taken in.
    pub closings: Shared<BTreeMap<StepName, Closings>>,
    /// What happened besides work.
    pub passed: VectorSync<Passed>,
    /// Each time that a person sent the work back.
    pub returns: VectorSync<Return>,
    /// Who sent the current step back, until the work on it begins or something else happens there.
    pub sent_back: Option<Shared<SentBack>>,
    /// Since when each part is planned, by its set.
    pub planned: Shared<BTreeMap<String, BTreeMap<PartId, PlannedPart>>>,
}

/// When a step came to count as done, and when it last ceased to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Closings {
    /// Oldest first.
    pub closed: Vec<Mark>,
    /// The event since which a review wants more, or a person is asked in place of one; 0 for none.
    pub opened: u64,
}

/// A run got past a step, or a part of the way, without work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passed {
    pub mark: Mark,
    pub step: StepName,
    pub how: PassedBy,
}

/// How a run got past a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PassedBy {
    /// It was left out, but neither by a caller who named it nor by a person.
    LeftOut,
    /// Nothing of it was left to do, and nobody worked on it.
    NothingLeft,
    /// Nobody had to be asked at its gate.
    Automatic,
    Answered(GateReason),
    /// The server did the chore of this name.
    Chore(String),
}

/// A person sent the work back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Return {
    pub mark: Mark,
    pub from: StepName,
    pub to: StepName,
}

/// Who sent a step back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SentBack {
    /// The review at this step.
    Review(StepName),
    Person,
}

/// Notes what an event says of the steps that are done.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "`evolve` names every event; nothing else passes a step"
)]
pub(super) fn note(state: &mut RunState, recorded: &Recorded) {
    let mark = Mark { seq: recorded.seq, at: recorded.at };
    match &recorded.event {
        Event::RunPlaced(placement) => place(state, placement, mark),
        Event::StepEntered { step, decision } => {
            let by = if decision.is_none() { find_sender(state, step) } else { None };
            state.history.passing.sent_back = by.map(Shared::from);
        }
        Event::StepStarted { part: None, .. }
        | Event::StepFailed { part: None, .. }
        | Event::StepRetried { .. }
        | Event::RunReopened { .. } => state.history.passing.sent_back = None,
        Event::StepCompleted(done) if done.part.is_none() => complete(state, done, mark),
        // A step that a caller names is not done; it is not come to either.
        Event::StepSkipped { part: None, .. }
            if recorded.event.skip_cause() == Some(SkipCause::Named) => {}
        Event::StepSkipped { step, part: None, why, .. } => {
            close(state, step, mark);
            // What a person left out is known by their answer.
            if *why != SkipReason::Person {
                pass(state, step, PassedBy::LeftOut, mark);
            }
        }
        Event::VerdictGiven { step, ruling: Ruling::Revised, .. } => {
            closings(state, step).opened = mark.seq;
        }
        Event::VerdictGiven { step, part: None, ruling: Ruling::Promoted, .. } => {
            close(state, step, mark);
        }
        Event::GateOpened(gate) => ask(state, gate, mark),
        Event::GateAnswered { step, how: How::Automatic, .. } => {
            close(state, step, mark);
            pass(state, step, PassedBy::Automatic, mark);
        }
        Event::GateAnswered { step, answer, .. } => self::answer(state, step, answer, mark),
        Event::PartsPlanned { set, parts, by_hand } => plan(state, (set, parts), *by_hand, mark),
        Event::ChoreDone { name, .. } => {
            if let Some(step) = state.current.clone() {
                pass(state, &step, PassedBy::Chore(name.clone()), mark);
            }
        }
        _ => {}
    }
}

/// What a file says to be done is not said here. Its parts are planned by it.
fn place(state: &mut RunState, placement: &FileClaim, mark: Mark) {
    let passing = &mut state.history.passing;
    passing.closings = Shared::default();
    passing.sent_back = None;
    for (set, parts) in &placement.parts {
        let planned = parts.iter().map(|it| (it.id.clone(), PlannedPart { mark, by_hand: false }));
        passing.planned.insert(set.clone(), planned.collect());
    }
}

/// Returns who sends the run back to a step that it comes to by no choice.
fn find_sender(state: &RunState, to: &StepName) -> Option<SentBack> {
    let from = state.current.as_ref()?;
    let known = state.step(from)?;
    let returned = state.history.passing.returns.last();
    if returned.is_some_and(|it| it.to == *to && known.entered_by < it.mark.seq) {
        return Some(SentBack::Person);
    }
    let is_owed = |judged: &Effort, part: Option<&PartId>| {
        let done_by = state.effort(to, part).map_or(0, |it| it.done_by);
        judged.judged.as_ref().is_some_and(|it| !it.is_passed && done_by < it.by)
    };
    let mut parts = known.parts.iter();
    let is_review = is_owed(&known.effort, None) || parts.any(|(part, it)| is_owed(it, Some(part)));
    is_review.then(|| SentBack::Review(from.clone()))
}

fn complete(state: &mut RunState, done: &StepCompleted, mark: Mark) {
    let is_left = done.completed_by() == CompletedBy::NothingLeft;
    let mut visits = state.history.visits.iter().rev();
    let entered = visits.find(|it| it.what == Visited::Entered).map_or(0, |it| it.mark.seq);
    let is_usage = |entry: &Entry| matches!(entry, Entry::Usage { .. });
    let mut worked = state.entries.iter().rev().take_while(|it| entered < it.seq);
    if is_left && !worked.any(|it| is_usage(&it.entry)) {
        pass(state, &done.step, PassedBy::NothingLeft, mark);
    }
    close(state, &done.step, mark);
}

fn ask(state: &mut RunState, gate: &OpenGate, mark: Mark) {
    state.history.passing.sent_back = None;
    if gate.part.is_some() {
        return;
    }
    match gate.why {
        GateReason::VerdictUnknown | GateReason::RevisionsSpent => {
            closings(state, &gate.step).opened = mark.seq;
        }
        // Its work is done, and the step is not: events of one append have one time.
        GateReason::Gate | GateReason::Owed => {
            let closed = &mut closings(state, &gate.step).closed;
            closed.pop_if(|it| it.at == mark.at);
        }
        GateReason::Early
        | GateReason::Part
        | GateReason::AttemptsSpent
        | GateReason::VisitsSpent
        | GateReason::BudgetSpent => {}
    }
}

fn answer(state: &mut RunState, step: &StepName, answer: &str, mark: Mark) {
    let Some(gate) = state.standing.open_gate().cloned() else { return };
    pass(state, step, PassedBy::Answered(gate.why), mark);
    let effect = gate.options.iter().find(|it| it.name == answer).map(|it| &it.effect);
    let ends_step = gate.why.is_own() && gate.why != GateReason::Early
        || matches!(gate.why, GateReason::VerdictUnknown | GateReason::RevisionsSpent);
    match effect {
        Some(Effect::Approve) if ends_step && gate.part.is_none() => close(state, step, mark),
        Some(Effect::Back(to)) => {
            let returned = Return { mark, from: step.clone(), to: to.clone() };
            state.history.passing.returns.push_back_mut(returned);
        }
        Some(Effect::Approve | Effect::Skip | Effect::Fail | Effect::Cancel) | None => {}
    }
}

/// A part that was there already keeps how far it is, unless a caller names the parts again.
fn plan(state: &mut RunState, (set, parts): (&str, &[PartSpec]), by_hand: bool, mark: Mark) {
    let sets = &mut state.history.passing.planned;
    let known = sets.remove(set).filter(|_| !by_hand).unwrap_or_default();
    let planned = |id: &PartId| known.get(id).copied().unwrap_or(PlannedPart { mark, by_hand });
    let planned = parts.iter().map(|it| (it.id.clone(), planned(&it.id))).collect();
    sets.insert(String::from(set), planned);
}

fn close(state: &mut RunState, step: &StepName, mark: Mark) {
    closings(state, step).closed.push(mark);
}

fn pass(state: &mut RunState, step: &StepName, how: PassedBy, mark: Mark) {
    let passed = Passed { mark, step: step.clone(), how };
    state.history.passing.passed.push_back_mut(passed);
}

fn closings<'a>(state: &'a mut RunState, step: &StepName) -> &'a mut Closings {
    state.history.passing.closings.entry(step.clone()).or_default()
}
