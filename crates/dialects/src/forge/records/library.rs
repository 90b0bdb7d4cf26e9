//! Every spec of a folder, as far as it is remembered. A spec is read again only after something
//! changed in it, and a new process begins with what the last one wrote down.

use std::{collections::BTreeMap, fmt, sync::Arc};

use engine::{Stat, Subfolder, Timestamp};
use insight::{
    Ranking,
    past::{HistoryIndex, Record, SpecState},
};
use parking_lot::Mutex;

use super::{
    super::{answer::Failure, intake::request::REQUEST_FILE, place, state_file::StateFile},
    files::{self, HISTORY_INDEX, STATE, SUMMARY, unreadable},
    friction::Reports,
    index::{Entries, Written},
};
use crate::kit::{Caller, Folder, Seeing};

/// How many specs are read at once.
const READ_AT_ONCE: usize = 256;
/// Up to so many pipelines are written down after every change; the list of more takes its time,
/// and anyone who only asks does not wait for it.
const WRITTEN_AT_ONCE_MAX: usize = 1000;

/// What a process remembers of past pipelines, by the folder of the specs. Copies share it, and all
/// of it can be done without.
#[derive(Clone, Default)]
pub struct Memory(Arc<Mutex<BTreeMap<Folder, Arc<Mutex<Library>>>>>);

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

/// What a folder looked like when it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seen {
    stat: Option<Stat>,
    touched: u64,
}

impl Seen {
    pub(super) fn of(inner: &Subfolder) -> Self {
        Self { stat: inner.stat, touched: inner.touched }
    }

    /// Whether nothing happened in between, as far as anyone can tell.
    pub(super) fn is_still(self, now: Self) -> bool {
        let is_known = 0 < self.touched && 0 < now.touched;
        self.stat == now.stat && (!is_known || self.touched == now.touched)
    }
}

/// What is remembered of a folder of specs.
#[derive(Default)]
pub(super) struct Library {
    /// By folder; nothing where its state cannot be read.
    runs: BTreeMap<String, (Seen, Option<Record>)>,
    /// The pipelines that are over, by folder.
    ranking: Ranking<String>,
    /// The specs as they were when they were last looked at.
    looked_at: Option<Arc<[Subfolder]>>,
    /// Whether what was written down is not so any more.
    is_owed: bool,
    was_written: bool,
    pub(super) entries: Entries,
    pub(super) written: Option<Written>,
    pub(super) reports: Reports,
}

/// The specs of a folder, when they are looked at.
#[derive(Clone)]
pub(super) struct Specs {
    pub(super) folder: Folder,
    pub(super) library: Arc<Mutex<Library>>,
    pub(super) at: Timestamp,
}

/// Which files of a spec are read.
#[derive(Clone, Copy)]
pub(super) enum Wanted {
    These(&'static [&'static str]),
    Fitting(fn(&str) -> bool),
}

/// Takes in what was read of a spec: the names of the files that can be read, and their texts.
pub(super) type Take = fn(&mut Library, &Folder, &Subfolder, &[(String, String)]);

impl Specs {
    /// Returns those that the settings name.
    pub(super) fn of(caller: &Caller) -> Self {
        Self::at(caller, place::specs(caller))
    }

    /// Returns those of another folder.
    pub(super) fn at(caller: &Caller, folder: Folder) -> Self {
        let memory = &caller.options.forge.memory;
        let library = Arc::clone(memory.0.lock().entry(folder.clone()).or_default());
        Self { folder, library, at: caller.at }
    }

    /// Brings what is remembered up to date.
    pub(super) fn runs(self) -> Seeing<Result<Arc<Mutex<Library>>, Failure>> {
        let specs = self.clone();
        self.update().then(move |updated| {
            if let Err(problem) = updated {
                return Seeing::Seen(Err(unreadable(specs.folder.as_str(), &problem)));
            }
            let is_due = {
                let library = specs.library.lock();
                !library.was_written || library.len() <= WRITTEN_AT_ONCE_MAX
            };
            let library = Arc::clone(&specs.library);
            let written = if is_due { specs.write_down() } else { Seeing::Seen(()) };
            written.map(move |()| Ok(library))
        })
    }

