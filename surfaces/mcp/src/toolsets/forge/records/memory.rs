//! What a process remembers of past pipelines, and of what it asked. All of it can be done without.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt,
    sync::Arc,
};

use definition::Digest;
use tokio::sync::Mutex;

use super::{super::place::Folder, library::Library};

/// How many questions are remembered to have been shown.
const SHOWN_MAX: usize = 1000;

/// Remembered things. Copies share them.
#[derive(Clone, Default)]
pub struct Memory {
    libraries: Arc<parking_lot::Mutex<BTreeMap<Folder, Arc<Mutex<Library>>>>>,
    /// The questions at checkpoints that were shown to someone, oldest first.
    shown: Arc<parking_lot::Mutex<VecDeque<Digest>>>,
}

impl fmt::Debug for Memory {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Memory")
    }
}

impl PartialEq for Memory {
    /// What is remembered is no setting.
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl Memory {
    /// Returns what is remembered of a folder of specs. Whoever holds it reads for all.
    pub(super) fn library(&self, specs: &Folder) -> Arc<Mutex<Library>> {
        Arc::clone(self.libraries.lock().entry(specs.clone()).or_default())
    }

    /// Notes that a question is shown, and returns whether it was before.
    pub(in crate::toolsets::forge) fn show(&self, question: &Digest) -> bool {
        let mut shown = self.shown.lock();
        if shown.contains(question) {
            return true;
        }
        if SHOWN_MAX <= shown.len() {
            shown.pop_front();
        }
        shown.push_back(question.clone());
        false
    }
}
