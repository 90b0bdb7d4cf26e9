//! Whether the server has something to do for a run before it goes on, and on which branch.

use super::{Draft, condition_failed};
use crate::{Chore, Event, Refusal, Standpoint, Stop, find_chore, find_unseen_branch};

/// Refuses what is said of a step while the server has something to do there first.
pub(super) fn check_none_due(draft: &Draft<'_>) -> Result<(), Refusal> {
    match find_due(draft)? {
        Some(due) => Err(due.why_due()),
        None => Ok(()),
    }
}

pub(super) fn find_due(draft: &Draft<'_>) -> Result<Option<Chore>, Refusal> {
    let step = draft.current()?;
    find_chore(draft.workflow, &draft.state).map_err(|error| condition_failed(step, &error))
}

/// Notes where the branch of a run stands, if nobody has looked so far.
pub(super) fn note_branch(draft: &mut Draft<'_>) -> Result<(), Stop> {
    // What cannot be told is found out when a chore needs it.
    let unseen = find_unseen_branch(draft.workflow, &draft.state).ok().flatten();
    let Some(unseen) = unseen else { return Ok(()) };
    if let Some(Standpoint { name, commit, is_elsewhere }) = draft.known.branch(unseen)? {
        let is_late = draft.state.steps.values().any(|it| it.effort.progress.is_settled());
        let (name, base, is_taken) = (name.clone(), commit.clone(), *is_elsewhere || is_late);
        draft.push(Event::BranchSeen { name, base, is_taken });
    }
    Ok(())
}
