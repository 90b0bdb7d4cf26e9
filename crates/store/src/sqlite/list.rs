//! Pages of runs, the most recently changed first, at a cost that does not grow with the runs.
//!
//! Two indexes hold runs by everything that a list can fix, and then by time. Where a filter
//! leaves something open (any status, any workflow), the few values there are become one *arm*
//! each; the newest of every arm are merged. Filters that fit few runs by their nature (a key, a
//! range of ids, what is due), lists in another order, and lists of only some keys are left to
//! `sort.rs`.

use engine::RunId;
use rusqlite::{Connection, params, params_from_iter};

use super::{
    row::{self, listed, run_columns},
    sort,
};
use crate::{Filter, Listing, Order, Row, StoreError};

/// A range with more ids than this is filtered while the list is read, instead of sorted.
const RANGE_MAX: i64 = 1000;

/// Sorts after every id.
const AFTER_ALL: &[u8] = &[0xff; 17];

/// Returns a page of runs, and how many there are if that is asked.
pub(super) fn list(connection: &Connection, filter: &Filter) -> Result<Listing, StoreError> {
    let total = if filter.counts { sort::count(connection, filter)? } else { 0 };
    Ok(Listing { rows: page(connection, filter)?, total })
}

fn page(connection: &Connection, filter: &Filter) -> Result<Vec<Row>, StoreError> {
    let is_special =
        filter.order != Order::Changed || filter.is_newest_of_key || filter.scope.is_some();
    let is_few = filter.key.is_some() || filter.due_by.is_some();
    if is_special || is_few || is_range_small(connection, filter)? {
        return sort::sort(connection, filter);
    }
    merge(connection, filter)
}

fn is_range_small(connection: &Connection, filter: &Filter) -> Result<bool, rusqlite::Error> {
    if filter.ids.is_none() {
        return Ok(false);
    }
    let (first, last) = ids(filter);
    let mut statement = connection.prepare_cached(
        "SELECT count(*) FROM (SELECT 1 FROM runs WHERE run BETWEEN ?1 AND ?2 LIMIT ?3)",
    )?;
    let count: i64 = statement.query_row(params![first, last, RANGE_MAX + 1], |row| row.get(0))?;
    Ok(count <= RANGE_MAX)
}

/// The ids that a filter allows.
fn ids(filter: &Filter) -> (&[u8], &[u8]) {
    filter.ids.as_ref().map_or((&[], AFTER_ALL), |(first, last)| {
        (first.as_bytes().as_slice(), last.as_bytes().as_slice())
    })
}

/// What the page comes after: everything on it is smaller.
fn after(filter: &Filter) -> (i64, &[u8]) {
    filter
        .after
        .as_ref()
        .map_or((i64::MAX, AFTER_ALL), |(at, run)| (at.0, run.as_bytes().as_slice()))
}

/// A place in the list.
type Place = (i64, RunId);

const ARM: &str = "SELECT updated_at, run FROM runs INDEXED BY runs_by_workflow
    WHERE project = ?1 AND workflow = ?2 AND status = ?3 AND (updated_at, run) < (?4, ?5)
    AND run BETWEEN ?6 AND ?7 ORDER BY updated_at DESC, run DESC LIMIT ?8";

const ARM_OF_ROOT: &str = "SELECT updated_at, run FROM runs INDEXED BY runs_by_root
    WHERE project = ?1 AND workflow = ?2 AND status = ?3 AND (updated_at, run) < (?4, ?5)
    AND run BETWEEN ?6 AND ?7 AND root = ?9 ORDER BY updated_at DESC, run DESC LIMIT ?8";

