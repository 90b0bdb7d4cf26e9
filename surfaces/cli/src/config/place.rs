//! Where things are: the project, the folder that new runs are worked in, the user's own folder.
//!
//! A git worktree belongs to the project of its main worktree, so that all of them share one
//! database. What git knows is read from its files; no process is started.

use std::{
    io,
    path::{Component, Path, PathBuf},
};

use world::beneath::{Care, Root, read_named};

use crate::kept::is_own;

/// The folder in a project that holds everything of ours.
pub(crate) const FOLDER: &str = ".milepost";

/// The file in it that names the project.
const NAME: &str = "project.toml";

/// The largest file that is read here. Each has a line or two.
const SMALL_BYTES_MAX: u64 = 64 * 1024;

/// What `.milepost/.gitignore` says.
const IGNORED: &str = "\
# Milepost keeps its database here. Only what people write belongs into version control.
*
!/config.toml
!/workflows/
!/workflows/**
";

/// The places that one call is about.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    /// Where the call was made.
    pub(crate) working: PathBuf,
    /// The root of the project: of the main worktree, or the working directory.
    pub(crate) project: PathBuf,
    /// The root of the current worktree, or the working directory.
    pub(crate) root: PathBuf,
    /// The user's own folder, if there can be one.
    pub(crate) user: Option<PathBuf>,
    /// The user's home.
    pub(crate) home: Option<PathBuf>,
}

impl Places {
    /// Finds the places for a call in `working`.
    pub(crate) fn find(working: &Path, user: Option<PathBuf>, home: Option<PathBuf>) -> Self {
        // Runs are told apart by their root, so a folder has one spelling: no `.`, no `/` at the end.
        // With `..`, a folder that is left again would count as one around.
        let is_up = working.components().any(|it| it == Component::ParentDir);
        let real = if is_up { working.canonicalize().ok() } else { None };
        let working = &real.unwrap_or_else(|| working.components().collect::<PathBuf>());
        let repository = working.ancestors().find(|it| it.join(".git").exists());
        let found = repository.or_else(|| find_project(working, home.as_deref()));
        let root = found.unwrap_or(working).to_owned();
        let project = repository.and_then(main_worktree).unwrap_or_else(|| root.clone());
        Self { working: working.to_owned(), project, root, user, home }
    }

    /// Returns a path as people write it: from where they are, or from their home.
    pub(crate) fn short(&self, path: &Path) -> String {
        if let Ok(inside) = path.strip_prefix(&self.working) {
            return inside.display().to_string();
        }
        let home = self.home.as_ref().and_then(|it| path.strip_prefix(it).ok());
        home.map_or_else(|| path.display().to_string(), |it| format!("~/{}", it.display()))
    }

    /// Returns the nearest folder, from the working directory up to the root, that has a folder of
    /// this name; the working directory where none has.
    pub(crate) fn nearest_with(&self, name: &str) -> &Path {
        // The forge tools may work in another project than the one that the call was made in.
        if !self.working.starts_with(&self.root) {
            return &self.root;
        }
        let mut inside = self.working.ancestors().take_while(|it| it.starts_with(&self.root));
        inside.find(|it| it.join(name).is_dir()).unwrap_or(&self.working)
    }

    /// Returns our folder in the project.
    pub(crate) fn folder(&self) -> PathBuf {
        self.project.join(FOLDER)
    }

    /// Returns the folders in which workflows are looked for, the first one first.
    /// `devworkflow` is the folder in the project that the toolset of this name keeps things in.
    pub(crate) fn workflow_dirs(&self, configured: &[String], devworkflow: &str) -> Vec<PathBuf> {
        let mut dirs = vec![self.root.join(FOLDER).join("workflows")];
        if self.project != self.root {
            dirs.push(self.folder().join("workflows"));
        }
        dirs.push(self.root.join(devworkflow).join("workflows"));
        dirs.extend(configured.iter().map(PathBuf::from));
        dirs.extend(self.user.iter().map(|it| it.join("workflows")));
        dirs
    }

    /// Returns the project's id, if it has been given one.
    pub(crate) fn find_id(&self) -> io::Result<Named> {
        let read = Root::project(&self.project)
            .and_then(|it| it.read_text(&Path::new(FOLDER).join(NAME), SMALL_BYTES_MAX));
        let text = match read {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Named::Not),
            text => text?,
        };
        if text.trim_matches(|it: char| it.is_whitespace() || it == '\0').is_empty() {
            return Ok(Named::Lost);
        }
        let id = text
            .parse::<toml::Table>()
            .ok()
            .and_then(|it| Some(it.get("id")?.as_str()?.to_owned()));
        let id = id.filter(|it| !it.is_empty());
        id.map(Named::As).ok_or_else(|| {
            let path = self.folder().join(NAME);
            let text = format!("`{}` has no line `id = \"…\"`", path.display());
            io::Error::new(io::ErrorKind::InvalidData, text)
        })
    }

    /// Makes our folder in the project, gives the project the id `new` unless it has one, and
    /// returns the one it has. Any number of processes may do this at the same moment.
    pub(crate) fn settle(&self, new: &str) -> io::Result<String> {
        let folder = Root::project(&self.project)?.make_folder(Path::new(FOLDER), Care::Plain)?;
        folder.place_new(Path::new(".gitignore"), IGNORED.as_bytes(), Care::Plain)?;
        match self.find_id()? {
            Named::As(id) => return Ok(id),
            Named::Lost => self.name_again(new)?,
            Named::Not => {
                folder.place_new(Path::new(NAME), naming(new).as_bytes(), Care::Durable)?;
            }
        }
        match self.find_id()? {
            Named::As(id) => Ok(id),
            Named::Lost | Named::Not => Ok(new.to_owned()),
        }
    }

    /// Writes the file again that names the project, which a crash left empty.
    pub(crate) fn name_again(&self, id: &str) -> io::Result<()> {
        let folder = Root::project(&self.project)?.enter(Path::new(FOLDER))?;
        folder.replace(Path::new(NAME), naming(id).as_bytes(), Care::Durable)?;
        let path = self.folder().join(NAME);
        tracing::warn!(
            "`{}` was empty, as a crash can leave it: it says `{id}` now",
            path.display()
        );
        Ok(())
    }
}

/// Returns the nearest folder around `working` that is a project of ours without git.
///
/// The home folder is not taken, or everything in it would be one project; nor is a folder in which
/// others can write, such as `/tmp`, because anyone could put our folder there.
fn find_project<'a>(working: &'a Path, home: Option<&Path>) -> Option<&'a Path> {
    let mut around = working.ancestors().take_while(|it| Some(*it) != home);
    around.find(|it| it.join(FOLDER).join(NAME).is_file() && is_own(it) && is_own(&it.join(FOLDER)))
}

/// What the file says that names the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Named {
    As(String),
    /// Nothing: a crash left it empty.
    Lost,
    /// There is no such file.
    Not,
}

fn naming(id: &str) -> String {
    format!("# Names this project in the database beside it.\nid = \"{id}\"\n")
}

/// Returns the folder in which git keeps what belongs to a work tree.
pub(crate) fn git_folder(root: &Path) -> Option<PathBuf> {
    let own = root.join(".git");
    if own.is_dir() {
        return Some(own);
    }
    let pointer = read_named(&own, SMALL_BYTES_MAX).ok()?;
    Some(root.join(pointer.trim().strip_prefix("gitdir:")?.trim()))
}

/// Returns the root of the main worktree of the repository that `root` is a worktree of, going by
/// what git has written down; `None` where `root` is one of its own.
fn main_worktree(root: &Path) -> Option<PathBuf> {
    let own = git_folder(root)?;
    // Git knows where the worktree is. A copy of it, or a pointer that came with other files, is not
    // that worktree.
    let known = read_named(&own.join("gitdir"), SMALL_BYTES_MAX).ok()?;
    let known = own.join(known.trim()).canonicalize().ok()?;
    if known != root.join(".git").canonicalize().ok()? {
        return None;
    }
    // A submodule has a pointer too, but no common folder: it is a repository of its own.
    let common = read_named(&own.join("commondir"), SMALL_BYTES_MAX).ok()?;
    let common = own.join(common.trim()).canonicalize().ok()?;
    let is_bare = common.file_name().is_none_or(|it| it != ".git");
    if is_bare { Some(common) } else { common.parent().map(Path::to_owned) }
}
