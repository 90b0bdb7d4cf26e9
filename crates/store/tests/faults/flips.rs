//! Single changed bytes, anywhere. Each is harmless or found: history never changes silently.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    fs,
    path::{Path, PathBuf},
};

use rusqlite::Connection;
use store::{SqliteSettings, SqliteStore, Store as _, StoreError};

use crate::support::{append, open, run};

const RUNS: u128 = 30;
const FLIPS: u64 = 300;

#[tokio::test]
async fn a_changed_byte_of_the_file_never_changes_history_silently() {
    let folder = tempfile::tempdir().unwrap();
    let original = folder.path().join("original");
    fs::create_dir(&original).unwrap();
    drop(filled(&original).await);
    let truth = history(&open(&original)).await.unwrap();
    let tally = flip_often(&original, "test.db", folder.path(), &truth).await;
    println!("{tally:?}");
    assert_eq!(tally.silent, Vec::<String>::new());
    assert!(0 < tally.found && 0 < tally.harmless, "{tally:?}");
}

#[tokio::test]
async fn a_changed_byte_of_the_log_never_loses_history_silently() {
    let folder = tempfile::tempdir().unwrap();
    let original = folder.path().join("original");
    let live = folder.path().join("live");
    fs::create_dir(&original).unwrap();
    fs::create_dir(&live).unwrap();
    // As a kill leaves it: copied while it is in use, with what is only in the log.
    let store = filled(&live).await;
    for name in ["test.db", "test.db-wal", "test.db-mark"] {
        fs::copy(live.join(name), original.join(name)).unwrap();
    }
    let truth = history(&store).await.unwrap();
    drop(store);
    let tally = flip_often(&original, "test.db-wal", folder.path(), &truth).await;
    println!("{tally:?}");
    assert_eq!(tally.silent, Vec::<String>::new());
    assert!(0 < tally.found, "{tally:?}");
}

#[tokio::test]
async fn a_damaged_run_is_named_and_the_others_go_on() {
    for (sql, event) in [
        ("UPDATE events SET body = replace(body, 'two', 'twx') WHERE run = ?1 AND seq = 2", 2),
        ("UPDATE events SET at = at + 1 WHERE run = ?1 AND seq = 1", 1),
        ("UPDATE events SET actor = actor || ' ' WHERE run = ?1 AND seq = 3", 3),
        ("UPDATE events SET kind = 'x' WHERE run = ?1 AND seq = 2", 2),
        ("DELETE FROM events WHERE run = ?1 AND seq = 2", 2),
        ("DELETE FROM events WHERE run = ?1 AND seq = 3", 3),
        ("UPDATE runs SET length = 2 WHERE run = ?1", 2),
        ("UPDATE runs SET head = x'00112233445566778899aabbccddeeff' WHERE run = ?1", 3),
        ("UPDATE runs SET project = 'other' WHERE run = ?1", 1),
    ] {
        let (folder, store) = meddled(sql).await;
        let loaded = store.load(run(1), 0).await;
        let Err(StoreError::DamagedRun { run: said, seq, .. }) = loaded else {
            panic!("{sql}: {loaded:?}");
        };
        assert_eq!((said, seq), (run(1), event), "{sql}");
        let problems = store.check().await.unwrap();
        assert_eq!(problems.len(), 1, "{sql}: {problems:?}");
        store.append(append(run(2), 3, &["four"])).await.unwrap();
        assert_eq!(store.load(run(2), 0).await.unwrap().unwrap().length, 4);
        let backup = store.backup(&folder.path().join("copy.db")).await;
        assert!(matches!(backup, Err(StoreError::Damaged(_))), "{sql}: {backup:?}");
        assert!(!folder.path().join("copy.db").exists());
    }
}

#[tokio::test]
async fn nothing_is_added_to_a_run_whose_end_was_changed() {
    for sql in [
        "UPDATE runs SET head = x'' WHERE run = ?1",
        "UPDATE events SET sum = x'00' WHERE run = ?1 AND seq = 3",
        "DELETE FROM events WHERE run = ?1 AND seq = 3",
    ] {
        let (_folder, store) = meddled(sql).await;
        let refused = store.append(append(run(1), 3, &["four"])).await;
        assert!(matches!(refused, Err(StoreError::DamagedRun { seq: 3, .. })), "{refused:?}");
    }
}

/// Two runs of three events, the first of which someone has changed.
async fn meddled(sql: &str) -> (tempfile::TempDir, SqliteStore) {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    for number in [1, 2] {
        store.append(append(run(number), 0, &["one", "two", "three"])).await.unwrap();
    }
    let meddler = Connection::open(folder.path().join("test.db")).unwrap();
    assert_eq!(meddler.execute(sql, [run(1).as_bytes()]).unwrap(), 1, "{sql}");
    (folder, store)
}

/// What became of the flips.
#[derive(Debug, Default)]
struct Tally {
    harmless: u64,
    found: u64,
    silent: Vec<String>,
}

async fn filled(folder: &Path) -> SqliteStore {
    let store = open(folder);
    for round in 0..6 {
        for number in 0..RUNS {
            let text = format!("{} said {round} times by run {number}", "words ".repeat(20));
            store.append(append(run(number), round, &[&text])).await.unwrap();
        }
    }
    store
}

/// Changes one byte of `name` in a copy of `original`, again and again.
async fn flip_often(original: &Path, name: &str, folder: &Path, truth: &[String]) -> Tally {
    let size = fs::metadata(original.join(name)).unwrap().len();
    let mut tally = Tally::default();
    for seed in 0..FLIPS {
        let copy = folder.join(format!("copy-{seed}"));
        copy_all(original, &copy);
        let place = mix(seed) % size;
        let bits = u8::try_from(mix(seed ^ 0xff) % 255 + 1).unwrap();
        flip(&copy.join(name), usize::try_from(place).unwrap(), bits);
        match judge(&copy, truth).await {
            None => tally.harmless += 1,
            Some(true) => tally.found += 1,
            Some(false) => tally.silent.push(format!("byte {place} ^ {bits:#04x}")),
        }
        fs::remove_dir_all(&copy).unwrap();
    }
    tally
}

/// Returns `None` if nothing has changed, else whether that was found.
async fn judge(folder: &Path, truth: &[String]) -> Option<bool> {
    let Ok(store) = SqliteStore::open(&folder.join("test.db"), SqliteSettings::default()) else {
        return Some(true);
    };
    let is_found = !store.check().await.is_ok_and(|problems| problems.is_empty());
    match history(&store).await {
        Ok(history) if history == truth => None,
        Ok(_) => Some(is_found),
        Err(_) => Some(true),
    }
}

async fn history(store: &SqliteStore) -> Result<Vec<String>, StoreError> {
    let mut all = Vec::new();
    for number in 0..RUNS {
        let log = store.load(run(number), 0).await?;
        all.push(format!("{:?}", log.map(|it| (it.project, it.length, it.events))));
    }
    Ok(all)
}

fn copy_all(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path: PathBuf = entry.unwrap().path();
        fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
    }
}

fn flip(path: &Path, place: usize, bits: u8) {
    let mut bytes = fs::read(path).unwrap();
    bytes[place] ^= bits;
    fs::write(path, bytes).unwrap();
}

/// `SplitMix64`.
fn mix(seed: u64) -> u64 {
    let mut mixed = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
