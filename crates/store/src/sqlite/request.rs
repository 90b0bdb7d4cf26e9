//! Rows of requests: which ids were seen, and what they led to.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::{
    row::{self, int, number},
    settings::SqliteSettings,
    write::Failure,
};
use crate::{Answer, Answered, Append, Request, StoreError};

/// How long the id of a request is remembered at least, by the steady times of the events.
const KEPT: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Refuses an append whose request was answered before.
pub(super) fn check(connection: &Connection, append: &Append) -> Result<(), Failure> {
    let Some(key) = &append.request else {
        return Ok(());
    };
    match find(connection, &append.project, &key.id)? {
        None => Ok(()),
        Some(request) => {
            Err(Failure::Refused(StoreError::RequestSeen { id: key.id.clone(), request }))
        }
    }
}

/// Returns what a request led to.
pub(super) fn find(
    connection: &Connection,
    project: &str,
    id: &str,
) -> Result<Option<Request>, rusqlite::Error> {
    let mut statement = connection.prepare_cached(
        "SELECT fingerprint, run, first, last FROM requests
         WHERE hash = ?1 AND project = ?2 AND request = ?3",
    )?;
    let request = statement.query_row(params![hash(project, id), project, id], |row| {
        Ok(Request {
            fingerprint: row.get(0)?,
            run: row::run(row, 1)?,
            first: number(row.get(2)?),
            last: number(row.get(3)?),
        })
    });
    request.optional()
}

/// Remembers the request of an append.
pub(super) fn insert(connection: &Connection, append: &Append) -> Result<(), rusqlite::Error> {
    let (Some(key), Some(last)) = (&append.request, append.events.last()) else {
        return Ok(());
    };
    let mut statement = connection.prepare_cached(
        "INSERT INTO requests (hash, project, request, fingerprint, run, first, last, at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?;
    let values = params![
        hash(&append.project, &key.id),
        append.project,
        key.id,
        key.fingerprint,
        append.run.as_bytes(),
        int(append.expected + 1),
        int(last.seq),
        last.steady.0
    ];
    statement.execute(values).map(drop)
}

/// Returns what a call was answered.
pub(super) fn find_answer(
    connection: &Connection,
    project: &str,
    id: &str,
) -> Result<Option<Answer>, rusqlite::Error> {
    let mut statement = connection.prepare_cached(
        "SELECT fingerprint, answer FROM answers
         WHERE hash = ?1 AND project = ?2 AND request = ?3",
    )?;
    let answer = statement.query_row(params![hash(project, id), project, id], |row| {
        Ok(Answer { fingerprint: row.get(0)?, text: row.get(1)? })
    });
    answer.optional()
}

/// Keeps what a call was answered, unless that is kept. Returns whether it did.
pub(super) fn answer(
    connection: &Connection,
    answered: &Answered,
) -> Result<bool, rusqlite::Error> {
    let Answered { project, key, text, at } = answered;
    if find_answer(connection, project, &key.id)?.is_some() {
        return Ok(false);
    }
    let mut statement = connection.prepare_cached(
        "INSERT INTO answers (hash, project, request, fingerprint, answer, at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    let hash = hash(project, &key.id);
    statement.execute(params![hash, project, key.id, key.fingerprint, text, at.0])?;
    Ok(true)
}

/// Forgets some requests and answers that are too old at `now`, oldest first. `count` is how many were
/// remembered meanwhile: twice as many are forgotten, so that the table shrinks to its size.
pub(super) fn forget(
    connection: &Connection,
    settings: &SqliteSettings,
    now: i64,
    count: usize,
) -> Result<(), rusqlite::Error> {
    let kept = i64::try_from(KEPT.as_micros()).unwrap_or(i64::MAX);
    let (kept_from, kept_min) = (now.saturating_sub(kept), int(settings.requests_kept_min));
    let values = params![kept_from, 2 * int(count as u64) + 2, kept_min];
    let mut requests = connection.prepare_cached(
        "DELETE FROM requests WHERE at < ?1
         AND id IN (SELECT id FROM requests ORDER BY id LIMIT ?2)
         AND id <= (SELECT max(id) FROM requests) - ?3",
    )?;
    requests.execute(values)?;
    let mut answers = connection.prepare_cached(
        "DELETE FROM answers WHERE at < ?1
         AND id IN (SELECT id FROM answers ORDER BY id LIMIT ?2)
         AND id <= (SELECT max(id) FROM answers) - ?3",
    )?;
    answers.execute(values).map(drop)
}

/// FNV-1a, 64 bits. Stored, so it can never change; two texts may share one.
fn hash(project: &str, id: &str) -> i64 {
    // No text has the byte 0xff, so the two cannot run together.
    let bytes = project.bytes().chain([0xff]).chain(id.bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    hash.cast_signed()
}

#[cfg(test)]
mod tests {
    use super::hash;

    #[test]
    fn a_hash_stays_what_it_is() {
        assert_eq!(hash("", ""), 0xaf64_724c_8602_eb6e_u64.cast_signed());
        assert_eq!(hash("project", "7f3a"), 0xb162_e092_2ef0_daa2_u64.cast_signed());
        assert_ne!(hash("a", "bc"), hash("ab", "c"));
    }
}
