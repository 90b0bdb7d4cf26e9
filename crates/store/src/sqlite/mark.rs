//! A small file beside the database that says how far the log of all runs had come.
//!
//! After a crash `SQLite` drops everything in its write-ahead log behind the first damaged byte, and
//! says nothing. The mark is written after each commit, so the next process that opens the database sees
//! that events are missing. It is not synced: it outlives the process, not the power. It can be
//! behind the database, never ahead of it. Without it nothing is missing but this check.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
};

use rusqlite::Connection;
use sha2::{Digest as _, Sha256};
use tracing::{debug, error};

use super::{row, schema::with_suffix};
use crate::StoreError;

/// What a mark begins with.
const TITLE: &str = "milepost-mark 1";

/// How far a database had come.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Mark {
    /// Of the database; a mark of another one says nothing.
    name: String,
    /// The position of the newest event.
    newest: u64,
    /// What was found missing: the newest event that was there, and the newest that was written.
    lost: Option<(u64, u64)>,
}

impl Mark {
    fn text(&self) -> String {
        let (kept, written) = self.lost.unwrap_or_default();
        let said = format!("{TITLE} {} {:020} {kept:020} {written:020}", self.name, self.newest);
        let sum = checksum(&said);
        format!("{said} {sum}\n")
    }

    /// Reads a mark. `None` if it is not whole.
    fn parse(text: &str) -> Option<Self> {
        let (said, sum) = text.trim_end().rsplit_once(' ')?;
        if sum != checksum(said) {
            return None;
        }
        let mut words = said.strip_prefix(TITLE)?.split_whitespace();
        let name = words.next()?.to_owned();
        let mut number = || words.next()?.parse::<u64>().ok();
        let (newest, kept, written) = (number()?, number()?, number()?);
        Some(Self { name, newest, lost: (0 < written).then_some((kept, written)) })
    }
}

fn checksum(text: &str) -> String {
    let hash = Sha256::digest(text);
    hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Writes the mark of one database.
#[derive(Debug)]
pub(super) struct Marker {
    path: PathBuf,
    mark: Mark,
    file: Option<File>,
}

impl Marker {
    /// Compares the mark beside the database at `path` with what is there, and notes in it what is
    /// missing.
    pub(super) fn open(path: &Path, connection: &Connection) -> Result<Self, StoreError> {
        let path = path_of(path);
        // First the mark: what another process writes meanwhile makes the database longer.
        let found = read(&path);
        let name = name(connection)?;
        let newest = row::newest(connection)?;
        let lost = match found.filter(|it| it.name == name) {
            Some(mark) if newest < mark.newest => {
                error!("events {} to {} of the database are missing", newest + 1, mark.newest);
                Some((newest, mark.newest))
            }
            Some(mark) => mark.lost,
            None => None,
        };
        let mut marker = Self { path, mark: Mark { name, newest, lost }, file: None };
        if lost.is_some() {
            marker.write();
        }
        Ok(marker)
    }

    /// Notes that events up to `newest` are on disk.
    pub(super) fn note(&mut self, newest: u64) {
        if self.mark.newest < newest {
            self.mark.newest = newest;
            self.write();
        }
    }

    /// Has the mark outlive the power too.
    pub(super) fn sync(&self) {
        if let Some(Err(error)) = self.file.as_ref().map(File::sync_data) {
            debug!("the mark was not synced: {error}");
        }
    }

    fn write(&mut self) {
        if let Err(error) = self.try_write() {
            // The mark is a help, and no call may fail for want of it.
            debug!("the mark was not written: {error}");
            self.file = None;
        }
    }

    fn try_write(&mut self) -> io::Result<()> {
        if self.file.is_none() {
            let mut options = OpenOptions::new();
            options.write(true).create(true).truncate(false);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            self.file = Some(options.open(&self.path)?);
        }
        let Some(file) = &mut self.file else { return Ok(()) };
        // Always of one length, so that one write replaces it all.
        file.seek(SeekFrom::Start(0))?;
        file.write_all(self.mark.text().as_bytes())
    }
}

/// Returns what the mark beside the database at `path` says is missing, in words.
pub(super) fn find_loss(
    path: &Path,
    connection: &Connection,
) -> Result<Option<String>, StoreError> {
    let path = path_of(path);
    let Some(mark) = read(&path) else { return Ok(None) };
    if mark.name != name(connection)? {
        return Ok(None);
    }
    Ok(mark.lost.map(|(kept, written)| {
        let count = written.saturating_sub(kept);
        format!(
            "{count} events that were written last are missing: the database came back with {kept} \
             of {written}. Restore a backup; or, if you put an older copy in its place yourself, \
             delete `{}`",
            path.display()
        )
    }))
}

/// Returns how many events were written to the database at `path`, if its mark says so.
pub(super) fn find_written(path: &Path) -> Option<u64> {
    read(&path_of(path)).map(|it| it.newest).filter(|it| 0 < *it)
}

fn path_of(database: &Path) -> PathBuf {
    with_suffix(database, "-mark")
}

fn read(path: &Path) -> Option<Mark> {
    fs::read_to_string(path).ok().and_then(|text| Mark::parse(&text))
}

fn name(connection: &Connection) -> Result<String, rusqlite::Error> {
    connection.query_row("SELECT lower(hex(name)) FROM identity", [], |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_read_as_it_was_written_or_not_at_all() {
        let mark = Mark { name: "a1".to_owned(), newest: 70, lost: None };
        let lossy = Mark { lost: Some((60, 65)), ..mark.clone() };
        for mark in [mark, lossy] {
            let text = mark.text();
            assert_eq!(Mark::parse(&text), Some(mark));
            assert_eq!(Mark::parse(&text.replace('7', "8")), None);
            assert_eq!(Mark::parse(text.split_at(30).0), None);
        }
        assert_eq!(Mark::parse(""), None);
    }
}