fn merge(connection: &Connection, filter: &Filter) -> Result<Vec<Row>, StoreError> {
    let [offset, end] =
        [filter.offset, end(filter)].map(|it| usize::try_from(it).unwrap_or(usize::MAX));
    let mut places: Vec<Place> = Vec::new();
    for arm in arms(connection, filter)? {
        read_arm(connection, filter, &arm, &mut places)?;
        places.sort_unstable_by(|one, two| two.cmp(one));
        places.truncate(end);
    }
    let mut statement = connection.prepare_cached(concat!(
        "SELECT ",
        run_columns!(),
        " FROM runs WHERE run = ?1"
    ))?;
    let rows =
        places.iter().skip(offset).map(|(_, run)| statement.query_row([run.as_bytes()], listed));
    Ok(rows.collect::<Result<_, _>>()?)
}

/// How many places of the list are looked at for a page.
fn end(filter: &Filter) -> u32 {
    filter.offset.saturating_add(filter.limit)
}

fn read_arm(
    connection: &Connection,
    filter: &Filter,
    arm: &Arm,
    places: &mut Vec<Place>,
) -> Result<(), rusqlite::Error> {
    let (first, last) = ids(filter);
    let (at, run) = after(filter);
    let mut statement =
        connection.prepare_cached(if filter.root.is_some() { ARM_OF_ROOT } else { ARM })?;
    let place = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row::run(row, 1)?));
    let fixed = params![arm.project, arm.workflow, arm.status, at, run, first, last, end(filter)];
    let rows = match &filter.root {
        None => statement.query_map(fixed, place)?,
        Some(root) => {
            let fixed: Vec<_> = fixed.iter().copied().chain([root as _]).collect();
            statement.query_map(fixed.as_slice(), place)?
        }
    };
    for place in rows {
        places.push(place?);
    }
    Ok(())
}

/// A part of the list that lies in order in an index.
#[derive(Debug)]
struct Arm {
    project: String,
    workflow: String,
    status: String,
}

fn arms(connection: &Connection, filter: &Filter) -> Result<Vec<Arm>, rusqlite::Error> {
    let mut arms = Vec::new();
    for project in values(connection, filter.project.as_ref(), NEXT_PROJECT, &[])? {
        // Of the runs in one folder, only the values that they have.
        let (next_workflow, next_status, root) = match &filter.root {
            None => (NEXT_WORKFLOW, NEXT_STATUS, ""),
            Some(root) => (NEXT_WORKFLOW_OF_ROOT, NEXT_STATUS_OF_ROOT, root.as_str()),
        };
        let fixed = [project.as_str(), root];
        for workflow in values(connection, filter.workflow.as_ref(), next_workflow, &fixed)? {
            let statuses = if filter.statuses.is_empty() {
                let fixed = [project.as_str(), root, workflow.as_str()];
                values(connection, None, next_status, &fixed)?
            } else {
                let mut statuses = filter.statuses.clone();
                statuses.sort_unstable();
                statuses.dedup();
                statuses
            };
            for status in statuses {
                let (project, workflow) = (project.clone(), workflow.clone());
                arms.push(Arm { project, workflow, status });
            }
        }
    }
    Ok(arms)
}

// Each finds the next value of a column from `?1` on by one step down an index, so that all values
// are found without reading the runs in between.
const NEXT_PROJECT: &str = "SELECT min(project) FROM runs INDEXED BY runs_by_workflow
    WHERE ?1 <= project";
const NEXT_WORKFLOW: &str = "SELECT min(workflow) FROM runs INDEXED BY runs_by_workflow
    WHERE ?1 <= workflow AND project = ?2 AND ?3 = ''";
const NEXT_STATUS: &str = "SELECT min(status) FROM runs INDEXED BY runs_by_workflow
    WHERE ?1 <= status AND project = ?2 AND ?3 = '' AND workflow = ?4";
const NEXT_WORKFLOW_OF_ROOT: &str = "SELECT min(workflow) FROM runs INDEXED BY runs_by_root
    WHERE ?1 <= workflow AND project = ?2 AND root = ?3";
const NEXT_STATUS_OF_ROOT: &str = "SELECT min(status) FROM runs INDEXED BY runs_by_root
    WHERE ?1 <= status AND project = ?2 AND root = ?3 AND workflow = ?4";

