//! Laws of deletion: what goes, what stays, and who hears of it.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use engine::{Lease, RunId, Timestamp};
use store::{
    Answered, Append, Deletion, FileFilter, FileMark, Filter, Heartbeat, LeaseChange, RequestKey,
    Search, Store, StoreError, Touch,
};

use crate::support::{append, run};

pub(crate) async fn a_deleted_run_is_nowhere(store: &dyn Store) {
    for number in 1..=2 {
        store.append(laden(run(number))).await.unwrap();
        for (id, text) in [("called", "done"), ("read", &*format!("look at {}", run(number)))] {
            let key = request(run(number), id);
            let (project, text, at) = ("project".to_owned(), text.to_owned(), Timestamp(1));
            let answered = Answered { project, key, text, at };
            assert!(store.touch(Touch::Answer(answered.into())).await.unwrap());
        }
    }
    assert_eq!(found(store).await, [run(1), run(2)]);
    store.delete(deletion(run(1), 2)).await.unwrap();

    assert_eq!(store.load(run(1), 0).await.unwrap(), None);
    assert_eq!(store.load(run(1), 2).await.unwrap(), None, "someone has seen all of it");
    assert_eq!(found(store).await, [run(2)]);
    let listed = store.list(all()).await.unwrap();
    let listed: Vec<_> = listed.rows.iter().map(|it| it.run).collect();
    assert_eq!(listed, [run(2)]);
    let owed = store.files(FileFilter::default()).await.unwrap();
    assert_eq!(owed.iter().map(|it| it.0).collect::<Vec<_>>(), [run(2)]);
    for (number, is_there) in [(1, false), (2, true)] {
        let called = request(run(number), "called").id;
        let request_seen = store.find_request("project", &called).await.unwrap();
        assert_eq!(request_seen.is_some(), is_there);
        for id in ["called", "read"] {
            let id = request(run(number), id).id;
            let answer = store.find_answer("project", &id).await.unwrap();
            assert_eq!(answer.is_some(), is_there, "{id}");
        }
    }
    // Texts of definitions are those of all runs.
    assert!(store.find_definition("digest").await.unwrap().is_some());
}

pub(crate) async fn a_deletion_at_a_stale_length_changes_nothing(store: &dyn Store) {
    store.append(laden(run(1))).await.unwrap();
    let before = store.load(run(1), 0).await.unwrap();
    for (number, expected) in [(1, 1), (1, 3), (1, 0), (2, 0), (2, 2)] {
        let refused = store.delete(deletion(run(number), expected)).await;
        assert!(matches!(refused, Err(StoreError::Conflict { .. })), "{refused:?}");
    }
    assert_eq!(store.load(run(1), 0).await.unwrap(), before);
    assert_eq!(found(store).await, [run(1)]);
}

pub(crate) async fn the_id_of_a_deleted_run_is_never_given_again(store: &dyn Store) {
    store.append(laden(run(1))).await.unwrap();
    store.delete(deletion(run(1), 2)).await.unwrap();
    for expected in [0, 1, 2] {
        let refused = store.append(append(run(1), expected, &["late"])).await;
        assert!(matches!(refused, Err(StoreError::Deleted { .. })), "{refused:?}");
    }
    let again = store.delete(deletion(run(1), 2)).await;
    assert!(matches!(again, Err(StoreError::Deleted { .. })), "{again:?}");
    // Those who wrote a file or held a lease meanwhile bring nothing back.
    let mark = FileMark { path: "late.json".to_owned(), ..FileMark::default() };
    assert!(!store.touch(Touch::Files(run(1), vec![mark])).await.unwrap());
    let (now, until) = (Timestamp(1), Timestamp(9));
    let beat = Heartbeat { run: run(1), generation: 1, now, until };
    assert!(!store.touch(Touch::Lease(beat)).await.unwrap());
    assert_eq!(store.load(run(1), 0).await.unwrap(), None);
    assert_eq!(store.list(all()).await.unwrap().rows, []);
}

pub(crate) async fn who_follows_all_runs_hears_of_a_deletion(store: &dyn Store) {
    store.append(append(run(1), 0, &["one"])).await.unwrap();
    store.append(append(run(2), 0, &["two", "three"])).await.unwrap();
    let seen = store.tail(0, 9).await.unwrap();
    let watching = store.changed();
    store.delete(deletion(run(2), 2)).await.unwrap();
    assert!(watching.has_changed().unwrap());
    let last = seen.last().unwrap().position;
    let news = store.tail(last, 9).await.unwrap();
    assert_eq!(news.iter().map(|it| (it.run, it.seq)).collect::<Vec<_>>(), [(run(2), 0)]);
    // A position is never given again, though the newest events are gone.
    store.append(append(run(3), 0, &["four"])).await.unwrap();
    let whole = store.tail(0, 9).await.unwrap();
    let order: Vec<_> = whole.iter().map(|it| (it.run, it.seq)).collect();
    assert_eq!(order, [(run(1), 1), (run(2), 0), (run(3), 1)]);
    assert!(last < whole.last().unwrap().position);
}

pub(crate) async fn the_run_before_has_the_key_again(store: &dyn Store) {
    let newest = Filter { is_newest_of_key: true, ..all() };
    for number in 1..=3 {
        let mut begin = append(run(number), 0, &["one"]);
        begin.summary.key = Some("k".to_owned());
        begin.summary.holds_key = number == 3;
        store.append(begin).await.unwrap();
    }
    for (number, left) in [(2, vec![run(3)]), (3, vec![run(1)]), (1, vec![])] {
        store.delete(deletion(run(number), 1)).await.unwrap();
        let rows = store.list(newest.clone()).await.unwrap().rows;
        assert_eq!(rows.iter().map(|it| it.run).collect::<Vec<_>>(), left);
    }
    let mut begin = append(run(4), 0, &["one"]);
    begin.summary.key = Some("k".to_owned());
    store.append(begin).await.unwrap();
}

/// A run with something of each kind.
fn laden(run: RunId) -> Append {
    let until = Timestamp(5);
    let lease = Lease {
        step: serde_json::from_value("build".into()).unwrap(),
        part: None,
        holder: "agent".to_owned(),
        generation: 1,
        until,
    };
    let (digest, name, source) = ("digest".to_owned(), "flow".to_owned(), "text".to_owned());
    Append {
        request: Some(request(run, "called")),
        leases: vec![LeaseChange::Take { lease, replaces: None }],
        owes: vec!["state.json".to_owned()],
        definition: Some(store::Definition { digest, name, source }),
        ..append(run, 0, &["a secret pear", "two"])
    }
}

fn request(run: RunId, id: &str) -> RequestKey {
    let last = run.as_bytes().last().unwrap();
    RequestKey { id: format!("{id} {last}"), fingerprint: "print".to_owned() }
}

fn deletion(run: RunId, expected: u64) -> Deletion {
    Deletion { run, expected, at: Timestamp(2000), steady: Timestamp(2000) }
}

fn all() -> Filter {
    Filter { limit: 9, ..Filter::default() }
}

/// The runs in which a word is found.
async fn found(store: &dyn Store) -> Vec<RunId> {
    let search = Search { text: "secret".to_owned(), limit: 9, ..Search::default() };
    let mut runs: Vec<_> =
        store.search(search).await.unwrap().hits.iter().map(|it| it.run).collect();
    runs.sort();
    runs
}
