//! Reads a database of the original orchestrator, and leaves it as it is.
//!
//! Plain texts come out, as they are written there: what they mean is for others to say. Files of
//! any age are read; a column that one does not have is read as nothing.

use std::path::Path;

use rusqlite::{Connection, OpenFlags, Row, params, types::ValueRef};

use crate::{Foreign, StoreError};

/// The table of runs, and what each of them has.
const RUNS: &str = "workflow_instances";
const RUN_COLUMNS: [&str; 8] = [
    "instance_id",
    "workflow_name",
    "current_step_name",
    "status",
    "context",
    "created_at",
    "updated_at",
    "completed_at",
];

/// A database of the original.
#[derive(Debug)]
pub struct OrchestratorFile {
    connection: Connection,
    /// What the table of reports has.
    columns: Vec<String>,
}

/// A run, as the original kept it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OriginalRun {
    pub id: String,
    pub workflow: String,
    pub step: String,
    pub status: String,
    /// JSON.
    pub context: Option<String>,
    pub created_at: Option<String>,
    pub updated_at: Option<String>,
    pub completed_at: Option<String>,
}

/// A report, as the original kept it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OriginalReport {
    pub at: Option<String>,
    pub step: String,
    /// JSON.
    pub report: Option<String>,
    pub outcome: Option<String>,
    pub next: Option<String>,
    pub reasoning: Option<String>,
    pub error: Option<String>,
}

impl OrchestratorFile {
    /// Opens the file at `path` for reading only.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        if !path.is_file() {
            return Err(StoreError::Database(format!("there is no file `{}`", path.display())));
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        let connection = Connection::open_with_flags(address(path), flags)?;
        if let Some(what) = find_lack(&columns(&connection, RUNS)?) {
            return Err(StoreError::Foreign { path: path.display().to_string(), what });
        }
        let columns = columns(&connection, "workflow_history")?;
        Ok(Self { connection, columns })
    }

    /// Returns every run, the oldest first.
    pub fn runs(&self) -> Result<Vec<OriginalRun>, StoreError> {
        let mut statement = self.connection.prepare(&format!(
            "SELECT {} FROM {RUNS} ORDER BY created_at, instance_id",
            RUN_COLUMNS.join(", ")
        ))?;
        let runs = statement.query_map([], |row| {
            Ok(OriginalRun {
                id: text(row, 0)?.unwrap_or_default(),
                workflow: text(row, 1)?.unwrap_or_default(),
                step: text(row, 2)?.unwrap_or_default(),
                status: text(row, 3)?.unwrap_or_default(),
                context: text(row, 4)?,
                created_at: text(row, 5)?,
                updated_at: text(row, 6)?,
                completed_at: text(row, 7)?,
            })
        })?;
        Ok(runs.collect::<Result<_, _>>()?)
    }

    /// Returns the reports of the run with this id, the oldest first.
    pub fn reports(&self, id: &str) -> Result<Vec<OriginalReport>, StoreError> {
        if self.columns.is_empty() {
            return Ok(Vec::new());
        }
        // Only names from this list get into the text of the query.
        let wanted = ["determined_next_step", "reasoning", "error"];
        let present =
            wanted.map(|it| if self.columns.iter().any(|has| has == it) { it } else { "NULL" });
        let mut statement = self.connection.prepare(&format!(
            "SELECT timestamp, step_name, user_report, outcome_status, {}
             FROM workflow_history WHERE instance_id = ?1 ORDER BY history_entry_id",
            present.join(", ")
        ))?;
        let reports = statement.query_map(params![id], |row| {
            Ok(OriginalReport {
                at: text(row, 0)?,
                step: text(row, 1)?.unwrap_or_default(),
                report: text(row, 2)?,
                outcome: text(row, 3)?,
                next: text(row, 4)?,
                reasoning: text(row, 5)?,
                error: text(row, 6)?,
            })
        })?;
        Ok(reports.collect::<Result<_, _>>()?)
    }
}

/// Returns what to open. A file without a pending log is opened as immutable, so that not even a
/// lock file is made beside it.
fn address(path: &Path) -> String {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let is_quiet = std::fs::metadata(log).map_or(true, |it| it.len() == 0);
    let mut encoded = String::new();
    for letter in path.display().to_string().chars() {
        match letter {
            '%' => encoded.push_str("%25"),
            '?' => encoded.push_str("%3f"),
            '#' => encoded.push_str("%23"),
            letter => encoded.push(letter),
        }
    }
    format!("file:{encoded}?{}", if is_quiet { "immutable=1" } else { "mode=ro" })
}

/// Returns what a table of runs lacks, by the names of its columns.
fn find_lack(columns: &[String]) -> Option<Foreign> {
    if columns.is_empty() {
        return Some(Foreign::NoTable(RUNS));
    }
    let column = RUN_COLUMNS.into_iter().find(|it| !columns.iter().any(|has| has == it))?;
    Some(Foreign::NoColumn { table: RUNS, column })
}

fn columns(connection: &Connection, table: &str) -> Result<Vec<String>, StoreError> {
    let mut statement = connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
    let names = statement.query_map(params![table], |row| row.get(0))?;
    Ok(names.collect::<Result<_, _>>()?)
}

/// Returns a value as text, whatever was put there.
fn text(row: &Row<'_>, index: usize) -> Result<Option<String>, rusqlite::Error> {
    Ok(match row.get_ref(index)? {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number.to_string()),
        ValueRef::Real(number) => Some(number.to_string()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            Some(String::from_utf8_lossy(bytes).into_owned())
        }
    })
}
