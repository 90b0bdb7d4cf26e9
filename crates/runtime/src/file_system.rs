//! Promised files as the runtime sees them: where they lie, and who reads and writes them.

use std::{any::Any, sync::Arc};

use engine::{Kept, Stat, Subfolder, Wanted};

use crate::Looking;

/// A file: a folder that may not be left, and a path in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The root of the run. It is never made.
    pub root: String,
    /// Made when a file is written.
    pub folder: String,
    pub path: String,
}

/// What keeps others from writing a file, until it is dropped.
pub type Held = Box<dyn Any + Send + Sync>;

/// What was done to a file, or why it could not be.
pub type Handled<'a, T> = Looking<'a, Result<T, String>>;

/// The hands on promised files.
pub trait FileSystem: Send + Sync {
    /// Returns whether a folder is there.
    fn has_folder<'a>(&'a self, folder: &'a str) -> Looking<'a, bool>;

    /// Looks at a file from outside; `None` where there is none.
    fn stat<'a>(&'a self, place: &'a Place) -> Handled<'a, Option<Stat>>;

    /// Reads a file; `None` where there is none.
    fn read<'a>(&'a self, place: &'a Place) -> Handled<'a, Option<(Vec<u8>, Stat)>>;

    /// Replaces a file as a whole. Anyone who reads it meanwhile sees the old text or the new one.
    fn write<'a>(&'a self, place: &'a Place, text: String) -> Handled<'a, Stat>;

    /// The same for a file that only its owner may read and write, where that can be said.
    fn write_for_owner<'a>(&'a self, place: &'a Place, text: String) -> Handled<'a, Stat> {
        self.write(place, text)
    }

    /// Gives a file another name in its folder. Nothing happens where there is none.
    fn rename<'a>(&'a self, place: &'a Place, path: &'a str) -> Handled<'a, ()>;

    /// Removes a file. Nothing happens where there is none.
    fn remove<'a>(&'a self, place: &'a Place) -> Handled<'a, ()>;

    /// Replaces a file that cannot be written again from a log, and returns once it is on disk.
    fn write_durably<'a>(&'a self, place: &'a Place, text: String) -> Handled<'a, Stat>;

    /// The same for a file that only its owner may read and write, where that can be said.
    fn write_privately<'a>(&'a self, place: &'a Place, text: String) -> Handled<'a, Stat> {
        self.write_durably(place, text)
    }

    /// Adds a line to the end of a file in one piece, no matter who else does so. Before the file becomes
    /// larger than `bytes_max` it is put aside, with `.1` after its name, for an empty one.
    fn append<'a>(&'a self, _place: &'a Place, _line: String, _bytes_max: u64) -> Handled<'a, ()> {
        Box::pin(std::future::ready(Err("nothing can be added to files here".to_owned())))
    }

    /// Waits until nobody else, in this process or another, holds the file.
    fn lock<'a>(&'a self, place: &'a Place) -> Handled<'a, Held>;

    /// Returns the files right in `place` (a folder) whose names are wanted.
    fn scan<'a>(&'a self, place: &'a Place, wanted: Wanted) -> Handled<'a, Vec<(String, Stat)>>;

    /// Returns the folders right in `place` (a folder) in order, without hidden ones and links,
    /// each with how its file `file` looks from outside. Where it is known that nothing changed the
    /// very same list is returned again.
    fn inner<'a>(&'a self, _place: &'a Place, _file: &'a str) -> Handled<'a, Arc<[Subfolder]>> {
        Box::pin(std::future::ready(Ok(Arc::default())))
    }

    /// Returns the names right in `place` (a folder) in order, those of folders with `/` at the
    /// end; nothing where there is no such folder.
    fn names<'a>(&'a self, _place: &'a Place) -> Handled<'a, Vec<String>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    /// Returns the wanted files of each of these folders of `place`, by name and in order.
    fn list_all<'a>(
        &'a self,
        _place: &'a Place,
        folders: Vec<String>,
        _wanted: Wanted,
    ) -> Handled<'a, Vec<Vec<String>>> {
        Box::pin(std::future::ready(Ok(vec![Vec::new(); folders.len()])))
    }

    /// Reads files of `place` (a folder); what cannot be read is `None`.
    fn read_all<'a>(
        &'a self,
        _place: &'a Place,
        paths: Vec<String>,
    ) -> Handled<'a, Vec<Option<Vec<u8>>>> {
        Box::pin(std::future::ready(Ok(vec![None; paths.len()])))
    }

    /// Returns what the repository keeps that a folder is in; `None` where it is in none.
    fn kept<'a>(&'a self, _folder: &'a str) -> Looking<'a, Option<Kept>> {
        Box::pin(std::future::ready(None))
    }
}
