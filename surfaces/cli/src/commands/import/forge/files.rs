//! The files of a workspace that is elsewhere: what there is, and how it is copied.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use mcp::forge::STATE_FILE;

/// How many folders deep a workspace may be.
const DEPTH_MAX: usize = 8;
/// How many files a workspace may have.
const FILES_MAX: usize = 10_000;

/// Returns the folders right in a folder that have a file of this name, in order.
pub(super) fn folders_with(folder: &Path, name: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> =
        entries.map(|it| it.path()).filter(|it| it.join(name).is_file()).collect();
    found.sort();
    found
}

/// Reads a text.
pub(super) fn read_text(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| told(path, &error))
}

/// What is to be copied.
pub(super) struct Copies {
    /// From where to where; what is there already says the same.
    files: Vec<(PathBuf, PathBuf)>,
    /// What is not copied, and why.
    pub(super) left: Vec<String>,
}

impl Copies {
    /// Looks at every file of a workspace but its state, and refuses where one would be overwritten
    /// or `root` be left.
    pub(super) fn plan(from: &Path, to: &Path, root: &Path) -> Result<Self, String> {
        let mut copies = Self { files: Vec::new(), left: Vec::new() };
        copies.add(from, to, DEPTH_MAX)?;
        let state = from.join(STATE_FILE);
        copies.files.retain(|(from, _)| *from != state);
        for (from, to) in &copies.files {
            if !is_within(to, root) {
                return Err(format!("`{}` leads out of this project", to.display()));
            }
            if to.symlink_metadata().is_ok() && !is_same(from, to) {
                let to = to.display();
                return Err(format!("`{to}` is there and says something else; move it away first"));
            }
        }
        Ok(copies)
    }

    fn add(&mut self, from: &Path, to: &Path, depth: usize) -> Result<(), String> {
        let entries = fs::read_dir(from).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let mut entries = entries.map_err(|error| told(from, &error))?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let (path, kind) = (entry.path(), entry.file_type());
            let kind = kind.map_err(|error| told(&path, &error))?;
            let to = to.join(entry.file_name());
            if kind.is_dir() {
                let Some(depth) = depth.checked_sub(1) else {
                    return Err(format!("it has folders more than {DEPTH_MAX} deep"));
                };
                self.add(&path, &to, depth)?;
            } else if kind.is_file() {
                self.files.push((path, to));
            } else {
                self.left.push(format!("`{}` is no plain file", path.display()));
            }
            if FILES_MAX < self.files.len() {
                return Err(format!("it has more than {FILES_MAX} files"));
            }
        }
        Ok(())
    }

    /// Copies what is not there.
    pub(super) fn make(&self) -> Result<(), String> {
        for (from, to) in &self.files {
            if let Some(folder) = to.parent() {
                fs::create_dir_all(folder).map_err(|error| told(folder, &error))?;
            }
            if to.symlink_metadata().is_err() {
                fs::copy(from, to).map_err(|error| told(to, &error))?;
            }
        }
        Ok(())
    }
}

/// Whether a path that may not be there yet is in a folder, whatever links are on the way.
fn is_within(path: &Path, root: &Path) -> bool {
    let there = path.ancestors().find(|it| it.symlink_metadata().is_ok());
    let there = there.and_then(|it| it.canonicalize().ok());
    there.is_some_and(|it| it.starts_with(root))
}

fn is_same(one: &Path, other: &Path) -> bool {
    let is_plain = other.symlink_metadata().is_ok_and(|it| it.is_file());
    is_plain && matches!((fs::read(one), fs::read(other)), (Ok(one), Ok(other)) if one == other)
}

fn told(path: &Path, error: &io::Error) -> String {
    format!("`{}`: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_overwrites_nothing_and_can_be_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (from, to) = (root.join("old/x"), root.join("new/x"));
        fs::create_dir_all(from.join("deep")).unwrap();
        fs::create_dir(root.join("new")).unwrap();
        for (name, text) in [(STATE_FILE, "{}"), ("request.md", "r"), ("deep/a.md", "a")] {
            fs::write(from.join(name), text).unwrap();
        }
        let plan = || Copies::plan(&from, &to, &root.join("new"));
        plan().unwrap().make().unwrap();
        plan().unwrap().make().unwrap();
        assert_eq!(read_text(&to.join("deep/a.md")), Ok("a".to_owned()));
        assert!(!to.join(STATE_FILE).exists());
        fs::write(to.join("request.md"), "another").unwrap();
        assert!(plan().is_err_and(|it| it.contains("request.md")));
        assert_eq!(read_text(&to.join("request.md")), Ok("another".to_owned()));
        assert!(Copies::plan(&from, &to, &root.join("old")).is_err());
    }
}
