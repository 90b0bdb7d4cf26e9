//! Laws of the log: lengths, keys, requests, definitions, and what is given back.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

use engine::{Actor, Recorded, Surface, Timestamp};
use store::{
    Answer, Answered, Append, Definition, Filter, Request, RequestKey, SqliteStore, Store,
    StoreError, Touch,
};

use crate::support::{append, note, run};

pub(crate) async fn gives_back_what_was_appended_in_order(store: &dyn Store) {
    store.append(append(run(1), 0, &["one", "two"])).await.unwrap();
    store.append(append(run(2), 0, &["other"])).await.unwrap();
    store.append(append(run(1), 2, &["three"])).await.unwrap();
    let log = store.load(run(1), 0).await.unwrap().unwrap();
    assert_eq!((log.project.as_str(), log.length), ("project", 3));
    let events: Vec<_> = log.events.into_iter().map(|it| (it.seq, it.event)).collect();
    assert_eq!(events, [(1, note("one")), (2, note("two")), (3, note("three"))]);
}

pub(crate) async fn loads_only_what_comes_after(store: &dyn Store) {
    store.append(append(run(1), 0, &["one", "two", "three"])).await.unwrap();
    for (after, expected) in [(0, vec![1, 2, 3]), (2, vec![3]), (3, vec![]), (9, vec![])] {
        let log = store.load(run(1), after).await.unwrap().unwrap();
        let seqs: Vec<u64> = log.events.iter().map(|it| it.seq).collect();
        assert_eq!((log.length, seqs), (3, expected));
    }
}

pub(crate) async fn a_log_has_a_checksum_of_all_its_events(store: &dyn Store) {
    store.append(append(run(1), 0, &["one", "two"])).await.unwrap();
    let before = store.load(run(1), 0).await.unwrap().unwrap().head;
    conflict(store.append(append(run(1), 1, &["late"])).await);
    for after in [0, 1, 2, 9] {
        assert_eq!(store.load(run(1), after).await.unwrap().unwrap().head, before, "{after}");
    }
    store.append(append(run(1), 2, &["three"])).await.unwrap();
    let whole = store.load(run(1), 0).await.unwrap().unwrap().head;
    assert_ne!(whole, before);
    // In another run the same events have another one, and so have others in a run like it.
    store.append(append(run(2), 0, &["one", "two", "three"])).await.unwrap();
    assert_ne!(store.load(run(2), 0).await.unwrap().unwrap().head, whole);
}

pub(crate) async fn the_same_events_have_the_same_checksum(store: &dyn Store) {
    let others = [SqliteStore::in_memory().unwrap(), SqliteStore::in_memory().unwrap()];
    let mut later = append(run(1), 2, &["three"]);
    later.events[0].at = Timestamp(77);
    store.append(append(run(1), 0, &["one", "two"])).await.unwrap();
    store.append(later.clone()).await.unwrap();
    others[0].append(append(run(1), 0, &["one"])).await.unwrap();
    others[0].append(append(run(1), 1, &["two"])).await.unwrap();
    others[0].append(later).await.unwrap();
    others[1].append(append(run(1), 0, &["one", "two", "three"])).await.unwrap();
    let head = async |store: &dyn Store| store.load(run(1), 0).await.unwrap().unwrap().head;
    assert_eq!(head(store).await, head(&others[0]).await, "however they were appended");
    assert_ne!(head(store).await, head(&others[1]).await, "one has another time");
}

pub(crate) async fn knows_nothing_of_other_runs(store: &dyn Store) {
    assert_eq!(store.load(run(1), 0).await.unwrap(), None);
    assert_eq!(store.find_request("project", "r").await.unwrap(), None);
    assert_eq!(store.find_definition("d").await.unwrap(), None);
}

pub(crate) async fn refuses_an_append_at_a_stale_length(store: &dyn Store) {
    store.append(append(run(1), 0, &["one", "two"])).await.unwrap();
    for stale in [1, 3] {
        assert_eq!(conflict(store.append(append(run(1), stale, &["late"])).await), (stale, 2));
    }
    assert_eq!(conflict(store.append(append(run(2), 1, &["lost"])).await), (1, 0));
    assert_eq!(store.load(run(1), 0).await.unwrap().unwrap().length, 2);
    assert_eq!(store.load(run(2), 0).await.unwrap(), None);
}

