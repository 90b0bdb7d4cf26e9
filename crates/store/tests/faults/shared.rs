//! One file, several stores: what several processes do to each other, without their cost.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    collections::BTreeSet,
    sync::{Arc, Barrier},
    thread,
    time::Duration,
};

use store::{Search, SqliteStore, Store as _};
use tokio::time::timeout;

use crate::{
    insist,
    support::{append, open, run},
};

#[test]
fn many_may_come_to_a_new_file_at_once() {
    const STORES: usize = 6;
    for _ in 0..5 {
        let folder = tempfile::tempdir().unwrap();
        let barrier = Barrier::new(STORES);
        thread::scope(|scope| {
            for number in 0..STORES {
                let (barrier, path) = (&barrier, folder.path());
                scope.spawn(move || {
                    barrier.wait();
                    let store = open(path);
                    let append = append(run(number as u128), 0, &["first"]);
                    pollster(store.append(append)).unwrap();
                });
            }
        });
        let figures = pollster(open(folder.path()).figures()).unwrap();
        assert_eq!((figures.runs, figures.events), (STORES as u64, STORES as u64));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_update_is_lost_between_stores() {
    const STORES: usize = 3;
    const CALLERS: usize = 4;
    const EACH: usize = 20;
    let folder = tempfile::tempdir().unwrap();
    open(folder.path()).append(append(run(1), 0, &["begin"])).await.unwrap();
    let mut callers = tokio::task::JoinSet::new();
    for store in 0..STORES {
        let opened = Arc::new(open(folder.path()));
        for caller in 0..CALLERS {
            callers.spawn(insist_often(Arc::clone(&opened), format!("{store}-{caller}"), EACH));
        }
    }
    while let Some(ended) = callers.join_next().await {
        ended.unwrap();
    }
    let store = open(folder.path());
    let log = store.load(run(1), 0).await.unwrap().unwrap();
    assert_eq!(log.events.len(), 1 + STORES * CALLERS * EACH);
    let texts: BTreeSet<String> = log.events.iter().map(|it| it.event.encode()).collect();
    assert_eq!(texts.len(), log.events.len(), "each was written once");
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
}

async fn insist_often(store: Arc<SqliteStore>, name: String, count: usize) {
    for number in 0..count {
        insist(&*store, &format!("{name}-{number}")).await;
    }
}

#[tokio::test]
async fn one_sees_and_finds_what_another_appended() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (open(folder.path()), open(folder.path()));
    for length in 0..10 {
        let (writes, reads) = if length % 2 == 0 { (&one, &two) } else { (&two, &one) };
        let word = format!("word{length}");
        writes.append(append(run(1), length, &[&word])).await.unwrap();
        assert_eq!(reads.load(run(1), 0).await.unwrap().unwrap().length, length + 1);
        let search = Search { text: word, limit: 9, ..Search::default() };
        let hits =
            [reads.search(search.clone()).await.unwrap(), writes.search(search).await.unwrap()];
        assert_eq!((hits[0].hits.len(), &hits[0]), (1, &hits[1]));
    }
}

#[tokio::test]
async fn one_is_woken_by_what_another_appended() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (open(folder.path()), open(folder.path()));
    one.append(append(run(1), 0, &["before anyone watches"])).await.unwrap();
    for length in 1..4 {
        // The last one was dropped, so the thread that looks may have ended. A new one begins.
        let mut watching = two.changed();
        assert!(!watching.has_changed().unwrap());
        one.append(append(run(1), length, &["news"])).await.unwrap();
        timeout(Duration::from_secs(10), watching.changed()).await.unwrap().unwrap();
        assert_eq!(*watching.borrow(), length + 1);
    }
}

#[tokio::test]
async fn what_nobody_waits_for_any_more_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let held = rusqlite::Connection::open(folder.path().join("test.db")).unwrap();
    held.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut asked: Vec<_> =
        (0..50).map(|number| store.append(append(run(number), 0, &["asked"]))).collect();
    for append in &mut asked {
        // Handed over, but not waited for.
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        drop(append.as_mut().poll(&mut context));
    }
    drop(asked);
    held.execute_batch("ROLLBACK").unwrap();
    drop((held, store));
    assert_eq!(open(folder.path()).figures().await.unwrap().runs, 0);
}

/// Awaits all, begun at the same moment.
pub(crate) async fn at_once<T>(futures: impl Iterator<Item = impl Future<Output = T>>) -> Vec<T> {
    let mut outcomes = Vec::new();
    let mut waiting: Vec<_> = futures.map(Box::pin).collect();
    std::future::poll_fn(|context| {
        waiting.retain_mut(|it| match it.as_mut().poll(context) {
            std::task::Poll::Ready(outcome) => {
                outcomes.push(outcome);
                false
            }
            std::task::Poll::Pending => true,
        });
        if waiting.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    outcomes
}

/// Awaits on this thread.
fn pollster<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}
