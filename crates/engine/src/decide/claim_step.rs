//! An agent asks to hold a step, or lets it go.

use definition::{PartSpec, Step};

use super::{Draft, NAME_BYTES_MAX, check_size, lease, open_parts, route, start_step};
use crate::{ClaimStep, Event, Known, Lease, Refusal, StartStep, Stop, guard};

pub(super) fn decide(draft: &mut Draft<'_>, claim: &ClaimStep) -> Result<(), Stop> {
    draft.check_running()?;
    if claim.holder.trim().is_empty() {
        return Err(Refusal::Empty { what: "the holder's name".into() }.into());
    }
    check_size("the holder's name", claim.holder.len(), NAME_BYTES_MAX)?;
    let step = match &claim.step {
        Some(named) => draft.current_named(named)?,
        None => draft.current()?,
    };
    if draft.state.awaits_choice() {
        return Err(route::choice_open(draft, step).into());
    }
    let part = find_part(draft, step, claim)?;
    let part_id = part.as_ref().map(|it| &it.id);
    if let Some(held) = draft.state.lease(&step.name, part_id) {
        let is_own = held.holder == claim.holder;
        if !is_own && lease::is_live(draft.known, held) {
            return Err(lease::held(step, held, draft.known).into());
        }
    }
    guard::check_needs(draft, step, part.as_ref())?;
    let Known { now, bounds, .. } = draft.known;
    let lease = Lease {
        step: step.name.clone(),
        part: part.as_ref().map(|it| it.id.clone()),
        holder: claim.holder.clone(),
        generation: draft.state.generation + 1,
        until: lease::lease_until(Some(step), claim.duration, *now, bounds),
    };
    draft.push(Event::LeaseTaken(lease));
    start_step::begin(draft, step, part.as_ref(), &StartStep::default())
}

/// Returns the part that is meant: the one that is named, else the first that nobody else holds.
fn find_part(
    draft: &Draft<'_>,
    step: &Step,
    claim: &ClaimStep,
) -> Result<Option<PartSpec>, Refusal> {
    if claim.part.is_some() || step.each.is_none() {
        return open_parts::find_reported(draft.workflow, &draft.state, step, claim.part.as_ref());
    }
    let ready = open_parts::ready(draft.workflow, &draft.state, step);
    let is_free = |it: &&PartSpec| {
        draft
            .state
            .lease(&step.name, Some(&it.id))
            .is_none_or(|lease| lease.holder == claim.holder || !lease::is_live(draft.known, lease))
    };
    match ready.iter().find(is_free) {
        Some(part) => Ok(Some(part.clone())),
        // Every one is held: say by whom, for the first.
        None => match ready.first().and_then(|it| draft.state.lease(&step.name, Some(&it.id))) {
            Some(lease) => Err(lease::held(step, lease, draft.known)),
            None => open_parts::find_reported(draft.workflow, &draft.state, step, None),
        },
    }
}

pub(super) fn release(draft: &mut Draft<'_>, generation: u64) -> Result<(), Stop> {
    let Lease { step, part, .. } = find_held(draft, generation)?;
    draft.push(Event::LeaseReleased { step, part, generation });
    Ok(())
}

/// Returns the lease with this number.
pub(super) fn find_held(draft: &Draft<'_>, generation: u64) -> Result<Lease, Stop> {
    draft.check_begun()?;
    let found = draft.state.leases.values().find(|it| it.generation == generation);
    found.cloned().ok_or_else(|| Refusal::LeaseUnknown(generation).into())
}
