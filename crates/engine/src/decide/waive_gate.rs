//! Takes a run past gates on an agent's word, where that counts, and records it at each gate.

use alloc::vec::Vec;

use definition::{Step, StepName};

use super::{Draft, EvalContext, gate};
use crate::{Event, Refusal, Standing, Stop, invariant};

/// Lets a caller take the run to `to`, past gates that an agent may answer for the person; says so
/// at each. A gate that wants the person's own answer refuses.
pub(super) fn before(draft: &mut Draft<'_>, to: &Step) -> Result<(), Stop> {
    let current = draft.current()?;
    let is_left = draft.state.awaits_choice() && current.name != to.name;
    if let Some(gate) = current.gate.as_ref().filter(|_| is_left)
        && gate::is_personal(draft, gate)
        && gate::is_changed(draft, current)?
    {
        return Err(gate::needs_person(draft, current).into());
    }
    let owed = invariant::owed_before(draft.workflow, &draft.state, &to.name, draft.known.gates);
    Ok(waive(draft, &owed)?)
}

/// The same for the end of the run.
pub(super) fn before_end(draft: &mut Draft<'_>) -> Result<(), Refusal> {
    let mut ended = draft.state.clone();
    ended.standing = Standing::Completed;
    let owed = invariant::owed(draft.workflow, &ended, draft.known.gates);
    waive(draft, &owed)
}

/// Takes a file's word that the run is past gates, where an agent's word counts.
pub(super) fn claimed(draft: &mut Draft<'_>) -> Result<(), Refusal> {
    let owed = invariant::owed(draft.workflow, &draft.state, draft.known.gates);
    let is_open = |it: &&&StepName| {
        let gate = draft.workflow.find_step(it).and_then(|it| it.gate.as_ref());
        gate.is_some_and(|it| !gate::is_personal(draft, it))
    };
    let owed: Vec<&StepName> = owed.iter().filter(is_open).copied().collect();
    waive(draft, &owed)
}

fn waive(draft: &mut Draft<'_>, owed: &[&StepName]) -> Result<(), Refusal> {
    let held = invariant::owed(draft.workflow, draft.before, draft.known.gates);
    for name in owed.iter().filter(|it| !held.contains(it)) {
        let step = draft.workflow.find_step(name);
        let Some((step, gate)) = step.and_then(|it| Some((it, it.gate.as_ref()?))) else {
            continue;
        };
        if gate::is_personal(draft, gate) {
            return Err(gate::needs_person(draft, step));
        }
        if gate.unless.is_some()
            && draft.holds(gate.unless.as_ref(), step, EvalContext::default())?
        {
            let digest = gate::digest(&draft.state, step, None, "", &[]);
            gate::answer_by_condition(draft, step, gate, digest);
        } else {
            draft.push(Event::GateWaived { step: step.name.clone() });
        }
    }
    Ok(())
}
