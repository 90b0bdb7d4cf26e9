//! Keeps the write-ahead log short, however many read meanwhile.
//!
//! The log is reset only in a moment in which nobody reads from it. Under steady load such a
//! moment never comes by itself: some reader is always in the middle of something, and the log would
//! grow without end. So the writer moves it into the file in small pieces; and once it has grown
//! past a mark, the writer stops writing until its readers are done. A reader that begins to
//! read then reads from the file, so the wait is as long as the longest read.

use std::time::Duration;

use rusqlite::Connection;
use tracing::debug;

use super::{connection::wait_for_others, settings::SqliteSettings};
use crate::StoreError;

/// A page in the log, with its header.
const FRAME_BYTES: u64 = 4096 + 24;
/// How long readers are waited for at the first mark, and at the second.
const WAIT: Duration = Duration::from_millis(100);
const WAIT_LONG: Duration = Duration::from_secs(1);

/// How long the log is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Log {
    frames: u64,
    /// How many of them are in the file as well.
    moved: u64,
}

/// What was done about the log.
#[derive(Debug, Default)]
pub(super) struct Tending {
    /// How long the log was at the last try.
    tried: u64,
}

/// The marks, in frames.
#[derive(Debug, Clone, Copy)]
struct Marks {
    /// So much is moved at a time.
    piece: u64,
    /// From here on the log must be reset.
    restart: u64,
    /// From here on that is worth a long wait.
    patience: u64,
}

impl Marks {
    fn of(settings: &SqliteSettings) -> Self {
        let max = (settings.wal_bytes_max / FRAME_BYTES).max(64);
        Self { piece: max / 16, restart: max / 4, patience: max / 2 }
    }
}

/// Returns the size to which a log is cut when it is reset.
pub(super) fn kept_bytes(settings: &SqliteSettings) -> u64 {
    settings.wal_bytes_max / 4
}

impl Tending {
    /// Looks how long the log is, and does what is due. Not within a transaction.
    pub(super) fn tend(
        &mut self,
        connection: &mut Connection,
        settings: &SqliteSettings,
    ) -> Result<(), StoreError> {
        let marks = Marks::of(settings);
        let log = checkpoint(connection, "NOOP")?.1;
        if log.frames < self.tried {
            // It has been reset since.
            self.tried = 0;
        }
        let grown = log.frames - self.tried;
        if log.frames < marks.restart {
            if marks.piece <= grown && log.moved < log.frames {
                self.tried = log.frames;
                checkpoint(connection, "PASSIVE")?;
            }
            return Ok(());
        }
        if self.tried < marks.restart || marks.piece / 4 <= grown {
            let wait = if log.frames < marks.patience { WAIT } else { WAIT_LONG };
            wait_for_others(connection, wait)?;
            let done = checkpoint(connection, "RESTART");
            wait_for_others(connection, settings.busy_wait_max)?;
            let is_busy = done?.0;
            self.tried = if is_busy { log.frames } else { 0 };
            if is_busy {
                debug!("the write-ahead log has {} frames, and someone reads from it", log.frames);
            }
        }
        Ok(())
    }
}

/// Moves what it can, and returns whether someone was in the way.
fn checkpoint(connection: &Connection, mode: &str) -> Result<(bool, Log), rusqlite::Error> {
    let mut statement = connection.prepare_cached(&format!("PRAGMA wal_checkpoint({mode})"))?;
    statement.query_row([], |row| {
        let number = |index| row.get(index).map(|it: i64| u64::try_from(it).unwrap_or(0));
        Ok((row.get(0)?, Log { frames: number(1)?, moved: number(2)? }))
    })
}

/// Moves everything that no reader still needs. For the end, and after a large transaction.
pub(super) fn finish(connection: &Connection) {
    if let Err(error) = checkpoint(connection, "PASSIVE") {
        debug!("the write-ahead log was not emptied: {error}");
    }
}
