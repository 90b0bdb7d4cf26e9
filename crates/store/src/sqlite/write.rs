//! One append, touch or deletion, within a transaction that it shares with others.
//!
//! Everything that can be refused is checked before the first row is written, so one append can
//! be refused without undoing its neighbours. The write lock is held meanwhile: what was checked
//! stays true.

use engine::{EVENT_VERSION, RunId, Summary};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::{
    delete, error, file, lease, request,
    row::{self, int, number},
};
use crate::{
    Append, Deletion, Length, StoreError, Sum, Touch,
    chain::{self, Encoded},
};

/// Something to write.
#[derive(Debug)]
pub(super) enum Write {
    Append(Box<Prepared>),
    Touch(Touch),
    Delete(Deletion),
}

/// An append whose events are already encoded: the writer's time is everyone's time.
#[derive(Debug)]
pub(super) struct Prepared {
    append: Append,
    encoded: Vec<Encoded>,
    bytes: usize,
}

/// What was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    /// Up to this position.
    Events(u64),
    /// Whether there was something to change.
    Touched(bool),
}

/// Why something was not written.
#[derive(Debug)]
pub(super) enum Failure {
    /// It was refused before anything was written.
    Refused(StoreError),
    /// Something may be half written, and must be undone.
    Broken(StoreError),
    /// The connection must not be used again.
    Fatal(StoreError),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        if error::is_fatal(&error) { Self::Fatal(error.into()) } else { Self::Broken(error.into()) }
    }
}

impl Prepared {
    /// Encodes the events of an append.
    pub(super) fn new(append: Append) -> Result<Self, StoreError> {
        check_numbers(&append)?;
        let encoded: Vec<_> = append.events.iter().map(chain::encode).collect::<Result<_, _>>()?;
        let source = append.definition.as_ref().map_or(0, |definition| definition.source.len());
        let bytes = encoded.iter().map(|it| it.actor.len() + it.body.len()).sum::<usize>();
        Ok(Self { append, encoded, bytes: bytes + source })
    }
}

impl Write {
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Append(prepared) => prepared.bytes,
            Self::Touch(Touch::Answer(answered)) => answered.text.len(),
            Self::Touch(Touch::Files(..) | Touch::Lease(_)) | Self::Delete(_) => 0,
        }
    }

    /// Returns when a request with an id was made by the steady clock, if it is one.
    pub(super) fn requested_at(&self) -> Option<i64> {
        match self {
            Self::Append(prepared) => {
                let append = &prepared.append;
                append.request.as_ref()?;
                append.events.last().map(|recorded| recorded.steady.0)
            }
            Self::Touch(Touch::Answer(answered)) => Some(answered.at.0),
            Self::Touch(Touch::Files(..) | Touch::Lease(_)) | Self::Delete(_) => None,
        }
    }

    /// Returns whether it may be lost with the power: a file that is not marked is written again,
    /// and an answer that was not kept is worded again from the log.
    pub(super) fn is_dispensable(&self) -> bool {
        match self {
            Self::Touch(Touch::Files(..) | Touch::Answer(_)) => true,
            Self::Append(_) | Self::Touch(Touch::Lease(_)) | Self::Delete(_) => false,
        }
    }

    /// Writes it, or says why not.
    pub(super) fn apply(&self, connection: &Connection) -> Result<Written, Failure> {
        match self {
            Self::Append(prepared) => append(connection, prepared).map(Written::Events),
            Self::Delete(deletion) => delete::delete(connection, deletion).map(Written::Events),
            Self::Touch(touch) => Ok(Written::Touched(match touch {
                Touch::Lease(beat) => lease::extend(connection, beat)?,
                Touch::Files(run, marks) => file::mark(connection, *run, marks)?,
                Touch::Answer(answered) => request::answer(connection, answered)?,
            })),
        }
    }
}

/// Refuses an append whose events are not numbered from its expected length on.
fn check_numbers(append: &Append) -> Result<(), StoreError> {
    let numbers = append.events.iter().map(|recorded| recorded.seq);
    if append.events.is_empty() || !numbers.eq(append.expected + 1..=append.last()) {
        let run = append.run;
        return Err(StoreError::Database(format!(
            "the events for run `{run}` are not numbered from {}",
            append.expected + 1
        )));
    }
    Ok(())
}

impl Append {
    /// Returns the length of the log after this append.
    pub(super) fn last(&self) -> Length {
        self.expected + self.events.len() as u64
    }

