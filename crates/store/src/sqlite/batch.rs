//! What is written together: everything that waits, up to a limit.
//!
//! There is no wait for more to come. While one batch goes to disk, the next gathers by itself;
//! to wait for callers that were just answered was measured, and brought nothing.

use std::sync::mpsc::Receiver;

use tokio::sync::oneshot;

use super::write::{Write, Written};
use crate::StoreError;

/// The most that is written in one transaction.
const WRITES_MAX: usize = 256;
/// Nothing more is taken into a transaction that already has this many bytes.
const BYTES_MAX: usize = 1024 * 1024;

/// What the writing thread can be asked.
pub(super) enum Op {
    Write(Write, Reply<Written>),
    /// To index some events. Answered with the position up to which they are.
    Index(Reply<u64>),
}

/// Where an answer goes.
pub(super) type Reply<T> = oneshot::Sender<Result<T, StoreError>>;

/// Some of what waited.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) writes: Vec<Write>,
    /// One for each write.
    pub(super) replies: Vec<Reply<Written>>,
    pub(super) indexes: Vec<Reply<u64>>,
}

impl Batch {
    /// Takes `first` and what else waits.
    pub(super) fn gather(first: Op, queue: &Receiver<Op>) -> Self {
        let mut batch = Self::default();
        let mut bytes = 0;
        let mut taken = Some(first);
        while let Some(op) = taken {
            match op {
                Op::Write(write, reply) => {
                    bytes += write.bytes();
                    batch.writes.push(write);
                    batch.replies.push(reply);
                }
                Op::Index(reply) => batch.indexes.push(reply),
            }
            let is_full = WRITES_MAX <= batch.writes.len() || BYTES_MAX <= bytes;
            taken = if is_full { None } else { queue.try_recv().ok() };
        }
        batch
    }
}
