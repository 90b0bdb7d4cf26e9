//! What is seen of files and folders from outside.

use alloc::{string::String, sync::Arc, vec::Vec};

/// What a file is told by without being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stat {
    pub size: u64,
    /// In nanoseconds since 1970.
    pub modified: i64,
}

/// A folder in a folder, and what tells whether anything in it changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subfolder {
    pub name: String,
    /// The file that was asked for; `None` where there is none.
    pub stat: Option<Stat>,
    /// Another number after anything in the folder changed. 0: that is not known.
    pub touched: u64,
}

/// The list of what linters pass over, in the folder that the folder of the specs is in.
pub const LINT_IGNORE: &str = ".markdownlintignore";
/// What the server writes to that file where there is none.
pub const LINT_IGNORE_TEXT: &str =
    "# What a pipeline writes is not the project's own Markdown.\n.specs/\n";

/// What a repository keeps.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kept {
    /// The paths of the files, seen from the folder that was asked about.
    pub files: Vec<String>,
    /// The branches of remote repositories, without the name of the remote.
    pub branches: Vec<String>,
}

/// Which names are meant.
pub type Wanted = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// What was found below a folder.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Walked {
    /// Paths from the root with slashes between their parts, in order.
    pub files: Vec<String>,
    /// How many folders and names could not be read.
    pub unreadable: usize,
    /// Whether there is more than was taken.
    pub is_cut: bool,
}
