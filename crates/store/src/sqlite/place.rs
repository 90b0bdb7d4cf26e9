//! The files that a database is made of, so that it is noticed when one is removed or replaced.
//!
//! A file that was deleted can still be written to, and what is written is gone with the process.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::schema::with_suffix;
use crate::StoreError;

/// Files, and which ones they were when the database was opened.
#[derive(Debug)]
pub(super) struct Place {
    files: Vec<(PathBuf, Identity)>,
}

/// What tells a file from another one of the same name.
type Identity = (u64, u64);

/// Why a file is not the one that was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Moved {
    /// There is none of its name.
    Removed(PathBuf),
    /// There is another one, or it cannot be told.
    Replaced(PathBuf),
}

impl Place {
    /// Notes the files of the database at `path`, which is open.
    pub(super) fn take(path: &Path) -> Result<Self, StoreError> {
        let mut files = Vec::new();
        for suffix in ["", "-wal", "-shm"] {
            let file = with_suffix(path, suffix);
            let found = identify(&file).map_err(|_| gone(&file))?;
            files.push((file, found));
        }
        Ok(Self { files })
    }

    /// Returns whether the database itself, whatever lies beside it, is still this one.
    pub(super) fn has_same_database(&self, other: &Self) -> bool {
        self.files.first() == other.files.first()
    }

    /// Returns the first file that is no longer the one that was opened.
    pub(super) fn find_moved(&self) -> Option<Moved> {
        self.files.iter().find_map(|(path, known)| match identify(path) {
            Ok(found) if found == *known => None,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Some(Moved::Removed(path.clone()))
            }
            Ok(_) | Err(_) => Some(Moved::Replaced(path.clone())),
        })
    }
}

impl Moved {
    /// Returns whether only the write-ahead log is missing, and no other has taken its place.
    pub(super) fn is_missing_log(&self) -> bool {
        matches!(self, Self::Removed(path) if path.as_os_str().as_encoded_bytes().ends_with(b"-wal"))
    }
}

impl From<Moved> for StoreError {
    fn from(moved: Moved) -> Self {
        match moved {
            Moved::Removed(path) | Moved::Replaced(path) => gone(&path),
        }
    }
}

pub(super) fn gone(path: &Path) -> StoreError {
    StoreError::Gone { path: path.display().to_string() }
}

#[cfg(unix)]
fn identify(path: &Path) -> io::Result<Identity> {
    use std::os::unix::fs::MetadataExt as _;
    let found = fs::metadata(path)?;
    Ok((found.dev(), found.ino()))
}

/// Elsewhere only a missing file is noticed.
#[cfg(not(unix))]
fn identify(path: &Path) -> io::Result<Identity> {
    fs::metadata(path).map(|_| (0, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_is_watched() {
        for suffix in ["", "-wal", "-shm"] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("test.db");
            let file = with_suffix(&path, suffix);
            for suffix in ["", "-wal", "-shm"] {
                fs::write(with_suffix(&path, suffix), "a").unwrap();
            }
            let place = Place::take(&path).unwrap();
            assert_eq!(place.find_moved(), None);
            fs::write(&file, "changed in place").unwrap();
            assert_eq!(place.find_moved(), None);
            let aside = folder.path().join("aside");
            fs::rename(&file, &aside).unwrap();
            let moved = place.find_moved().unwrap();
            assert_eq!(moved, Moved::Removed(file.clone()));
            assert_eq!(moved.is_missing_log(), suffix == "-wal");
            fs::rename(&aside, &file).unwrap();
            assert_eq!(place.find_moved(), None);
            fs::copy(&file, &aside).unwrap();
            fs::rename(&aside, &file).unwrap();
            assert_eq!(place.find_moved(), Some(Moved::Replaced(file)));
        }
    }
}
