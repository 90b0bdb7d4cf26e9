//! Where events are kept: one append-only log a run, behind one small trait.
//!
//! A store keeps what it is given and gives it back in order. It knows no rules: no status is
//! computed here and no transition is decided here. An append is answered only once it is on disk.

mod chain;
mod error;
mod import_orchestrator;
mod sqlite;

use std::{future::Future, pin::Pin};

use engine::{Lease, Recorded, RunId, Summary, Timestamp};
use tokio::sync::watch;

pub use chain::{Sum, checksum_of};
pub use engine::{Hit, Hits, Listing, Order, Row};
pub use error::{Foreign, StoreError};
pub use import_orchestrator::{OrchestratorFile, OriginalReport, OriginalRun};
pub use sqlite::{Figures, Spread, SqliteSettings, SqliteStore, Synchronous, sqlite_version};

/// The number of events in a run's log, which is also the `seq` of its last one.
pub type Length = u64;

/// The future result of a call to a store.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// Keeps the logs of runs.
pub trait Store: Send + Sync {
    /// Appends events if the log's length is still what the caller saw, with everything that must
    /// be true at the same moment, and returns once all of it is on disk.
    fn append(&self, append: Append) -> Pending<'_, ()>;

    /// Returns the events of `run` after `after`, oldest first, and its leases as they are now;
    /// `None` if there is no such run. Events that are not as they were written are an error that
    /// names the first of them.
    fn load(&self, run: RunId, after: Length) -> Pending<'_, Option<Log>>;

    /// Returns what the request with this id led to, if it was seen.
    fn find_request<'a>(&'a self, project: &'a str, id: &'a str) -> Pending<'a, Option<Request>>;

    /// Returns what the call with this request id was answered, if that was kept.
    fn find_answer<'a>(&'a self, project: &'a str, id: &'a str) -> Pending<'a, Option<Answer>>;

    /// Returns the stored text of a definition.
    fn find_definition<'a>(&'a self, digest: &'a str) -> Pending<'a, Option<String>>;

    /// Returns a page of runs in the order that the filter names, and how many there are in all.
    fn list(&self, filter: Filter) -> Pending<'_, Listing>;

    /// Changes something beside the log, and returns whether what it belongs to is there. Wakes
    /// nobody.
    fn touch(&self, touch: Touch) -> Pending<'_, bool>;

    /// Deletes a run with everything that belongs to it, if its log's length is still what the
    /// caller saw, and wakes those who watch. Its id is never given again. Of the runs with its key,
    /// the one begun last is the newest then.
    fn delete(&self, deletion: Deletion) -> Pending<'_, ()>;

    /// Returns the files that runs owe or have written, by run and then by path.
    fn files(&self, filter: FileFilter) -> Pending<'_, Vec<(RunId, FileMark)>>;

    /// Returns the events that fit best. Sees every append that was answered before the call, or
    /// says how many it does not see yet.
    fn search(&self, search: Search) -> Pending<'_, Hits>;

    /// Returns which events of all runs came after a position, in the order they were committed.
    fn tail(&self, after: u64, count: u32) -> Pending<'_, Vec<Tailed>>;

    /// Returns a receiver that is woken when something was appended, by this process or another.
    fn changed(&self) -> watch::Receiver<u64>;
}

/// Everything that becomes true in one transaction.
#[derive(Debug, Clone)]
pub struct Append {
    pub project: String,
    pub run: RunId,
    /// How long the log was when this was decided; 0 for a new run.
    pub expected: Length,
    /// Numbered from `expected + 1` without gaps. Not empty.
    pub events: Vec<Recorded>,
    pub summary: Summary,
    /// The definition that a new run is pinned to. Stored once for each digest.
    pub definition: Option<Definition>,
    pub request: Option<RequestKey>,
    pub leases: Vec<LeaseChange>,
    /// The paths of files that must be written again, now that the log has become this long.
    pub owes: Vec<String>,
}

/// A run to be deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deletion {
    pub run: RunId,
    /// How long the log was when this was decided.
    pub expected: Length,
    /// By the wall clock.
    pub at: Timestamp,
    pub steady: Timestamp,
}

/// The text of a definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    pub digest: String,
    pub name: String,
    pub source: String,
}

