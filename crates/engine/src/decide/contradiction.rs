//! A file that someone wrote may contradict itself: it says that the run is completed while steps
//! are open, or that a step is done which comes after one that is not. What it already said before
//! it was written into is not held against it.

use alloc::{
    format,
    string::{String, ToString as _},
};

use definition::{Form, Step, StepName};

use super::{Draft, left_out};
use crate::{ClaimedStatus, FileClaim, Progress, Refusal};

/// Returns what contradicts itself in a file, and what to correct in it.
pub(super) fn find(draft: &Draft<'_>, placement: &FileClaim) -> Result<Option<String>, Refusal> {
    // The nodes of a graph have no order, and not all of them need to be visited. A file that says
    // nothing of steps, or that is believed where it says that the run is, counts as it is.
    let is_graph = draft.workflow.form == Form::Graph;
    if is_graph || placement.steps.is_empty() || !draft.state.standing.is_live() {
        return Ok(None);
    }
    let said = |step: &StepName| placement.steps.get(step).map(|it| it.progress);
    let Some((open, done)) = find_gap(draft, said)? else { return Ok(None) };
    if placement.stood == ClaimedStatus::Completed {
        return Ok(Some(format!(
            "it says that the run is completed, and step `{open}` is not done: correct one of them"
        )));
    }
    let known = |step: &StepName| draft.state.step(step).map(|it| it.effort.progress);
    let is_new = find_gap(draft, known)?.is_none_or(|(_, before)| before.is_none());
    Ok(done.filter(|_| is_new && placement.at.is_none()).map(|done| {
        format!(
            "it says that step `{done}` is done, and step `{open}` before it is not: correct one \
             of them"
        )
    }))
}

/// Returns the first step that is not done, and one after it that is, if there is one.
fn find_gap(
    draft: &Draft<'_>,
    progress: impl Fn(&StepName) -> Option<Progress>,
) -> Result<Option<(String, Option<String>)>, Refusal> {
    let is_settled = |step: &Step| progress(&step.name).is_some_and(Progress::is_settled);
    let mut open: Option<String> = None;
    for step in draft.workflow.work_steps() {
        match (&open, is_settled(step)) {
            (None, false) if left_out::find_skip(draft, step)?.is_none() => {
                open = Some(step.name.to_string());
            }
            (Some(open), true) => {
                return Ok(Some((open.clone(), Some(step.name.to_string()))));
            }
            (None | Some(_), _) => {}
        }
    }
    Ok(open.map(|it| (it, None)))
}
