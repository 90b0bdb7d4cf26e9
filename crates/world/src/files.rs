//! Looks at one file beneath a run's root.

use std::{
    io::{self, ErrorKind},
    path::{Component, Path},
};

use definition::Digest;
use engine::{FileFact, Timestamp};
use runtime::Stat;

use crate::{
    WorldSettings,
    beneath::{Root, read_handle},
};

/// Larger files are read on a thread of their own, so that nobody waits for them.
const INLINE_BYTES_MAX: u64 = 256 * 1024;

pub(crate) async fn look(folder: &Root, path: &str, settings: &WorldSettings) -> FileFact {
    let (file, stat) = match open(folder, path) {
        Ok(opened) => opened,
        Err(error) => return unseen(&error),
    };
    let (text_max, file_max) = (settings.text_bytes_max, settings.file_bytes_max);
    let read = move || match read_handle(&file, &stat, file_max) {
        Ok(bytes) => seen(bytes, &stat, text_max),
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

fn seen(bytes: Vec<u8>, stat: &Stat, text_bytes_max: u64) -> FileFact {
    let size = bytes.len() as u64;
    let sha256 = Digest::of(&bytes);
    let text = String::from_utf8(bytes).ok().filter(|_| size <= text_bytes_max);
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
