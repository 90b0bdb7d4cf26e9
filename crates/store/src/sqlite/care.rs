//! Looking after the file: copies, checks, sizes.

use rusqlite::Connection;

use super::row::number;
use crate::StoreError;

/// The most problems that a check tells of each kind.
const PROBLEMS_MAX: u32 = 100;

/// Returns the version of the `SQLite` library that is built in.
pub fn sqlite_version() -> &'static str {
    rusqlite::version()
}

/// How much a store holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Figures {
    /// Of the database without its write-ahead log.
    pub bytes: u64,
    pub runs: u64,
    pub events: u64,
}

/// Returns how much there is, without counting it: rows are never deleted, so the last number is
/// how many there are.
pub(super) fn figures(connection: &Connection) -> Result<Figures, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT (SELECT page_count FROM pragma_page_count) * (SELECT page_size FROM pragma_page_size),
         (SELECT ifnull(max(id), 0) FROM runs), (SELECT ifnull(max(pos), 0) FROM events)",
    )?;
    let figures = statement.query_row([], |row| {
        Ok(Figures {
            bytes: number(row.get(0)?),
            runs: number(row.get(1)?),
            events: number(row.get(2)?),
        })
    });
    Ok(figures?)
}

/// Returns what is wrong, in words.
pub(super) fn check(connection: &Connection) -> Result<Vec<String>, StoreError> {
    let mut problems = texts(connection, &format!("PRAGMA integrity_check({PROBLEMS_MAX})"))?;
    problems.retain(|text| text != "ok");
    for sql in CHECKS {
        problems.extend(texts(connection, &format!("{sql} LIMIT {PROBLEMS_MAX}"))?);
    }
    Ok(problems)
}

const CHECKS: &[&str] = &[
    "SELECT format('the log of run %s has %d events, numbered from %d to %d', lower(hex(run)),
     count(*), min(seq), max(seq)) FROM events GROUP BY run
     HAVING min(seq) <> 1 OR max(seq) <> count(*)",
    "SELECT format('run %s has length %d, and its log has %d events', lower(hex(run)), length,
     (SELECT ifnull(max(seq), 0) FROM events WHERE events.run = runs.run)) FROM runs
     WHERE length <> (SELECT ifnull(max(seq), 0) FROM events WHERE events.run = runs.run)",
    "SELECT format('there are events of run %s, and no such run', lower(hex(run)))
     FROM (SELECT DISTINCT run FROM events) WHERE run NOT IN (SELECT run FROM runs)",
    "SELECT format('events are indexed up to %d, and there are only %d', pos,
     (SELECT ifnull(max(pos), 0) FROM events)) FROM search_position
     WHERE (SELECT ifnull(max(pos), 0) FROM events) < pos",
];

fn texts(connection: &Connection, sql: &str) -> Result<Vec<String>, StoreError> {
    let mut statement = connection.prepare(sql)?;
    let texts = statement.query_map([], |row| row.get(0))?;
    Ok(texts.collect::<Result<_, _>>()?)
}
