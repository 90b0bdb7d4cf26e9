//! Finds events by their words, best first.
//!
//! A word is a run of letters and digits. Two words are the same if their stems are, whatever
//! their case and accents.

mod query;
mod snippet;

use engine::{Event, Timestamp, index_text};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::{
    index::word,
    row::{self, number},
};
use crate::{Hit, Search, StoreError};
use query::Query;
use snippet::Snippets;

/// Returns the events that have all words; if there is none, those that have any.
pub(super) fn search(connection: &Connection, search: &Search) -> Result<Vec<Hit>, StoreError> {
    let query = Query::parse(&search.text);
    if query.terms.is_empty() || search.limit == 0 {
        return Ok(Vec::new());
    }
    let project = foreign_project(connection, search)?;
    let all = expression(&query, " AND ", search);
    let found = if 1 < query.terms.len() && !is_found(connection, &all, project)? {
        expression(&query, " OR ", search)
    } else {
        all
    };
    let snippets = Snippets::of(&query)?;
    let mut hits = Vec::new();
    for (position, score) in best(connection, &found, project, search)? {
        hits.extend(hit(connection, (position, score), &snippets)?.filter(|hit| {
            // The word for a run went through the tokenizer: make sure that it is this run.
            search.run.is_none_or(|run| run == hit.run)
        }));
    }
    Ok(hits)
}

/// Most files hold one project. Only if there are others must each event be asked for its own.
fn foreign_project<'a>(
    connection: &Connection,
    search: &'a Search,
) -> Result<Option<&'a str>, rusqlite::Error> {
    let Some(project) = &search.project else {
        return Ok(None);
    };
    let mut statement = connection.prepare_cached(
        "SELECT (SELECT min(project) FROM runs) = ?1 AND (SELECT max(project) FROM runs) = ?1",
    )?;
    let is_only: Option<bool> = statement.query_row(params![project], |row| row.get(0))?;
    Ok((is_only != Some(true)).then_some(project))
}

fn expression(query: &Query, and_or: &str, search: &Search) -> String {
    let text = query.expression(and_or);
    match search.run {
        None => text,
        Some(run) => format!("({text}) AND run : \"{}\"", word(run)),
    }
}

fn is_found(
    connection: &Connection,
    expression: &str,
    project: Option<&str>,
) -> Result<bool, rusqlite::Error> {
    let mut statement = connection.prepare_cached(
        "SELECT 1 FROM search WHERE search MATCH ?1 AND (?2 IS NULL OR ?2 =
         (SELECT project FROM runs JOIN events USING (run) WHERE events.pos = search.rowid))
         LIMIT 1",
    )?;
    statement.exists(params![expression, project])
}

fn best(
    connection: &Connection,
    expression: &str,
    project: Option<&str>,
    search: &Search,
) -> Result<Vec<(u64, f64)>, rusqlite::Error> {
    // The second column holds no words of the event, so it must not count.
    let mut statement = connection.prepare_cached(
        "SELECT rowid, -bm25(search, 1.0, 0.0) AS score FROM search WHERE search MATCH ?1
         AND (?2 IS NULL OR ?2 =
         (SELECT project FROM runs JOIN events USING (run) WHERE events.pos = search.rowid))
         ORDER BY score DESC, rowid DESC LIMIT ?3 OFFSET ?4",
    )?;
    let rows = statement
        .query_map(params![expression, project, search.limit, search.offset], |row| {
            Ok((number(row.get(0)?), row.get(1)?))
        })?;
    rows.collect()
}

fn hit(
    connection: &Connection,
    (position, score): (u64, f64),
    snippets: &Snippets,
) -> Result<Option<Hit>, rusqlite::Error> {
    let mut statement = connection
        .prepare_cached("SELECT run, seq, kind, at, v, body FROM events WHERE pos = ?1")?;
    let hit = statement.query_row(params![row::int(position)], |row| {
        let body: String = row.get(5)?;
        let text = Event::decode(row.get(4)?, &body).ok().and_then(|event| index_text(&event));
        Ok(Hit {
            run: row::run(row, 0)?,
            seq: number(row.get(1)?),
            kind: row.get(2)?,
            at: Timestamp(row.get(3)?),
            snippet: snippets.cut(&text.unwrap_or_default())?,
            score,
        })
    });
    hit.optional()
}