pub(crate) async fn refuses_to_begin_a_run_twice(store: &dyn Store) {
    store.append(append(run(1), 0, &["one"])).await.unwrap();
    assert_eq!(conflict(store.append(append(run(1), 0, &["again"])).await), (0, 1));
}

pub(crate) async fn refuses_events_that_are_not_numbered_on(store: &dyn Store) {
    let mut gap = append(run(1), 0, &["one", "two"]);
    gap.events[1].seq = 3;
    let mut late = append(run(1), 0, &["one"]);
    late.events[0].seq = 2;
    for refused in [append(run(1), 0, &[]), gap, late] {
        let refused = store.append(refused).await;
        assert!(matches!(refused, Err(StoreError::Database(_))), "{refused:?}");
    }
    assert_eq!(store.load(run(1), 0).await.unwrap(), None);
}

pub(crate) async fn lets_one_of_many_callers_win(store: &dyn Store) {
    const CALLERS: usize = 8;
    store.append(append(run(1), 0, &["begin"])).await.unwrap();
    for length in 1..6 {
        let tries = (0..CALLERS).map(|_| store.append(append(run(1), length, &["mine"])));
        let outcomes = at_once(tries).await;
        assert_eq!(outcomes.iter().filter(|it| it.is_ok()).count(), 1);
        for outcome in outcomes.into_iter().filter(Result::is_err) {
            assert_eq!(conflict(outcome), (length, length + 1));
        }
    }
}

pub(crate) async fn a_key_names_the_one_run_that_holds_it(store: &dyn Store) {
    store.append(keyed(run(1), 0, "0204")).await.unwrap();
    store.append(keyed(run(1), 1, "0204")).await.unwrap();
    let taken = store.append(keyed(run(2), 0, "0204")).await;
    assert!(
        matches!(&taken, Err(StoreError::KeyTaken { key, run: by }) if key == "0204" && *by == run(1)),
        "{taken:?}"
    );
    assert_eq!(store.load(run(2), 0).await.unwrap(), None);
    store.append(keyed(run(3), 0, "0205")).await.unwrap();

    // Whether a run lives is not asked.
    let mut ended = keyed(run(1), 2, "0204");
    ended.summary.is_live = false;
    store.append(ended).await.unwrap();
    let taken = store.append(keyed(run(2), 0, "0204")).await;
    assert!(matches!(taken, Err(StoreError::KeyTaken { .. })), "{taken:?}");

    let mut ended = keyed(run(1), 3, "0204");
    ended.summary.holds_key = false;
    store.append(ended).await.unwrap();
    store.append(keyed(run(2), 0, "0204")).await.unwrap();
}

pub(crate) async fn a_key_is_taken_only_within_its_project_workflow_and_root(store: &dyn Store) {
    store.append(keyed(run(1), 0, "k")).await.unwrap();
    let mut other = keyed(run(2), 0, "k");
    other.project = "other".to_owned();
    store.append(other).await.unwrap();
    let mut other = keyed(run(3), 0, "k");
    other.summary.workflow = "other".to_owned();
    store.append(other).await.unwrap();
    let mut other = keyed(run(4), 0, "k");
    other.summary.root = "/other".to_owned();
    store.append(other).await.unwrap();
    // Two runs without a key are not in each other's way.
    store.append(append(run(5), 0, &["x"])).await.unwrap();
    store.append(append(run(6), 0, &["x"])).await.unwrap();
}

pub(crate) async fn a_key_cannot_be_taken_back_while_another_has_it(store: &dyn Store) {
    let mut ended = keyed(run(1), 0, "k");
    ended.summary.holds_key = false;
    store.append(ended).await.unwrap();
    store.append(keyed(run(2), 0, "k")).await.unwrap();
    let reopened = store.append(keyed(run(1), 1, "k")).await;
    assert!(matches!(reopened, Err(StoreError::KeyTaken { run: by, .. }) if by == run(2)));
    assert_eq!(store.load(run(1), 0).await.unwrap().unwrap().length, 1);
    let mut ended = keyed(run(2), 1, "k");
    ended.summary.holds_key = false;
    store.append(ended).await.unwrap();
    store.append(keyed(run(1), 1, "k")).await.unwrap();
}

