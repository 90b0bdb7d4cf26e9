//! Finds workflow folders: in the folders that the configuration names, then among the built-in.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use definition::{FileError, Files, WorkflowName};
use runtime::Found;

use crate::WorldSettings;

/// Every file of the built-in workflows, by its path below `workflows/`.
const BUILTIN: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/builtin.rs"));

/// The largest file of a definition, in bytes.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

pub(crate) fn find(settings: &WorldSettings) -> Vec<Found> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for folder in &settings.workflow_dirs {
        for name in names_in(folder) {
            if seen.insert(name.clone()) {
                let files = Arc::new(FolderFiles { base: folder.clone() });
                let origin = folder.display().to_string();
                found.push(Found { name, origin, is_builtin: false, files });
            }
        }
    }
    if settings.has_builtin {
        for name in builtin_names() {
            if seen.insert(name.clone()) {
                let files = Arc::new(BuiltinFiles);
                let origin = "built in".to_owned();
                found.push(Found { name, origin, is_builtin: true, files });
            }
        }
    }
    found
}

fn names_in(folder: &Path) -> Vec<WorkflowName> {
    let Ok(entries) = fs::read_dir(folder) else {
        tracing::debug!(folder = %folder.display(), "no workflows: the folder cannot be read");
        return Vec::new();
    };
    let folders = entries.flatten().filter(|it| it.path().is_dir());
    let mut names: Vec<WorkflowName> =
        folders.filter_map(|it| WorkflowName::parse(it.file_name().to_str()?).ok()).collect();
    names.sort();
    names
}

fn builtin_names() -> BTreeSet<WorkflowName> {
    let folder = |(path, _): &(&str, &str)| path.split('/').next().map(WorkflowName::parse);
    BUILTIN.iter().filter_map(folder).flatten().collect()
}

/// The files that are a part of the program.
struct BuiltinFiles;

impl Files for BuiltinFiles {
    fn read(&self, path: &str) -> Result<String, FileError> {
        let found = BUILTIN.iter().find(|it| it.0 == path);
        found.map(|it| it.1.to_owned()).ok_or(FileError::Missing)
    }

    fn has_folder(&self, path: &str) -> bool {
        let is_below = |it: &str| it.strip_prefix(path).is_some_and(|it| it.starts_with('/'));
        BUILTIN.iter().any(|it| is_below(it.0))
    }
}

/// The files below one folder of definitions, and no others.
struct FolderFiles {
    base: PathBuf,
}

impl Files for FolderFiles {
    fn read(&self, path: &str) -> Result<String, FileError> {
        let unreadable = |error: &io::Error| {
            let missing = [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory];
            if missing.contains(&error.kind()) {
                return FileError::Missing;
            }
            FileError::Unreadable(error.kind().to_string())
        };
        let base = self.base.canonicalize().map_err(|error| unreadable(&error))?;
        let found = base.join(path).canonicalize().map_err(|error| unreadable(&error))?;
        if !found.starts_with(&base) {
            return Err(FileError::Outside);
        }
        let about = fs::metadata(&found).map_err(|error| unreadable(&error))?;
        if !about.is_file() {
            return Err(FileError::Missing);
        }
        if FILE_BYTES_MAX < about.len() {
            return Err(FileError::TooLarge { max: FILE_BYTES_MAX });
        }
        let bytes = fs::read(&found).map_err(|error| unreadable(&error))?;
        String::from_utf8(bytes).map_err(|_| FileError::NotText)
    }

    fn has_folder(&self, path: &str) -> bool {
        self.base.join(path).is_dir()
    }
}
