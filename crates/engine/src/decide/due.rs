//! Whether the server has something to do for a run before it goes on.

use alloc::string::String;

use super::{Draft, condition_failed};
use crate::{Chore, Refusal, find_chore};

/// Refuses what is said of a step while the server has something to do there first.
pub(super) fn check_none_due(draft: &Draft<'_>) -> Result<(), Refusal> {
    match find_due(draft)? {
        Some(Chore { name, deed, failure, .. }) => {
            let problem = failure.unwrap_or_else(|| String::from("it was not tried so far"));
            Err(Refusal::ChoreDue { chore: name, what: deed.describe(), problem })
        }
        None => Ok(()),
    }
}

pub(super) fn find_due(draft: &Draft<'_>) -> Result<Option<Chore>, Refusal> {
    let step = draft.current()?;
    find_chore(draft.workflow, &draft.state).map_err(|error| condition_failed(step, &error))
}