pub(crate) async fn a_request_is_seen_once(store: &dyn Store) {
    store.append(append(run(1), 0, &["begin"])).await.unwrap();
    store.append(requested(append(run(1), 1, &["a", "b"]), "r", "print")).await.unwrap();
    let expected = Request { fingerprint: "print".to_owned(), run: run(1), first: 2, last: 3 };
    assert_eq!(store.find_request("project", "r").await.unwrap(), Some(expected.clone()));
    for fingerprint in ["print", "another"] {
        let again = requested(append(run(1), 3, &["c"]), "r", fingerprint);
        match store.append(again).await {
            Err(StoreError::RequestSeen { id, request }) => {
                assert_eq!((id.as_str(), request), ("r", expected.clone()));
            }
            other => panic!("{other:?}"),
        }
    }
    let mut elsewhere = requested(append(run(2), 0, &["c"]), "r", "print");
    elsewhere.project = "other".to_owned();
    store.append(elsewhere).await.unwrap();
    assert_eq!(store.find_request("other", "r").await.unwrap().unwrap().run, run(2));
    assert_eq!(store.load(run(1), 0).await.unwrap().unwrap().length, 3);
}

pub(crate) async fn an_answer_is_kept_once(store: &dyn Store) {
    let answered = |project: &str, print: &str, text: &str| {
        let key = RequestKey { id: "r".to_owned(), fingerprint: print.to_owned() };
        let (project, text, at) = (project.to_owned(), text.to_owned(), Timestamp(1));
        Touch::Answer(Box::new(Answered { project, key, text, at }))
    };
    assert_eq!(store.find_answer("project", "r").await.unwrap(), None);
    assert!(store.touch(answered("project", "print", "first")).await.unwrap());
    assert!(!store.touch(answered("project", "other", "second")).await.unwrap());
    let kept = Answer { fingerprint: "print".to_owned(), text: "first".to_owned() };
    assert_eq!(store.find_answer("project", "r").await.unwrap(), Some(kept));
    assert_eq!(store.find_answer("other", "r").await.unwrap(), None);
    assert_eq!(store.find_request("project", "r").await.unwrap(), None);
}

pub(crate) async fn a_request_is_looked_for_first(store: &dyn Store) {
    store.append(requested(keyed(run(1), 0, "k"), "r", "print")).await.unwrap();
    let stale = requested(keyed(run(1), 7, "k"), "r", "print");
    let taken = requested(keyed(run(2), 0, "k"), "r", "print");
    for again in [stale, taken] {
        let again = store.append(again).await;
        assert!(matches!(again, Err(StoreError::RequestSeen { .. })), "{again:?}");
    }
}

pub(crate) async fn a_refused_append_leaves_nothing(store: &dyn Store) {
    store.append(append(run(1), 0, &["one"])).await.unwrap();
    let mut stale = requested(append(run(1), 5, &["late"]), "r", "print");
    stale.definition = Some(definition("d", "text"));
    stale.summary.title = "Changed".to_owned();
    conflict(store.append(stale).await);
    assert_eq!(store.find_request("project", "r").await.unwrap(), None);
    assert_eq!(store.find_definition("d").await.unwrap(), None);
    let rows = store.list(Filter { limit: 9, ..Filter::default() }).await.unwrap().rows;
    assert_eq!((rows.len(), rows[0].length, rows[0].summary.title.as_str()), (1, 1, "A test"));
    assert_eq!(store.tail(0, 9).await.unwrap().len(), 1);
}

pub(crate) async fn a_definition_is_stored_once(store: &dyn Store) {
    for (number, source) in [(1, "the text"), (2, "never read, since the digest is known")] {
        let mut begin = append(run(number), 0, &["one"]);
        begin.definition = Some(definition("digest", source));
        store.append(begin).await.unwrap();
    }
    assert_eq!(store.find_definition("digest").await.unwrap().as_deref(), Some("the text"));
}

pub(crate) async fn keeps_any_text(store: &dyn Store) {
    let texts = [
        "",
        "'; DROP TABLE events; --",
        "naïve größe 日本語 العربية 👩‍👩‍👧 \u{10ffff}",
        "nul \0 bell \u{7} del \u{7f} line\r\n\u{2028}",
        "\"quotes\" \\ {{ braces }} %s ?1 :x @y $z",
    ];
    for (number, text) in (1..).zip(texts) {
        let mut odd = requested(append(run(number), 0, &[text]), text, text);
        odd.project = text.to_owned();
        odd.summary.title = text.to_owned();
        odd.summary.key = Some(text.to_owned());
        odd.summary.root = text.to_owned();
        odd.summary.workflow = text.to_owned();
        odd.summary.status = text.to_owned();
        odd.definition = Some(definition(text, text));
        let summary = odd.summary.clone();
        store.append(odd).await.unwrap();

        let log = store.load(run(number), 0).await.unwrap().unwrap();
        assert_eq!((log.project.as_str(), &log.events[0].event), (text, &note(text)));
        assert!(store.find_request(text, text).await.unwrap().is_some());
        assert_eq!(store.find_definition(text).await.unwrap().as_deref(), Some(text));
        let filter = Filter { project: Some(text.to_owned()), limit: 9, ..Filter::default() };
        let rows = store.list(filter).await.unwrap().rows;
        assert_eq!((rows.len(), &rows[0].summary), (1, &summary));
    }
}

