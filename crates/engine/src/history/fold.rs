//! Folds one event into the history of a run. Sees the state as it was before the event.

use alloc::{string::String, vec, vec::Vec};

use definition::{PartId, StepName};
use rpds::VectorSync;
use serde_json::{Map, Value};

use super::{
    Archived, Asked, Attempt, AttemptEnd, AttemptOutcome, Begun, Closed, Closing, Dispatch, Ended,
    Ending, Failure, History, Kind, Mark, Placed, Reopening, Touched, Visit, Visited, passing,
};
use crate::{
    Entry, Event, FileClaim, How, OpenGate, Progress, Recorded, Report, RunState, Shared, Standing,
};

/// Notes what an event adds to the history of a run whose state is still that before it.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "`evolve` names every event; the history keeps these only"
)]
pub(crate) fn note(state: &mut RunState, recorded: &Recorded) {
    let mark = Mark { seq: recorded.seq, at: recorded.at };
    state.history.counts.add(Kind::of(&recorded.event), mark);
    passing::note(state, recorded);
    match &recorded.event {
        Event::RunPlaced(placement) => place(state, placement, mark),
        Event::StepStarted { step, part, details, .. } => {
            start(state, (step, part.as_ref()), details, mark);
        }
        Event::StepRetried { step, details } => {
            let retry = Some(details.clone().into());
            push(&mut state.history, step, Attempt { retry, ..Attempt::opened(mark) });
        }
        Event::StepEntered { step, .. } => visit(state, (step, None), Visited::Entered, mark),
        Event::StepReopened { step, part, .. } => {
            visit(state, (step, part.as_ref()), Visited::Reopened, mark);
        }
        Event::StepSkipped { step, part, reason, why, .. } => {
            let what = Visited::Skipped { why: *why, reason: reason.clone() };
            visit(state, (step, part.as_ref()), what, mark);
        }
        Event::VerdictGiven { step, part, of, ruling, .. } => {
            let what = Visited::Judged { of: of.clone(), ruling: *ruling };
            visit(state, (step, part.as_ref()), what, mark);
        }
        Event::StepCompleted(completed) => {
            let details: Shared<Value> = completed.report.details.clone().into();
            let what = Visited::Completed(details.clone());
            visit(state, (&completed.step, completed.part.as_ref()), what, mark);
            if completed.part.is_none() {
                let end = AttemptEnd { mark, how: AttemptOutcome::Done, details };
                end_attempt(&mut state.history, &completed.step, end);
            }
        }
        Event::StepFailed { step, part, reason, report, .. } => {
            fail(&mut state.history, (step, part.as_ref()), (reason, report.as_ref()), mark);
        }
        Event::EntryRecorded { step, entry: Entry::Error { message, .. } } => {
            change_last(&mut state.history, step, |last| {
                if last.is_sound() {
                    last.fault = Some((mark, message.clone()));
                }
            });
        }
        Event::GateOpened(gate) => ask(&mut state.history, gate, mark),
        Event::GateAnswered { answer, how, by, feedback, .. } if *how != How::Automatic => {
            let (answer, by, feedback) = (answer.clone(), by.clone(), feedback.clone());
            close(state, mark, Closing::Answered { answer, how: *how, by, feedback });
        }
        Event::GateWithdrawn { .. } => close(state, mark, Closing::Withdrawn),
        Event::ContextChanged { set, removed } => touch(state, (set, removed), mark),
        Event::VarsChanged { set } => {
            state.history.vars.extend(set.keys().map(|it| (it.clone(), mark)));
        }
        Event::JournalRotated(rotated) => {
            let text = rotated.archived.clone();
            state.history.archived.push_back_mut(Archived { mark, text });
        }
        Event::RunCompleted { details } => {
            end(state, Ending::Completed { details: details.clone().into() }, None, mark);
        }
        Event::RunFailed { reason, step, .. } => fail_run(state, reason, step.as_ref(), mark),
        Event::RunCancelled { reason } => {
            drop_open(state, AttemptOutcome::Interrupted, mark);
            end(state, Ending::Cancelled { reason: reason.clone() }, None, mark);
        }
        Event::RunReopened { forced, .. } => reopen(state, *forced, mark),
        _ => {}
    }
}

