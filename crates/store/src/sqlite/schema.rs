//! The file: found, made, or brought to the schema of this release.
//!
//! Migrations only go forward. Before one changes a file that holds something, a copy is put
//! beside it. Any number of processes may come to the same file at the same moment.

use std::{
    fs::{self, File},
    io::{self, Read as _},
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use rusqlite::{Connection, ErrorCode};

use super::{
    connection::{now, open_reader, open_writer, wait_for_others},
    copy::{self, create},
    mark,
    settings::SqliteSettings,
    sums, wal,
};
use crate::{Foreign, StoreError};

/// Fills in what SQL cannot compute.
type Fill = fn(&Connection) -> Result<(), StoreError>;

/// What leads from one version of the schema to the next.
#[derive(Debug, Clone, Copy)]
struct Migration {
    sql: &'static str,
    /// What cannot be said in SQL.
    then: Option<Fill>,
}

impl Migration {
    const fn new(sql: &'static str) -> Self {
        Self { sql, then: None }
    }
}

/// One for each version of the schema.
const MIGRATIONS: &[Migration] = &[
    Migration::new(include_str!("../../migrations/sqlite/0001_log.sql")),
    Migration::new(include_str!("../../migrations/sqlite/0002_files_and_keys.sql")),
    Migration::new(include_str!("../../migrations/sqlite/0003_steady_clock.sql")),
    Migration {
        sql: include_str!("../../migrations/sqlite/0004_checksums.sql"),
        then: Some(sums::fill),
    },
    Migration::new(include_str!("../../migrations/sqlite/0005_answers.sql")),
];
/// Marks a file as ours: the letters `MPst`.
const APPLICATION_ID: u32 = 0x4D50_7374;
/// What every database file begins with.
const HEADER: &[u8] = b"SQLite format 3\0";
/// Another process may be copying a large file before it migrates it.
const MIGRATION_WAIT_MAX: Duration = Duration::from_secs(300);
/// Earlier releases of `SQLite` can corrupt a file that several connections write to.
const SQLITE_MIN: i32 = 3_051_003;

/// Opens the file at `path` for writing, as it should be.
pub(super) fn open(path: &Path, settings: &SqliteSettings) -> Result<Connection, StoreError> {
    if rusqlite::version_number() < SQLITE_MIN {
        return Err(StoreError::Database(format!("SQLite {} is too old", rusqlite::version())));
    }
    find_or_create(path)?;
    let mut connection = open_writer(path, settings)?;
    migrate(&mut connection, path, settings, MIGRATIONS)?;
    Ok(connection)
}

/// Brings a fresh private database to the schema.
pub(super) fn fill(connection: &Connection) -> Result<(), StoreError> {
    apply(connection, MIGRATIONS, 0)
}

/// Refuses to write into a file whose schema a later release has changed meanwhile.
pub(super) fn check_current(connection: &Connection) -> Result<(), StoreError> {
    let known = u32::try_from(MIGRATIONS.len()).unwrap_or(u32::MAX);
    let mut statement = connection.prepare_cached("PRAGMA user_version")?;
    let found = statement.query_row([], |row| row.get(0))?;
    if found == known { Ok(()) } else { Err(StoreError::NewerSchema { found, known }) }
}

/// Refuses a file that is empty or not there although events were written to it.
pub(super) fn check_kept(path: &Path) -> Result<(), StoreError> {
    let is_empty = fs::metadata(path).map_or(true, |it| it.is_file() && it.len() == 0);
    if is_empty && let Some(events) = mark::find_written(path) {
        return Err(StoreError::Emptied { path: path.display().to_string(), events });
    }
    Ok(())
}

fn find_or_create(path: &Path) -> Result<(), StoreError> {
    check_kept(path)?;
    match create(path) {
        Ok(_) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(io_failure(path, &error)),
    }
    let mut start = Vec::new();
    let file = File::open(path).map_err(|error| io_failure(path, &error))?;
    file.take(HEADER.len() as u64)
        .read_to_end(&mut start)
        .map_err(|error| io_failure(path, &error))?;
    if start.is_empty() || start == HEADER {
        return Ok(());
    }
    Err(foreign(path, Foreign::File))
}

fn migrate(
    connection: &mut Connection,
    path: &Path,
    settings: &SqliteSettings,
    migrations: &[Migration],
) -> Result<(), StoreError> {
    let known = u32::try_from(migrations.len()).unwrap_or(u32::MAX);
    // In one transaction: a file that another process makes meanwhile is seen before or after.
    connection.execute_batch("BEGIN")?;
    let found = check_version(connection, path, known);
    connection.execute_batch("COMMIT")?;
    if found? == known && is_wal(connection)? {
        return Ok(());
    }
    wait_for_others(connection, MIGRATION_WAIT_MAX)?;
    switch_to_wal(connection)?;
    connection.execute_batch("BEGIN IMMEDIATE")?;
    // From here no other process writes. One that waited finds the work done.
    let migrated = migrate_locked(connection, path, settings, migrations);
    connection.execute_batch(if migrated.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
    // The migration may have put the whole file into the log.
    wal::finish(connection);
    wait_for_others(connection, settings.busy_wait_max)?;
    migrated
}

fn migrate_locked(
    connection: &Connection,
    path: &Path,
    settings: &SqliteSettings,
    migrations: &[Migration],
) -> Result<(), StoreError> {
    let known = u32::try_from(migrations.len()).unwrap_or(u32::MAX);
    let found = check_version(connection, path, known)?;
    if 0 < found && found < known {
        back_up(path, settings, found)?;
    }
    apply(connection, migrations, found)
}

/// Applies the migrations after the first `found`.
fn apply(connection: &Connection, migrations: &[Migration], found: u32) -> Result<(), StoreError> {
    for migration in migrations.iter().skip(usize::try_from(found).unwrap_or(usize::MAX)) {
        connection.execute_batch(migration.sql)?;
        migration.then.map_or(Ok(()), |then| then(connection))?;
    }
    let known = migrations.len();
    connection.execute_batch(&format!(
        "PRAGMA user_version = {known}; PRAGMA application_id = {APPLICATION_ID};"
    ))?;
    Ok(())
}

/// Returns the version of the schema in the file; 0 for an empty one.
fn check_version(connection: &Connection, path: &Path, known: u32) -> Result<u32, StoreError> {
    let pragma = |name: &str| connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0));
    let found: u32 = pragma("user_version")?;
    if known < found {
        return Err(StoreError::NewerSchema { found, known });
    }
    let is_empty =
        || connection.query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| row.get(0));
    let is_ours =
        if found == 0 { is_empty()? } else { pragma("application_id")? == APPLICATION_ID };
    if is_ours {
        return Ok(found);
    }
    let is_orchestrator = connection.query_row(
        "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'workflow_instances')",
        [],
        |row| row.get(0),
    )?;
    Err(foreign(path, if is_orchestrator { Foreign::Orchestrator } else { Foreign::Program }))
}

