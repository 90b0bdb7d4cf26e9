//! Where things are: the project, the folder that new runs are worked in, the user's own folder.
//!
//! A git worktree belongs to the project of its main worktree, so that all of them share one
//! database. What git knows is read from its files; no process is started.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// The folder in a project that holds everything of ours.
pub(crate) const FOLDER: &str = ".milepost";

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
        let found = working.ancestors().find(|it| it.join(".git").exists());
        let root = found.unwrap_or(working).to_owned();
        let project = found.and_then(main_worktree).unwrap_or_else(|| root.clone());
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
    pub(crate) fn find_id(&self) -> io::Result<Option<String>> {
        let path = self.folder().join("project.toml");
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let id = text
            .parse::<toml::Table>()
            .ok()
            .and_then(|it| Some(it.get("id")?.as_str()?.to_owned()));
        let id = id.filter(|it| !it.is_empty());
        id.map(Some).ok_or_else(|| {
            let text = format!("`{}` has no line `id = \"…\"`", path.display());
            io::Error::new(io::ErrorKind::InvalidData, text)
        })
    }

    /// Makes our folder in the project, gives the project the id `new` unless it has one, and
    /// returns the one it has. Any number of processes may do this at the same moment.
    pub(crate) fn settle(&self, new: &str) -> io::Result<String> {
        let folder = self.folder();
        fs::create_dir_all(&folder)?;
        if !folder.join(".gitignore").exists() {
            fs::write(folder.join(".gitignore"), IGNORED)?;
        }
        if let Some(id) = self.find_id()? {
            return Ok(id);
        }
        let text = format!("# Names this project in the database beside it.\nid = \"{new}\"\n");
        let whole = folder.join(format!("project.toml.{}", std::process::id()));
        fs::write(&whole, text)?;
        // A link is made whole or not at all, and never over what is there.
        let linked = fs::hard_link(&whole, folder.join("project.toml"));
        let placed = match linked {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                fs::rename(&whole, folder.join("project.toml"))
            }
            Ok(()) | Err(_) => fs::remove_file(&whole),
        };
        placed?;
        Ok(self.find_id()?.unwrap_or_else(|| new.to_owned()))
    }
}

/// Returns the root of the main worktree of the repository that `root` is a worktree of, going by
/// what git has written down; `None` where `root` is one of its own.
fn main_worktree(root: &Path) -> Option<PathBuf> {
    let pointer = fs::read_to_string(root.join(".git")).ok()?;
    let own = root.join(pointer.trim().strip_prefix("gitdir:")?.trim());
    // A submodule has a pointer too, but no common folder: it is a repository of its own.
    let common = fs::read_to_string(own.join("commondir")).ok()?;
    let common = own.join(common.trim()).canonicalize().ok()?;
    let is_bare = common.file_name().is_none_or(|it| it != ".git");
    if is_bare { Some(common) } else { common.parent().map(Path::to_owned) }
}
