//! The files that a definition is made from.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Gives the text of files, by paths relative to the definitions folder, with `/` between names.
///
/// Anyone who implements it keeps readers inside that folder, symbolic links included; the parser
/// has already refused absolute paths and `..` that lead out.
pub trait Files {
    /// Returns the text of the file at `path`.
    fn read(&self, path: &str) -> Result<String, FileError>;

    /// Returns whether there is a folder at `path`.
    fn has_folder(&self, path: &str) -> bool;

    /// Returns the names of the files in the folder at `path`, in order; none if it cannot tell.
    fn list(&self, _path: &str) -> Vec<String> {
        Vec::new()
    }
}

/// Why a file's text could not be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    #[error("there is no such file")]
    Missing,
    #[error("it leads out of the definitions folder")]
    Outside,
    #[error("it is not UTF-8 text")]
    NotText,
    #[error("it is larger than {max} bytes")]
    TooLarge { max: u64 },
    #[error("it cannot be read: {0}")]
    Unreadable(String),
}

/// Every file that a definition was made from, by path. What is stored with a run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Source {
    pub files: BTreeMap<String, String>,
}

/// Files that are held in memory: a stored [`Source`], a built-in workflow, a test.
#[derive(Debug, Clone, Default)]
pub struct MemoryFiles(pub BTreeMap<String, String>);

impl Files for MemoryFiles {
    fn read(&self, path: &str) -> Result<String, FileError> {
        self.0.get(path).cloned().ok_or(FileError::Missing)
    }

    fn has_folder(&self, path: &str) -> bool {
        let prefix = format!("{path}/");
        self.0.keys().any(|it| it.starts_with(&prefix))
    }

    fn list(&self, path: &str) -> Vec<String> {
        let prefix = format!("{path}/");
        let names = self.0.keys().filter_map(|it| it.strip_prefix(&prefix));
        names.filter(|it| !it.contains('/')).map(str::to_owned).collect()
    }
}
