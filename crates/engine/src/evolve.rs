//! Folds one event into the state. Cannot fail: what happened, happened.

mod effort;
mod found;
mod gate;
mod place;
mod run;
mod trail;
mod work;

use crate::{Event, Journal, Passage, PendingRules, Recorded, RunId, RunState, Standing, history};
use place::{is_of_placing, place};
use trail::hand;

/// Returns the state that a whole log folds into.
pub fn fold<'a>(run: RunId, log: impl IntoIterator<Item = &'a Recorded>) -> RunState {
    log.into_iter().fold(RunState::new(run), evolve)
}

/// Returns `state` as it is after `recorded`.
pub fn evolve(mut state: RunState, recorded: &Recorded) -> RunState {
    state.length = recorded.seq;
    state.updated_at = recorded.at;
    state.steady = recorded.steady;
    if state.unasked == PendingRules::Placed && !is_of_placing(&recorded.event) {
        state.unasked = PendingRules::Nothing;
    }
    if state.origin.as_ref().is_some_and(|it| it.journal) {
        state.journal.add(recorded);
    }
    hand(&mut state, recorded);
    history::note(&mut state, recorded);
    state.claims_asked &= !ends_claim(&recorded.event);
    apply(&mut state, recorded);
    state
}

/// Has the state follow one event.
fn apply(state: &mut RunState, recorded: &Recorded) {
    match &recorded.event {
        Event::RunStarted(started) => run::start(state, recorded, started),
        Event::RunForked { from, seq } => run::fork(state, *from, *seq),
        Event::RunResumed { assumed, report, reasoning } => {
            run::resume(state, assumed, report, reasoning);
        }
        Event::StepEntered { step, decision } => {
            work::enter(state, recorded, step, decision.as_ref());
        }
        Event::StepStarted { step, part, attempt, seen, .. } => {
            work::start(state, recorded, (step, part.as_ref()), (*attempt, seen));
        }
        Event::StepReported { step, part, report } => {
            work::report(state, (step, part.as_ref()), report);
        }
        Event::StepCompleted(completed) => work::complete(state, recorded, completed),
        Event::StepFailed { step, part, reason, report, .. } => {
            work::fail(state, recorded, (step, part.as_ref()), (reason, report.as_ref()));
        }
        Event::StepSkipped { step, part, why, .. } => {
            work::skip(state, recorded, (step, part.as_ref()), *why);
        }
        Event::StepReopened { step, part, feedback, .. } => {
            work::reopen(state, recorded, (step, part.as_ref()), feedback);
        }
        Event::StepRetried { step, .. } => work::retry(state, recorded, step),
        Event::VerdictGiven { step, part, of, verdict, ruling, findings } => {
            let judged = (verdict.as_str(), *ruling, findings.as_slice());
            work::judge(state, recorded, (step, part.as_ref()), of, judged);
        }
        Event::PartsPlanned { set, parts, .. } => work::plan(state, set, parts),
        Event::PartPlaced(placed) => work::place_part(state, recorded, placed),
        Event::FileLeft { path, text, .. } => found::leave_file(state, path, text.as_deref()),
        Event::DriftAccepted { artifacts, gone } => found::accept_drift(state, artifacts, gone),
        Event::GateOpened(asked) => gate::open(state, asked),
        Event::GateWaived { step } => gate::pass(state, step, Passage::Claimed),
        Event::GateAnswered { .. } => gate::answer(state, recorded),
        Event::GateWithdrawn { .. } => state.standing = Standing::Running,
        Event::ContextChanged { set, removed } => found::change_context(state, set, removed),
        Event::VarsChanged { set } => state.vars.extend(set.clone()),
        Event::ModelAsked(asked) => found::ask_model(state, recorded, asked),
        Event::EntryRecorded { step, entry } => work::record(state, recorded, step, entry),
        Event::LeaseTaken(lease) => work::hold(state, recorded, lease),
        Event::LeaseReleased { step, part, .. } => {
            state.leases.remove(&(step.clone(), part.clone()));
        }
        Event::RunPlaced(placement) => place(state, recorded, placement),
        Event::ItemAdded { item } => state.items.push(item.clone()),
        Event::ItemClosed { id } => found::close_item(state, *id),
        Event::JournalRotated(_) => state.journal = Journal::default(),
        Event::FileReplaced { .. }
        | Event::MoveMade { .. }
        | Event::RuleFired { .. }
        | Event::LineInserted { .. } => {}
        Event::ChoreDone { .. } | Event::ChoreFailed { .. } => {
            found::end_chore(state, &recorded.event);
        }
        Event::BranchSeen { name, base, is_taken } => {
            state.take_branch(name, base.as_deref(), *is_taken);
        }
        Event::WorkEnded => state.is_work_done = true,
        Event::RunCompleted { .. } => run::complete(state, recorded),
        Event::RunFailed { reason, step, .. } => {
            run::fail_run(state, recorded, reason, step.as_ref());
        }
        Event::RunCancelled { reason } => run::cancel(state, recorded, reason),
        Event::KeyGivenUp => state.gave_up_key = true,
        Event::RunReopened { .. } => run::reopen(state, recorded),
    }
}

/// Whether the person whom a file says to be asked is asked by now, or the run has moved on.
fn ends_claim(event: &Event) -> bool {
    matches!(event, Event::GateOpened(_) | Event::StepEntered { .. } | Event::StepStarted { .. })
}
