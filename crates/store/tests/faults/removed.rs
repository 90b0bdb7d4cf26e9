//! Files of the database that someone removes or replaces while it is in use.
#![cfg(unix)]

use std::{
    fs,
    path::{Path, PathBuf},
};

use store::{Store as _, StoreError};

use crate::support::{append, open, run};

const FILES: [&str; 3] = ["test.db", "test.db-wal", "test.db-shm"];

#[tokio::test]
async fn nothing_is_answered_once_a_file_was_removed() {
    for name in FILES {
        let folder = tempfile::tempdir().unwrap();
        let (path, aside) = (folder.path().join(name), folder.path().join("aside"));
        let store = open(folder.path());
        store.append(append(run(1), 0, &["one"])).await.unwrap();
        fs::rename(&path, &aside).unwrap();
        for _ in 0..3 {
            let refused = store.append(append(run(1), 1, &["two"])).await;
            assert_gone(&refused, &path);
        }
        // Put back, it is the same file again.
        fs::rename(&aside, &path).unwrap();
        store.append(append(run(1), 1, &["two"])).await.unwrap();
        assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
    }
}

#[tokio::test]
async fn nothing_is_answered_once_a_file_was_replaced() {
    for name in FILES {
        let folder = tempfile::tempdir().unwrap();
        let (path, aside) = (folder.path().join(name), folder.path().join("aside"));
        let store = open(folder.path());
        store.append(append(run(1), 0, &["one"])).await.unwrap();
        fs::copy(&path, &aside).unwrap();
        fs::rename(&aside, &path).unwrap();
        let refused = store.append(append(run(1), 1, &["two"])).await;
        assert_gone(&refused, &path);
    }
}

#[tokio::test]
async fn what_was_answered_before_the_log_was_removed_is_saved() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    for length in 0..20 {
        store.append(append(run(1), length, &["kept"])).await.unwrap();
    }
    fs::remove_file(folder.path().join("test.db-wal")).unwrap();
    let refused = store.append(append(run(1), 20, &["late"])).await;
    assert_gone(&refused, &folder.path().join("test.db-wal"));
    // As after a kill: all that is left is the file.
    let copy = folder.path().join("copy");
    fs::create_dir(&copy).unwrap();
    fs::copy(folder.path().join("test.db"), copy.join("test.db")).unwrap();
    let left = open(&copy);
    assert_eq!(left.load(run(1), 0).await.unwrap().unwrap().length, 20);
    drop(store);
    let again = open(folder.path());
    assert_eq!(again.load(run(1), 0).await.unwrap().unwrap().length, 20);
    again.append(append(run(1), 20, &["after a restart"])).await.unwrap();
}

fn assert_gone(refused: &Result<(), StoreError>, path: &Path) {
    match refused {
        Err(StoreError::Gone { path: said }) => assert_eq!(PathBuf::from(said), path),
        other => panic!("{other:?}"),
    }
}