    /// Takes what changed into the history now, so that nobody has to wait for it later. Anyone who
    /// asks next is told what is wrong.
    pub(super) fn index_now(self) -> Seeing<()> {
        let specs = self.clone();
        self.runs().then(move |_| specs.write_down())
    }

    fn write_down(self) -> Seeing<()> {
        let text = self.library.lock().write_down(self.at);
        text.map_or(Seeing::Seen(()), |it| self.folder.keep(HISTORY_INDEX, it))
    }

    fn update(self) -> Seeing<Result<(), String>> {
        let is_first = self.library.lock().looked_at.is_none();
        let index = if is_first { self.folder.large(HISTORY_INDEX) } else { Seeing::Seen(None) };
        index.then(move |text| {
            let entries = text.map(|it| HistoryIndex::parse(&it).entries).unwrap_or_default();
            let known: BTreeMap<String, Record> =
                entries.into_iter().map(|it| (it.directory.clone(), it)).collect();
            self.library.lock().is_owed |= is_first && known.is_empty();
            self.folder.folders(STATE).and_then(move |all| {
                let changed = self.library.lock().compare(&all, known);
                let library = Arc::clone(&self.library);
                let wanted = Wanted::These(&[STATE, REQUEST_FILE, SUMMARY]);
                self.read(changed, wanted, Library::read)
                    .map(move |read| read.map(|()| library.lock().looked_at = Some(all)))
            })
        })
    }

    /// Reads specs, some at a time.
    pub(super) fn read(
        self,
        mut left: Vec<Subfolder>,
        wanted: Wanted,
        take: Take,
    ) -> Seeing<Result<(), String>> {
        let some = left.split_off(left.len().saturating_sub(READ_AT_ONCE));
        if some.is_empty() {
            return Seeing::Seen(Ok(()));
        }
        let names = match wanted {
            Wanted::These(files) => {
                let files: Vec<String> = files.iter().map(|it| (*it).to_owned()).collect();
                Seeing::Seen(Ok(vec![files; some.len()]))
            }
            Wanted::Fitting(wanted) => {
                let folders = some.iter().map(|it| it.name.clone()).collect();
                self.folder.names(folders, Arc::new(wanted))
            }
        };
        names.and_then(move |names| {
            let of_spec = |(inner, files): (&Subfolder, &Vec<String>)| {
                files.iter().map(|it| path(&inner.name, it)).collect::<Vec<_>>()
            };
            let paths = some.iter().zip(&names).flat_map(of_spec).collect();
            self.folder.texts(paths).and_then(move |texts| {
                let mut texts = texts.into_iter();
                for (inner, names) in some.iter().zip(names) {
                    let read = names.into_iter().zip(texts.by_ref());
                    let read: Vec<_> = read.filter_map(|(name, it)| Some((name, it?))).collect();
                    take(&mut self.library.lock(), &self.folder, inner, &read);
                }
                self.read(left, wanted, take)
            })
        })
    }
}

impl Library {
    /// Returns all pipelines whose state can be read, by folder.
    pub(super) fn records(&self) -> impl Iterator<Item = &Record> {
        self.runs.values().filter_map(|(_, record)| record.as_ref())
    }

    /// Returns how many pipelines are over.
    pub(super) fn len(&self) -> usize {
        self.ranking.len()
    }

    /// Returns the pipelines that are over and have most to do with a query, with their scores.
    pub(super) fn search(&self, query: &str, max: usize) -> Vec<(Record, f64)> {
        let found = self.ranking.search(query, max).into_iter();
        let with_record = found.filter_map(|(directory, score)| {
            let (_, record) = self.runs.get(&directory)?;
            Some((record.clone()?, score))
        });
        with_record.collect()
    }

