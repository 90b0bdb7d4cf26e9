//! Laws of lists: what they hold, in which order, and how their pages meet.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use engine::{RunId, Timestamp};
use store::{Append, Filter, Order, Store};

use crate::support::{append, run};

pub(crate) async fn the_most_recently_changed_comes_first(store: &dyn Store) {
    for (number, at) in [(1, 10), (2, 30), (3, 20), (4, 30)] {
        store.append(changed(run(number), 0, at)).await.unwrap();
    }
    // Of those that changed at the same moment, the newer run.
    assert_eq!(numbers(store, all()).await, [4, 2, 3, 1]);
    store.append(changed(run(1), 1, 40)).await.unwrap();
    assert_eq!(numbers(store, all()).await, [1, 4, 2, 3]);
}

pub(crate) async fn every_filter_is_obeyed(store: &dyn Store) {
    fill(store).await;
    let text = |text: &str| Some(text.to_owned());
    let statuses = |all: &[&str]| all.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    for (filter, expected) in [
        (Filter { project: text("one"), ..all() }, vec![4, 3, 2, 1]),
        (Filter { project: text("none"), ..all() }, vec![]),
        (Filter { workflow: text("b"), ..all() }, vec![5, 3]),
        (Filter { statuses: statuses(&["running"]), ..all() }, vec![6, 3, 1]),
        (Filter { statuses: statuses(&["failed", "waiting"]), ..all() }, vec![5, 4, 2]),
        (Filter { statuses: statuses(&["failed", "failed"]), ..all() }, vec![5, 2]),
        (Filter { statuses: statuses(&["unheard of"]), ..all() }, vec![]),
        (Filter { key: text("k"), ..all() }, vec![6, 1]),
        (Filter { key: text("none"), ..all() }, vec![]),
        (Filter { root: text("/b"), ..all() }, vec![6, 4]),
        (Filter { ids: Some((run(2), run(4))), ..all() }, vec![4, 3, 2]),
        (Filter { ids: Some((run(7), run(9))), ..all() }, vec![]),
        (Filter { due_by: Some(Timestamp(49)), ..all() }, vec![]),
        (Filter { due_by: Some(Timestamp(50)), ..all() }, vec![2]),
        (Filter { due_by: Some(Timestamp(99)), ..all() }, vec![4, 2]),
        (Filter { after: Some((Timestamp(30), run(3))), ..all() }, vec![2, 1]),
        (Filter { after: Some((Timestamp(30), run(2))), ..all() }, vec![2, 1]),
        (Filter { after: Some((Timestamp(30), run(4))), ..all() }, vec![3, 2, 1]),
    ] {
        assert_eq!(numbers(store, filter.clone()).await, expected, "{filter:?}");
    }
}

pub(crate) async fn filters_are_obeyed_together(store: &dyn Store) {
    fill(store).await;
    let text = |text: &str| Some(text.to_owned());
    let running = vec!["running".to_owned()];
    let one = Filter { project: text("one"), ..all() };
    for (filter, expected) in [
        (Filter { workflow: text("a"), statuses: running.clone(), ..one.clone() }, vec![1]),
        (Filter { workflow: text("a"), root: text("/b"), ..one.clone() }, vec![4]),
        (Filter { root: text("/a"), statuses: running.clone(), ..one.clone() }, vec![3, 1]),
        (Filter { root: text("/b"), statuses: running.clone(), ..all() }, vec![6]),
        (Filter { key: text("k"), root: text("/b"), ..all() }, vec![6]),
        (Filter { key: text("k"), ids: Some((run(1), run(5))), ..all() }, vec![1]),
        (Filter { key: text("k"), due_by: Some(Timestamp(99)), ..all() }, vec![]),
        (Filter { ids: Some((run(1), run(5))), statuses: running.clone(), ..all() }, vec![3, 1]),
        (Filter { due_by: Some(Timestamp(99)), workflow: text("a"), limit: 1, ..all() }, vec![4]),
        (Filter { due_by: Some(Timestamp(99)), project: text("two"), ..all() }, vec![]),
        (Filter { after: Some((Timestamp(40), run(4))), statuses: running, ..one }, vec![3, 1]),
    ] {
        assert_eq!(numbers(store, filter.clone()).await, expected, "{filter:?}");
    }
}

