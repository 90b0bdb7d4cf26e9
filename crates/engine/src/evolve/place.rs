//! A run where a file says that it is.

use alloc::string::String;

use super::{effort::step_of, run::end};
use crate::{
    AttemptStatus, ClaimedStatus, Event, FileClaim, Journal, Judged, Passage, PendingRules,
    Progress, Recorded, RunState, Standing, Timestamp,
};

/// Whether an event may come with a file that a run is begun from.
pub(super) fn is_of_placing(event: &Event) -> bool {
    matches!(
        event,
        Event::VarsChanged { .. }
            | Event::GateOpened(_)
            | Event::RunPlaced(_)
            | Event::FileReplaced { .. }
            | Event::BranchSeen { .. }
    )
}

/// Puts the run where a file says that it is.
pub(super) fn place(state: &mut RunState, recorded: &Recorded, placement: &FileClaim) {
    let is_first = state.current.is_none();
    state.unasked = if is_first { PendingRules::Placed } else { PendingRules::Nothing };
    let updated_at = placement.updated_at.map_or(recorded.at, |it| it.min(recorded.at));
    state.updated_at = updated_at;
    // A file that does not say when the work began leaves that as it is known, and nobody knows it
    // of work that was begun elsewhere.
    let known = state.current.as_ref().map_or(Timestamp::default(), |_| state.started_at);
    state.started_at = placement.started_at.map_or(known, |it| it.min(recorded.at));
    state.steps.retain(|step, _| placement.steps.contains_key(step));
    for (step, stage) in &placement.steps {
        let known = step_of(state, step);
        known.visits = known.visits.max(1);
        known.passage = match (known.passage, stage.progress.is_settled()) {
            // What a file says to be done was not reported.
            (_, true) if !known.effort.progress.is_settled() => Passage::Claimed,
            (Passage::Owed, true) => Passage::Claimed,
            (_, false) if known.effort.progress.is_settled() => Passage::Owed,
            (passage, _) => passage,
        };
        if known.passage == Passage::Claimed {
            known.passed_by = recorded.seq;
        }
        known.entered_at = known.entered_at.or(stage.started_at);
        known.effort.progress = stage.progress;
        known.effort.attempts = stage.attempts;
        known.effort.started_at = stage.started_at;
        known.effort.ended_at = stage.ended_at;
        // A file tells times of other clocks. None of them is measured with.
        known.effort.since.get_or_insert(recorded.steady);
        known.effort.revisions = stage.revisions;
        known.effort.failure.clone_from(&stage.failure);
        let is_failed = stage.failure.is_some() && stage.progress == Progress::Ready;
        known.effort.trouble = match (is_failed, stage.is_retried) {
            (_, true) => AttemptStatus::Retried,
            (true, false) => AttemptStatus::Failed,
            (false, false) => AttemptStatus::None,
        };
    }
    place_parts(state, placement);
    state.vars.extend(placement.vars.clone());
    if let Some(items) = &placement.items {
        state.items = items.clone().into();
    }
    if let Some(journal) = &placement.journal {
        state.journal = Journal::of(journal);
    }
    state.current.clone_from(&placement.current);
    state.stated.clone_from(&placement.stated);
    state.claims_asked = false;
    state.is_work_done = placement.is_work_done;
    let reason = placement.reason.clone();
    match placement.stood {
        ClaimedStatus::Running => state.standing = Standing::Running,
        ClaimedStatus::Waiting if state.standing.open_gate().is_some() => {}
        ClaimedStatus::Waiting => {
            state.standing = Standing::Running;
            state.claims_asked = true;
        }
        ClaimedStatus::Completed => {
            state.ended_elsewhere = is_first.then_some(recorded.seq);
            end(state, recorded, |_| Standing::Completed);
        }
        ClaimedStatus::Failed => end(state, recorded, |gate| Standing::Failed { reason, gate }),
        ClaimedStatus::Cancelled => {
            end(state, recorded, |gate| Standing::Cancelled { reason, gate });
        }
    }
    state.ended_at = state.ended_at.map(|_| updated_at);
}

/// The parts are as a file says, if it says anything of them.
fn place_parts(state: &mut RunState, placement: &FileClaim) {
    let seq = state.length;
    state.parts.extend(placement.parts.clone());
    // A set that is said to be empty is yet to be planned.
    state.parts.retain(|_, parts| !parts.is_empty());
    for (step, stage) in &placement.steps {
        if stage.parts.is_empty() && placement.parts.is_empty() {
            continue;
        }
        let known = step_of(state, step);
        known.parts.retain(|part, _| stage.parts.contains_key(part));
        for (part, stage) in &stage.parts {
            let effort = known.parts.entry(part.clone()).or_default();
            effort.progress = stage.progress;
            effort.revisions = stage.revisions;
            let is_rejected = stage.progress == Progress::Rejected;
            let judged = || Judged { verdict: String::new(), is_passed: false, by: seq };
            effort.judged = is_rejected.then(judged);
        }
    }
}
