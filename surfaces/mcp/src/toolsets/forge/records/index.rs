//! `index.json`: made of the specs, and searched.

use std::{collections::BTreeMap, sync::Arc};

use insight::{
    Ranking,
    past::{IndexEntry, SpecState, SpecTexts},
};
use runtime::{Stat, Subfolder, Wanted};

use super::{
    super::{place::Folder, state_file::StateFile},
    files::{self, INDEX, STATE},
    library::{Library, Seen, path},
};
use crate::tool::Call;

/// How many specs are read at once.
const READ_AT_ONCE: usize = 128;

/// What is remembered of each spec.
#[derive(Default)]
pub(super) struct Entries(BTreeMap<String, (Seen, IndexEntry)>);

/// What `index.json` said when it was last read.
pub(super) struct Written {
    stat: Stat,
    pub(super) entries: Vec<IndexEntry>,
    pub(super) ranking: Ranking<usize>,
}

impl Library {
    /// Writes `index.json` again, if it is to say something else. Returns how many specs there are.
    pub(super) async fn write_index(
        &mut self,
        call: &Call<'_>,
        specs: &Folder,
    ) -> Result<usize, String> {
        let all = specs.inner(call, STATE).await?;
        let mut before = std::mem::take(&mut self.entries.0);
        let mut changed = Vec::new();
        for inner in all.iter() {
            let seen = Seen::of(inner);
            match before.remove(&inner.name) {
                // Where nobody says that a file was changed every file has to be looked at.
                Some((known, entry)) if 0 < inner.touched && known.is_still(seen) => {
                    self.entries.0.insert(inner.name.clone(), (known, entry));
                }
                Some(_) | None => changed.push(inner),
            }
        }
        for some in changed.chunks(READ_AT_ONCE) {
            self.read_entries(call, specs, some).await?;
        }
        let entries: Vec<&IndexEntry> = self.entries.0.values().map(|(_, entry)| entry).collect();
        let text = files::pretty(&entries);
        if specs.read_large(call, INDEX).await.as_ref() != Some(&text) {
            specs.write_privately(call, INDEX, text).await?;
        }
        Ok(all.len())
    }

    async fn read_entries(
        &mut self,
        call: &Call<'_>,
        specs: &Folder,
        some: &[&Subfolder],
    ) -> Result<(), String> {
        let names: Vec<String> = some.iter().map(|it| it.name.clone()).collect();
        let wanted: Wanted = Arc::new(SpecTexts::wants);
        let listed = specs.list_all(call, names, wanted).await?;
        let with_folder = some.iter().zip(&listed);
        let paths =
            with_folder.flat_map(|(it, files)| files.iter().map(|file| path(&it.name, file)));
        let mut texts = specs.read_all(call, paths.collect()).await?.into_iter();
        let root = specs.parent();
        for (inner, files) in some.iter().zip(listed) {
            let read = files.into_iter().zip(texts.by_ref());
            let texts: Vec<(String, String)> =
                read.filter_map(|(name, text)| Some((name, text?))).collect();
            let (directory, root) = (inner.name.as_str(), root.as_str());
            let state = texts.iter().find(|(name, _)| name == STATE);
            let state = state.and_then(|(_, text)| StateFile::glance(text));
            let state = state.as_ref().map(SpecState::from);
            let spec = SpecTexts { directory, state: state.as_ref(), texts: &texts, root };
            let entry = IndexEntry::new(&spec);
            self.entries.0.insert(inner.name.clone(), (Seen::of(inner), entry));
        }
        Ok(())
    }

    /// Returns what `index.json` says; `None` where there is none that can be read.
    pub(super) async fn written_index(
        &mut self,
        call: &Call<'_>,
        specs: &Folder,
    ) -> Option<&Written> {
        let stat = specs.stat(call, INDEX).await.ok().flatten()?;
        if self.written.as_ref().is_none_or(|it| it.stat != stat) {
            let text = specs.read_large(call, INDEX).await?;
            let entries: Vec<IndexEntry> = serde_json::from_str(&text).ok()?;
            let mut ranking = Ranking::new();
            for (at, entry) in entries.iter().enumerate() {
                ranking.put(at, &entry.request_summary);
            }
            self.written = Some(Written { stat, entries, ranking });
        }
        self.written.as_ref()
    }
}