    pub(super) fn conflict(&self, actual: Length) -> StoreError {
        StoreError::Conflict { run: self.run, expected: self.expected, actual }
    }
}

/// What is stored of a run that an append may change.
pub(super) struct Known {
    id: i64,
    pub(super) project: String,
    pub(super) length: Length,
    head: Sum,
    pub(super) workflow: String,
    pub(super) key: Option<String>,
    pub(super) root: String,
    is_live: bool,
    holds_key: bool,
}

impl Known {
    fn has_names_of(&self, summary: &Summary) -> bool {
        self.is_live == summary.is_live
            && self.holds_key == summary.holds_key
            && self.workflow == summary.workflow
            && self.key == summary.key
            && self.root == summary.root
    }
}

fn append(connection: &Connection, prepared: &Prepared) -> Result<u64, Failure> {
    let append = &prepared.append;
    request::check(connection, append)?;
    let known = find_run(connection, append.run)?;
    if known.is_none() {
        delete::check_kept(connection, append.run)?;
    }
    let actual = known.as_ref().map_or(0, |known| known.length);
    if actual != append.expected {
        return Err(Failure::Refused(append.conflict(actual)));
    }
    let project = known.as_ref().map_or(&append.project, |known| &known.project);
    let has_same_names = known.as_ref().is_some_and(|known| known.has_names_of(&append.summary));
    if !has_same_names {
        check_key(connection, project, append)?;
    }
    let leases = lease::find_changes(connection, append)?;
    let head = known.as_ref().map_or_else(|| Sum::origin(append.run, project), |it| it.head);
    let sums = chain_on(head, &prepared.encoded);
    let head = sums.last().copied().unwrap_or(head);

    match &known {
        None => {
            shadow_older(connection, append)?;
            insert_run(connection, append, head)?;
        }
        Some(known) => {
            if !has_same_names {
                update_names(connection, known.id, &append.summary)?;
            }
            if known.workflow != append.summary.workflow {
                file::rename_workflow(connection, append)?;
            }
            update_run(connection, known.id, append, head)?;
        }
    }
    insert_definition(connection, append)?;
    request::insert(connection, append)?;
    lease::write_changes(connection, append.run, &leases)?;
    file::owe(connection, project, append)?;
    Ok(insert_events(connection, prepared, &sums)?)
}

fn chain_on(head: Sum, encoded: &[Encoded]) -> Vec<Sum> {
    let next = |head: &mut Sum, it: &Encoded| {
        *head = head.after(&it.content);
        Some(*head)
    };
    encoded.iter().scan(head, next).collect()
}

/// Finds a run, and refuses one whose row and last event do not match: further events could not be
/// told from damage.
pub(super) fn find_run(connection: &Connection, run: RunId) -> Result<Option<Known>, Failure> {
    let mut statement = connection.prepare_cached(
        "SELECT id, project, length, workflow, key, root, is_live, holds_key, head,
         (SELECT sum FROM events WHERE events.run = runs.run AND seq = length) FROM runs
         WHERE run = ?1",
    )?;
    let mut rows = statement.query(params![run.as_bytes()])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let length = number(row.get(2)?);
    let (head, last) = (row::sum(row, 8)?, row::sum(row, 9)?);
    let Some(head) = head.filter(|_| head == last) else {
        let what = chain::TAIL;
        return Err(Failure::Refused(StoreError::DamagedRun { run, seq: length, what }));
    };
    Ok(Some(Known {
        id: row.get(0)?,
        project: row.get(1)?,
        length,
        head,
        workflow: row.get(3)?,
        key: row.get(4)?,
        root: row.get(5)?,
        is_live: row.get(6)?,
        holds_key: row.get(7)?,
    }))
}

/// The unique index would refuse too; asked first, it can be said who has the key.
fn check_key(connection: &Connection, project: &str, append: &Append) -> Result<(), Failure> {
    let summary = &append.summary;
    let Some(key) = summary.key.as_ref().filter(|_| summary.holds_key) else {
        return Ok(());
    };
    let mut statement = connection.prepare_cached(
        "SELECT run FROM runs WHERE project = ?1 AND workflow = ?2 AND root = ?3 AND key = ?4
         AND holds_key AND run <> ?5",
    )?;
    let names = params![project, summary.workflow, summary.root, key, append.run.as_bytes()];
    let taken = statement.query_row(names, |row| row::run(row, 0)).optional()?;
    match taken {
        None => Ok(()),
        Some(run) => Err(Failure::Refused(StoreError::KeyTaken { key: key.clone(), run })),
    }
}

