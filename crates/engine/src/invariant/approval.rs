//! Which answers at a gate count for the run as it is now.

use definition::{Answers, Digest, Step, StepName, Workflow};

use super::{is_fixed, is_left_out_for_sure, is_personal};
use crate::{
    How, Passage, RunState, SkipReason,
    decide::{EvalContext, scope},
};

/// Whether a run got past the gate of a step in a way that counts.
pub(super) fn counts(
    workflow: &Workflow,
    state: &RunState,
    step: &StepName,
    gates: Option<Answers>,
) -> bool {
    let Some((step, gate)) = workflow.find_step(step).and_then(|it| Some((it, it.gate.as_ref()?)))
    else {
        return true;
    };
    let passage = state.step(&step.name).map(|it| it.passage).unwrap_or_default();
    if is_outdated(workflow, state, step) || is_ahead_of_work(state, step) {
        return false;
    }
    let is_relayed = !is_personal(workflow, gate, gates);
    match passage {
        Passage::Owed => false,
        Passage::Answered(How::Verified) => is_relayed || !is_about_other(workflow, state, step),
        Passage::LeftOut(SkipReason::Person) => true,
        Passage::Answered(How::Relayed)
        | Passage::LeftOut(SkipReason::Caller)
        | Passage::Claimed => is_relayed,
        Passage::Answered(How::Automatic) => is_relayed || is_fixed(gate.unless.as_ref()),
        Passage::LeftOut(SkipReason::Definition) => {
            is_relayed || is_left_out_for_sure(workflow, state, step)
        }
    }
}

/// Whether the run went back before a gate since it was passed. What comes then is not what was
/// answered about.
fn is_outdated(workflow: &Workflow, state: &RunState, gate: &Step) -> bool {
    let passed_by = state.step(&gate.name).map_or(0, |it| it.passed_by);
    let before = workflow.guards().leading_to(&gate.name);
    before.filter_map(|it| state.step(it)).any(|it| passed_by < it.entered_by)
}

/// Whether a person agreed before the work was reported, and it has not been since. The report shows
/// whether it is still what they agreed to.
fn is_ahead_of_work(state: &RunState, gate: &Step) -> bool {
    let known = state.step(&gate.name);
    known.is_some_and(|it| it.agreed.is_some() && !it.effort.progress.is_settled())
}

/// Returns the digest of what the gate of a step is about, where the definition names anything. What
/// cannot be told is like nothing that was approved.
pub(crate) fn about(workflow: &Workflow, state: &RunState, step: &Step) -> Option<Digest> {
    let about = step.gate.as_ref()?.about.as_ref()?;
    let text = about.render(&scope(workflow, state, EvalContext::default()));
    Some(Digest::of(text.unwrap_or_default().as_bytes()))
}

/// Whether a person approved something else than what the run is about now.
fn is_about_other(workflow: &Workflow, state: &RunState, step: &Step) -> bool {
    let approved = state.step(&step.name).and_then(|it| it.approved_about.as_ref());
    // An earlier release did not note it.
    approved.is_some() && about(workflow, state, step).as_ref() != approved
}
