//! Deletes a run: everything goes but one row.
//!
//! The row that stays is the last event of all runs at that moment, so positions never go back and
//! those who watch are woken. It says nothing of the run but its id and when it was deleted. Its
//! `seq` is 0, which no event of a log has.

use engine::{EVENT_VERSION, RunId};
use rusqlite::{Connection, params};

use super::{
    row::number,
    write::{Failure, Known, find_run},
};
use crate::{Deletion, StoreError};

/// Deletes a run, and returns the position of the row that stays.
pub(super) fn delete(connection: &Connection, deletion: &Deletion) -> Result<u64, Failure> {
    let Deletion { run, expected, .. } = *deletion;
    check_kept(connection, run)?;
    let known = find_run(connection, run)?;
    let actual = known.as_ref().map_or(0, |it| it.length);
    let Some(known) = known.filter(|_| actual == expected) else {
        return Err(Failure::Refused(StoreError::Conflict { run, expected, actual }));
    };
    forget_answers(connection, run)?;
    for sql in [
        "DELETE FROM search WHERE rowid IN (SELECT pos FROM events WHERE run = ?1)",
        "DELETE FROM requests WHERE run = ?1",
        "DELETE FROM leases WHERE run = ?1",
        "DELETE FROM files WHERE run = ?1",
    ] {
        connection.prepare_cached(sql)?.execute([run.as_bytes()])?;
    }
    // First the row that stays: a position that is free is given again.
    let position = leave_row(connection, deletion)?;
    for sql in ["DELETE FROM events WHERE run = ?1 AND 0 < seq", "DELETE FROM runs WHERE run = ?1"]
    {
        connection.prepare_cached(sql)?.execute([run.as_bytes()])?;
    }
    unshadow_newest(connection, &known)?;
    Ok(position)
}

/// Refuses a run that was deleted: its id is never given again.
pub(super) fn check_kept(connection: &Connection, run: RunId) -> Result<(), Failure> {
    let mut statement =
        connection.prepare_cached("SELECT 1 FROM events WHERE run = ?1 AND seq = 0")?;
    match statement.exists([run.as_bytes()])? {
        true => Err(Failure::Refused(StoreError::Deleted { run })),
        false => Ok(()),
    }
}

/// Forgets what calls were answered that changed the run, or whose answer names it.
fn forget_answers(connection: &Connection, run: RunId) -> Result<(), rusqlite::Error> {
    let mut statement = connection.prepare_cached(
        "DELETE FROM answers WHERE instr(request, ?2) OR instr(answer, ?2) OR instr(answer, ?3)
         OR EXISTS (SELECT 1 FROM requests WHERE requests.run = ?1
         AND requests.project = answers.project AND requests.request = answers.request)",
    )?;
    statement.execute(params![run.as_bytes(), run.to_string(), run.short()]).map(drop)
}

fn leave_row(connection: &Connection, deletion: &Deletion) -> Result<u64, rusqlite::Error> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO events (run, seq, v, kind, at, actor, body, steady)
         VALUES (?1, 0, ?2, 'RunDeleted', ?3, '', '', ?4)",
    )?;
    let Deletion { run, at, steady, .. } = deletion;
    statement.execute(params![run.as_bytes(), EVENT_VERSION, at.0, steady.0])?;
    Ok(number(connection.last_insert_rowid()))
}

/// Says of the run that was begun last with the key of one that is gone that it is the newest.
fn unshadow_newest(connection: &Connection, gone: &Known) -> Result<(), rusqlite::Error> {
    let Some(key) = &gone.key else { return Ok(()) };
    let mut statement = connection.prepare_cached(
        "UPDATE runs SET is_shadowed = 0 WHERE id = (SELECT max(id) FROM runs WHERE key = ?1
         AND project = ?2 AND workflow = ?3 AND root = ?4)",
    )?;
    statement.execute(params![key, gone.project, gone.workflow, gone.root]).map(drop)
}