/// A step and, where it is about one, its part.
type Place<'a> = (&'a StepName, Option<&'a PartId>);

impl Attempt {
    fn opened(mark: Mark) -> Self {
        Self { opened: mark, starts: Vec::new(), retry: None, fault: None, end: None }
    }
}

/// Keeps the text of a file. What it says of attempts takes the place of those before.
fn place(state: &mut RunState, placement: &FileClaim, mark: Mark) {
    let history = &mut state.history;
    let (text, counts) = (placement.text.clone(), history.counts.clone());
    history.placed = Some(Placed { mark, text, counts }.into());
    let mut attempts = alloc::collections::BTreeMap::new();
    for (step, stage) in &placement.steps {
        let how = match (stage.progress, &stage.failure) {
            (Progress::Active, _) => None,
            (Progress::Done, _) => Some(AttemptOutcome::Done),
            (Progress::Ready, Some(_)) => Some(AttemptOutcome::Failed),
            (Progress::Ready | Progress::Idle | Progress::Skipped | Progress::Rejected, _) => {
                continue;
            }
        };
        let end = how.map(|how| AttemptEnd { mark, how, details: Shared::default() });
        let attempt = Attempt { end, ..Attempt::opened(mark) };
        attempts.insert(step.clone(), [attempt].into_iter().collect::<VectorSync<_>>());
    }
    history.attempts = attempts.into();
}

fn start(state: &mut RunState, place: Place<'_>, details: &Map<String, Value>, mark: Mark) {
    let has_parts = !state.parts.is_empty();
    let history = &mut *state.history;
    let (step, part) = (place.0.clone(), place.1.cloned());
    history.dispatch = Some(Dispatch { mark, step, part, details: details.clone() }.into());
    if place.1.is_some() {
        return;
    }
    let begun = Begun { mark, details: details.clone().into(), has_parts };
    let is_open = history.attempts.get(place.0).and_then(VectorSync::last);
    if is_open.is_some_and(Attempt::is_sound) {
        change_last(history, place.0, |last| last.starts.push(begun));
    } else {
        push(history, place.0, Attempt { starts: vec![begun], ..Attempt::opened(mark) });
    }
}

fn fail(
    history: &mut History,
    (step, part): Place<'_>,
    (reason, report): (&str, Option<&Report>),
    mark: Mark,
) {
    let details: Shared<Value> = report.map(|it| it.details.clone()).unwrap_or_default().into();
    if part.is_none() {
        let end = AttemptEnd { mark, how: AttemptOutcome::Failed, details: details.clone() };
        end_attempt(history, step, end);
    }
    let (step, part, reason) = (step.clone(), part.cloned(), String::from(reason));
    history.failures.push_back_mut(Failure { mark, step, part, reason, details });
}

/// Ends the attempt at a step. One that was never begun was made all the same.
fn end_attempt(history: &mut History, step: &StepName, end: AttemptEnd) {
    let last = history.attempts.get(step).and_then(VectorSync::last);
    if last.is_some_and(|it| it.end.is_none()) {
        change_last(history, step, |last| last.end = Some(end));
    } else {
        let mark = end.mark;
        push(history, step, Attempt { end: Some(end), ..Attempt::opened(mark) });
    }
}

fn push(history: &mut History, step: &StepName, attempt: Attempt) {
    history.attempts.entry(step.clone()).or_default().push_back_mut(attempt);
}

fn change_last(history: &mut History, step: &StepName, change: impl FnOnce(&mut Attempt)) {
    let Some(attempts) = history.attempts.get_mut(step) else { return };
    let Some(place) = attempts.len().checked_sub(1) else { return };
    if let Some(last) = attempts.get_mut(place) {
        change(last);
    }
}

/// Ends every attempt that is open: as `how` where one was under way, else as dropped.
fn drop_open(state: &mut RunState, how: AttemptOutcome, mark: Mark) {
    let is_open = |it: &VectorSync<Attempt>| it.last().is_some_and(|it| it.end.is_none());
    let open = state.history.attempts.iter().filter(|(_, it)| is_open(it));
    let open: Vec<StepName> = open.map(|(step, _)| step.clone()).collect();
    for step in open {
        let is_active = state.progress(&step) == Progress::Active;
        let how = if is_active { how } else { AttemptOutcome::Dropped };
        let end = AttemptEnd { mark, how, details: Shared::default() };
        end_attempt(&mut state.history, &step, end);
    }
}