pub(crate) async fn pages_follow_each_other_without_gaps(store: &dyn Store) {
    const RUNS: u128 = 40;
    for number in 1..=RUNS {
        // Many changed at the same moment, in several projects, workflows and states.
        let mut append = changed(run(number), 0, i64::try_from(number / 7).unwrap());
        append.project = format!("project {}", number % 2);
        append.summary.workflow = format!("flow {}", number % 3);
        append.summary.status = format!("status {}", number % 4);
        store.append(append).await.unwrap();
    }
    for project in [None, Some("project 1".to_owned())] {
        for limit in [1, 3, 7, 100] {
            let filter = Filter { project: project.clone(), limit: 1000, ..Filter::default() };
            let whole = store.list(filter.clone()).await.unwrap().rows;
            let mut paged = Vec::new();
            let mut after = None;
            loop {
                let page = Filter { after, limit, ..filter.clone() };
                let page = store.list(page).await.unwrap().rows;
                let Some(last) = page.last() else { break };
                after = Some((last.summary.updated_at, last.run));
                paged.extend(page);
            }
            assert_eq!(paged, whole);
        }
    }
}

pub(crate) async fn a_page_has_no_more_than_its_limit(store: &dyn Store) {
    fill(store).await;
    for (limit, expected) in [(0, vec![]), (2, vec![6, 5]), (6, vec![6, 5, 4, 3, 2, 1])] {
        assert_eq!(numbers(store, Filter { limit, ..all() }).await, expected);
    }
}

pub(crate) async fn a_list_is_sorted_as_it_is_asked(store: &dyn Store) {
    let rows = [
        (1, 10, Some("b"), "running"),
        (2, 30, Some("c"), "failed"),
        (3, 30, Some("a"), "running"),
        (4, 20, None, "waiting"),
        (5, 30, Some("a"), "failed"),
    ];
    for (number, started_at, key, status) in rows {
        let mut append = keyed(run(number), key);
        append.summary.holds_key = false;
        append.summary.started_at = Timestamp(started_at);
        append.summary.status = status.to_owned();
        store.append(append).await.unwrap();
    }
    for (order, expected) in [
        (Order::Changed, [5, 4, 3, 2, 1]),
        (Order::Started, [3, 5, 2, 4, 1]),
        (Order::Key, [4, 3, 5, 1, 2]),
        (Order::Status, [5, 2, 3, 1, 4]),
    ] {
        assert_eq!(numbers(store, Filter { order, ..all() }).await, expected, "{order:?}");
        // Where the list goes on is asked by number, and a cursor means nothing.
        let after = (order != Order::Changed).then_some((Timestamp(0), run(0)));
        for offset in 0..6 {
            let page = Filter { order, after, offset, limit: 2, ..Filter::default() };
            let from = usize::try_from(offset).unwrap();
            let expected: Vec<u128> = expected.into_iter().skip(from).take(2).collect();
            assert_eq!(numbers(store, page).await, expected, "{order:?} {offset}");
        }
    }
}

pub(crate) async fn a_later_run_shadows_those_with_its_key(store: &dyn Store) {
    let newest = Filter { is_newest_of_key: true, ..all() };
    store.append(ended(run(5), "k")).await.unwrap();
    store.append(ended(run(2), "k")).await.unwrap();
    store.append(keyed(run(3), None)).await.unwrap();
    assert_eq!(numbers(store, newest.clone()).await, [2]);
    // Only within a project, a workflow and a root.
    let mut elsewhere = ended(run(6), "k");
    elsewhere.project = "other".to_owned();
    store.append(elsewhere).await.unwrap();
    let mut elsewhere = ended(run(7), "k");
    elsewhere.summary.workflow = "other".to_owned();
    store.append(elsewhere).await.unwrap();
    let mut elsewhere = ended(run(8), "k");
    elsewhere.summary.root = "/other".to_owned();
    store.append(elsewhere).await.unwrap();
    assert_eq!(numbers(store, newest.clone()).await, [8, 7, 6, 2]);
    // One that goes on is not begun.
    store.append(Append { expected: 1, ..again(ended(run(5), "k")) }).await.unwrap();
    assert_eq!(numbers(store, newest.clone()).await, [8, 7, 6, 2]);
    store.append(ended(run(1), "k")).await.unwrap();
    let key = Some("k".to_owned());
    let here = Filter { root: Some("/work".to_owned()), key, ..newest };
    let here = Filter { project: Some("project".to_owned()), order: Order::Key, ..here };
    assert_eq!(numbers(store, here).await, [1, 7]);
}

pub(crate) async fn a_refused_beginning_shadows_nothing(store: &dyn Store) {
    store.append(keyed(run(1), Some("k"))).await.unwrap();
    store.append(keyed(run(2), Some("k"))).await.unwrap_err();
    assert_eq!(numbers(store, Filter { is_newest_of_key: true, ..all() }).await, [1]);
}

