//! How connections are opened, and how long they wait for others.

use std::{
    path::Path,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use rusqlite::{Connection, OpenFlags, config::DbConfig};

use super::{
    settings::{SqliteSettings, Synchronous},
    wal,
};
use crate::StoreError;

/// How many statements a connection keeps compiled.
const STATEMENTS_MAX: usize = 40;
/// The page cache of the writing connection, and of each reading one.
const CACHE_WRITER_KIB: u32 = 256;
const CACHE_READER_KIB: u32 = 64;

/// A connection that is opened when it is first needed, and again after it was given up.
pub(super) type Slot = Arc<Mutex<Option<Connection>>>;

/// Opens a connection that writes.
pub(super) fn open_writer(
    path: &Path,
    settings: &SqliteSettings,
) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    wait_for_others(&mut connection, settings.busy_wait_max)?;
    prepare_writer(&connection, settings)?;
    Ok(connection)
}

/// Sets a connection up for writing.
pub(super) fn prepare_writer(
    connection: &Connection,
    settings: &SqliteSettings,
) -> Result<(), StoreError> {
    keep_statements(connection)?;
    set_synchronous(connection, settings.synchronous)?;
    // The full variants matter on macOS, where a plain fsync leaves the data in the drive.
    connection.execute_batch(&format!(
        "PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON; PRAGMA foreign_keys = ON;
         PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY;
         PRAGMA cache_size = -{CACHE_WRITER_KIB}; PRAGMA journal_size_limit = {};
         PRAGMA wal_autocheckpoint = 0;",
        wal::kept_bytes(settings)
    ))?;
    if let Some(pages) = settings.pages_max {
        connection.execute_batch(&format!("PRAGMA max_page_count = {pages}"))?;
    }
    Ok(())
}

/// Sets what commits wait for. Not within a transaction.
pub(super) fn set_synchronous(
    connection: &Connection,
    synchronous: Synchronous,
) -> Result<(), rusqlite::Error> {
    let sql = match synchronous {
        Synchronous::Full => "PRAGMA synchronous = FULL",
        Synchronous::Normal => "PRAGMA synchronous = NORMAL",
    };
    connection.prepare_cached(sql)?.execute([]).map(drop)
}

/// Opens a connection that only reads.
pub(super) fn open_reader(
    path: &Path,
    settings: &SqliteSettings,
) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    wait_for_others(&mut connection, settings.busy_wait_max)?;
    keep_statements(&connection)?;
    connection.execute_batch(&format!(
        "PRAGMA query_only = ON; PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY;
         PRAGMA cache_size = -{CACHE_READER_KIB};"
    ))?;
    Ok(connection)
}

/// Has statements compiled once. Without the guarantee that plans do not depend on values, a kept
/// statement would be compiled again at each use, since its values were cleared in between.
fn keep_statements(connection: &Connection) -> Result<(), rusqlite::Error> {
    connection.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map(drop)
}

/// Lets `connection` try again while others hold the database, for at most `wait_max`.
///
/// `SQLite`'s own way sleeps up to 100 ms between two tries, so that a caller can starve for
/// seconds while others come and go. Short sleeps of uneven length share the lock fairly.
pub(super) fn wait_for_others(
    connection: &mut Connection,
    wait_max: Duration,
) -> Result<(), rusqlite::Error> {
    let mut since = None;
    let mut chance = u64::from(std::process::id()).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    connection.busy_handler(Some(move |tries: i32| {
        if tries == 0 {
            since = None;
        }
        let since = *since.get_or_insert_with(now);
        if wait_max <= now().duration_since(since) {
            return false;
        }
        chance ^= chance << 13;
        chance ^= chance >> 7;
        chance ^= chance << 17;
        // Anyone who has waited long waits for something long.
        let step = if tries < 1000 { 1 } else { 4 };
        thread::sleep(Duration::from_micros((150 + chance % 300) * step));
        true
    }))
}

/// The time, for measuring how long something took.
#[expect(clippy::disallowed_methods, reason = "bounds a wait for other processes, never stored")]
pub(super) fn now() -> Instant {
    Instant::now()
}
