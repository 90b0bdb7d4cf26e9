//! Files that are not what they should be, and looking after those that are.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    fs,
    path::{Path, PathBuf},
};

use rusqlite::Connection;
use store::{
    Deletion, FileFilter, Filter, Foreign, SqliteSettings, SqliteStore, Store as _, StoreError,
};

use crate::support::{append, open, run};

#[test]
fn what_is_not_a_database_is_left_alone() {
    for content in ["a letter to someone", "x", "SQLite format 4\0 and so on"] {
        let (folder, path) = place();
        fs::write(&path, content).unwrap();
        let refused = open_at(&path);
        assert!(
            matches!(&refused, Err(StoreError::Foreign { what: Foreign::File, .. })),
            "{refused:?}"
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), content);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}

#[tokio::test]
async fn a_database_that_was_emptied_or_removed_does_not_begin_with_nothing() {
    let (_folder, path) = place();
    let store = open_at(&path).unwrap();
    store.append(append(run(1), 0, &["one"])).await.unwrap();
    drop(store);
    let empty = || fs::write(&path, "").unwrap();
    let remove = || fs::remove_file(&path).unwrap();
    for spoil in [&empty as &dyn Fn(), &remove] {
        spoil();
        let refused = open_at(&path);
        assert!(matches!(&refused, Err(StoreError::Emptied { events: 1.., .. })), "{refused:?}");
    }
    fs::remove_file(path.with_extension("db-mark")).unwrap();
    open_at(&path).unwrap();
}

#[test]
fn the_database_of_another_program_is_left_alone() {
    for version in [0, 1] {
        let (_folder, path) = place();
        let other = Connection::open(&path).unwrap();
        other.execute_batch("CREATE TABLE events (theirs)").unwrap();
        other.pragma_update(None, "user_version", version).unwrap();
        drop(other);
        let before = fs::read(&path).unwrap();
        let refused = open_at(&path);
        assert!(
            matches!(&refused, Err(StoreError::Foreign { what: Foreign::Program, .. })),
            "{refused:?}"
        );
        assert_eq!(fs::read(&path).unwrap(), before);
    }
}

#[test]
fn the_database_of_an_orchestrator_is_named() {
    let (_folder, path) = place();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("CREATE TABLE workflow_instances (instance_id)").unwrap();
    drop(other);
    let refused = open_at(&path).unwrap_err();
    assert!(
        matches!(refused, StoreError::Foreign { what: Foreign::Orchestrator, .. }),
        "{refused:?}"
    );
    assert!(refused.hint().contains("milepost import orchestrator"), "{}", refused.hint());
}

#[tokio::test]
async fn a_newer_schema_is_refused() {
    let (folder, path) = place();
    drop(open(folder.path()));
    let later = Connection::open(&path).unwrap();
    later.pragma_update(None, "user_version", 99).unwrap();
    drop(later);
    let refused = open_at(&path);
    assert!(matches!(refused, Err(StoreError::NewerSchema { found: 99, .. })), "{refused:?}");
}

#[tokio::test]
async fn a_schema_that_changes_in_use_is_noticed() {
    let (folder, path) = place();
    let store = open(folder.path());
    store.append(append(run(1), 0, &["one"])).await.unwrap();
    let later = Connection::open(&path).unwrap();
    later.pragma_update(None, "user_version", 99).unwrap();
    let refused = store.append(append(run(1), 1, &["two"])).await;
    assert!(matches!(refused, Err(StoreError::NewerSchema { found: 99, .. })), "{refused:?}");
    assert_eq!(store.load(run(1), 0).await.unwrap().unwrap().length, 1);
}

