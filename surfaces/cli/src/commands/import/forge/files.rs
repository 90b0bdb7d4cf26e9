//! The files of a workspace that is elsewhere: what there is, and how it is copied.

use std::{
    io,
    path::{Path, PathBuf},
};

use dialects::forge::STATE_FILE;
use world::beneath::{Care, Kind, Root};

/// How many folders deep a workspace may be.
const DEPTH_MAX: usize = 8;
/// How many files a workspace may have.
const FILES_MAX: usize = 10_000;
/// The largest file that is copied.
const FILE_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Returns the folders right in a folder that have a file of this name, in order.
pub(super) fn folders_with(folder: &Path, name: &str) -> Vec<PathBuf> {
    let Ok(opened) = Root::open(folder) else { return Vec::new() };
    let names = opened.names().unwrap_or_default().into_iter();
    let names = names.map(|it| PathBuf::from(it.trim_end_matches('/')));
    let has_file = |it: &PathBuf| opened.stat(&it.join(name)).is_ok();
    names.filter(has_file).map(|it| folder.join(it)).collect()
}

/// Reads a text.
pub(super) fn read_text(path: &Path) -> Result<String, String> {
    let folder = Root::open(path.parent().unwrap_or(Path::new("")));
    let name = Path::new(path.file_name().unwrap_or_default());
    let read = folder.and_then(|it| it.read_text(name, FILE_BYTES_MAX));
    read.map_err(|error| told(path, &error))
}

/// What is to be copied.
pub(super) struct Copies {
    from: Root,
    project: Root,
    /// The workspace in the project that is copied into.
    target: PathBuf,
    /// Seen from the workspace; what is there already says the same.
    files: Vec<PathBuf>,
    /// What is not copied, and why.
    pub(super) left: Vec<String>,
}

impl Copies {
    /// Looks at every file of a workspace but its state, and refuses where one would be overwritten
    /// or `root` be left.
    pub(super) fn plan(from: &Path, to: &Path, root: &Path) -> Result<Self, String> {
        let out = || format!("`{}` leads out of this project", to.display());
        let mut copies = Self {
            from: Root::open(from).map_err(|error| told(from, &error))?,
            project: Root::project(root).map_err(|error| told(root, &error))?,
            target: to.strip_prefix(root).map_err(|_| out())?.to_owned(),
            files: Vec::new(),
            left: Vec::new(),
        };
        copies.add(Path::new(""), DEPTH_MAX)?;
        copies.files.retain(|it| it != Path::new(STATE_FILE));
        for file in &copies.files {
            let to = copies.target.join(file);
            let there = copies.project.find_kind(&to).map_err(|error| told(&to, &error))?;
            if there.is_some() && !copies.is_same(file, &to) {
                let to = to.display();
                return Err(format!("`{to}` is there and says something else; move it away first"));
            }
        }
        Ok(copies)
    }

    fn add(&mut self, folder: &Path, depth: usize) -> Result<(), String> {
        let opened = self.from.enter(folder).map_err(|error| told(folder, &error))?;
        for name in opened.names().map_err(|error| told(folder, &error))? {
            let path = folder.join(name.trim_end_matches('/'));
            let kind = self.from.find_kind(&path).map_err(|error| told(&path, &error))?;
            match kind {
                Some(Kind::Folder) => {
                    let Some(depth) = depth.checked_sub(1) else {
                        return Err(format!("it has folders more than {DEPTH_MAX} deep"));
                    };
                    self.add(&path, depth)?;
                }
                Some(Kind::File) => self.files.push(path),
                Some(Kind::Link | Kind::Other) => {
                    let path = self.from.path().join(path);
                    self.left.push(format!("`{}` is not a regular file", path.display()));
                }
                None => {}
            }
            if FILES_MAX < self.files.len() {
                return Err(format!("it has more than {FILES_MAX} files"));
            }
        }
        Ok(())
    }

    /// Copies what is not there.
    pub(super) fn make(&self) -> Result<(), String> {
        for file in &self.files {
            let to = self.target.join(file);
            if self.project.find_kind(&to).is_ok_and(|it| it.is_some()) {
                continue;
            }
            let read = self.from.read(file, FILE_BYTES_MAX);
            let (bytes, _) = read.map_err(|error| told(file, &error))?;
            let made = self.project.place_new(&to, &bytes, Care::Private);
            made.map_err(|error| told(&to, &error))?;
        }
        Ok(())
    }

    fn is_same(&self, file: &Path, to: &Path) -> bool {
        let there = self.project.find_kind(to);
        let read = |root: &Root, path: &Path| root.read(path, FILE_BYTES_MAX).ok().map(|it| it.0);
        there.is_ok_and(|it| it == Some(Kind::File))
            && read(&self.from, file) == read(&self.project, to)
    }
}

fn told(path: &Path, error: &io::Error) -> String {
    format!("`{}`: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use std::fs;

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
