//! `index.json`: made of the specs, and searched.

use std::collections::BTreeMap;

use engine::{Stat, Subfolder};
use insight::{
    Ranking,
    past::{IndexEntry, SpecState, SpecTexts},
};
use serde::Deserialize;

use super::{
    super::state_file::StateFile,
    files::{self, INDEX, STATE},
    library::{Library, Seen, Specs, Wanted},
};
use crate::kit::{Folder, Seeing};

/// What is remembered of each spec.
pub(super) type Entries = BTreeMap<String, (Seen, IndexEntry)>;

/// What `index.json` said when it was last read.
pub(super) struct Written {
    stat: Stat,
    pub(super) entries: Vec<IndexEntry>,
    pub(super) ranking: Ranking<usize>,
}

/// Why `index.json` is not written.
const FOREIGN: &str =
    "its `index.json` is no list of specs, so it stays: move it away to have one written";

/// Whether a text is a list of specs, and not a file of someone else's that has the same name.
fn is_index(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Named {
        #[serde(rename = "specName")]
        _spec_name: String,
    }
    serde_json::from_str::<Vec<Named>>(text).is_ok()
}

impl Specs {
    /// Returns how many specs there are, and what `index.json` is to say if it says something else.
    pub(super) fn index(self) -> Seeing<Result<(usize, Option<String>), String>> {
        self.folder.folders(STATE).and_then(move |all| {
            let changed = self.library.lock().compare_entries(&all);
            let specs = self.clone();
            let wanted = Wanted::Fitting(SpecTexts::wants);
            self.read(changed, wanted, Library::read_entry).and_then(move |()| {
                let text = {
                    let library = specs.library.lock();
                    let entries: Vec<&IndexEntry> =
                        library.entries.values().map(|(_, entry)| entry).collect();
                    files::pretty(&entries)
                };
                specs.old_index().map(move |old| {
                    old.map(|it| (all.len(), Some(text).filter(|new| it.as_ref() != Some(new))))
                })
            })
        })
    }

    /// Returns what `index.json` says; refuses one that is somebody else's.
    fn old_index(self) -> Seeing<Result<Option<String>, String>> {
        self.folder.stat(INDEX).then(move |stat| {
            self.folder.large(INDEX).map(move |it| match it {
                it if stat.is_none() || it.as_deref().is_some_and(is_index) => Ok(it),
                _ => Err(FOREIGN.to_owned()),
            })
        })
    }

    /// Looks whether `index.json` says something else than what is remembered of it.
    pub(super) fn written_index(self) -> Seeing<()> {
        self.folder.stat(INDEX).then(move |stat| {
            let Some(stat) = stat else {
                self.library.lock().written = None;
                return Seeing::Seen(());
            };
            if self.library.lock().written.as_ref().is_some_and(|it| it.stat == stat) {
                return Seeing::Seen(());
            }
            self.folder.large(INDEX).map(move |text| {
                let entries = text.and_then(|it| serde_json::from_str(&it).ok());
                self.library.lock().written = entries.map(|it| Written::new(stat, it));
            })
        })
    }
}

impl Written {
    fn new(stat: Stat, entries: Vec<IndexEntry>) -> Self {
        let mut ranking = Ranking::new();
        for (at, entry) in entries.iter().enumerate() {
            ranking.put(at, &entry.request_summary);
        }
        Self { stat, entries, ranking }
    }
}

impl Library {
    /// Returns the specs that are to be read again.
    fn compare_entries(&mut self, all: &[Subfolder]) -> Vec<Subfolder> {
        let mut before = std::mem::take(&mut self.entries);
        let mut changed = Vec::new();
        for inner in all {
            let seen = Seen::of(inner);
            match before.remove(&inner.name) {
                // Where nobody says that a file was changed every file has to be looked at.
                Some((known, entry)) if 0 < inner.touched && known.is_still(seen) => {
                    self.entries.insert(inner.name.clone(), (known, entry));
                }
                Some(_) | None => changed.push(inner.clone()),
            }
        }
        changed
    }

    fn read_entry(&mut self, specs: &Folder, inner: &Subfolder, texts: &[(String, String)]) {
        let state = files::find(texts, STATE).and_then(StateFile::glance);
        let state = state.as_ref().map(SpecState::from);
        let root = specs.parent();
        let (directory, root) = (inner.name.as_str(), root.as_str());
        let entry = IndexEntry::new(&SpecTexts { directory, state: state.as_ref(), texts, root });
        self.entries.insert(inner.name.clone(), (Seen::of(inner), entry));
    }
}
