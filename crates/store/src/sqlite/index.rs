//! Fills the search index behind the log.
//!
//! The position up to which it is filled moves in the same transaction as the words, so any
//! process may do the next piece: nothing is indexed twice, and nothing is left out.

use engine::{Event, index_text};
use rusqlite::{Connection, params};
use tracing::warn;

use super::{
    row::{self, int, number},
    settings::SqliteSettings,
    write::Failure,
    writer::{begin, unsynced},
};

/// How many events are indexed in one transaction. Writes wait for it.
const BATCH_MAX: u32 = 64;

/// How far the index is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Progress {
    /// Events up to this position are found.
    pub(super) indexed: u64,
    /// Whether these are all.
    pub(super) is_done: bool,
}

/// Returns how far the index is.
pub(super) fn progress(connection: &Connection) -> Result<Progress, rusqlite::Error> {
    let mut statement = connection.prepare_cached("SELECT pos FROM search_position")?;
    let indexed = statement.query_row([], |row| row.get(0)).map(number)?;
    Ok(Progress { indexed, is_done: row::newest(connection)? <= indexed })
}

/// Indexes the next few events.
pub(super) fn index(
    connection: &Connection,
    settings: &SqliteSettings,
) -> Result<Progress, Failure> {
    let before = progress(connection)?;
    if before.is_done {
        return Ok(before);
    }
    // What a power cut loses of the index is filled again from the log, so this need not sync.
    unsynced(connection, settings, || {
        begin(connection)?;
        index_locked(connection)
    })?;
    Ok(progress(connection)?)
}

fn index_locked(connection: &Connection) -> Result<(), Failure> {
    let mut position = progress(connection)?.indexed;
    let mut events = connection.prepare_cached(
        "SELECT pos, run, v, body, seq FROM events WHERE ?1 < pos ORDER BY pos LIMIT ?2",
    )?;
    let mut insert =
        connection.prepare_cached("INSERT INTO search (rowid, text, run) VALUES (?1, ?2, ?3)")?;
    let mut rows = events.query(params![int(position), BATCH_MAX])?;
    while let Some(row) = rows.next()? {
        position = number(row.get(0)?);
        if number(row.get(4)?) == 0 {
            // It is what stays of a run that was deleted.
            continue;
        }
        let text: String = row.get(3)?;
        match Event::decode(row.get(2)?, &text) {
            Ok(event) => {
                if let Some(text) = index_text(&event) {
                    insert.execute(params![int(position), text, word(row::run(row, 1)?)])?;
                }
            }
            // It is in the log, and anyone who reads the log is told. The index goes on.
            Err(error) => warn!("event {position} was not indexed: {error}"),
        }
    }
    drop(rows);
    connection
        .prepare_cached("UPDATE search_position SET pos = ?1")?
        .execute(params![int(position)])?;
    connection.prepare_cached("COMMIT")?.execute([])?;
    Ok(())
}

/// Returns the id of a run as one word.
pub(super) fn word(run: engine::RunId) -> String {
    format!("{:032x}", u128::from_be_bytes(*run.as_bytes()))
}
