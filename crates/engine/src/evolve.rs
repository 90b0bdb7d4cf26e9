//! Folds one event into the state. Cannot fail: what happened, happened.

mod effort;
mod gate;
mod place;
mod run;
mod trail;
mod work;

use definition::Digest;

use crate::{
    Artifact, AttemptStatus, Event, Journal, Lease, Passage, PendingRules, Recorded, RunId,
    RunState, Seen, Standing, history,
};
use effort::effort_of;
use place::{is_of_placing, place};
use trail::{hand, tell};

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
            state.reasoning = Some(reasoning.clone());
            tell(state, assumed, report);
        }
        Event::StepEntered { step, decision } => {
            work::enter(state, recorded, step, decision.as_ref());
        }
        Event::StepStarted { step, part, attempt, seen, .. } => {
            work::start(state, recorded, (step, part.as_ref()), (*attempt, seen));
        }
        Event::StepReported { step, part, report } => {
            effort_of(state, step, part.as_ref()).report = Some(report.clone());
            tell(state, step.as_str(), report);
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
        Event::StepRetried { step, .. } => {
            let effort = effort_of(state, step, None);
            effort.await_attempt(recorded.steady);
            effort.trouble = AttemptStatus::Retried;
        }
        Event::VerdictGiven { step, part, of, verdict, ruling, findings } => {
            let judged = (verdict.as_str(), *ruling, findings.as_slice());
            work::judge(state, recorded, (step, part.as_ref()), of, judged);
        }
        Event::PartsPlanned { set, parts, .. } if parts.is_empty() => {
            state.parts.remove(set);
        }
        Event::PartsPlanned { set, parts, .. } => {
            state.parts.insert(set.clone(), parts.clone());
        }
        Event::PartPlaced(placed) => work::place_part(state, recorded, placed),
        Event::FileLeft { path, text: None, .. } => {
            state.artifacts.remove_mut(path);
        }
        Event::FileLeft { path, text: Some(text), .. } => {
            if let Some(step) = state.current.clone() {
                let (sha256, size) = (Digest::of(text.as_bytes()), text.len() as u64);
                let artifact = Artifact { path: path.clone(), sha256, size };
                state.artifacts.insert_mut(path.clone(), Seen { artifact, step });
            }
        }
        Event::FileReplaced { .. } => {}
        Event::GateOpened(asked) => gate::open(state, asked),
        Event::GateWaived { step } => gate::pass(state, step, Passage::Claimed),
        Event::GateAnswered { .. } => gate::answer(state, recorded),
        Event::GateWithdrawn { .. } => state.standing = Standing::Running,
        Event::ContextChanged { set, removed } => {
            for key in removed {
                state.context.remove(key);
            }
            state.context.extend(set.clone());
        }
        Event::VarsChanged { set } => state.vars.extend(set.clone()),
        Event::ModelAsked(asked) => {
            state.reasoning.clone_from(&asked.reasoning);
            state.deferral = asked.failure.as_ref().map(|it| it.message.clone());
            state.advised = asked.next.clone().map(|it| (recorded.at, it));
        }
        Event::EntryRecorded { step, entry } => work::record(state, recorded, step, entry),
        Event::LeaseTaken(lease) => {
            state.generation = lease.generation;
            // A lease lasts as long as it says, whatever the wall clock did when it was taken.
            let until = lease.until.translate(recorded.at, recorded.steady);
            let held = Lease { until, ..lease.clone() };
            state.leases.insert((lease.step.clone(), lease.part.clone()), held);
        }
        Event::LeaseReleased { step, part, .. } => {
            state.leases.remove(&(step.clone(), part.clone()));
        }
        Event::DriftAccepted { artifacts, gone } => {
            for path in gone {
                state.artifacts.remove_mut(path);
            }
            for artifact in artifacts {
                if let Some(seen) = state.artifacts.get_mut(&artifact.path) {
                    seen.artifact = artifact.clone();
                }
            }
        }
        Event::RunPlaced(placement) => place(state, recorded, placement),
        Event::ItemAdded { item } => state.items.push(item.clone()),
        Event::ItemClosed { id } => {
            let open = state.items.iter_mut().find(|it| it.id == *id && !it.is_done);
            open.into_iter().for_each(|it| it.is_done = true);
        }
        Event::JournalRotated(_) => state.journal = Journal::default(),
        Event::MoveMade { .. } | Event::RuleFired { .. } => {}
        Event::LineInserted { .. } => {}
        Event::ChoreDone { name, deed, pushed, .. } => {
            state.chores.remove(name);
            state.follow_chore(deed, pushed.as_ref());
        }
        Event::BranchSeen { name, base, is_taken } => {
            state.take_branch(name, base.as_deref(), *is_taken);
        }
        Event::ChoreFailed { name, is_passed: true, .. } => {
            state.chores.remove(name);
        }
        Event::ChoreFailed { name, reason, is_passed: false, .. } => {
            state.chores.insert(name.clone(), reason.clone());
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