#[tokio::test]
async fn a_database_of_the_first_release_is_taken_over() {
    let (folder, path) = place();
    let old = Connection::open(&path).unwrap();
    old.execute_batch(include_str!("../../migrations/sqlite/0001_log.sql")).unwrap();
    old.execute_batch("PRAGMA user_version = 1; PRAGMA application_id = 0x4D507374;").unwrap();
    // Three went by one key, the second of which lives; another has a key, and one has none.
    let rows = [(1, Some("k"), 0), (2, Some("k"), 1), (3, Some("k"), 0), (4, Some("x"), 1)];
    for (number, key, is_live) in rows.into_iter().chain([(5, None, 1)]) {
        let id = run(number);
        old.execute(
            "INSERT INTO runs (run, project, length, workflow, key, root, status, is_live, step,
             title, steps_done, steps_total, errors, started_at, updated_at)
             VALUES (?1, 'project', 1, 'flow', ?2, '/work', 'running', ?3, '', '', 0, 0, 0, 7, 8)",
            rusqlite::params![id.as_bytes(), key, is_live],
        )
        .unwrap();
        let body = crate::support::note("old").encode();
        let actor = serde_json::to_string(&engine::Actor::default()).unwrap();
        old.execute(
            "INSERT INTO events (run, seq, v, kind, at, actor, body)
             VALUES (?1, 1, ?2, 'EntryRecorded', 7, ?3, ?4)",
            rusqlite::params![id.as_bytes(), engine::EVENT_VERSION, actor, body],
        )
        .unwrap();
    }
    drop(old);

    let store = open(folder.path());
    assert!(folder.path().join("test.db.backup-v1").exists());
    // What was stored without checksums has them now.
    let head = store.load(run(1), 0).await.unwrap().unwrap().head;
    assert_eq!(head.to_string(), "84de60187a2e56addea7c7502bb606f7");
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
    let newest = Filter { is_newest_of_key: true, counts: true, limit: 9, ..Filter::default() };
    let listing = store.list(newest.clone()).await.unwrap();
    let shown: Vec<_> = listing.rows.iter().map(|it| (it.run, it.summary.holds_key)).collect();
    assert_eq!((shown, listing.total), (vec![(run(4), true), (run(3), false)], 2));
    let mut begin = append(run(6), 0, &["begin"]);
    begin.summary.key = Some("k".to_owned());
    let taken = store.append(begin.clone()).await;
    assert!(matches!(taken, Err(StoreError::KeyTaken { run: by, .. }) if by == run(2)));
    let mut ended = append(run(2), 1, &["ended"]);
    ended.summary.key = Some("k".to_owned());
    ended.summary.holds_key = false;
    store.append(ended).await.unwrap();
    begin.owes = vec!["k.json".to_owned()];
    store.append(begin).await.unwrap();
    let newest: Vec<_> = store.list(newest).await.unwrap().rows.iter().map(|it| it.run).collect();
    assert_eq!(newest, [run(6), run(4)]);
    assert_eq!(store.files(FileFilter::default()).await.unwrap().len(), 1);
}

#[tokio::test]
async fn an_empty_file_becomes_a_database() {
    let (folder, path) = place();
    fs::write(&path, "").unwrap();
    open(folder.path()).append(append(run(1), 0, &["one"])).await.unwrap();
}

#[test]
fn a_folder_that_is_not_there_is_said() {
    let refused = open_at(Path::new("/nonexistent/folder/test.db"));
    assert!(
        matches!(&refused, Err(StoreError::Database(text)) if text.contains("/nonexistent/")),
        "{refused:?}"
    );
}

#[tokio::test]
async fn a_torn_file_is_called_damaged() {
    let (folder, path) = place();
    {
        let store = open(folder.path());
        for number in 0..200 {
            store.append(append(run(number), 0, &["some text to fill pages with"])).await.unwrap();
        }
    }
    let whole = fs::read(&path).unwrap();
    // Cut in the middle; and overwritten from the second page on.
    let cut = whole[..whole.len() / 2].to_vec();
    let mut overwritten = whole.clone();
    overwritten[4096..].fill(0xa5);
    for torn in [cut, overwritten] {
        fs::write(&path, &torn).unwrap();
        let problem = match open_at(&path) {
            Err(problem) => problem,
            Ok(store) => {
                let written = store.append(append(run(900), 0, &["more"])).await;
                let checked = store.check().await;
                assert!(checked.is_err() || !checked.unwrap().is_empty());
                written.unwrap_err()
            }
        };
        assert!(matches!(problem, StoreError::Damaged(_)), "{problem:?}");
    }
    fs::write(&path, &whole).unwrap();
    assert_eq!(open(folder.path()).load(run(7), 0).await.unwrap().unwrap().length, 1);
}

#[cfg(unix)]
#[tokio::test]
async fn only_its_owner_can_read_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let (folder, path) = place();
    let store = open(folder.path());
    store.append(append(run(1), 0, &["secret"])).await.unwrap();
    store.backup(&folder.path().join("copy.db")).await.unwrap();
    let files: Vec<PathBuf> =
        fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap().path()).collect();
    assert_eq!(files.len(), 5, "{files:?}");
    for file in files {
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600, "{file:?}");
    }
    drop(store);
    // Closed by the last who used it, it is one file.
    assert!(!path.with_extension("db-wal").exists());
}

