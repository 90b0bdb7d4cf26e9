//! Checks and sizes of the database file.

use engine::RunId;
use rusqlite::{Connection, params};

use super::{
    log,
    readers::at_one_moment,
    row::{self, int, number},
};
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

/// Returns how much there is, without what stays of runs that were deleted.
pub(super) fn figures(connection: &Connection) -> Result<Figures, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT (SELECT page_count FROM pragma_page_count) * (SELECT page_size FROM pragma_page_size),
         (SELECT count(*) FROM runs), (SELECT count(*) FROM events WHERE 0 < seq)",
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

/// Returns what is wrong with the pages of a file, whatever its schema, in words.
pub(super) fn check_pages(connection: &Connection) -> Result<Vec<String>, StoreError> {
    let mut problems = texts(connection, &format!("PRAGMA integrity_check({PROBLEMS_MAX})"))?;
    problems.retain(|text| text != "ok");
    Ok(problems)
}

/// Returns what is wrong with the file and with what belongs to no run, in words.
pub(super) fn check_file(connection: &Connection) -> Result<Vec<String>, StoreError> {
    let mut problems = check_pages(connection)?;
    let unlisted = unlisted(connection)?.into_iter();
    problems.extend(unlisted.map(|it| format!("there are events of run {it}, and no such run")));
    problems.extend(texts(connection, AHEAD)?);
    Ok(problems)
}

/// Returns the runs that have events and are in no list.
pub(super) fn unlisted(connection: &Connection) -> Result<Vec<RunId>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT DISTINCT run FROM events WHERE 0 < seq AND run NOT IN (SELECT run FROM runs)
         LIMIT ?1",
    )?;
    let runs = statement.query_map([PROBLEMS_MAX], |it| row::run(it, 0))?;
    Ok(runs.collect::<Result<_, _>>()?)
}

const AHEAD: &str = "SELECT format('events are indexed up to %d, and there are only %d', pos,
     (SELECT ifnull(max(pos), 0) FROM events)) FROM search_position
     WHERE (SELECT ifnull(max(pos), 0) FROM events) < pos";

/// Follows the checksums of every run, one after the other, and returns what is wrong, in words.
/// Nothing is held between two runs: neither memory nor a snapshot.
pub(super) fn check_logs(connection: &Connection) -> Result<Vec<String>, StoreError> {
    let mut problems = Vec::new();
    let mut after = 0;
    while let Some((id, run)) = runs(connection, after, 1)?.pop() {
        after = id;
        match at_one_moment(connection, |it| log::check(it, run)) {
            Ok(_) => {}
            Err(error @ StoreError::DamagedRun { .. }) => problems.push(error.to_string()),
            Err(error) => return Err(error),
        }
        if PROBLEMS_MAX as usize <= problems.len() {
            break;
        }
    }
    Ok(problems)
}

/// Returns the runs after the one with this number, in the order in which they were begun.
pub(super) fn runs(
    connection: &Connection,
    after: u64,
    count: u32,
) -> Result<Vec<(u64, RunId)>, StoreError> {
    let mut statement =
        connection.prepare_cached("SELECT id, run FROM runs WHERE ?1 < id ORDER BY id LIMIT ?2")?;
    let runs = statement.query_map(params![int(after), count], |row| {
        Ok((number(row.get(0)?), row::run(row, 1)?))
    })?;
    Ok(runs.collect::<Result<_, _>>()?)
}

fn texts(connection: &Connection, sql: &str) -> Result<Vec<String>, StoreError> {
    let mut statement = connection.prepare(sql)?;
    let texts = statement.query_map([], |row| row.get(0))?;
    Ok(texts.collect::<Result<_, _>>()?)
}
