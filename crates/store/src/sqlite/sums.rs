//! Computes the checksums of events that were stored without.

use std::collections::BTreeMap;

use rusqlite::{Connection, params};

use super::row::{self, event_columns};
use crate::{StoreError, Sum};

/// How many events are read before they are written.
const PIECE: u32 = 4096;

/// Fills the checksums of all events and runs, in the order in which the events were written: so
/// each page is read and written once.
pub(super) fn fill(connection: &Connection) -> Result<(), StoreError> {
    let mut heads = origins(connection)?;
    let mut position = 0;
    loop {
        let piece = next(connection, position, &mut heads)?;
        let Some((last, _)) = piece.last() else { break };
        position = *last;
        let mut update = connection.prepare_cached("UPDATE events SET sum = ?2 WHERE pos = ?1")?;
        for (position, sum) in &piece {
            update.execute(params![position, sum.as_bytes()])?;
        }
    }
    let mut update = connection.prepare("UPDATE runs SET head = ?2 WHERE run = ?1")?;
    for (run, head) in &heads {
        update.execute(params![run, head.as_bytes()])?;
    }
    Ok(())
}

/// The checksum of each run before its first event.
fn origins(connection: &Connection) -> Result<BTreeMap<[u8; 16], Sum>, StoreError> {
    let mut statement = connection.prepare("SELECT run, project FROM runs")?;
    let origins = statement.query_map([], |row| {
        let (run, project): (_, String) = (row::run(row, 0)?, row.get(1)?);
        Ok((*run.as_bytes(), Sum::origin(run, &project)))
    })?;
    Ok(origins.collect::<Result<_, _>>()?)
}

/// Reads the next events, moves the checksums of their runs on, and returns that of each.
fn next(
    connection: &Connection,
    after: i64,
    heads: &mut BTreeMap<[u8; 16], Sum>,
) -> Result<Vec<(i64, Sum)>, StoreError> {
    let mut statement = connection.prepare_cached(concat!(
        "SELECT ",
        event_columns!(),
        ", pos, run FROM events WHERE ?1 < pos ORDER BY pos LIMIT ?2"
    ))?;
    let mut rows = statement.query(params![after, PIECE])?;
    let mut piece = Vec::new();
    while let Some(row) = rows.next()? {
        let (position, run): (_, [u8; 16]) = (row.get(8)?, row.get(9)?);
        // An event of no run is for the doctor to find.
        let origin = Sum::origin(engine::RunId::from_bytes(run), "");
        let head = heads.get(&run).copied().unwrap_or(origin);
        let sum = head.after(&row::stored(row)?.content());
        if let Some(head) = heads.get_mut(&run) {
            *head = sum;
        }
        piece.push((position, sum));
    }
    Ok(piece)
}
