//! Laws of watching: all events in one order, and who is woken when.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

use std::time::Duration;

use store::{FileMark, Heartbeat, Store, Tailed, Touch};
use tokio::time::timeout;

use crate::support::{append, run};

/// Longer than anything takes that works.
const LONG: Duration = Duration::from_secs(10);

pub(crate) async fn events_of_all_runs_come_in_the_order_of_their_appends(store: &dyn Store) {
    assert_eq!(store.tail(0, 9).await.unwrap(), []);
    store.append(append(run(2), 0, &["a", "b"])).await.unwrap();
    store.append(append(run(1), 0, &["c"])).await.unwrap();
    store.append(append(run(2), 2, &["d"])).await.unwrap();
    let whole = store.tail(0, 9).await.unwrap();
    let order: Vec<_> = whole.iter().map(|it| (it.run, it.seq)).collect();
    assert_eq!(order, [(run(2), 1), (run(2), 2), (run(1), 1), (run(2), 3)]);
    assert!(whole.is_sorted_by(|one, two| one.position < two.position));
    let mut read: Vec<Tailed> = Vec::new();
    for _ in 0..=whole.len() {
        let after = read.last().map_or(0, |last| last.position);
        read.extend(store.tail(after, 1).await.unwrap());
    }
    assert_eq!(read, whole);
    assert_eq!(store.tail(0, 0).await.unwrap(), []);
}

pub(crate) async fn whoever_watches_is_woken(store: &dyn Store) {
    let mut early = store.changed();
    store.append(append(run(1), 0, &["one"])).await.unwrap();
    timeout(LONG, early.changed()).await.unwrap().unwrap();
    let mut late = store.changed();
    assert!(!late.has_changed().unwrap(), "what is there already is not news");
    store.append(append(run(1), 1, &["two"])).await.unwrap();
    for watching in [&mut early, &mut late] {
        timeout(LONG, watching.changed()).await.unwrap().unwrap();
    }
    assert_eq!(*early.borrow(), store.tail(0, 9).await.unwrap()[1].position);
}

pub(crate) async fn nothing_wakes_but_an_append(store: &dyn Store) {
    store.append(append(run(1), 0, &["one"])).await.unwrap();
    let watching = store.changed();
    store.append(append(run(1), 5, &["stale"])).await.unwrap_err();
    let now = engine::Timestamp(0);
    let beat = Heartbeat { run: run(1), generation: 1, now, until: now };
    assert!(!store.touch(Touch::Lease(beat)).await.unwrap());
    assert!(store.touch(Touch::Files(run(1), vec![FileMark::default()])).await.unwrap());
    store.load(run(1), 0).await.unwrap();
    assert!(!watching.has_changed().unwrap());
}