#[tokio::test]
async fn a_backup_is_the_same_and_overwrites_nothing() {
    let (folder, _) = place();
    let store = open(folder.path());
    for length in 0..20 {
        store.append(append(run(1), length, &["kept"])).await.unwrap();
    }
    let copy = folder.path().join("copy.db");
    store.backup(&copy).await.unwrap();
    store.append(append(run(1), 20, &["later"])).await.unwrap();
    let before = fs::read(&copy).unwrap();
    let refused = store.backup(&copy).await;
    assert!(matches!(refused, Err(StoreError::Database(_))), "{refused:?}");
    assert_eq!(fs::read(&copy).unwrap(), before);
    let mut left: Vec<String> = fs::read_dir(folder.path())
        .unwrap()
        .map(|it| it.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(left, ["copy.db", "test.db", "test.db-mark", "test.db-shm", "test.db-wal"]);

    let copied = open_at(&copy).unwrap();
    let log = copied.load(run(1), 0).await.unwrap().unwrap();
    assert_eq!(log.length, 20);
    copied.append(append(run(1), 20, &["goes on"])).await.unwrap();

    let memory = SqliteStore::in_memory().unwrap();
    memory.append(append(run(3), 0, &["kept"])).await.unwrap();
    memory.backup(&folder.path().join("memory.db")).await.unwrap();
    let copied = open_at(&folder.path().join("memory.db")).unwrap();
    assert_eq!(copied.load(run(3), 0).await.unwrap().unwrap().length, 1);
}

#[tokio::test]
async fn an_older_copy_in_its_place_is_noticed_and_a_backup_is_not() {
    let (folder, path) = place();
    let (copy, backup) = (folder.path().join("copy.db"), folder.path().join("backup.db"));
    let store = open(folder.path());
    store.append(append(run(1), 0, &["one"])).await.unwrap();
    store.backup(&backup).await.unwrap();
    drop(store);
    fs::copy(&path, &copy).unwrap();
    open(folder.path()).append(append(run(1), 1, &["two", "three"])).await.unwrap();

    fs::copy(&backup, &path).unwrap();
    assert_eq!(open(folder.path()).check().await.unwrap(), Vec::<String>::new());
    fs::copy(&copy, &path).unwrap();
    // The mark is that of the backup by now. Write on, and put the copy back once more.
    open(folder.path()).append(append(run(1), 1, &["two", "three"])).await.unwrap();
    fs::copy(&copy, &path).unwrap();
    for _ in 0..2 {
        let store = open(folder.path());
        let problems = store.check().await.unwrap().join("\n");
        assert!(problems.contains("came back with 1 of 3"), "{problems}");
        // It is not forgotten once as much was written again.
        let length = store.load(run(1), 0).await.unwrap().unwrap().length;
        store.append(append(run(1), length, &["on", "and", "on"])).await.unwrap();
    }
    fs::remove_file(folder.path().join("test.db-mark")).unwrap();
    assert_eq!(open(folder.path()).check().await.unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn a_check_finds_what_is_wrong() {
    let (folder, path) = place();
    let store = open(folder.path());
    for number in 1..4 {
        store.append(append(run(number), 0, &["a", "b", "c"])).await.unwrap();
    }
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
    let figures = store.figures().await.unwrap();
    assert_eq!((figures.runs, figures.events), (3, 9));
    assert!(4096 < figures.bytes);

    let meddler = Connection::open(&path).unwrap();
    meddler
        .execute_batch(
            "PRAGMA foreign_keys = OFF; DELETE FROM events WHERE pos IN (2, 6);
             DELETE FROM runs WHERE id = 3;",
        )
        .unwrap();
    let problems = store.check().await.unwrap().join("\n");
    for problem in [
        "event 2 of run `00000000-0000-0000-0000-000000000001` is damaged: it is missing",
        "event 3 of run `00000000-0000-0000-0000-000000000002` is damaged: it is missing",
        "there are events of run 00000000-0000-0000-0000-000000000003, and no such run",
    ] {
        assert!(problems.contains(problem), "{problems}");
    }
    let gap = store.load(run(1), 0).await;
    assert!(matches!(gap, Err(StoreError::DamagedRun { seq: 2, .. })), "{gap:?}");
}

#[tokio::test]
async fn a_deleted_run_is_no_damage() {
    let (folder, path) = place();
    let store = open(folder.path());
    for number in 1..4 {
        store.append(append(run(number), 0, &["a", "b", "c"])).await.unwrap();
    }
    let (at, steady) = (engine::Timestamp(9), engine::Timestamp(9));
    // The last of them has the newest events of all.
    for number in [1, 3] {
        store.delete(Deletion { run: run(number), expected: 3, at, steady }).await.unwrap();
    }
    let backup = folder.path().join("backup.db");
    store.backup(&backup).await.unwrap();
    drop(store);
    for path in [&path, &backup] {
        let store = open_at(path).unwrap();
        assert_eq!(store.check().await.unwrap(), Vec::<String>::new(), "{path:?}");
        let figures = store.figures().await.unwrap();
        assert_eq!((figures.runs, figures.events), (1, 3));
        assert_eq!(store.runs(0, 9).await.unwrap().len(), 1);
        assert_eq!(store.load(run(3), 0).await.unwrap(), None);
        store.append(append(run(9), 0, &["on"])).await.unwrap();
    }
}

fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.db");
    (folder, path)
}

fn open_at(path: &Path) -> Result<SqliteStore, StoreError> {
    SqliteStore::open(path, SqliteSettings::default())
}
