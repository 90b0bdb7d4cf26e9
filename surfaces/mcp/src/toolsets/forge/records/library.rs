//! Every spec of a folder, as far as it is remembered. A spec is read again only after something
//! changed in it, and a new process begins with what the last one wrote down.

use std::{collections::BTreeMap, sync::Arc};

use insight::{
    Ranking,
    past::{HistoryIndex, Record, SpecState},
};
use runtime::{Stat, Subfolder};
use tokio::sync::OwnedMutexGuard;

use super::{
    super::{answer::Failure, place::Folder, state_file::StateFile},
    files::{self, HISTORY_INDEX, REQUEST, STATE, SUMMARY, unreadable},
    friction::Reports,
    index::{Entries, Written},
};
use crate::tool::Call;

/// How many specs are read at once.
const READ_AT_ONCE: usize = 256;
/// Up to so many pipelines are written down after every change; the list of more takes its time,
/// and anyone who only asks does not wait for it.
const WRITTEN_AT_ONCE_MAX: usize = 1000;

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

/// What is remembered of the specs, brought up to date.
pub(super) async fn runs(
    call: &Call<'_>,
    specs: &Folder,
) -> Result<OwnedMutexGuard<Library>, Failure> {
    let library = call.options.memory.library(specs);
    let mut library = library.lock_owned().await;
    let updated = library.update(call, specs).await;
    updated.map_err(|problem| unreadable(specs.as_str(), &problem))?;
    if !library.was_written || library.len() <= WRITTEN_AT_ONCE_MAX {
        library.write_down(call, specs).await;
    }
    Ok(library)
}

/// Takes what changed among the specs into the history now, so that nobody has to wait for it later.
pub(in crate::toolsets::forge) async fn index_now(call: &Call<'_>) {
    let specs = Folder::specs(call);
    // Anyone who asks next is told what is wrong.
    if let Ok(mut library) = runs(call, &specs).await {
        library.write_down(call, &specs).await;
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

    async fn update(&mut self, call: &Call<'_>, specs: &Folder) -> Result<(), String> {
        let mut known = BTreeMap::new();
        if self.looked_at.is_none() {
            let text = specs.read_large(call, HISTORY_INDEX).await.unwrap_or_default();
            let entries = HistoryIndex::parse(&text).entries.into_iter();
            known = entries.map(|it| (it.directory.clone(), it)).collect();
            self.is_owed = known.is_empty();
        }
        let all = specs.inner(call, STATE).await?;
        if self.looked_at.as_ref().is_some_and(|it| Arc::ptr_eq(it, &all)) {
            return Ok(());
        }
        self.forget_all_but(&all);
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
                None => changed.push(inner),
            }
        }
        // What is left was written down of folders that are gone or have changed.
        self.is_owed |= !known.is_empty();
        for some in changed.chunks(READ_AT_ONCE) {
            self.read(call, specs, some).await?;
        }
        self.looked_at = Some(all);
        Ok(())
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

    async fn read(
        &mut self,
        call: &Call<'_>,
        specs: &Folder,
        some: &[&Subfolder],
    ) -> Result<(), String> {
        let paths = some.iter().flat_map(|it| [STATE, REQUEST].map(|file| path(&it.name, file)));
        let texts = specs.read_all(call, paths.collect()).await?;
        let mut summaries = read_summaries(call, specs, some, &texts).await?;
        for (inner, texts) in some.iter().zip(texts.chunks(2)) {
            let [state, request] = texts else { continue };
            let state = state.as_deref().and_then(StateFile::glance);
            let state = state.as_ref().map(SpecState::from);
            let request = request.as_deref().unwrap_or_default();
            let summary = summaries.remove(&inner.name).unwrap_or_default();
            let mut record = state.map(|it| Record::new(&inner.name, &it, request, &summary));
            if let (Some(record), Some(stat)) = (&mut record, inner.stat) {
                (record.state_size, record.state_modified) = (stat.size, stat.modified);
            }
            self.is_owed = true;
            self.put(inner.name.clone(), Seen::of(inner), record);
        }
        Ok(())
    }

    fn put(&mut self, name: String, seen: Seen, record: Option<Record>) {
        match record.as_ref().filter(|it| it.outcome.is_over()) {
            Some(record) => self.ranking.put(name.clone(), &record.searched()),
            None => self.ranking.remove(&name),
        }
        self.runs.insert(name, (seen, record));
    }

    async fn write_down(&mut self, call: &Call<'_>, specs: &Folder) {
        if !self.is_owed {
            return;
        }
        (self.is_owed, self.was_written) = (false, true);
        let now = call.runtime.now();
        let over = self.records().filter(|it| it.outcome.is_over());
        let index = HistoryIndex { indexed_at: now.to_seconds(), entries: over.cloned().collect() };
        let text = if index.entries.len() <= WRITTEN_AT_ONCE_MAX {
            files::pretty(&index)
        } else {
            serde_json::to_string(&index).unwrap_or_default()
        };
        files::keep(call, specs, HISTORY_INDEX, text).await;
    }
}

/// Reads the summaries of the specs that have no request, by folder. `texts` has the state and the
/// request of each.
async fn read_summaries(
    call: &Call<'_>,
    specs: &Folder,
    some: &[&Subfolder],
    texts: &[Option<String>],
) -> Result<BTreeMap<String, String>, String> {
    let is_asked = |it: &[Option<String>]| matches!(it, [_, Some(request)] if !request.is_empty());
    let lacking = some.iter().zip(texts.chunks(2)).filter(|(_, texts)| !is_asked(texts));
    let names: Vec<String> = lacking.map(|(inner, _)| inner.name.clone()).collect();
    if names.is_empty() {
        return Ok(BTreeMap::new());
    }
    let paths = names.iter().map(|it| path(it, SUMMARY)).collect();
    let texts = specs.read_all(call, paths).await?;
    Ok(names.into_iter().zip(texts).filter_map(|(name, text)| Some((name, text?))).collect())
}

/// Whether a record was made of the state that is there now.
fn is_of(record: &Record, stat: Option<Stat>) -> bool {
    stat == Some(Stat { size: record.state_size, modified: record.state_modified })
}

/// Returns the path of a file in a folder.
pub(super) fn path(folder: &str, file: &str) -> String {
    format!("{folder}/{file}")
}

/// Returns what is remembered without looking again.
pub(super) async fn library(call: &Call<'_>, specs: &Folder) -> OwnedMutexGuard<Library> {
    call.options.memory.library(specs).lock_owned().await
}
