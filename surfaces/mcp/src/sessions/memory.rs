//! What a process remembers of sessions besides the store. All of it can be found out again.

use std::{fmt, sync::Arc};

use dialects::kit::{Indexed, Indexing};
use engine::Timestamp;
use insight::Index;
use parking_lot::Mutex;

/// How many texts the index holds.
const ENTRIES_MAX: usize = 10_000;

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
    pub(crate) fn begin_scan(&self) -> bool {
        !std::mem::replace(&mut self.0.lock().is_scanned, true)
    }

    /// Whether sessions are to be put away now: it is long enough ago.
    pub(crate) fn begin_cleaning(&self, now: Timestamp, every: std::time::Duration) -> bool {
        let mut kept = self.0.lock();
        let is_due = kept.cleaned_at.is_none_or(|it| every <= now.since(it));
        if is_due {
            kept.cleaned_at = Some(now);
        }
        is_due
    }

    /// Returns the folder that was last looked through for workflows.
    pub(crate) fn folder(&self) -> Option<String> {
        self.0.lock().folder.clone()
    }

    /// Keeps which folder was looked through.
    pub(crate) fn keep_folder(&self, folder: String) {
        self.0.lock().folder = Some(folder);
    }

    /// Takes texts into the index that have changed, and returns which fit the query.
    pub(crate) fn index(&self, indexing: Indexing) -> Indexed {
        let Indexing { is_cleared, texts, query } = indexing;
        let mut kept = self.0.lock();
        let index = kept.index.get_or_insert_with(|| Index::new(ENTRIES_MAX));
        if is_cleared {
            index.clear();
        }
        let mut news = 0;
        for (id, version, text) in &texts {
            if index.version(id) != Some(*version) {
                index.put(id, *version, text);
                news += 1;
            }
        }
        let hits = query.map(|query| index.search(&query, index.len(), 0.0)).unwrap_or_default();
        let hits = hits.into_iter().map(|it| (it.id, f64::from(it.similarity))).collect();
        Indexed { news, count: index.len(), bytes: index.bytes(), hits }
    }
}
