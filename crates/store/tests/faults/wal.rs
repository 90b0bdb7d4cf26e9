//! The write-ahead log while many write and read, and nobody ever pauses.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use rusqlite::Connection;
use store::{Filter, Search, SqliteSettings, SqliteStore, Store as _};
use tokio::task::JoinSet;

use crate::support::{append, run};

const MIB: u64 = 1024 * 1024;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_log_stays_short_under_steady_load() {
    let folder = tempfile::tempdir().unwrap();
    let settings = SqliteSettings { wal_bytes_max: 4 * MIB, ..SqliteSettings::default() };
    let path = folder.path().join("test.db");
    let stores = [0, 1].map(|_| Arc::new(SqliteStore::open(&path, settings.clone()).unwrap()));
    let is_over = Arc::new(AtomicBool::new(false));
    let mut readers = JoinSet::new();
    for store in &stores {
        for _ in 0..4 {
            readers.spawn(read(Arc::clone(store), Arc::clone(&is_over)));
        }
    }
    let mut writers = JoinSet::new();
    for number in 0..4 {
        let store = Arc::clone(&stores[number % 2]);
        writers.spawn(async move {
            let text = "some words to fill pages with ".repeat(100);
            for length in 0..400 {
                store.append(append(run(number as u128), length, &[&text])).await.unwrap();
            }
        });
    }
    let mut largest = 0;
    while let Some(ended) = tokio::select! {
        ended = writers.join_next() => ended.map(Some),
        () = tokio::task::yield_now() => Some(None),
    } {
        ended.transpose().unwrap();
        largest = largest.max(log_bytes(&path));
    }
    is_over.store(true, Ordering::Relaxed);
    while let Some(ended) = readers.join_next().await {
        ended.unwrap();
    }
    println!("the log had {largest} bytes at most");
    assert!(largest < settings.wal_bytes_max, "{largest}");
}

#[tokio::test]
async fn who_reads_for_long_does_not_stop_those_who_write() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.db");
    let settings = SqliteSettings { wal_bytes_max: MIB, ..SqliteSettings::default() };
    let store = SqliteStore::open(&path, settings).unwrap();
    store.append(append(run(1), 0, &["begin"])).await.unwrap();
    let reader = Connection::open(&path).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM events").unwrap();
    let text = "x".repeat(20_000);
    for length in 1..12 {
        store.append(append(run(1), length, &[&text])).await.unwrap();
    }
    reader.execute_batch("ROLLBACK").unwrap();
    for length in 12..40 {
        store.append(append(run(1), length, &[&text])).await.unwrap();
    }
    assert!(log_bytes(&path) < MIB, "{}", log_bytes(&path));
}

#[tokio::test]
async fn a_store_that_is_closed_leaves_one_file_with_everything() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.db");
    let store = SqliteStore::open(&path, SqliteSettings::default()).unwrap();
    store.append(append(run(1), 0, &["one"])).await.unwrap();
    assert!(0 < log_bytes(&path), "until then it may all be in the log");
    drop(store);
    let copy = folder.path().join("copy.db");
    fs::copy(&path, &copy).unwrap();
    let copied = SqliteStore::open(&copy, SqliteSettings::default()).unwrap();
    assert_eq!(copied.load(run(1), 0).await.unwrap().unwrap().length, 1);
}

async fn read(store: Arc<SqliteStore>, is_over: Arc<AtomicBool>) {
    while !is_over.load(Ordering::Relaxed) {
        store.list(Filter { limit: 20, ..Filter::default() }).await.unwrap();
        store.load(run(0), 0).await.unwrap();
        let search = Search { text: "words".to_owned(), limit: 5, ..Search::default() };
        store.search(search).await.unwrap();
    }
}

fn log_bytes(path: &Path) -> u64 {
    fs::metadata(path.with_extension("db-wal")).map_or(0, |it| it.len())
}
