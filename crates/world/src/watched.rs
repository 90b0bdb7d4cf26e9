//! Folders that are listed again and again: the system says which of their files changed since, so
//! that the others need not be looked at.

use std::{collections::BTreeMap, io, path::Path, sync::Arc};

use parking_lot::Mutex;
use runtime::Stat;

use crate::{beneath::Root, news::News};

/// What is known of folders, by what the system tells them apart by.
#[derive(Debug, Clone, Default)]
pub(crate) struct Watched(Arc<Mutex<BTreeMap<(u64, u64), Folder>>>);

/// A folder, as it was when it was last listed.
#[derive(Debug)]
struct Folder {
    news: News,
    files: BTreeMap<String, Stat>,
}

impl Watched {
    /// Returns what is in a folder, of whatever kind: anyone who reads it is told what it is. Links
    /// are not followed.
    pub(crate) fn list(&self, folder: &Root) -> io::Result<Vec<(String, Stat)>> {
        let id = folder.id()?;
        let mut folders = self.0.lock();
        let known = folders.get_mut(&id);
        if let Some(known) = known
            && let Some(happened) = known.news.read()
        {
            for name in happened.entries {
                match folder.find_named(Path::new(&name)) {
                    Some(stat) => known.files.insert(name, stat),
                    None => known.files.remove(&name),
                };
            }
            return Ok(known.files.iter().map(|(name, stat)| (name.clone(), *stat)).collect());
        }
        folders.remove(&id);
        // First the watch, then the look: what happens in between is seen twice, and not missed.
        let news = News::begin(folder);
        let files = list(folder)?;
        if let Some(news) = news {
            folders.insert(id, Folder { news, files: files.iter().cloned().collect() });
        }
        Ok(files)
    }
}

/// Looks at every file of a folder.
fn list(folder: &Root) -> io::Result<Vec<(String, Stat)>> {
    let mut found = Vec::new();
    for entry in folder.list()? {
        let entry = entry?;
        let Some(name) = entry.name() else { continue };
        if let Some(stat) = entry.stat()? {
            found.push((name, stat));
        }
    }
    Ok(found)
}