/// Returns the value that is wanted, or all that there are.
fn values(
    connection: &Connection,
    wanted: Option<&String>,
    next: &str,
    fixed: &[&str],
) -> Result<Vec<String>, rusqlite::Error> {
    if let Some(wanted) = wanted {
        return Ok(vec![wanted.clone()]);
    }
    let mut statement = connection.prepare_cached(next)?;
    let mut values = Vec::new();
    let mut from = String::new();
    loop {
        let fixed = [from.as_str()].into_iter().chain(fixed.iter().copied());
        let next: Option<String> =
            statement.query_row(params_from_iter(fixed), |row| row.get(0))?;
        let Some(next) = next else {
            return Ok(values);
        };
        // Nothing lies between a text and the same text with a nul behind it.
        from = format!("{next}\0");
        values.push(next);
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;
    use crate::sqlite::schema;

    fn plan(connection: &Connection, sql: &str) -> String {
        let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let count = statement.parameter_count();
        let nulls = vec![rusqlite::types::Null; count];
        let rows = statement.query_map(params_from_iter(nulls), |row| row.get(3)).unwrap();
        rows.collect::<Result<Vec<String>, _>>().unwrap().join("; ")
    }

    #[test]
    fn every_list_is_read_from_an_index() {
        let connection = Connection::open_in_memory().unwrap();
        schema::fill(&connection).unwrap();
        let by_workflow = "COVERING INDEX runs_by_workflow (project=? AND workflow=? AND status=? AND (updated_at,run)<(?,?)";
        let by_root = "COVERING INDEX runs_by_root (project=? AND root=? AND workflow=? AND status=? AND (updated_at,run)<(?,?)";
        for (sql, index) in [
            (ARM, by_workflow),
            (ARM_OF_ROOT, by_root),
            (NEXT_PROJECT, "COVERING INDEX runs_by_workflow (project>?)"),
            (NEXT_WORKFLOW, "COVERING INDEX runs_by_workflow (project=? AND workflow>?)"),
            (
                NEXT_STATUS,
                "COVERING INDEX runs_by_workflow (project=? AND workflow=? AND status>?)",
            ),
            (
                NEXT_WORKFLOW_OF_ROOT,
                "COVERING INDEX runs_by_root (project=? AND root=? AND workflow>?)",
            ),
            (
                NEXT_STATUS_OF_ROOT,
                "COVERING INDEX runs_by_root (project=? AND root=? AND workflow=? AND status>?)",
            ),
        ] {
            let plan = plan(&connection, sql);
            assert!(plan.contains(index), "{sql}\n{plan}");
            assert!(!plan.contains("TEMP B-TREE"), "{sql}\n{plan}");
            assert!(!plan.contains("SCAN runs"), "{sql}\n{plan}");
        }
    }

    #[test]
    fn a_range_of_ids_is_the_same_sorted_and_merged() {
        let connection = Connection::open_in_memory().unwrap();
        schema::fill(&connection).unwrap();
        for number in 0..40_u8 {
            connection
                .execute(
                    "INSERT INTO runs (run, project, length, workflow, root, status, is_live, step,
                     title, steps_done, steps_total, errors, started_at, updated_at)
                     VALUES (?1, ?2, 1, ?3, '/', ?4, 1, '', '', 0, 0, 0, 0, ?5)",
                    params![[number; 16], number % 2, number % 3, number % 4, number / 5],
                )
                .unwrap();
        }
        let id = |number| RunId::from_bytes([number; 16]);
        for project in [None, Some("1".to_owned())] {
            let ids = Some((id(7), id(31)));
            let filter = Filter { project, ids, limit: 10, ..Filter::default() };
            let sorted = sort::sort(&connection, &filter).unwrap();
            assert_eq!(sorted.len(), 10);
            assert_eq!(merge(&connection, &filter).unwrap(), sorted);
        }
    }
}
