//! The end of a process at any moment. The test starts itself again as a child, and kills it.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    collections::BTreeMap,
    env,
    ffi::OsString,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, Command, Stdio},
    sync::Arc,
};

use store::{Store as _, StoreError};

use crate::{
    insist,
    support::{append, open, run},
};

/// Tells a child which folder to write in, and that it is one.
const FOLDER: &str = "STORE_TEST_FOLDER";
const CALLERS: u128 = 8;

#[tokio::test]
async fn what_was_answered_outlives_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let mut answered: BTreeMap<u128, u64> = BTreeMap::new();
    // Each child goes on where the last was killed, some soon and some late.
    for answers in [1, 3, 40, 250, 7, 600] {
        let mut child = start("crash::a_child_appends_until_it_is_killed", folder.path());
        for (caller, length) in acknowledgements(&mut child).take(answers) {
            answered.insert(caller, length);
        }
        child.kill().unwrap();
        // Answers that were on their way when the end came.
        for (caller, length) in acknowledgements(&mut child) {
            answered.insert(caller, length);
        }
        child.wait().unwrap();

        let store = open(folder.path());
        assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
        for (caller, length) in &mut answered {
            let log = store.load(run(*caller), 0).await.unwrap().unwrap();
            // One more may have been written whose answer was not sent.
            assert!(*length <= log.length && log.length <= *length + 1, "{length} {}", log.length);
            *length = log.length;
            let texts: Vec<String> = log.events.iter().map(|it| it.event.encode()).collect();
            for (index, text) in texts.iter().enumerate() {
                assert!(text.contains(&format!("\"{caller}-{}\"", index + 1)), "{text}");
            }
        }
    }
    assert_eq!(answered.len() as u128, CALLERS);
}

#[test]
fn a_child_appends_until_it_is_killed() {
    let Some(folder) = env::var_os(FOLDER) else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    runtime.block_on(async {
        let store = Arc::new(open(Path::new(&folder)));
        let callers: Vec<_> = (1..=CALLERS)
            .map(|caller| {
                let store = Arc::clone(&store);
                tokio::spawn(async move {
                    let log = store.load(run(caller), 0).await.unwrap();
                    for length in log.map_or(0, |log| log.length).. {
                        let text = format!("{caller}-{}", length + 1);
                        store.append(append(run(caller), length, &[&text])).await.unwrap();
                        writeln!(std::io::stdout(), "answered {caller} {}", length + 1).unwrap();
                    }
                })
            })
            .collect();
        for caller in callers {
            caller.await.unwrap();
        }
    });
}

#[tokio::test]
async fn processes_share_a_file_without_losing_or_refusing_anything() {
    const EACH: u64 = 40;
    let folder = tempfile::tempdir().unwrap();
    open(folder.path()).append(append(run(1), 0, &["begin"])).await.unwrap();
    let children: Vec<Child> =
        (0..3).map(|_| start("crash::a_child_insists", folder.path())).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    let store = open(folder.path());
    assert_eq!(store.load(run(1), 0).await.unwrap().unwrap().length, 1 + 3 * EACH);
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
    let stale = store.append(append(run(1), 1, &["late"])).await;
    assert!(matches!(stale, Err(StoreError::Conflict { .. })), "{stale:?}");
}

#[tokio::test]
async fn a_child_insists() {
    let Some(folder) = env::var_os(FOLDER) else {
        return;
    };
    let store = open(Path::new(&folder));
    for number in 0..40 {
        insist(&store, &format!("{} {number}", std::process::id())).await;
    }
}

/// Starts one test of this file in a process of its own.
fn start(test: &str, folder: &Path) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(FOLDER, OsString::from(folder))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Yields who was answered, and the length that was told.
fn acknowledgements(child: &mut Child) -> impl Iterator<Item = (u128, u64)> {
    let lines = BufReader::with_capacity(1, child.stdout.as_mut().unwrap()).lines();
    lines.map_while(Result::ok).filter_map(|line| {
        // The name of the test may stand before the first of them.
        let (caller, length) = line.split_once("answered ")?.1.split_once(' ')?;
        Some((caller.parse().ok()?, length.parse().ok()?))
    })
}