/// Says of the runs that were begun before with the key of a new one that they are not the newest.
fn shadow_older(connection: &Connection, append: &Append) -> Result<(), rusqlite::Error> {
    let summary = &append.summary;
    let Some(key) = &summary.key else {
        return Ok(());
    };
    let mut statement = connection.prepare_cached(
        "UPDATE runs SET is_shadowed = 1 WHERE key = ?1 AND project = ?2 AND workflow = ?3
         AND root = ?4 AND is_shadowed = 0",
    )?;
    statement.execute(params![key, append.project, summary.workflow, summary.root]).map(drop)
}

fn insert_run(connection: &Connection, append: &Append, head: Sum) -> Result<(), rusqlite::Error> {
    let mut statement = connection.prepare_cached(concat!(
        "INSERT INTO runs (",
        row::run_columns!(),
        ", head) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16,
         ?17, ?18, ?19, ?20)"
    ))?;
    let summary = &append.summary;
    let values = params![
        append.project,
        append.run.as_bytes(),
        int(append.last()),
        summary.workflow,
        summary.key,
        summary.root,
        summary.status,
        summary.is_live,
        summary.step,
        summary.title,
        summary.steps_done,
        summary.steps_total,
        summary.errors,
        summary.started_at.0,
        summary.updated_at.0,
        summary.ended_at.map(|it| it.0),
        summary.due_at.map(|it| it.0),
        summary.holds_key,
        summary.steps_begun,
        head.as_bytes()
    ];
    statement.execute(values).map(drop)
}

/// These seldom change and lie in most indexes, so they have a statement of their own.
fn update_names(
    connection: &Connection,
    id: i64,
    summary: &Summary,
) -> Result<(), rusqlite::Error> {
    let mut statement = connection.prepare_cached(
        "UPDATE runs SET workflow = ?2, key = ?3, root = ?4, is_live = ?5, holds_key = ?6
         WHERE id = ?1",
    )?;
    let Summary { workflow, key, root, is_live, holds_key, .. } = summary;
    let values = params![id, workflow, key, root, is_live, holds_key];
    statement.execute(values).map(drop)
}

fn update_run(connection: &Connection, id: i64, append: &Append, head: Sum) -> Result<(), Failure> {
    let mut statement = connection.prepare_cached(
        "UPDATE runs SET length = ?3, status = ?4, step = ?5, title = ?6, steps_done = ?7,
         steps_total = ?8, errors = ?9, started_at = ?10, updated_at = ?11, ended_at = ?12,
         due_at = ?13, steps_begun = ?14, head = ?15 WHERE id = ?1 AND length = ?2",
    )?;
    let summary = &append.summary;
    let values = params![
        id,
        int(append.expected),
        int(append.last()),
        summary.status,
        summary.step,
        summary.title,
        summary.steps_done,
        summary.steps_total,
        summary.errors,
        summary.started_at.0,
        summary.updated_at.0,
        summary.ended_at.map(|it| it.0),
        summary.due_at.map(|it| it.0),
        summary.steps_begun,
        head.as_bytes()
    ];
    match statement.execute(values)? {
        1 => Ok(()),
        _ => Err(Failure::Broken(append.conflict(append.expected))),
    }
}

fn insert_definition(connection: &Connection, append: &Append) -> Result<(), rusqlite::Error> {
    let Some(definition) = &append.definition else {
        return Ok(());
    };
    let mut statement = connection.prepare_cached(
        "INSERT INTO definitions (digest, name, source) VALUES (?1, ?2, ?3)
         ON CONFLICT DO NOTHING",
    )?;
    statement.execute(params![definition.digest, definition.name, definition.source]).map(drop)
}

/// Returns the position of the last one.
fn insert_events(
    connection: &Connection,
    prepared: &Prepared,
    sums: &[Sum],
) -> Result<u64, rusqlite::Error> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO events (run, seq, v, kind, at, actor, body, sum, steady)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?;
    let encoded = prepared.encoded.iter().zip(sums);
    for (recorded, (it, sum)) in prepared.append.events.iter().zip(encoded) {
        statement.execute(params![
            prepared.append.run.as_bytes(),
            int(recorded.seq),
            EVENT_VERSION,
            recorded.event.kind(),
            recorded.at.0,
            it.actor,
            it.body,
            sum.as_bytes(),
            recorded.steady.0
        ])?;
    }
    Ok(number(connection.last_insert_rowid()))
}
