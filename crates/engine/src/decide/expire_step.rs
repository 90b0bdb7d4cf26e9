//! The time of an attempt is over: it failed, by the clock.

use alloc::format;

use definition::Workflow;

use super::{Draft, flow, mode::Mode, report_step};
use crate::{Event, FailCause, Progress, Refusal, Report, RunState, Standing, Stop, Timestamp};

pub(super) fn decide(draft: &mut Draft<'_>, mode: Mode) -> Result<(), Stop> {
    draft.check_running()?;
    let step = draft.current()?;
    let is_due =
        find_due(draft.workflow, &draft.state).is_some_and(|due| due <= draft.known.steady);
    let Some(timeout) = step.timeout.as_ref().filter(|_| is_due) else {
        return Err(Refusal::NothingDue.into());
    };
    let reason = format!("timed out after {} s", timeout.after.as_secs());
    draft.push(Event::StepFailed {
        step: step.name.clone(),
        part: None,
        reason: reason.clone(),
        report: None,
        cause: Some(FailCause::Timeout),
    });
    let report = Report::failure(&step.name, &reason);
    let then = report_step::after_failure(draft, mode, step, None, &report)?;
    flow::run(draft, mode, then)
}

/// Returns when the current attempt must be over by the steady clock, if that is limited.
pub fn find_due(workflow: &Workflow, state: &RunState) -> Option<Timestamp> {
    if state.standing != Standing::Running {
        return None;
    }
    let step = workflow.find_step(state.current.as_ref()?)?;
    let known = state.step(&step.name)?;
    if !matches!(known.effort.progress, Progress::Ready | Progress::Active) {
        return None;
    }
    let timeout = step.timeout.as_ref()?;
    Some(known.effort.since?.after(timeout.after))
}
