//! What goes wrong in the world, and must not cost an event: full disks, damaged files, other
//! processes, and the end of this one at any moment.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

#[path = "faults/crash.rs"]
mod crash;
#[path = "faults/file.rs"]
mod file;
#[path = "faults/flips.rs"]
mod flips;
#[path = "faults/full.rs"]
mod full;
#[path = "faults/removed.rs"]
mod removed;
#[path = "faults/shared.rs"]
mod shared;
#[path = "conformance/support.rs"]
mod support;
#[path = "faults/wal.rs"]
mod wal;

use store::{Store, StoreError};

use crate::support::{append, run};

/// Appends to the log of run 1, however often someone else was faster. Returns how often that was.
async fn insist(store: &dyn Store, text: &str) -> u32 {
    let mut length = store.load(run(1), 0).await.unwrap().map_or(0, |log| log.length);
    for tries in 0.. {
        match store.append(append(run(1), length, &[text])).await {
            Ok(()) => return tries,
            Err(StoreError::Conflict { actual, .. }) => length = actual,
            Err(other) => panic!("{other:?}"),
        }
    }
    unreachable!("the loop has no other end")
}
