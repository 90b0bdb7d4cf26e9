//! Who may work on a step: a live lease keeps everyone else out, and an old number is fenced off.

use core::time::Duration;

use definition::{PartId, Step};

use super::Draft;
use crate::{Bounds, Holder, Known, Lease, Refusal, Timestamp};

/// How long a lease lasts where neither the caller nor the step says it.
const LEASE: Duration = Duration::from_secs(15 * 60);

/// Refuses a caller while someone else holds the step or part, or after it was taken over.
///
/// A caller that names no holder takes no lease, and meets only a live one of someone else.
pub(super) fn check(
    draft: &Draft<'_>,
    step: &Step,
    part: Option<&PartId>,
    caller: Option<&Holder>,
) -> Result<(), Refusal> {
    let lease = draft.state.lease(&step.name, part);
    if let Some(given) = caller.and_then(|it| it.generation) {
        // The newest lease that was given, even if it ended with an attempt of its own.
        let is_newest = match lease {
            Some(lease) => lease.generation == given,
            None => given == draft.state.generation,
        };
        return if is_newest {
            Ok(())
        } else {
            Err(Refusal::LeaseStale { step: step.name.clone(), given })
        };
    }
    let Some(lease) = lease else { return Ok(()) };
    let is_own = caller.is_some_and(|it| it.name == lease.holder);
    if !is_own && is_live(draft.known, lease) {
        return Err(held(step, lease, draft.known));
    }
    Ok(())
}

pub(super) fn held(step: &Step, lease: &Lease, known: &Known) -> Refusal {
    Refusal::StepHeld {
        step: step.name.clone(),
        holder: lease.holder.clone(),
        until: known.find_lease_end(lease).translate(known.steady, known.now),
    }
}

pub(super) fn is_live(known: &Known, lease: &Lease) -> bool {
    known.steady < known.find_lease_end(lease)
}

/// Returns until when a lease on `step` lasts that is given or extended `now`.
pub fn lease_until(
    step: Option<&Step>,
    asked: Option<Duration>,
    now: Timestamp,
    bounds: &Bounds,
) -> Timestamp {
    let longest = Duration::from_secs(bounds.lease_s_max);
    let duration = asked.or_else(|| step?.lease).unwrap_or(LEASE).min(longest);
    now.after(duration)
}
