//! Trees of files as the runtime sees them: found below a folder, and looked at one by one.

use std::{
    ops::ControlFlow,
    sync::{Arc, atomic::AtomicBool},
};

use engine::Walked;

use crate::{Handled, Wanted};

/// What is looked for below a folder.
pub struct Walk {
    /// The folder that is not left.
    pub root: String,
    /// The folder in the root that is looked through. Paths are seen from here.
    pub folder: String,
    /// Which files are wanted, by their names.
    pub files: Wanted,
    /// Which folders are entered, by their names. `folder` is entered whatever it is called.
    pub folders: Wanted,
    /// How many files are taken at most.
    pub files_max: usize,
    /// Is set when nobody waits for it any more. Then it ends with what was found.
    pub stop: Arc<AtomicBool>,
}

/// Looks at a file: its path as it was asked for, and its text or why there is none. It may say
/// that it has seen enough.
pub type Visit = Box<dyn FnMut(&str, Result<&str, &str>) -> ControlFlow<()> + Send>;

/// The eyes on trees of files.
pub trait Tree: Send + Sync {
    /// Finds the files that are wanted. Links are not followed, and what a `.gitignore` leaves out
    /// by a folder's plain name is left out.
    fn walk(&self, walk: Walk) -> Handled<'_, Walked>;

    /// Looks at files one after the other, where it keeps nobody waiting, from now on. `folders` are
    /// the root, which is not left, and the folder in it that the paths are seen from. A text that
    /// is not quite UTF-8 is made so; a file of more than `bytes_max` bytes has none.
    fn visit(
        &self,
        folders: (&str, &str),
        paths: Vec<String>,
        bytes_max: u64,
        visit: Visit,
    ) -> Handled<'_, ()>;
}