fn back_up(path: &Path, settings: &SqliteSettings, version: u32) -> Result<(), StoreError> {
    let name = with_suffix(path, &format!(".backup-v{version}"));
    // A second connection still sees what was committed, while the first holds the lock.
    copy::replace(&open_reader(path, settings)?, &name)
}

fn is_wal(connection: &Connection) -> Result<bool, StoreError> {
    let mode: String = connection.query_row("PRAGMA journal_mode", [], |row| row.get(0))?;
    Ok(mode == "wal")
}

/// Changing the mode of a new file needs it alone for a moment, and `SQLite` does not always wait.
fn switch_to_wal(connection: &Connection) -> Result<(), StoreError> {
    let since = now();
    loop {
        let mode = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0));
        match mode {
            Ok::<String, _>(mode) if mode == "wal" => return Ok(()),
            Ok(mode) => {
                return Err(StoreError::Database(format!(
                    "journal mode `{mode}` instead of `wal`"
                )));
            }
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && now().duration_since(since) < MIGRATION_WAIT_MAX =>
            {
                thread::sleep(Duration::from_millis(1));
            }
            Err(error) => return Err(error.into()),
        }
    }
}

fn foreign(path: &Path, what: Foreign) -> StoreError {
    StoreError::Foreign { path: path.display().to_string(), what }
}

