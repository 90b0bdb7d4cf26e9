//! The errors of a store, and what helps. Every surface takes its words from here.

use engine::{DecodeError, RunId};

use crate::{Length, Request};

/// Why a store could not do what it was asked. Nothing was written.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// Someone else appended first, or moved a lease.
    #[error("the log of run `{run}` has {actual} events, not {expected}")]
    Conflict { run: RunId, expected: Length, actual: Length },
    /// Someone deleted the run.
    #[error("run `{run}` was deleted")]
    Deleted { run: RunId },
    /// Another run of this workflow and folder holds the key.
    #[error("key `{key}` is taken by run `{run}`")]
    KeyTaken { key: String, run: RunId },
    /// A request with this id was answered meanwhile.
    #[error("request `{id}` was seen before")]
    RequestSeen { id: String, request: Request },
    #[error("the disk is full")]
    Full,
    /// Others kept the database locked for longer than the limit, or too much was waiting.
    #[error("the database is busy")]
    Busy,
    /// A later release wrote the database.
    #[error("the database has schema {found}, and this release knows only {known}")]
    NewerSchema { found: u32, known: u32 },
    #[error(transparent)]
    Event(#[from] DecodeError),
    /// The history of one run is not what was written. Other runs are not concerned.
    #[error("event {seq} of run `{run}` is damaged: {what}")]
    DamagedRun { run: RunId, seq: Length, what: &'static str },
    #[error("the database file is damaged: {0}")]
    Damaged(String),
    /// Someone removed or replaced a file of the database while it was in use.
    #[error("`{path}` was removed or replaced while it was in use")]
    Gone { path: String },
    /// Events were written to a file that has nothing in it now, or is not there.
    #[error("`{path}` is empty or gone, though {events} events were written to it")]
    Emptied { path: String, events: u64 },
    /// There is a file, and it is not a database of ours.
    #[error("`{path}` is {what}")]
    Foreign { path: String, what: Foreign },
    #[error("the database failed: {0}")]
    Database(String),
}

/// What a file is that is not ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Foreign {
    /// A database of the orchestrator-mcp-server, which can be imported.
    #[error("the database of an orchestrator-mcp-server")]
    Orchestrator,
    #[error("the database of another program")]
    Program,
    #[error("not a SQLite database")]
    File,
    #[error("not the database of an orchestrator-mcp-server: it has no table `{0}`")]
    NoTable(&'static str),
    #[error(
        "not the database of an orchestrator-mcp-server: table `{table}` has no column `{column}`"
    )]
    NoColumn { table: &'static str, column: &'static str },
}

/// How a database is restored.
const RESTORE: &str = "a person restores a copy that `milepost backup` wrote: stop every milepost \
                       process, delete `milepost.db-wal` and `milepost.db-shm`, put the copy in \
                       the place of `milepost.db`, and start again";

impl StoreError {
    /// Returns whether the same call may work later, by itself or once someone has helped.
    pub fn is_retryable(&self) -> bool {
        self.passes() || matches!(self, Self::Full | Self::Gone { .. })
    }

    /// Returns whether the same call may work in a moment, without anyone intervening.
    pub fn passes(&self) -> bool {
        matches!(self, Self::Conflict { .. } | Self::Busy)
    }

    /// Returns the stable name that callers match on.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Busy | Self::Conflict { .. } => "busy",
            Self::Full => "disk_full",
            Self::NewerSchema { .. } | Self::Event(DecodeError::Newer { .. }) => "newer_release",
            Self::Event(DecodeError::Corrupt(_))
            | Self::DamagedRun { .. }
            | Self::Damaged(_)
            | Self::Emptied { .. } => "damaged",
            Self::Gone { .. } => "database_gone",
            Self::Foreign { .. } => "database_foreign",
            Self::Deleted { .. } => "run_deleted",
            Self::KeyTaken { .. } => "key_taken",
            Self::RequestSeen { .. } => "request_conflict",
            Self::Database(_) => "database",
        }
    }

    /// Returns what helps.
    pub fn hint(&self) -> String {
        let hint = match self {
            Self::Busy | Self::Conflict { .. } => {
                "others are writing; nothing was written, call again in a moment"
            }
            Self::Full => {
                "nothing was written and nothing was lost; free space on the disk, then call again"
            }
            Self::NewerSchema { .. } | Self::Event(DecodeError::Newer { .. }) => {
                "a newer release of milepost wrote this; update this one, then start it again"
            }
            Self::Event(DecodeError::Corrupt(_)) | Self::DamagedRun { .. } => {
                return format!(
                    "do not call again: this run cannot be used, other runs still can; {RESTORE}"
                );
            }
            Self::Damaged(_) => return format!("do not call again; {RESTORE}"),
            Self::Gone { .. } => {
                "nothing more is written until the server is started again; if the file was moved, \
                 put it back first"
            }
            Self::Emptied { path, .. } => {
                return format!(
                    "put the file or a backup of it in its place; to begin with nothing, delete \
                     `{path}-mark` too"
                );
            }
            Self::Foreign { path, what: Foreign::Orchestrator } => {
                return format!(
                    "`milepost import orchestrator {path}` takes its runs over; let `store.path` \
                     (or `WORKFLOW_DB_PATH`) name another file, or none"
                );
            }
            Self::Foreign { what: Foreign::NoTable(_) | Foreign::NoColumn { .. }, .. } => {
                "it was left as it is; name the file that `WORKFLOW_DB_PATH` named there"
            }
            Self::Foreign { what: Foreign::Program | Foreign::File, .. } => {
                "it was left as it is; let `store.path` (or `WORKFLOW_DB_PATH`) name another file"
            }
            Self::Deleted { .. } => "begin a new run",
            Self::KeyTaken { .. } => "use that run, or use another key",
            Self::RequestSeen { .. } => "send each request with an id of its own",
            Self::Database(_) => {
                "`milepost doctor` looks into it; call again only once the cause is gone"
            }
        };
        hint.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_passes_by_itself_says_to_call_again_in_a_moment() {
        let run = RunId::from_bytes([1; 16]);
        let path = || "milepost.db".to_owned();
        let all = [
            (StoreError::Conflict { run, expected: 1, actual: 2 }, "call again in a moment"),
            (StoreError::Busy, "call again in a moment"),
            (StoreError::Deleted { run }, "new run"),
            (StoreError::Full, "free space"),
            (StoreError::NewerSchema { found: 9, known: 3 }, "update"),
            (DecodeError::Newer { kind: "New".to_owned(), version: 2 }.into(), "update"),
            (DecodeError::Corrupt("cut".to_owned()).into(), "milepost backup"),
            (StoreError::DamagedRun { run, seq: 7, what: "changed" }, "milepost backup"),
            (StoreError::Damaged("malformed".to_owned()), "milepost backup"),
            (StoreError::Gone { path: path() }, "started again"),
            (StoreError::Foreign { path: path(), what: Foreign::Orchestrator }, "milepost import"),
            (StoreError::Foreign { path: path(), what: Foreign::Program }, "another file"),
            (StoreError::Foreign { path: path(), what: Foreign::File }, "another file"),
            (StoreError::Foreign { path: path(), what: Foreign::NoTable("t") }, "named there"),
            (StoreError::Database("I/O error".to_owned()), "milepost doctor"),
        ];
        for (error, helps) in all {
            let hint = error.hint();
            assert!(hint.contains(helps), "{error}: {hint}");
            assert_eq!(hint.contains("in a moment"), error.passes(), "{error}: {hint}");
            assert!(!error.passes() || error.is_retryable(), "{error}");
        }
    }
}
