//! What a process remembers of past pipelines. All of it can be done without.

use std::{collections::BTreeMap, fmt, sync::Arc};

use tokio::sync::Mutex;

use super::{super::place::Folder, library::Library};

/// Remembered things. Copies share them.
#[derive(Clone, Default)]
pub struct Memory {
    libraries: Arc<parking_lot::Mutex<BTreeMap<Folder, Arc<Mutex<Library>>>>>,
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

impl Memory {
    /// Returns what is remembered of a folder of specs. Anyone who holds it reads for all.
    pub(super) fn library(&self, specs: &Folder) -> Arc<Mutex<Library>> {
        Arc::clone(self.libraries.lock().entry(specs.clone()).or_default())
    }
}
