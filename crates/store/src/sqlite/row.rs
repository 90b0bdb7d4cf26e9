//! Values as they lie in the tables.

use engine::{Event, Recorded, RunId, Summary, Timestamp};
use rusqlite::{Connection, types::ValueRef};

use crate::{Row, StoreError, Sum, chain::Stored};

/// The columns of an event, in the order in which [`recorded`] reads them.
macro_rules! event_columns {
    () => {
        "seq, v, at, actor, body, kind, sum, steady"
    };
}

/// The columns of a run, in the order in which [`listed`] reads them.
macro_rules! run_columns {
    () => {
        "project, run, length, workflow, key, root, status, is_live, step, title, steps_done, \
         steps_total, errors, started_at, updated_at, ended_at, due_at, holds_key, steps_begun"
    };
}

pub(super) use {event_columns, run_columns};

/// A number as it is stored. Lengths and generations never come near the limit.
pub(super) fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A number as it was stored.
pub(super) fn number(int: i64) -> u64 {
    u64::try_from(int).unwrap_or_default()
}

/// Reads the id of a run.
pub(super) fn run(row: &rusqlite::Row<'_>, index: usize) -> Result<RunId, rusqlite::Error> {
    row.get(index).map(RunId::from_bytes)
}

/// Reads a checksum. `None` if there is none, or what is there cannot be one.
pub(super) fn sum(row: &rusqlite::Row<'_>, index: usize) -> Result<Option<Sum>, rusqlite::Error> {
    Ok(match row.get_ref(index)? {
        ValueRef::Blob(bytes) => Sum::from_bytes(bytes),
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Text(_) => None,
    })
}

/// Reads an event from `event_columns`, as it is stored.
pub(super) fn stored<'a>(row: &'a rusqlite::Row<'_>) -> Result<Stored<'a>, rusqlite::Error> {
    // Whatever lies there is hashed: a value of another kind is damage, and the hash says so.
    let text = |index| row.get_ref(index)?.as_bytes().map_err(rusqlite::Error::from);
    Ok(Stored {
        seq: row.get(0)?,
        version: row.get(1)?,
        kind: text(5)?,
        at: row.get(2)?,
        actor: text(3)?,
        body: text(4)?,
        steady: row.get(7)?,
    })
}

/// Reads an event from `event_columns`.
pub(super) fn recorded(row: &rusqlite::Row<'_>) -> Result<Recorded, StoreError> {
    let text = |index| row.get_ref(index)?.as_str().map_err(rusqlite::Error::from);
    let by = serde_json::from_str(text(3)?)
        .map_err(|error| StoreError::Damaged(format!("an event's actor: {error}")))?;
    let at: i64 = row.get(2)?;
    let steady: Option<i64> = row.get(7)?;
    Ok(Recorded {
        seq: number(row.get(0)?),
        at: Timestamp(at),
        steady: Timestamp(steady.unwrap_or(at)),
        by,
        event: Event::decode(row.get(1)?, text(4)?)?,
    })
}

/// Reads a run from the columns of `run_columns`.
pub(super) fn listed(row: &rusqlite::Row<'_>) -> Result<Row, rusqlite::Error> {
    Ok(Row {
        project: row.get(0)?,
        run: run(row, 1)?,
        length: number(row.get(2)?),
        summary: Summary {
            workflow: row.get(3)?,
            key: row.get(4)?,
            root: row.get(5)?,
            status: row.get(6)?,
            is_live: row.get(7)?,
            holds_key: row.get(17)?,
            step: row.get(8)?,
            title: row.get(9)?,
            steps_begun: row.get(18)?,
            steps_done: row.get(10)?,
            steps_total: row.get(11)?,
            errors: row.get(12)?,
            started_at: Timestamp(row.get(13)?),
            updated_at: Timestamp(row.get(14)?),
            ended_at: row.get::<_, Option<i64>>(15)?.map(Timestamp),
            due_at: row.get::<_, Option<i64>>(16)?.map(Timestamp),
        },
    })
}

/// Returns the position of the newest event; 0 if there is none.
pub(super) fn newest(connection: &Connection) -> Result<u64, rusqlite::Error> {
    let mut statement = connection.prepare_cached("SELECT ifnull(max(pos), 0) FROM events")?;
    statement.query_row([], |row| row.get(0)).map(number)
}
