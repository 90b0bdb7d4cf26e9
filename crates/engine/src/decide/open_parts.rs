//! Which parts of a fanned-out step are known, open and ready, as the state says.

use alloc::{string::ToString as _, vec::Vec};

use definition::{Order, PartId, PartSource, PartSpec, Step, Whole, Workflow};

use crate::{Progress, Refusal, RunState};

/// Whether the parts of a step are known.
pub(crate) fn is_planned(state: &RunState, step: &Step) -> bool {
    step.each.as_ref().is_none_or(|each| {
        matches!(each.from, PartSource::Shared) || state.parts.contains_key(&each.parts)
    })
}

/// Returns the parts of `step` that may be worked on now, or the one that a person is asked about.
pub(crate) fn ready(workflow: &Workflow, state: &RunState, step: &Step) -> Vec<PartSpec> {
    let parts = state.parts_of(step);
    let is_known = |id: &&PartId| parts.iter().any(|it| it.id == **id);
    let is_settled = |id: &PartId| state.part_progress(&step.name, id).is_settled();
    // A dependency that does not exist holds nothing up.
    let is_free = |it: &PartSpec| it.after.iter().filter(is_known).all(is_settled);
    let open = open(state, step).into_iter();
    match step.each.as_ref().map(|it| it.order).unwrap_or_default() {
        Order::Parallel => {
            // A person's parts come last, so that nothing waits for their answers.
            let (personal, others): (Vec<_>, Vec<_>) =
                open.partition(|it| is_personal(workflow, state, step, it));
            if others.is_empty() { personal.into_iter().take(1).collect() } else { others }
        }
        Order::Sequence => open.take(1).collect(),
        Order::Declared => {
            let free: Vec<PartSpec> = open.filter(is_free).collect();
            let leading = free.iter().take_while(|it| it.mode == "parallel").count();
            free.into_iter().take(leading.max(1)).collect()
        }
    }
}

/// Returns the part that a report or claim is about; `None` where the step is not fanned out.
pub(crate) fn find_reported(
    workflow: &Workflow,
    state: &RunState,
    step: &Step,
    named: Option<&PartId>,
) -> Result<Option<PartSpec>, Refusal> {
    let parts = state.parts_of(step);
    let ready = ready(workflow, state, step);
    let ids = |parts: &[PartSpec]| parts.iter().map(|it| it.id.clone()).collect();
    let Some(named) = named else {
        return match (&step.each, ready.as_slice()) {
            (None, _) => Ok(None),
            (Some(each), _) if each.whole != Whole::Refused => Ok(None),
            // With more to come, a report that is late or sent twice would be taken for another.
            (Some(_), [only]) if count_unsettled(state, step) == 1 => Ok(Some(only.clone())),
            (Some(_), _) => {
                Err(Refusal::PartNotNamed { step: step.name.clone(), open: ids(&ready) })
            }
        };
    };
    let Some(part) = parts.iter().find(|it| it.id == *named) else {
        let (part, known) = (named.to_string(), ids(parts));
        return Err(Refusal::PartUnknown { step: step.name.clone(), part, known });
    };
    if !ready.iter().any(|it| it.id == part.id) {
        let (part, ready) = (part.id.clone(), ids(&ready));
        return Err(Refusal::PartNotReady { step: step.name.clone(), part, ready });
    }
    Ok(Some(part.clone()))
}

/// Returns the parts of `step` that are neither done nor on their way back.
pub(crate) fn open(state: &RunState, step: &Step) -> Vec<PartSpec> {
    let progress = |it: &PartSpec| state.part_progress(&step.name, &it.id);
    let is_open = |it: &&PartSpec| !progress(it).is_settled() && progress(it) != Progress::Rejected;
    state.parts_of(step).iter().filter(is_open).cloned().collect()
}

/// Returns how many parts of `step` are not settled.
pub(crate) fn count_unsettled(state: &RunState, step: &Step) -> usize {
    let parts = state.parts_of(step).iter();
    parts.filter(|it| !state.part_progress(&step.name, &it.id).is_settled()).count()
}

/// Whether a part is for a person to do at a step: the first of those that share it and do not leave
/// it out. The others do something else with it.
pub(crate) fn is_personal(
    workflow: &Workflow,
    state: &RunState,
    step: &Step,
    part: &PartSpec,
) -> bool {
    let Some(each) = step.each.as_ref().filter(|_| part.mode == PartSpec::HUMAN_GATE) else {
        return false;
    };
    let is_answered = |it: &Step| {
        let effort = state.effort(&it.name, Some(&part.id));
        effort.is_some_and(|it| it.answered.is_some())
    };
    let is_left_out = |it: &Step| {
        let skipped = Progress::Skipped;
        state.part_progress(&it.name, &part.id) == skipped || state.progress(&it.name) == skipped
    };
    let shares = |it: &&Step| it.each.as_ref().is_some_and(|it| it.parts == each.parts);
    let first =
        workflow.work_steps().filter(shares).find(|it| it.name == step.name || !is_left_out(it));
    first.is_some_and(|it| it.name == step.name)
        && !workflow.work_steps().filter(shares).any(|it| it.name != step.name && is_answered(it))
}
