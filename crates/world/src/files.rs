//! Looks at one file beneath a run's root.

use std::{
    io::{self, ErrorKind},
    path::{Component, Path},
};

use definition::Digest;
use engine::{FileFact, Timestamp};
use runtime::Stat;

use crate::beneath::{Root, read_handle};

/// The largest artifact that is looked into.
pub(crate) const TEXT_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// The largest artifact that is taken at all.
pub(crate) const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Larger files are read on a thread of their own, so that other calls do not wait.
const INLINE_BYTES_MAX: u64 = 256 * 1024;

pub(crate) async fn look(folder: &Root, path: &str) -> FileFact {
    let (file, stat) = match open(folder, path) {
        Ok(opened) => opened,
        Err(error) => return unseen(&error),
    };
    let read = move || match read_handle(&file, &stat, FILE_BYTES_MAX) {
        Ok(bytes) => seen(bytes, &stat),
        Err(error) => unseen(&error),
    };
    if stat.size <= INLINE_BYTES_MAX {
        return read();
    }
    let reading = tokio::task::spawn_blocking(read).await;
    reading.unwrap_or_else(|error| FileFact::Unreadable(error.to_string()))
}

fn open(folder: &Root, path: &str) -> io::Result<(std::fs::File, Stat)> {
    let is_plain = |it: Component<'_>| matches!(it, Component::Normal(_) | Component::CurDir);
    if path.is_empty() || !Path::new(path).components().all(is_plain) {
        let problem = format!("`{path}` leads out of the run's folder");
        return Err(io::Error::new(ErrorKind::InvalidInput, problem));
    }
    folder.open_read(Path::new(path))
}

fn seen(bytes: Vec<u8>, stat: &Stat) -> FileFact {
    let size = bytes.len() as u64;
    let sha256 = Digest::of(&bytes);
    let text = String::from_utf8(bytes).ok().filter(|_| size <= TEXT_BYTES_MAX);
    let modified = Some(stat.modified / 1000).filter(|it| 0 < *it).map(Timestamp);
    FileFact::Present { sha256, size, text, modified }
}

/// Says why a file is not seen, without the number that systems have for it.
pub(crate) fn unseen(error: &io::Error) -> FileFact {
    match error.raw_os_error() {
        _ if error.kind() == ErrorKind::NotFound => FileFact::Missing,
        Some(_) => FileFact::Unreadable(error.kind().to_string()),
        None => FileFact::Unreadable(error.to_string()),
    }
}
