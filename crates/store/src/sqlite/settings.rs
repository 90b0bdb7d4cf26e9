//! The limits of the `SQLite` store that callers or tests choose, with the values that suit one
//! project on one machine. Other limits are constants beside the code that they bound.

use std::time::Duration;

/// How the store uses its file and its threads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqliteSettings {
    /// How many calls may wait for the writer. One more is answered with `Busy` at once.
    pub queue_max: usize,
    /// How long others may keep the database locked before a call is answered with `Busy`.
    pub busy_wait_max: Duration,
    pub synchronous: Synchronous,
    /// How many of the newest requests are remembered however old they are. A clock that is wrong at
    /// the first use after a boot makes everything old at once; a client that repeats a call does it
    /// soon.
    pub requests_kept_min: u64,
    /// The writer fills the search index once nothing has come in for this long.
    pub index_idle: Duration,
    /// What the write-ahead log stays below while nobody reads for many seconds at a time. It is
    /// emptied long before.
    pub wal_bytes_max: u64,
    /// How long a search waits for the newest events to be indexed before it goes without them.
    pub search_wait_max: Duration,
    /// The most pages the file may have. For tests of a full disk.
    #[doc(hidden)]
    pub pages_max: Option<u32>,
    /// After how many appends the process dies, before anyone hears of the last. For tests of
    /// crashes: nothing else hits that moment for certain.
    #[doc(hidden)]
    pub dies_after: Option<u64>,
}

/// What a commit waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Synchronous {
    /// Until it is on disk. Nothing that was answered is lost with the power.
    #[default]
    Full,
    /// Until the system has it. The last commits before a loss of power may be gone.
    Normal,
}

impl Default for SqliteSettings {
    fn default() -> Self {
        Self {
            queue_max: 1024,
            busy_wait_max: Duration::from_secs(10),
            synchronous: Synchronous::Full,
            requests_kept_min: 10_000,
            index_idle: Duration::from_millis(50),
            wal_bytes_max: 64 * 1024 * 1024,
            search_wait_max: Duration::from_secs(2),
            pages_max: None,
            dies_after: None,
        }
    }
}
