//! Follows all runs: which of them changed, no matter who changed them.

use std::sync::Arc;

use engine::RunId;
use store::Store;
use tokio::sync::watch;

use crate::{ExecuteError, Runtime, fault};

/// How many events are looked at in one go.
const EVENTS_MAX: u32 = 500;

/// Everything that is appended from some moment on.
pub struct Changes {
    store: Arc<dyn Store>,
    woken: watch::Receiver<u64>,
    /// Up to where it was told.
    position: u64,
}

/// A run that changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    pub run: RunId,
    /// Whether it was not there before.
    pub is_new: bool,
}

impl Runtime {
    /// Follows what is appended from now on, to runs of any project.
    pub fn changes(&self) -> Changes {
        let mut woken = self.store.changed();
        let position = *woken.borrow_and_update();
        Changes { store: Arc::clone(&self.store), woken, position }
    }
}

impl Changes {
    /// Returns up to where it was told.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Tells of everything after `position` once more, if it is past it.
    pub fn rewind(&mut self, position: u64) {
        self.position = self.position.min(position);
    }

    /// Waits until something was appended, and returns the runs it was appended to, each once.
    /// `None`: nothing can come any more. May be dropped while it waits: nothing is missed then.
    pub async fn next(&mut self) -> Result<Option<Vec<Change>>, ExecuteError> {
        loop {
            let tail = self.store.tail(self.position, EVENTS_MAX).await.map_err(fault)?;
            if let Some(last) = tail.last() {
                self.position = last.position;
                let mut changes: Vec<Change> = Vec::new();
                for event in &tail {
                    let is_new = event.seq == 1;
                    match changes.iter_mut().find(|it| it.run == event.run) {
                        Some(known) => known.is_new |= is_new,
                        None => changes.push(Change { run: event.run, is_new }),
                    }
                }
                return Ok(Some(changes));
            }
            if self.woken.changed().await.is_err() {
                return Ok(None);
            }
        }
    }
}