/// Returns the path of something that lies beside the database.
pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

pub(super) fn io_failure(path: &Path, error: &io::Error) -> StoreError {
    if error.kind() == io::ErrorKind::StorageFull {
        return StoreError::Full;
    }
    StoreError::Database(format!("`{}`: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::{sync::Barrier, thread};

    use super::*;

    const FIRST: Migration = Migration::new("CREATE TABLE t (a); INSERT INTO t VALUES (1);");
    const SECOND: Migration = Migration::new("ALTER TABLE t ADD b; UPDATE t SET b = a + 1;");

    fn open_with(path: &Path, migrations: &[Migration]) -> Result<Connection, StoreError> {
        find_or_create(path)?;
        let settings = SqliteSettings::default();
        let mut connection = open_writer(path, &settings)?;
        migrate(&mut connection, path, &settings, migrations)?;
        Ok(connection)
    }

    fn columns(connection: &Connection) -> String {
        let rows = connection.query_row(
            "SELECT group_concat(name) FROM pragma_table_info('t')",
            [],
            |row| row.get(0),
        );
        rows.unwrap()
    }

    #[test]
    fn an_older_schema_is_copied_and_then_migrated() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        drop(open_with(&path, &[FIRST]).unwrap());
        assert!(!with_suffix(&path, ".backup-v0").exists(), "an empty file needs no copy");
        assert_eq!(columns(&open_with(&path, &[FIRST, SECOND]).unwrap()), "a,b");
        let copy = Connection::open(with_suffix(&path, ".backup-v1")).unwrap();
        assert_eq!(columns(&copy), "a");
        let older = open_with(&path, &[FIRST]);
        assert!(matches!(older, Err(StoreError::NewerSchema { found: 2, known: 1 })), "{older:?}");
    }

    #[test]
    fn a_migration_that_fails_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        drop(open_with(&path, &[FIRST]).unwrap());
        let failed = open_with(
            &path,
            &[FIRST, Migration::new("ALTER TABLE t ADD b; SELECT * FROM nowhere;")],
        );
        assert!(matches!(failed, Err(StoreError::Database(_))), "{failed:?}");
        assert_eq!(columns(&open_with(&path, &[FIRST]).unwrap()), "a");
        assert_eq!(columns(&open_with(&path, &[FIRST, SECOND]).unwrap()), "a,b");
    }

    #[test]
    fn many_may_migrate_at_once() {
        const MANY: usize = 6;
        for old in [&[][..], &[FIRST]] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("test.db");
            drop(open_with(&path, old).unwrap());
            let barrier = Barrier::new(MANY);
            thread::scope(|scope| {
                let come = || {
                    barrier.wait();
                    columns(&open_with(&path, &[FIRST, SECOND]).unwrap())
                };
                let all = [(); MANY].map(|()| scope.spawn(come));
                let columns = all.map(|one| one.join().unwrap());
                assert_eq!(columns, ["a,b"; MANY]);
            });
            let count: u32 = open_with(&path, &[FIRST, SECOND])
                .unwrap()
                .query_row("SELECT count(*) FROM t", [], |row| row.get(0))
                .unwrap();
            assert_eq!(count, 1);
        }
    }

    #[test]
    fn a_file_that_is_as_it_should_be_opens_beside_a_writer() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        let settings =
            SqliteSettings { busy_wait_max: Duration::ZERO, ..SqliteSettings::default() };
        let writer = open(&path, &settings).unwrap();
        writer.execute_batch("BEGIN IMMEDIATE").unwrap();
        open(&path, &settings).unwrap();
    }
}
