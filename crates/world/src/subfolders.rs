//! The folders in a folder, each with one of its files. There may be thousands, so where the system
//! says which of them something happened in, only those are looked at again.

use std::{collections::BTreeMap, io, path::Path, sync::Arc};

use parking_lot::Mutex;
use runtime::Subfolder;

use crate::{
    beneath::{Kind, Root},
    news::News,
};

/// What is known of folders. Copies share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Watch(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    /// By folder and by the file that is looked at in each of its folders.
    folders: BTreeMap<((u64, u64), String), Folder>,
    /// How often anything was seen to have changed.
    changes: u64,
}

/// A folder, as it was when it was last looked at.
#[derive(Debug)]
struct Folder {
    news: News,
    inner: BTreeMap<String, Subfolder>,
    /// The same as a list.
    listed: Arc<[Subfolder]>,
}

impl Watch {
    /// Returns the folders in `folder` in order. Hidden ones and links are left out.
    pub(crate) fn list(&self, folder: &Root, file: &str) -> io::Result<Arc<[Subfolder]>> {
        let mut known = self.0.lock();
        let key = (folder.id()?, file.to_owned());
        known.changes += 1;
        let touched = known.changes;
        if let Some(before) = known.folders.get_mut(&key)
            && before.catch_up(folder, file, touched)
        {
            return Ok(Arc::clone(&before.listed));
        }
        known.folders.remove(&key);
        let (news, inner) = look_at_all(folder, file, touched)?;
        let listed: Arc<[Subfolder]> = inner.values().cloned().collect();
        if let Some(news) = news {
            known.folders.insert(key, Folder { news, inner, listed: Arc::clone(&listed) });
        }
        Ok(listed)
    }
}

impl Folder {
    /// Looks at what changed; `false` where that is not known any more.
    fn catch_up(&mut self, folder: &Root, file: &str, touched: u64) -> bool {
        let Some(happened) = self.news.read() else { return false };
        if happened.entries.is_empty() && happened.inside.is_empty() {
            return true;
        }
        for name in happened.entries {
            if !is_folder(folder, &name) {
                self.inner.remove(&name);
                continue;
            }
            if !self.news.follow(folder, &name) {
                return false;
            }
            self.inner.insert(name.clone(), look_at(folder, name, file, touched));
        }
        for name in happened.inside {
            if let Some(inner) = self.inner.get_mut(&name) {
                *inner = look_at(folder, name, file, touched);
            }
        }
        self.listed = self.inner.values().cloned().collect();
        true
    }
}

type All = (Option<News>, BTreeMap<String, Subfolder>);

/// First the watch, then the look: what happens in between is seen twice, and not missed.
fn look_at_all(folder: &Root, file: &str, touched: u64) -> io::Result<All> {
    let mut news = News::begin(folder);
    let mut inner = BTreeMap::new();
    for entry in folder.list()? {
        let entry = entry?;
        let Some(name) = entry.name() else { continue };
        if name.starts_with('.') || !entry.kind().is_ok_and(|it| it == Kind::Folder) {
            continue;
        }
        news = news.and_then(|mut it| it.follow(folder, &name).then_some(it));
        inner.insert(name.clone(), look_at(folder, name, file, touched));
    }
    if news.is_none() {
        inner.values_mut().for_each(|it| it.touched = 0);
    }
    Ok((news, inner))
}

fn look_at(folder: &Root, name: String, file: &str, touched: u64) -> Subfolder {
    let stat = folder.stat(&Path::new(&name).join(file)).ok();
    Subfolder { name, stat, touched }
}

fn is_folder(folder: &Root, name: &str) -> bool {
    let kind = || folder.find_kind(Path::new(name));
    !name.starts_with('.') && kind().is_ok_and(|it| it == Some(Kind::Folder))
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::{Root, Watch};

    fn shown(watch: &Watch, folder: &Path) -> Vec<String> {
        let all = watch.list(&Root::open(folder).unwrap(), "state.json").unwrap();
        let row = |it: &super::Subfolder| {
            let size = it.stat.map_or("none".to_owned(), |it| it.size.to_string());
            format!("{} {size} {}", it.name, it.touched)
        };
        all.iter().map(row).collect()
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn only_folders_in_which_something_happened_are_looked_at_again() {
        let folder = tempfile::tempdir().unwrap();
        let (watch, path) = (Watch::default(), folder.path());
        for name in ["a", "b", ".hidden"] {
            fs::create_dir(path.join(name)).unwrap();
        }
        fs::write(path.join("b/state.json"), "12").unwrap();
        fs::write(path.join("file"), "1").unwrap();
        assert_eq!(shown(&watch, path), ["a none 1", "b 2 1"]);
        assert_eq!(shown(&watch, path), ["a none 1", "b 2 1"]);
        fs::write(path.join("a/state.json"), "123").unwrap();
        assert_eq!(shown(&watch, path), ["a 3 3", "b 2 1"]);
        fs::write(path.join("b/other.md"), "x").unwrap();
        assert_eq!(shown(&watch, path), ["a 3 3", "b 2 4"]);
        fs::create_dir(path.join("c")).unwrap();
        fs::write(path.join("c/state.json"), "1").unwrap();
        assert_eq!(shown(&watch, path), ["a 3 3", "b 2 4", "c 1 5"]);
        fs::write(path.join("c/state.json"), "1234").unwrap();
        assert_eq!(shown(&watch, path), ["a 3 3", "b 2 4", "c 4 6"]);
        fs::rename(path.join("c"), path.join("d")).unwrap();
        fs::remove_dir_all(path.join("b")).unwrap();
        assert_eq!(shown(&watch, path), ["a 3 3", "d 4 7"]);
        fs::write(path.join("d/state.json"), "").unwrap();
        assert_eq!(shown(&watch, path), ["a 3 3", "d 0 8"]);
    }

    #[test]
    fn a_folder_that_was_removed_and_made_again_is_looked_at_as_a_new_one() {
        let folder = tempfile::tempdir().unwrap();
        let (watch, path) = (Watch::default(), folder.path().join("specs"));
        fs::create_dir_all(path.join("a")).unwrap();
        assert_eq!(shown(&watch, &path).len(), 1);
        for name in ["b", "c"] {
            fs::remove_dir_all(&path).unwrap();
            fs::create_dir_all(path.join(name)).unwrap();
            let found = shown(&watch, &path);
            assert!(found.len() == 1 && found[0].starts_with(name), "{found:?}");
        }
    }
}
