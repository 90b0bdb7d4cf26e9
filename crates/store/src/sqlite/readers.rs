//! A few connections that read, side by side with the writer and with each other.

use std::{
    path::PathBuf,
    sync::atomic::{AtomicUsize, Ordering},
};

use parking_lot::MutexGuard;
use rusqlite::Connection;

use super::{
    connection::{Slot, open_reader},
    settings::SqliteSettings,
};
use crate::StoreError;

/// How many connections read.
const READERS_MAX: usize = 2;

/// The connections. They are opened when they are first needed.
#[derive(Debug)]
pub(super) struct Readers {
    slots: Vec<Slot>,
    /// Where to queue when all are in use.
    turn: AtomicUsize,
    path: Option<PathBuf>,
    settings: SqliteSettings,
}

/// How long a read takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Span {
    /// Microseconds.
    Point,
    /// Longer. Keeps off the first connection, so that the others find one free.
    Scan,
}

impl Readers {
    /// Reads the file at `path`.
    pub(super) fn of_file(path: PathBuf, settings: SqliteSettings) -> Self {
        let slots = (0..READERS_MAX).map(|_| Slot::default()).collect();
        Self { slots, turn: AtomicUsize::new(0), path: Some(path), settings }
    }

    /// Reads by the connection that also writes.
    pub(super) fn of_connection(slot: Slot, settings: SqliteSettings) -> Self {
        Self { slots: vec![slot], turn: AtomicUsize::new(0), path: None, settings }
    }

    /// Reads something by a connection that is free.
    pub(super) fn read<T>(
        &self,
        span: Span,
        read: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut slot = self.free(span);
        if let Some(path) = self.path.as_ref().filter(|_| slot.is_none()) {
            *slot = Some(open_reader(path, &self.settings)?);
        }
        let connection = slot.as_ref().ok_or_else(closed)?;
        let outcome = read(connection);
        let is_lost = matches!(outcome, Err(StoreError::Damaged(_) | StoreError::Database(_)));
        if is_lost && self.path.is_some() {
            // Perhaps it is only this connection.
            *slot = None;
        }
        outcome
    }

    /// Closes all of them.
    pub(super) fn close(&self) {
        for slot in &self.slots {
            *slot.lock() = None;
        }
    }

    fn free(&self, span: Span) -> MutexGuard<'_, Option<Connection>> {
        let first = usize::from(span == Span::Scan && 1 < self.slots.len());
        let slots = self.slots.get(first..).unwrap_or_default();
        let free = match span {
            Span::Point => slots.iter().find_map(|slot| slot.try_lock()),
            Span::Scan => slots.iter().rev().find_map(|slot| slot.try_lock()),
        };
        free.unwrap_or_else(|| {
            let turn = self.turn.fetch_add(1, Ordering::Relaxed);
            let mut slots = slots.iter().cycle().skip(turn % slots.len());
            slots.next().expect("there is at least one slot").lock()
        })
    }
}

/// Reads several things as they are at one moment.
pub(super) fn at_one_moment<T>(
    connection: &Connection,
    read: impl FnOnce(&Connection) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    connection.prepare_cached("BEGIN")?.execute([])?;
    let outcome = read(connection);
    // Nothing was written, so it does not matter which way it ends.
    connection.prepare_cached("ROLLBACK")?.execute([])?;
    outcome
}

fn closed() -> StoreError {
    StoreError::Database("the store is closed".to_owned())
}
