//! A full disk, and a database that others do not let go of.
#![expect(clippy::panic, reason = "a test may panic")]

use std::{path::Path, time::Duration};

use engine::Timestamp;
use rusqlite::Connection;
use store::{Filter, RequestKey, Search, SqliteSettings, SqliteStore, Store as _, StoreError};

use crate::support::{append, run};

#[tokio::test]
async fn a_full_disk_loses_nothing_and_is_forgotten_once_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let text = "x".repeat(3000);
    let mut length = 0;
    {
        let store = open_small(folder.path(), 60);
        let full = loop {
            match store.append(append(run(1), length, &[&text])).await {
                Ok(()) => length += 1,
                Err(other) => break other,
            }
            assert!(length < 1000, "the limit is not obeyed");
        };
        assert!(matches!(full, StoreError::Full), "{full:?}");
        assert!(full.is_retryable());
        // Nothing of it was written, and everything can still be read.
        assert_eq!(store.load(run(1), 0).await.unwrap().unwrap().length, length);
        let again = store.append(append(run(1), length, &[&text])).await;
        assert!(matches!(again, Err(StoreError::Full)), "{again:?}");
        assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
    }
    let store = open_small(folder.path(), 400);
    store.append(append(run(1), length, &[&text])).await.unwrap();
    let log = store.load(run(1), 0).await.unwrap().unwrap();
    assert_eq!((log.length, log.events.len() as u64), (length + 1, length + 1));
    assert_eq!(store.search(words("xxx*")).await.unwrap().hits.len() as u64, (length + 1).min(100));
}

#[tokio::test]
async fn what_has_room_is_written_beside_what_has_none() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_small(folder.path(), 60);
    let large = "y".repeat(400_000);
    let (small, large) = tokio::join!(
        store.append(append(run(1), 0, &["small"])),
        store.append(append(run(2), 0, &[&large])),
    );
    small.unwrap();
    assert!(matches!(large, Err(StoreError::Full)), "{large:?}");
    assert_eq!(store.load(run(1), 0).await.unwrap().unwrap().length, 1);
    assert_eq!(store.load(run(2), 0).await.unwrap(), None);
}

#[tokio::test]
async fn a_database_that_stays_locked_is_busy_and_then_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let settings = SqliteSettings {
        queue_max: 4,
        busy_wait_max: Duration::from_millis(300),
        ..SqliteSettings::default()
    };
    let store = SqliteStore::open(&folder.path().join("test.db"), settings).unwrap();
    store.append(append(run(1), 0, &["before"])).await.unwrap();
    let other = Connection::open(folder.path().join("test.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();

    // More than the queue holds: those that do not fit are told at once.
    let appends = (2..12).map(|number| store.append(append(run(number), 0, &["waits"])));
    let outcomes = crate::shared::at_once(appends).await;
    assert!(outcomes.iter().all(|it| matches!(it, Err(StoreError::Busy))), "{outcomes:?}");
    // Readers do not wait for writers.
    assert_eq!(store.load(run(1), 0).await.unwrap().unwrap().length, 1);
    assert_eq!(store.list(Filter { limit: 9, ..Filter::default() }).await.unwrap().rows.len(), 1);

    other.execute_batch("ROLLBACK").unwrap();
    store.append(append(run(1), 1, &["after"])).await.unwrap();
    assert_eq!(store.load(run(2), 0).await.unwrap(), None);
}

#[tokio::test]
async fn a_search_is_answered_while_another_holds_the_lock() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.db");
    let settings = SqliteSettings {
        busy_wait_max: Duration::from_secs(5),
        search_wait_max: Duration::from_millis(50),
        // Nothing is indexed but for a search.
        index_idle: Duration::from_secs(3600),
        ..SqliteSettings::default()
    };
    let store = SqliteStore::open(&path, settings).unwrap();
    store.append(append(run(1), 0, &["found at once"])).await.unwrap();
    assert_eq!(store.search(words("found")).await.unwrap().hits.len(), 1);
    store.append(append(run(1), 1, &["found later", "and this"])).await.unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let found = store.search(words("found")).await.unwrap();
    assert_eq!((found.hits.len(), found.pending), (1, 2));
    assert!(found.warning().is_some_and(|it| it.contains("newest 2 events")), "{found:?}");
    other.execute_batch("ROLLBACK").unwrap();
    let found = loop {
        let found = store.search(words("found")).await.unwrap();
        if found.pending == 0 {
            break found;
        }
    };
    assert_eq!(found.hits.len(), 2);
}

#[tokio::test]
async fn requests_are_forgotten_after_their_time() {
    assert_eq!(kept_of_twelve_days(0).await, [4, 5, 6, 7, 8, 9, 10, 11]);
}

#[tokio::test]
async fn the_newest_requests_are_remembered_however_old_they_are() {
    assert_eq!(kept_of_twelve_days(10).await, [2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
}

/// Asks something on each of twelve days, with a wall clock that goes astray, and returns the days
/// whose requests are remembered in the end.
async fn kept_of_twelve_days(requests_kept_min: u64) -> Vec<i64> {
    const DAY: i64 = 24 * 60 * 60 * 1_000_000;
    let folder = tempfile::tempdir().unwrap();
    let settings = SqliteSettings { requests_kept_min, ..SqliteSettings::default() };
    let store = SqliteStore::open(&folder.path().join("test.db"), settings).unwrap();
    for day in 0..12 {
        let mut append = append(run(1), u64::try_from(day).unwrap(), &["asked"]);
        append.events[0].at = Timestamp(day % 3 * 100 * DAY);
        append.events[0].steady = Timestamp(day * DAY);
        append.request = Some(RequestKey { id: format!("r{day}"), fingerprint: String::new() });
        store.append(append).await.unwrap();
    }
    let mut kept = Vec::new();
    for day in 0..12 {
        if store.find_request("project", &format!("r{day}")).await.unwrap().is_some() {
            kept.push(day);
        }
    }
    kept
}

fn open_small(folder: &Path, pages: u32) -> SqliteStore {
    let settings = SqliteSettings { pages_max: Some(pages), ..SqliteSettings::default() };
    SqliteStore::open(&folder.join("test.db"), settings).unwrap_or_else(|error| panic!("{error:?}"))
}

fn words(text: &str) -> Search {
    Search { text: text.to_owned(), limit: 100, ..Search::default() }
}
