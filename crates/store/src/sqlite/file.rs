//! Rows of files: which are owed, and which were written.

use engine::RunId;
use rusqlite::{Connection, OptionalExtension as _, named_params, params};

use super::row::{self, int, number};
use crate::{Append, FileFilter, FileMark, StoreError};

/// Notes the files that an append to a run of `project` owes.
pub(super) fn owe(
    connection: &Connection,
    project: &str,
    append: &Append,
) -> Result<(), rusqlite::Error> {
    if append.owes.is_empty() {
        return Ok(());
    }
    let mut statement = connection.prepare_cached(
        "INSERT INTO files (run, path, project, workflow, owed, written, sha256, size, modified)
         VALUES (?1, ?2, ?3, ?4, ?5, 0, '', 0, 0)
         ON CONFLICT DO UPDATE SET owed = excluded.owed",
    )?;
    let (run, workflow, owed) = (append.run.as_bytes(), &append.summary.workflow, append.last());
    for path in &append.owes {
        statement.execute(params![run, path, project, workflow, int(owed)])?;
    }
    Ok(())
}

/// Lets the files of a run follow it to another workflow.
pub(super) fn rename_workflow(
    connection: &Connection,
    append: &Append,
) -> Result<(), rusqlite::Error> {
    let mut statement =
        connection.prepare_cached("UPDATE files SET workflow = ?2 WHERE run = ?1")?;
    statement.execute(params![append.run.as_bytes(), append.summary.workflow]).map(drop)
}

/// Notes what files of a run are like. Returns whether there is such a run.
pub(super) fn mark(
    connection: &Connection,
    run: RunId,
    marks: &[FileMark],
) -> Result<bool, rusqlite::Error> {
    let mut statement =
        connection.prepare_cached("SELECT project, workflow FROM runs WHERE run = ?1")?;
    let names = statement.query_row(params![run.as_bytes()], |row| Ok((row.get(0)?, row.get(1)?)));
    let Some::<(String, String)>((project, workflow)) = names.optional()? else {
        return Ok(false);
    };
    // Anyone who wrote the file from less is late, and its mark says nothing about the file any more.
    let mut statement = connection.prepare_cached(
        "INSERT INTO files (run, path, project, workflow, owed, written, sha256, size, modified)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
         ON CONFLICT DO UPDATE SET owed = max(owed, excluded.owed),
         written = max(written, excluded.written),
         sha256 = iif(excluded.written < written, sha256, excluded.sha256),
         size = iif(excluded.written < written, size, excluded.size),
         modified = iif(excluded.written < written, modified, excluded.modified)",
    )?;
    for mark in marks {
        statement.execute(params![
            run.as_bytes(),
            mark.path,
            project,
            workflow,
            int(mark.owed),
            int(mark.written),
            mark.sha256,
            int(mark.size),
            mark.modified
        ])?;
    }
    Ok(true)
}

/// What is returned of files, whichever way they were found. The `+` keeps the rest from being
/// taken for something to look up.
macro_rules! found {
    ($from:literal) => {
        concat!(
            "SELECT run, path, owed, written, sha256, size, modified FROM files ",
            $from,
            " AND (:project IS NULL OR +project = :project)
              AND (:workflow IS NULL OR +workflow = :workflow)
              AND (NOT :is_owed OR written < owed) ORDER BY run, path"
        )
    };
}

const ALL: &str = found!("WHERE :run IS NULL");
const OWED: &str = found!("INDEXED BY files_owed WHERE :run IS NULL AND written < owed");
const OF_RUN: &str = found!("WHERE run = :run");

/// Returns the files that fit, by run and then by path.
pub(super) fn files(
    connection: &Connection,
    filter: &FileFilter,
) -> Result<Vec<(RunId, FileMark)>, StoreError> {
    let sql = match filter.run {
        Some(_) => OF_RUN,
        None if filter.is_owed => OWED,
        None => ALL,
    };
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(
        named_params! {
            ":run": filter.run.as_ref().map(|run| run.as_bytes().as_slice()),
            ":project": filter.project,
            ":workflow": filter.workflow,
            ":is_owed": filter.is_owed,
        },
        found,
    )?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn found(row: &rusqlite::Row<'_>) -> Result<(RunId, FileMark), rusqlite::Error> {
    let mark = FileMark {
        path: row.get(1)?,
        owed: number(row.get(2)?),
        written: number(row.get(3)?),
        sha256: row.get(4)?,
        size: number(row.get(5)?),
        modified: row.get(6)?,
    };
    Ok((row::run(row, 0)?, mark))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::schema;

    #[test]
    fn files_are_read_in_order_from_an_index() {
        let connection = Connection::open_in_memory().unwrap();
        schema::fill(&connection).unwrap();
        for (sql, index) in [
            (ALL, "SCAN files"),
            (OWED, "SCAN files USING INDEX files_owed"),
            (OF_RUN, "SEARCH files USING PRIMARY KEY (run=?)"),
        ] {
            let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let nulls = vec![rusqlite::types::Null; statement.parameter_count()];
            let plan = statement.query_map(rusqlite::params_from_iter(nulls), |row| row.get(3));
            let plan: Vec<String> = plan.unwrap().collect::<Result<_, _>>().unwrap();
            assert_eq!(plan, [index], "{sql}");
        }
    }
}
