//! What a process remembers of sessions besides the store. All of it can be found out again.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

use engine::{RunId, Timestamp};
use insight::Index;
use parking_lot::Mutex;

use super::{record::Record, search};

/// How many sessions are remembered with what they say.
const RECORDS_MAX: usize = 500;
/// How much they may take together, in bytes.
const BYTES_MAX: usize = 8 << 20;

/// Remembered things. Copies share them.
#[derive(Clone, Default)]
pub struct Memory(Arc<Mutex<Kept>>);

#[derive(Default)]
struct Kept {
    /// Whether the files of sessions that no run has were looked for.
    is_scanned: bool,
    /// When sessions that are over were last put away.
    cleaned_at: Option<Timestamp>,
    /// The folder that was last looked through for workflows.
    folder: Option<String>,
    /// What is searched. Made when it is first needed.
    index: Option<Index>,
    /// What sessions say, and how long their logs were then.
    records: BTreeMap<RunId, (u64, Arc<Record>)>,
    /// How much they take together, about, in bytes.
    bytes: usize,
    /// The runs that are no sessions, or are none any more.
    none: BTreeSet<RunId>,
}

impl Kept {
    fn drop_record(&mut self, run: RunId) {
        if let Some((_, record)) = self.records.remove(&run) {
            self.bytes = self.bytes.saturating_sub(size(&record));
        }
    }
}

/// Returns how much a session takes, about, in bytes.
fn size(record: &Record) -> usize {
    let texts = record.log.iter().chain(&record.archive_log).map(String::len).sum::<usize>();
    texts + serde_json::to_string(&record.node_outputs).map_or(0, |it| 2 * it.len())
}

impl fmt::Debug for Memory {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Memory")
    }
}

impl PartialEq for Memory {
    /// What is remembered is not a setting.
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl Eq for Memory {}

impl Memory {
    /// Whether files are to be looked for now. Only the first who asks is told so.
    pub(super) fn begin_scan(&self) -> bool {
        !std::mem::replace(&mut self.0.lock().is_scanned, true)
    }

    /// Whether sessions are to be put away now: it is long enough ago.
    pub(super) fn begin_cleaning(&self, now: Timestamp, every: std::time::Duration) -> bool {
        let mut kept = self.0.lock();
        let is_due = kept.cleaned_at.is_none_or(|it| every <= now.since(it));
        if is_due {
            kept.cleaned_at = Some(now);
        }
        is_due
    }

    /// Returns what a session says whose log is so long.
    pub(super) fn record(&self, run: RunId, length: u64) -> Option<Arc<Record>> {
        let kept = self.0.lock();
        let (known, record) = kept.records.get(&run)?;
        (*known == length).then(|| Arc::clone(record))
    }

    /// Keeps what a session says whose log is so long.
    pub(super) fn keep_record(&self, run: RunId, length: u64, record: Arc<Record>) {
        let mut kept = self.0.lock();
        kept.drop_record(run);
        kept.bytes += size(&record);
        kept.records.insert(run, (length, record));
        while RECORDS_MAX < kept.records.len() || BYTES_MAX < kept.bytes && 1 < kept.records.len() {
            // The oldest is the least likely to be asked for.
            let Some(oldest) = kept.records.keys().find(|it| **it != run).copied() else { break };
            kept.drop_record(oldest);
        }
    }

    /// Whether a run is known to be no session, or none any more.
    pub(super) fn is_none(&self, run: RunId) -> bool {
        self.0.lock().none.contains(&run)
    }

    /// Keeps that a run is not a session, or none any more.
    pub(super) fn keep_none(&self, run: RunId) {
        let mut kept = self.0.lock();
        kept.drop_record(run);
        kept.none.insert(run);
    }

    /// Returns the folder that was last looked through for workflows.
    pub(super) fn folder(&self) -> Option<String> {
        self.0.lock().folder.clone()
    }

    /// Keeps which folder was looked through.
    pub(super) fn keep_folder(&self, folder: String) {
        self.0.lock().folder = Some(folder);
    }

    /// Does something with the index over sessions.
    pub(super) fn with_index<T>(&self, doing: impl FnOnce(&mut Index) -> T) -> T {
        doing(self.0.lock().index.get_or_insert_with(search::empty))
    }

    /// Drops a session from the index.
    pub(super) fn forget(&self, session: &str) {
        if let Some(index) = &mut self.0.lock().index {
            index.remove(session);
        }
    }
}