fn visit(state: &mut RunState, (step, part): Place<'_>, what: Visited, mark: Mark) {
    let (step, part) = (step.clone(), part.cloned());
    state.history.visits.push_back_mut(Visit { mark, step, part, what });
}

fn ask(history: &mut History, gate: &OpenGate, mark: Mark) {
    history.asked.push_back_mut(Asked {
        opened: mark,
        step: gate.step.clone(),
        part: gate.part.clone(),
        why: gate.why,
        ask: gate.ask.clone(),
        closed: None,
    });
}

/// Closes the question that is open, if one is.
fn close(state: &mut RunState, mark: Mark, how: Closing) {
    let Some(place) = state.history.asked.len().checked_sub(1) else { return };
    if !is_asked(state) {
        return;
    }
    if let Some(last) = state.history.asked.get_mut(place) {
        last.closed = Some(Closed { mark, how });
    }
}

/// Whether a question is open that nobody has answered.
fn is_asked(state: &RunState) -> bool {
    let is_open = state.history.asked.last().is_some_and(|it| it.closed.is_none());
    is_open && state.standing.open_gate().is_some()
}

/// Returns the stable name of how the run stands. What was just answered is not open any more.
fn standing(state: &RunState) -> &'static str {
    let is_answered = matches!(state.standing, Standing::Waiting(_)) && !is_asked(state);
    if is_answered { Standing::Running.as_str() } else { state.standing.as_str() }
}

fn touch(state: &mut RunState, changed: (&Map<String, Value>, &[String]), mark: Mark) {
    let (set, removed) = (changed.0, changed.1.to_vec());
    let keys: Vec<(String, bool)> = set
        .iter()
        .map(|(key, value)| (key.clone(), state.context.get(key) != Some(value)))
        .collect();
    if !keys.is_empty() || !removed.is_empty() {
        state.history.context.push_back_mut(Touched { mark, keys, removed });
    }
}

fn fail_run(state: &mut RunState, reason: &str, step: Option<&StepName>, mark: Mark) {
    let is_again = matches!(state.standing, Standing::Failed { .. });
    let step = step.cloned().or_else(|| place_of(state));
    let attempts = step.as_ref().and_then(|it| state.history.attempts.get(it));
    let is_open = attempts.and_then(VectorSync::last).is_some_and(|it| it.end.is_none());
    if let Some(step) = step.as_ref().filter(|_| is_open && !is_again) {
        let end = AttemptEnd { mark, how: AttemptOutcome::Failed, details: Shared::default() };
        end_attempt(&mut state.history, step, end);
    }
    end(state, Ending::Failed { reason: String::from(reason) }, step, mark);
}

fn end(state: &mut RunState, how: Ending, step: Option<StepName>, mark: Mark) {
    let from = standing(state);
    let is_again = matches!(state.standing, Standing::Failed { .. });
    close(state, mark, Closing::Ended);
    let is_open = step.as_ref().is_some_and(|it| !state.progress(it).is_settled());
    let fails_step = matches!(how, Ending::Failed { .. }) && is_open && !is_again;
    let step = step.or_else(|| place_of(state));
    state.history.ends.push_back_mut(Ended { mark, how, from, step, fails_step });
}

/// Returns where the run is, once anyone took up a step.
fn place_of(state: &RunState) -> Option<StepName> {
    let history = &state.history;
    let is_resumed = !history.reopenings.is_empty();
    let is_begun = is_resumed || history.placed.is_some() || !history.attempts.is_empty();
    state.current.clone().filter(|_| is_begun)
}

fn reopen(state: &mut RunState, forced: bool, mark: Mark) {
    let from = standing(state);
    close(state, mark, Closing::Reopened);
    drop_open(state, AttemptOutcome::Dropped, mark);
    let step = state.current.clone().filter(|_| !state.is_work_done);
    state.history.reopenings.push_back_mut(Reopening { mark, forced, from, step });
}
