//! What a process remembers of sessions besides the store. All of it can be found out again.

use std::{collections::BTreeSet, fmt, sync::Arc};

use engine::{RunId, Timestamp};
use insight::Index;
use parking_lot::Mutex;

use super::search;

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
    /// The runs that are no sessions, or are none any more.
    none: BTreeSet<RunId>,
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

    /// Whether a run is known to be no session, or none any more.
    pub(super) fn is_none(&self, run: RunId) -> bool {
        self.0.lock().none.contains(&run)
    }

    /// Keeps that a run is not a session, or none any more.
    pub(super) fn keep_none(&self, run: RunId) {
        self.0.lock().none.insert(run);
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
