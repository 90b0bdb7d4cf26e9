//! Looks at one file below a run's root, and never at one outside of it.

use std::{
    fs, io,
    path::{Component, Path, PathBuf},
    time::UNIX_EPOCH,
};

use definition::Digest;
use engine::{FileFact, Timestamp};

use crate::WorldSettings;

/// Larger files are read on a thread of their own, so that nobody waits for them.
const INLINE_BYTES_MAX: u64 = 256 * 1024;

pub(crate) async fn look(root: PathBuf, path: String, settings: &WorldSettings) -> FileFact {
    let found = match resolve(&root, &path) {
        Ok(found) => found,
        Err(fact) => return fact,
    };
    let size = fs::metadata(&found).map_or(0, |it| it.len());
    let (text_max, file_max) = (settings.text_bytes_max, settings.file_bytes_max);
    if file_max < size {
        return FileFact::Unreadable(format!(
            "it has {size} bytes, and at most {file_max} are read"
        ));
    }
    if size <= INLINE_BYTES_MAX {
        return read(&found, text_max);
    }
    let reading = tokio::task::spawn_blocking(move || read(&found, text_max)).await;
    reading.unwrap_or_else(|error| FileFact::Unreadable(error.to_string()))
}

/// Returns where `path` is, if it is a file below `root`, symbolic links followed.
fn resolve(root: &Path, path: &str) -> Result<PathBuf, FileFact> {
    let relative = Path::new(path);
    let is_plain = |it: Component<'_>| matches!(it, Component::Normal(_) | Component::CurDir);
    if path.is_empty() || path.contains('\0') || !relative.components().all(is_plain) {
        return Err(FileFact::Unreadable("it leads out of the run's folder".to_owned()));
    }
    let found = match root.join(relative).canonicalize() {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(FileFact::Missing),
        Err(error) => return Err(FileFact::Unreadable(error.kind().to_string())),
    };
    if !found.starts_with(root) {
        return Err(FileFact::Unreadable("it leads out of the run's folder".to_owned()));
    }
    if !found.is_file() {
        return Err(FileFact::Unreadable("it is not a file".to_owned()));
    }
    Ok(found)
}

fn modified(path: &Path) -> Option<Timestamp> {
    let modified = fs::metadata(path).ok()?.modified().ok()?;
    let since = modified.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_micros()).ok().map(Timestamp)
}

fn read(path: &Path, text_bytes_max: u64) -> FileFact {
    match fs::read(path) {
        Ok(bytes) => {
            let size = bytes.len() as u64;
            let sha256 = Digest::of(&bytes);
            let text = String::from_utf8(bytes).ok().filter(|_| size <= text_bytes_max);
            FileFact::Present { sha256, size, text, modified: modified(path) }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => FileFact::Missing,
        Err(error) => FileFact::Unreadable(error.kind().to_string()),
    }
}