pub(crate) async fn keeps_large_events(store: &dyn Store) {
    let large = "word and ".repeat(250_000);
    store.append(append(run(1), 0, &[&large, "small", &large])).await.unwrap();
    store.append(append(run(2), 0, &["beside it"])).await.unwrap();
    let log = store.load(run(1), 0).await.unwrap().unwrap();
    assert!(log.events[0].event == note(&large));
    assert!(log.events[2].event == note(&large));
    let hits =
        store.search(store::Search { text: "word".to_owned(), limit: 9, ..Default::default() });
    assert_eq!(hits.await.unwrap().hits.len(), 2);
}

pub(crate) async fn keeps_actors_and_times(store: &dyn Store) {
    let by = Actor {
        name: Some("agent \"7\"".to_owned()),
        client: Some("claude-code 2.1".to_owned()),
        surface: Surface::Web,
    };
    let mut one = append(run(1), 0, &["one"]);
    let (at, steady) = (Timestamp(-5), Timestamp(7));
    one.events = vec![Recorded { seq: 1, at, steady, by, event: note("one") }];
    store.append(one.clone()).await.unwrap();
    assert_eq!(store.load(run(1), 0).await.unwrap().unwrap().events, one.events);
}

pub(crate) async fn keeps_the_newest_summary(store: &dyn Store) {
    store.append(keyed(run(1), 0, "k")).await.unwrap();
    let mut second = append(run(1), 1, &["two"]);
    // A run stays in the project it was begun in.
    second.project = "ignored".to_owned();
    second.summary = engine::Summary {
        workflow: "renamed".to_owned(),
        key: Some("new key".to_owned()),
        root: "/moved".to_owned(),
        status: "failed".to_owned(),
        is_live: false,
        holds_key: true,
        step: "ship".to_owned(),
        title: "Another".to_owned(),
        steps_begun: 1,
        steps_done: 2,
        steps_total: 4,
        errors: 7,
        started_at: Timestamp(1),
        updated_at: Timestamp(2),
        ended_at: Some(Timestamp(3)),
        due_at: Some(Timestamp(4)),
    };
    let summary = second.summary.clone();
    store.append(second).await.unwrap();
    let rows = store.list(Filter { limit: 9, ..Filter::default() }).await.unwrap().rows;
    assert_eq!(rows.len(), 1);
    assert_eq!((rows[0].project.as_str(), rows[0].length), ("project", 2));
    assert_eq!(rows[0].summary, summary);
}

/// Awaits all, begun at the same moment.
pub(crate) async fn at_once<T>(futures: impl Iterator<Item = impl Future<Output = T>>) -> Vec<T> {
    let mut waiting: Vec<_> = futures.map(Box::pin).collect();
    // Each is polled once before any is waited for.
    let mut outcomes = Vec::new();
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

/// Returns what a conflict says was expected, and what is there.
pub(crate) fn conflict(outcome: Result<(), StoreError>) -> (u64, u64) {
    match outcome {
        Err(StoreError::Conflict { expected, actual, .. }) => (expected, actual),
        other => panic!("{other:?}"),
    }
}

fn keyed(run: engine::RunId, expected: u64, key: &str) -> Append {
    let mut append = append(run, expected, &["keyed"]);
    append.summary.key = Some(key.to_owned());
    append
}

fn requested(append: Append, id: &str, fingerprint: &str) -> Append {
    let (id, fingerprint) = (id.to_owned(), fingerprint.to_owned());
    Append { request: Some(RequestKey { id, fingerprint }), ..append }
}

fn definition(digest: &str, source: &str) -> Definition {
    let (digest, source) = (digest.to_owned(), source.to_owned());
    Definition { digest, name: "flow".to_owned(), source }
}