/// An idempotency key, and what it was used for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestKey {
    pub id: String,
    /// Over everything the caller asked for.
    pub fingerprint: String,
}

/// What a request with an id led to: the events from `first` to `last` of `run`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub fingerprint: String,
    pub run: RunId,
    pub first: Length,
    pub last: Length,
}

/// What a call with a request id was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Over everything the caller asked for.
    pub fingerprint: String,
    pub text: String,
}

/// An answer to be kept, and the call that it was given to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    pub project: String,
    pub key: RequestKey,
    pub text: String,
    /// By the steady clock.
    pub at: Timestamp,
}

/// A change of the table of leases that goes with an append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeaseChange {
    /// A new lease. `replaces` is the end of the one that was there, as the decision saw it; if it
    /// has moved since (a heartbeat), the append is a conflict.
    Take { lease: Lease, replaces: Option<Timestamp> },
    /// The lease with this generation is over.
    Drop { generation: u64 },
}

/// A run's log from some point on.
#[derive(Debug, Clone, PartialEq)]
pub struct Log {
    pub project: String,
    pub length: Length,
    /// The checksum of the whole log, whatever part of it was asked for.
    pub head: Sum,
    pub events: Vec<Recorded>,
    /// With the ends that heartbeats have moved, by the steady clock.
    pub leases: Vec<Lease>,
}

/// A request to extend a lease, by the steady clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heartbeat {
    pub run: RunId,
    pub generation: u64,
    pub now: Timestamp,
    pub until: Timestamp,
}

/// A change of a column that leaves the log as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Touch {
    /// Moves the end of a lease, if it is still held with this generation and has not ended.
    Lease(Heartbeat),
    /// Says what files of a run are like, if there is such a run. Of two marks of one file, the one
    /// that was written at the greater length stays, and at the same length the later one; what
    /// is owed only grows. The last marks before a loss of power may be gone.
    Files(RunId, Vec<FileMark>),
    /// Keeps an answer, unless one is kept for the same id. The last answers before a loss of power
    /// may be gone.
    Answer(Box<Answered>),
}

/// A file that is written from a run's log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileMark {
    pub path: String,
    /// The length of the log that the file must show.
    pub owed: Length,
    /// The length of the log that it was last written from; 0 if it never was.
    pub written: Length,
    /// Of what was written; empty if nothing was.
    pub sha256: String,
    pub size: u64,
    /// When the file was last changed, in nanoseconds since 1970.
    pub modified: i64,
}

/// Which files to return.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileFilter {
    /// `None`: of all projects.
    pub project: Option<String>,
    pub run: Option<RunId>,
    pub workflow: Option<String>,
    /// Only those that were written from less than is owed.
    pub is_owed: bool,
}

/// Which runs to list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// `None`: of all projects.
    pub project: Option<String>,
    pub workflow: Option<String>,
    /// Any of these. Empty: all.
    pub statuses: Vec<String>,
    pub key: Option<String>,
    pub root: Option<String>,
    /// Ids from the first to the second, both included.
    pub ids: Option<(RunId, RunId)>,
    /// Only runs whose `due_at`, by the steady clock, is not after this.
    pub due_by: Option<Timestamp>,
    /// Only the run of each key that was begun last, and none without a key.
    pub is_newest_of_key: bool,
    /// Only keys that end in `@` and this; if it is empty, only keys without an `@`.
    pub scope: Option<String>,
    pub order: Order,
    /// Only what comes after this row in the list. Only in the order of changes.
    pub after: Option<(Timestamp, RunId)>,
    /// How many rows to leave out before the first.
    pub offset: u32,
    pub limit: u32,
    /// Whether to count all that fit, on whatever page they are.
    pub counts: bool,
}

/// What to search for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Search {
    pub project: Option<String>,
    pub run: Option<RunId>,
    /// Plain words. Nothing in it has a special meaning, but a last `*` of a word and `"phrases"`.
    pub text: String,
    pub offset: u32,
    pub limit: u32,
}

/// Where an event is in the order of all runs, and in its own. A `seq` of 0 says that the run was
/// deleted.
///
/// What an event says is not read: anyone who follows all runs must not stumble over an event of a
/// later release in one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tailed {
    pub position: u64,
    pub run: RunId,
    pub seq: Length,
}
