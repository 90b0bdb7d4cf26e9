//! An attempt came to nothing and the run stays where it is; or the step is made ready for another.

use alloc::string::String;

use definition::Step;
use serde_json::{Map, Value};

use super::{Draft, lease};
use crate::{
    AttemptStatus, Effort, Event, FailCause, GateReason, Progress, Refusal, Report, Standing, Stop,
};

pub(super) fn fail(
    draft: &mut Draft<'_>,
    named: &str,
    reason: &str,
    details: &Map<String, Value>,
) -> Result<(), Stop> {
    withdraw(draft, named);
    draft.check_running()?;
    let step = draft.current_named(named)?;
    lease::check(draft, step, None, None)?;
    check_begun(draft, step)?;
    let details = Value::Object(details.clone());
    let report = Report { details, ..Report::failure(&step.name, reason) };
    draft.check_report(&report)?;
    draft.push(Event::StepFailed {
        step: step.name.clone(),
        part: None,
        reason: String::from(reason),
        report: Some(report),
        cause: Some(FailCause::Report),
    });
    Ok(())
}

/// Takes back what was asked before the work on this very step was reported.
fn withdraw(draft: &mut Draft<'_>, named: &str) {
    let Standing::Waiting(open) = &draft.state.standing else { return };
    let found = draft.workflow.find_step_loosely(named);
    if open.why == GateReason::Early && found.is_some_and(|it| it.name == open.step) {
        let step = open.step.clone();
        draft.push(Event::GateWithdrawn { step });
    }
}

/// Refuses what is said of a step that nobody took up.
pub(super) fn check_begun(draft: &Draft<'_>, step: &Step) -> Result<(), Refusal> {
    let effort = draft.state.effort(&step.name, None);
    let is_begun =
        |it: &Effort| it.progress == Progress::Active || it.trouble == AttemptStatus::Retried;
    if effort.is_some_and(is_begun) {
        return Ok(());
    }
    Err(Refusal::StepNotBegun { step: step.name.clone() })
}

pub(super) fn retry(
    draft: &mut Draft<'_>,
    named: &str,
    details: &Map<String, Value>,
) -> Result<(), Stop> {
    draft.check_live()?;
    let Some(step) = draft.workflow.find_step_loosely(named) else {
        return Err(draft.step_unknown(named).into());
    };
    let effort = draft.state.effort(&step.name, None);
    if effort.is_none_or(|it| it.trouble != AttemptStatus::Failed) {
        let progress = effort.map_or(Progress::Idle, |it| it.progress);
        return Err(Refusal::StepNotFailed { step: step.name.clone(), progress }.into());
    }
    let details = details.clone();
    draft.push(Event::StepRetried { step: step.name.clone(), details });
    Ok(())
}