    /// Compares the specs with what is remembered, and returns those that are to be read. `known` is
    /// what was written down of them.
    fn compare(
        &mut self,
        all: &Arc<[Subfolder]>,
        mut known: BTreeMap<String, Record>,
    ) -> Vec<Subfolder> {
        if self.looked_at.as_ref().is_some_and(|it| Arc::ptr_eq(it, all)) {
            return Vec::new();
        }
        self.forget_all_but(all);
        let mut changed = Vec::new();
        for inner in all.iter().filter(|it| it.stat.is_some()) {
            let seen = Seen::of(inner);
            let is_still = |(before, _): &(Seen, _)| before.is_still(seen);
            if self.runs.get(&inner.name).is_some_and(is_still) {
                continue;
            }
            let is_good = |it: &Record| is_of(it, inner.stat) && !it.is_nameless();
            match known.remove(&inner.name).filter(is_good) {
                Some(record) => self.put(inner.name.clone(), seen, Some(record)),
                None => changed.push(inner.clone()),
            }
        }
        // What is left was written down of folders that are gone or have changed.
        self.is_owed |= !known.is_empty();
        changed
    }

    fn forget_all_but(&mut self, all: &[Subfolder]) {
        let is_there = |name: &String| {
            let at = all.binary_search_by(|it| it.name.as_str().cmp(name));
            at.ok().and_then(|it| all.get(it)).is_some_and(|it| it.stat.is_some())
        };
        let gone: Vec<String> = self.runs.keys().filter(|it| !is_there(it)).cloned().collect();
        for name in gone {
            self.runs.remove(&name);
            self.is_owed = true;
            self.ranking.remove(&name);
        }
    }

    fn read(&mut self, _: &Folder, inner: &Subfolder, texts: &[(String, String)]) {
        let state = files::find(texts, STATE).and_then(StateFile::glance);
        let request = files::find(texts, REQUEST_FILE).unwrap_or_default();
        // A request says best what a pipeline was about.
        let summary = files::find(texts, SUMMARY).filter(|_| request.is_empty());
        let summary = summary.unwrap_or_default();
        let mut record = state
            .as_ref()
            .map(|it| Record::new(&inner.name, &SpecState::from(it), request, summary));
        if let (Some(record), Some(stat)) = (&mut record, inner.stat) {
            (record.state_size, record.state_modified) = (stat.size, stat.modified);
        }
        // What is written down is of pipelines that are over.
        let is_over = |it: Option<&Record>| it.is_some_and(|it| it.outcome.is_over());
        let before = self.runs.get(&inner.name).and_then(|(_, it)| it.as_ref());
        self.is_owed |= is_over(before) || is_over(record.as_ref());
        self.put(inner.name.clone(), Seen::of(inner), record);
    }

    fn put(&mut self, name: String, seen: Seen, record: Option<Record>) {
        match record.as_ref().filter(|it| it.outcome.is_over()) {
            Some(record) => self.ranking.put(name.clone(), &record.searched()),
            None => self.ranking.remove(&name),
        }
        self.runs.insert(name, (seen, record));
    }

    /// Returns what is to be written down; `None` where that was done.
    fn write_down(&mut self, now: Timestamp) -> Option<String> {
        if !self.is_owed {
            return None;
        }
        (self.is_owed, self.was_written) = (false, true);
        let over = self.records().filter(|it| it.outcome.is_over());
        let index = HistoryIndex { indexed_at: now.to_seconds(), entries: over.cloned().collect() };
        Some(if index.entries.len() <= WRITTEN_AT_ONCE_MAX {
            files::pretty(&index)
        } else {
            serde_json::to_string(&index).unwrap_or_default()
        })
    }
}

/// Whether a record was made of the state that is there now.
fn is_of(record: &Record, stat: Option<Stat>) -> bool {
    stat == Some(Stat { size: record.state_size, modified: record.state_modified })
}

/// Returns the path of a file in a folder.
pub(super) fn path(folder: &str, file: &str) -> String {
    format!("{folder}/{file}")
}