pub(crate) async fn a_scope_is_the_end_of_a_key(store: &dyn Store) {
    let keys =
        ["0204", "0204@exp-1", "0205@exp-1", "0204@xexp-1", "a@exp-1@b", "n\0@exp-1", "größe@é"];
    for (number, key) in (1..).zip(keys) {
        store.append(keyed(run(number), Some(key))).await.unwrap();
    }
    store.append(keyed(run(8), None)).await.unwrap();
    for (scope, expected) in [
        ("exp-1", vec![6, 3, 2]),
        ("", vec![1]),
        ("b", vec![5]),
        ("exp-1@b", vec![5]),
        ("é", vec![7]),
        ("1", vec![]),
        ("much longer than any of the keys", vec![]),
    ] {
        let filter = Filter { scope: Some(scope.to_owned()), ..all() };
        assert_eq!(numbers(store, filter.clone()).await, expected, "{scope}");
        let newest = Filter { is_newest_of_key: true, ..filter };
        assert_eq!(numbers(store, newest).await, expected, "{scope}");
    }
}

pub(crate) async fn all_that_fit_are_counted(store: &dyn Store) {
    fill(store).await;
    let text = |text: &str| Some(text.to_owned());
    let counted = Filter { counts: true, limit: 1, ..Filter::default() };
    for (filter, expected) in [
        (counted.clone(), 6),
        (Filter { limit: 0, offset: 3, ..counted.clone() }, 6),
        (Filter { after: Some((Timestamp(30), run(3))), ..counted.clone() }, 6),
        (Filter { order: Order::Key, project: text("one"), ..counted.clone() }, 4),
        (Filter { project: text("one"), workflow: text("a"), ..counted.clone() }, 3),
        (Filter { statuses: vec!["failed".to_owned()], ..counted.clone() }, 2),
        (Filter { root: text("/b"), ..counted.clone() }, 2),
        (Filter { key: text("k"), ..counted.clone() }, 2),
        (Filter { ids: Some((run(2), run(4))), ..counted.clone() }, 3),
        (Filter { due_by: Some(Timestamp(50)), ..counted.clone() }, 1),
        (Filter { is_newest_of_key: true, ..counted.clone() }, 3),
        (Filter { scope: text(""), ..counted.clone() }, 3),
        (Filter { counts: false, ..counted }, 0),
    ] {
        assert_eq!(store.list(filter.clone()).await.unwrap().total, expected, "{filter:?}");
    }
}

/// Six runs that differ in everything that a list can ask for.
async fn fill(store: &dyn Store) {
    let rows = [
        (1, "one", "a", "running", "/a", Some("k"), None),
        (2, "one", "a", "failed", "/a", None, Some(50)),
        (3, "one", "b", "running", "/a", None, None),
        (4, "one", "a", "waiting", "/b", Some("x"), Some(70)),
        (5, "two", "b", "failed", "/a", None, None),
        (6, "two", "a", "running", "/b", Some("k"), None),
    ];
    for (number, project, workflow, status, root, key, due_at) in rows {
        let mut append = changed(run(number), 0, 10 * i64::try_from(number).unwrap());
        append.project = project.to_owned();
        append.summary.workflow = workflow.to_owned();
        append.summary.status = status.to_owned();
        append.summary.root = root.to_owned();
        append.summary.key = key.map(str::to_owned);
        append.summary.due_at = due_at.map(Timestamp);
        store.append(append).await.unwrap();
    }
}

fn all() -> Filter {
    Filter { limit: 100, ..Filter::default() }
}

fn changed(run: RunId, expected: u64, at: i64) -> Append {
    let mut append = append(run, expected, &["changed"]);
    append.summary.updated_at = Timestamp(at);
    append
}

fn keyed(run: RunId, key: Option<&str>) -> Append {
    let mut append = append(run, 0, &["keyed"]);
    append.summary.key = key.map(str::to_owned);
    append
}

/// A run that does not hold its key any more.
fn ended(run: RunId, key: &str) -> Append {
    let mut append = keyed(run, Some(key));
    append.summary.holds_key = false;
    append
}

/// The same, to be appended to what is there.
fn again(mut append: Append) -> Append {
    for recorded in &mut append.events {
        recorded.seq += 1;
    }
    append
}

async fn numbers(store: &dyn Store, filter: Filter) -> Vec<u128> {
    let rows = store.list(filter).await.unwrap().rows;
    rows.iter().map(|row| u128::from_be_bytes(*row.run.as_bytes())).collect()
}
