//! A run as a whole: begun, copied, ended and reopened.

use alloc::{boxed::Box, string::String};

use definition::{FINISH, StepName};

use super::{
    effort::{effort_of, fail, forgive, interrupt},
    trail::{lead, tell},
};
use crate::{OpenGate, Recorded, Report, RunId, RunStarted, RunState, Standing, Surface};

/// The run begins.
pub(super) fn start(state: &mut RunState, recorded: &Recorded, started: &RunStarted) {
    state.started_at = recorded.at;
    state.context = started.context.clone().into();
    state.vars = started.vars.clone().into();
    state.origin = Some(started.clone().into());
    state.standing = Standing::Running;
}

/// An agent came back, and was told where the run is.
pub(super) fn resume(state: &mut RunState, assumed: &str, report: &Report, reasoning: &str) {
    state.reasoning = Some(String::from(reasoning));
    tell(state, assumed, report);
}

/// The run is a copy of another, as that was after an event.
pub(super) fn fork(state: &mut RunState, from: RunId, seq: u64) {
    state.forked_from = Some((from, seq));
    // No agent has ever held a step of the copy.
    state.leases.clear();
    // What is on the branch by now was there before the copy.
    state.branch = None;
    state.first_branch = None;
}

/// The run is over, and well.
pub(super) fn complete(state: &mut RunState, recorded: &Recorded) {
    let is_imported = recorded.by.surface == Surface::Import;
    state.ended_elsewhere = is_imported.then_some(recorded.seq);
    lead(state, FINISH);
    end(state, recorded, |_| Standing::Completed);
}

/// The run failed, at a step if that was said.
pub(super) fn fail_run(
    state: &mut RunState,
    recorded: &Recorded,
    reason: &str,
    step: Option<&StepName>,
) {
    // A second word on why it failed does not move the place where it did.
    let is_first = !matches!(state.standing, Standing::Failed { .. });
    if let Some(step) = step.filter(|_| is_first) {
        fail(effort_of(state, step, None), reason, recorded);
        state.stated = Some(step.clone());
    }
    let reason = String::from(reason);
    end(state, recorded, |gate| Standing::Failed { reason, gate });
}

/// A person or a caller cancelled the run.
pub(super) fn cancel(state: &mut RunState, recorded: &Recorded, reason: &str) {
    let reason = String::from(reason);
    interrupt(state);
    end(state, recorded, |gate| Standing::Cancelled { reason, gate });
}

/// A run that is over continues.
pub(super) fn reopen(state: &mut RunState, recorded: &Recorded) {
    state.gave_up_key = false;
    state.standing = Standing::Running;
    state.ended_at = None;
    interrupt(state);
    forgive(state);
    state.stated = None;
    if let Some(step) = state.current.clone() {
        let effort = effort_of(state, &step, None);
        effort.attempts = 0;
        effort.since = Some(recorded.steady);
    }
}

/// Ends the run. A question that was open is kept for the case that it continues.
pub(super) fn end(
    state: &mut RunState,
    recorded: &Recorded,
    standing: impl FnOnce(Option<Box<OpenGate>>) -> Standing,
) {
    let gate = match core::mem::take(&mut state.standing) {
        Standing::Waiting(gate) => Some(gate),
        Standing::Failed { gate, .. } | Standing::Cancelled { gate, .. } => gate,
        Standing::New | Standing::Running | Standing::Completed => None,
    };
    state.standing = standing(gate);
    state.ended_at = Some(recorded.at);
    state.leases.clear();
}
