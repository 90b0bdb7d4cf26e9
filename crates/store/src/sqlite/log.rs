//! Reads the log of a run, and checks that it is as it was written.

use engine::RunId;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::{
    lease,
    row::{self, event_columns, int, number},
};
use crate::{
    Length, Log, StoreError, Sum,
    chain::{CHANGED, MISSING, TAIL},
};

/// What the row of a run says of its log.
struct Known {
    project: String,
    length: Length,
    head: Option<Sum>,
}

/// Returns a run to which nothing was appended since, and of which nobody holds anything. That is
/// what most readers find, and one statement tells it.
pub(super) fn find_unchanged(
    connection: &Connection,
    run: RunId,
    after: Length,
) -> Result<Option<Log>, StoreError> {
    if after == 0 {
        return Ok(None);
    }
    let mut statement = connection.prepare_cached(
        "SELECT project, head FROM runs WHERE run = ?1 AND length = ?2
         AND NOT EXISTS (SELECT 1 FROM leases WHERE leases.run = ?1)",
    )?;
    let mut rows = statement.query(params![run.as_bytes(), int(after)])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    // A run whose row is damaged is looked at as a whole.
    let Some(head) = row::sum(row, 1)? else { return Ok(None) };
    let (events, leases) = (Vec::new(), Vec::new());
    Ok(Some(Log { project: row.get(0)?, length: after, head, events, leases }))
}

/// Returns the events of a run after `after`, each of them checked.
pub(super) fn load(
    connection: &Connection,
    run: RunId,
    after: Length,
) -> Result<Option<Log>, StoreError> {
    let Some(known) = find(connection, run)? else { return Ok(None) };
    let mut events = Vec::new();
    // Who has seen more than there is, is given nothing, and learns it from the length.
    let after = after.min(known.length);
    let head = follow(connection, run, &known, after, |row| {
        events.push(row::recorded(row)?);
        Ok(())
    })?;
    let leases = lease::leases(connection, run)?;
    Ok(Some(Log { project: known.project, length: known.length, head, events, leases }))
}

/// Checks a whole log without understanding it, and returns its length. `None` if there is no such
/// run.
pub(super) fn check(connection: &Connection, run: RunId) -> Result<Option<Length>, StoreError> {
    let Some(known) = find(connection, run)? else { return Ok(None) };
    follow(connection, run, &known, 0, |_| Ok(()))?;
    Ok(Some(known.length))
}

fn find(connection: &Connection, run: RunId) -> Result<Option<Known>, rusqlite::Error> {
    let mut statement =
        connection.prepare_cached("SELECT project, length, head FROM runs WHERE run = ?1")?;
    let known = statement.query_row(params![run.as_bytes()], |row| {
        let (project, length) = (row.get(0)?, number(row.get(1)?));
        Ok(Known { project, length, head: row::sum(row, 2)? })
    });
    known.optional()
}

/// Follows the checksums of the events after `after`, gives each event that fits to `each`, and
/// returns the last checksum.
fn follow(
    connection: &Connection,
    run: RunId,
    known: &Known,
    after: Length,
    mut each: impl FnMut(&Row<'_>) -> Result<(), StoreError>,
) -> Result<Sum, StoreError> {
    let damaged = |seq, what| StoreError::DamagedRun { run, seq, what };
    let mut statement = connection.prepare_cached(concat!(
        "SELECT ",
        event_columns!(),
        " FROM events WHERE run = ?1 AND ?2 <= seq ORDER BY seq"
    ))?;
    let mut rows = statement.query(params![run.as_bytes(), int(after)])?;
    let mut seq = after;
    let mut head = match (after, rows.next()?) {
        (0, None) => return Err(damaged(1, MISSING)),
        (0, Some(row)) => {
            seq = 1;
            step(run, row, seq, Sum::origin(run, &known.project), &mut each)?
        }
        // It was checked when it was read before.
        (_, Some(row)) if number(row.get(0)?) == after => {
            row::sum(row, 6)?.ok_or_else(|| damaged(after, CHANGED))?
        }
        (_, Some(_) | None) => return Err(damaged(after, MISSING)),
    };
    while let Some(row) = rows.next()? {
        seq += 1;
        head = step(run, row, seq, head, &mut each)?;
    }
    if seq < known.length {
        return Err(damaged(seq + 1, MISSING));
    }
    if seq != known.length || known.head != Some(head) {
        return Err(damaged(known.length.max(1), TAIL));
    }
    Ok(head)
}

/// Checks one event, which must be number `seq`.
fn step(
    run: RunId,
    row: &Row<'_>,
    seq: Length,
    before: Sum,
    each: &mut impl FnMut(&Row<'_>) -> Result<(), StoreError>,
) -> Result<Sum, StoreError> {
    let damaged = |what| StoreError::DamagedRun { run, seq, what };
    // A value that cannot even be read is damage to this event, not to the database.
    let stored = row::stored(row).map_err(|_| damaged(CHANGED))?;
    if stored.seq != int(seq) {
        return Err(damaged(MISSING));
    }
    let head = before.after(&stored.content());
    if row::sum(row, 6)? != Some(head) {
        return Err(damaged(CHANGED));
    }
    each(row)?;
    Ok(head)
}
