//! The steps that a run is confined to: where it begins, and after which step it is completed.

use alloc::{
    format,
    string::{String, ToString as _},
};

use definition::{Expression, Step, Target};
use serde_json::{Map, Value};

use super::{Draft, EvalContext, condition_failed, scope};
use crate::{AtEnd, Event, Refusal, SkipCause, SkipReason, find_chore};

/// Leaves out what is listed before the step that the run begins with, and returns that step.
pub(super) fn begin<'a>(draft: &mut Draft<'a>) -> Result<&'a Step, Refusal> {
    let workflow = draft.workflow;
    let first = workflow.first_step().ok_or_else(|| draft.step_unknown(""))?;
    // What names no step is refused now, and not when the run comes to its end.
    let last = find(draft, first, workflow.stretch.until.as_ref())?;
    let Some(from) = find(draft, first, workflow.stretch.from.as_ref())? else { return Ok(first) };
    if last.is_some_and(|last| is_after(draft, from, last)) {
        let problem = format!("it comes before `{}`, which the run begins with", from.name);
        return Err(Refusal::ParameterInvalid { field: "until".to_string(), problem });
    }
    for step in workflow.work_steps().take_while(|it| it.name != from.name) {
        let reason = format!("the run begins with `{}`", from.name);
        let (name, why) = (step.name.clone(), SkipReason::Caller);
        let cause = Some(SkipCause::Range);
        draft.push(Event::StepSkipped { step: name, part: None, reason, why, cause });
    }
    Ok(from)
}

/// Returns where the run goes from a step that is settled: to `target`, or to its end, where that
/// lies beyond the step that it ends after. Also returns what happens at the end.
pub(super) fn confine(
    draft: &Draft<'_>,
    step: &Step,
    target: Target,
    at_end: AtEnd,
) -> Result<(Target, AtEnd), Refusal> {
    let Target::Step(name) = &target else { return Ok((target, at_end)) };
    // Work that failed is never the end of what was asked for.
    if !draft.state.progress(&step.name).is_settled() {
        return Ok((target, at_end));
    }
    let last = find(draft, step, draft.workflow.stretch.until.as_ref())?;
    let beyond = last.zip(draft.workflow.find_step(name));
    let is_beyond = beyond.is_some_and(|(last, next)| is_after(draft, next, last));
    if !is_beyond {
        return Ok((target, at_end));
    }
    // What the server owes, such as a commit, it does first: only a run that is open has chores.
    let due = find_chore(draft.workflow, &draft.state);
    let is_due = due.map_err(|error| condition_failed(step, &error))?.is_some();
    Ok((Target::Finish, if is_due { AtEnd::StaysOpen } else { at_end }))
}

/// There is no step left.
pub(super) fn end(draft: &mut Draft<'_>, at_end: AtEnd) {
    draft.push(match at_end {
        AtEnd::Completes => Event::RunCompleted { details: Map::new() },
        AtEnd::StaysOpen => Event::WorkEnded,
    });
}

/// Whether one step is listed after another.
fn is_after(draft: &Draft<'_>, one: &Step, other: &Step) -> bool {
    let place = |step: &Step| draft.workflow.steps.iter().position(|it| it.name == step.name);
    place(other) < place(one)
}

/// Returns the step that an expression names for this run, if it names one.
fn find<'a>(
    draft: &Draft<'a>,
    at: &Step,
    named: Option<&Expression>,
) -> Result<Option<&'a Step>, Refusal> {
    let Some(named) = named else { return Ok(None) };
    let scope = scope(draft.workflow, &draft.state, EvalContext::default());
    let name = match named.evaluate(&scope).map_err(|error| condition_failed(at, &error))? {
        Value::Null => String::new(),
        Value::String(name) => name,
        other @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            other.to_string()
        }
    };
    if name.is_empty() {
        return Ok(None);
    }
    let workflow = draft.workflow;
    let found = workflow.work_steps().find(|it| it.name.as_str() == name);
    found.map(Some).ok_or_else(|| draft.step_unknown(&name))
}
