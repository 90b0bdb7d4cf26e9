//! What every backend checks in the same way before it writes.

use engine::Lease;

use crate::{Append, LeaseChange, Length, StoreError};

/// Refuses an append whose events are not numbered from its expected length on.
pub(crate) fn check_numbers(append: &Append) -> Result<(), StoreError> {
    let numbers = append.events.iter().map(|recorded| recorded.seq);
    if append.events.is_empty() || !numbers.eq(append.expected + 1..=append.last()) {
        let run = append.run;
        return Err(StoreError::Database(format!(
            "the events for run `{run}` are not numbered from {}",
            append.expected + 1
        )));
    }
    Ok(())
}

/// Returns the leases of a run after `changes`; `None` if one of them was decided on something
/// that is no longer so.
pub(crate) fn change_leases(held: &[Lease], changes: &[LeaseChange]) -> Option<Vec<Lease>> {
    let mut leases = held.to_vec();
    for change in changes {
        match change {
            LeaseChange::Take { lease, replaces } => {
                let before =
                    leases.iter().find(|it| it.step == lease.step && it.part == lease.part);
                if before.map(|it| it.until) != *replaces {
                    return None;
                }
                leases.retain(|it| it.step != lease.step || it.part != lease.part);
                if leases.iter().any(|it| it.generation == lease.generation) {
                    return None;
                }
                leases.push(lease.clone());
            }
            LeaseChange::Drop { generation } => leases.retain(|it| it.generation != *generation),
        }
    }
    leases.sort_by_key(|it| it.generation);
    Some(leases)
}

impl Append {
    /// Returns the length of the log after this append.
    pub(crate) fn last(&self) -> Length {
        self.expected + self.events.len() as u64
    }

    pub(crate) fn conflict(&self, actual: Length) -> StoreError {
        StoreError::Conflict { run: self.run, expected: self.expected, actual }
    }
}
