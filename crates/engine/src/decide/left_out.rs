//! Which steps the definition leaves out of a run: those that its flow has not, and those whose own
//! condition holds.

use alloc::{format, string::String};

use definition::{EvaluationError, Step, Workflow};

use super::{Draft, EvalContext, condition_failed, scope};
use crate::{Event, Refusal, RunState, SkipCause, SkipReason};

/// Why the definition leaves a step out.
#[derive(Debug, Clone)]
pub(crate) struct LeftOut {
    /// In words.
    reason: String,
    cause: SkipCause,
}

impl LeftOut {
    /// Returns that `step` was left out for this cause.
    pub(super) fn event(self, step: &Step, why: SkipReason) -> Event {
        let (reason, cause) = (self.reason, Some(self.cause));
        Event::StepSkipped { step: step.name.clone(), part: None, reason, why, cause }
    }
}

/// Returns why a step is left out, if it is.
pub(crate) fn left_out(
    workflow: &Workflow,
    state: &RunState,
    step: &Step,
) -> Result<Option<LeftOut>, EvaluationError> {
    let flow = state.flow();
    let skips = flow.and_then(|flow| workflow.flows.get(flow)).map(|it| &it.skips);
    if skips.is_some_and(|skips| skips.contains(&step.name)) {
        let reason = format!("flow `{}` leaves it out", flow.unwrap_or_default());
        return Ok(Some(LeftOut { reason, cause: SkipCause::Flow }));
    }
    let Some(condition) = &step.skip_when else { return Ok(None) };
    let is_skipped = condition.evaluate(&scope(workflow, state, EvalContext::default()))?;
    let reason = || format!("`{}` holds", condition.source());
    Ok(is_skipped.then(|| LeftOut { reason: reason(), cause: SkipCause::Condition }))
}

pub(super) fn find_skip(draft: &Draft<'_>, step: &Step) -> Result<Option<LeftOut>, Refusal> {
    let found = left_out(draft.workflow, &draft.state, step);
    found.map_err(|error| condition_failed(step, &error))
}
