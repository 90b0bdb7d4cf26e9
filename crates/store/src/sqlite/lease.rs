//! Rows of leases: who holds what of a run, until when.

use engine::{Lease, RunId, Timestamp};
use rusqlite::{Connection, params};
use serde_json::Value;

use super::{
    row::{int, number},
    write::Failure,
};
use crate::{Append, Heartbeat, LeaseChange, StoreError};

/// Reads the leases of a run, by generation.
pub(super) fn leases(connection: &Connection, run: RunId) -> Result<Vec<Lease>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT step, part, holder, generation, until FROM leases WHERE run = ?1
         ORDER BY generation",
    )?;
    let mut rows = statement.query(params![run.as_bytes()])?;
    let mut leases = Vec::new();
    while let Some(row) = rows.next()? {
        leases.push(lease(row)?);
    }
    Ok(leases)
}

fn lease(row: &rusqlite::Row<'_>) -> Result<Lease, StoreError> {
    let damaged = |error| StoreError::Damaged(format!("a lease: {error}"));
    let part: Option<String> = row.get(1)?;
    Ok(Lease {
        step: serde_json::from_value(Value::String(row.get(0)?)).map_err(damaged)?,
        part: part
            .map(|part| serde_json::from_value(Value::String(part)))
            .transpose()
            .map_err(damaged)?,
        holder: row.get(2)?,
        generation: number(row.get(3)?),
        until: Timestamp(row.get(4)?),
    })
}

/// The generations that are over, and the leases that are new.
#[derive(Default)]
pub(super) struct Changes {
    over: Vec<u64>,
    new: Vec<Lease>,
}

/// Works out what an append changes, or refuses it because a lease was moved meanwhile.
pub(super) fn find_changes(connection: &Connection, append: &Append) -> Result<Changes, Failure> {
    if append.leases.is_empty() {
        return Ok(Changes::default());
    }
    let held = leases(connection, append.run).map_err(Failure::Broken)?;
    let Some(leases) = change_leases(&held, &append.leases) else {
        return Err(Failure::Refused(append.conflict(append.expected)));
    };
    let over = held.iter().filter(|lease| !leases.contains(lease));
    Ok(Changes {
        over: over.map(|lease| lease.generation).collect(),
        new: leases.iter().filter(|lease| !held.contains(lease)).cloned().collect(),
    })
}

/// Returns the leases of a run after `changes`; `None` if one of them was decided on something
/// that is no longer so.
fn change_leases(held: &[Lease], changes: &[LeaseChange]) -> Option<Vec<Lease>> {
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

/// Writes what was worked out.
pub(super) fn write_changes(
    connection: &Connection,
    run: RunId,
    changes: &Changes,
) -> Result<(), rusqlite::Error> {
    for generation in &changes.over {
        let mut statement =
            connection.prepare_cached("DELETE FROM leases WHERE run = ?1 AND generation = ?2")?;
        statement.execute(params![run.as_bytes(), int(*generation)])?;
    }
    for lease in &changes.new {
        let mut statement = connection.prepare_cached(
            "INSERT INTO leases (run, generation, step, part, holder, until)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?;
        statement.execute(params![
            run.as_bytes(),
            int(lease.generation),
            lease.step.as_str(),
            lease.part.as_ref().map(|part| part.as_str()),
            lease.holder,
            lease.until.0
        ])?;
    }
    Ok(())
}

/// Moves the end of a lease that has not ended. Returns whether there was one.
pub(super) fn extend(connection: &Connection, beat: &Heartbeat) -> Result<bool, rusqlite::Error> {
    let mut statement = connection.prepare_cached(
        "UPDATE leases SET until = max(until, ?4) WHERE run = ?1 AND generation = ?2 AND ?3 < until",
    )?;
    let generation = int(beat.generation);
    statement
        .execute(params![beat.run.as_bytes(), generation, beat.now.0, beat.until.0])
        .map(|count| count == 1)
}
