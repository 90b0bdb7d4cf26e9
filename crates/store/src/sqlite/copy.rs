//! Copies of the database. A copy gets its name only once it is whole, checked and on disk.

use std::{
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
};

use rusqlite::{
    Connection,
    backup::{Backup, StepResult},
};

use super::{maintenance, schema::io_failure};
use crate::StoreError;

/// The first schema with checksums.
const CHECKSUMS_FROM: u32 = 3;

/// Copies all of a database into a new file at `to`, as it is at one moment.
pub(super) fn copy(from: &Connection, to: &Path) -> Result<(), StoreError> {
    if to.symlink_metadata().is_ok() {
        return Err(io_failure(to, &io::ErrorKind::AlreadyExists.into()));
    }
    made_beside(from, to, |partial| match fs::hard_link(partial, to) {
        Ok(()) => fs::remove_file(partial),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // Not every file system has a second name for a file.
        Err(_) => fs::rename(partial, to),
    })
}

/// Copies all of a database to `to`, in place of what is there.
pub(super) fn replace(from: &Connection, to: &Path) -> Result<(), StoreError> {
    made_beside(from, to, |partial| fs::rename(partial, to))
}

/// Makes an empty file that only its owner can read. What `SQLite` puts beside it gets the same mode.
pub(super) fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Makes a copy under another name in the folder of `to`, and has it named once it is whole.
fn made_beside(
    from: &Connection,
    to: &Path,
    name: impl FnOnce(&Path) -> io::Result<()>,
) -> Result<(), StoreError> {
    let partial = partial_of(to);
    drop(fs::remove_file(&partial));
    let done = make(from, &partial).and_then(|()| {
        name(&partial).and_then(|()| sync_folder(to)).map_err(|error| io_failure(to, &error))
    });
    if done.is_err() {
        // What was left behind must not be taken for a copy.
        drop(fs::remove_file(&partial));
    }
    done
}

fn make(from: &Connection, partial: &Path) -> Result<(), StoreError> {
    create(partial).map_err(|error| io_failure(partial, &error))?;
    let mut target = Connection::open(partial)?;
    let backup = Backup::new(from, &mut target)?;
    // All pages in one step are one snapshot, and in WAL mode a snapshot blocks no writer.
    if backup.step(-1)? != StepResult::Done {
        return Err(StoreError::Busy);
    }
    drop(backup);
    drop(target);
    verify(partial)?;
    File::open(partial)
        .and_then(|file| file.sync_all())
        .map_err(|error| io_failure(partial, &error))
}

/// Reads all of a copy, and gives it a name of its own.
fn verify(path: &Path) -> Result<(), StoreError> {
    let connection = Connection::open(path)?;
    let version: u32 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let mut problems = maintenance::check_pages(&connection)?;
    if CHECKSUMS_FROM <= version {
        problems.extend(maintenance::check_logs(&connection)?);
        connection.execute_batch("UPDATE identity SET name = randomblob(16)")?;
    }
    match problems.into_iter().next() {
        None => connection.close().map_err(|(_, error)| error.into()),
        Some(problem) => Err(StoreError::Damaged(problem)),
    }
}

fn partial_of(to: &Path) -> PathBuf {
    let name = to.file_name().unwrap_or_default().to_string_lossy();
    to.with_file_name(format!(".{name}.partial-{}", std::process::id()))
}

#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
