//! Lets chance write, and compares what `SQLite` says with what the plain store says.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use engine::{Lease, Timestamp};
use proptest::{collection::vec, option, prelude::*};
use store::{
    Append, FileFilter, FileMark, Filter, Heartbeat, LeaseChange, MemoryStore, Order, RequestKey,
    Search, SqliteStore, Store, Touch,
};

use crate::support::{append, run};

#[derive(Debug, Clone)]
enum Step {
    Append(Box<Append>),
    Touch(Touch),
    Files(FileFilter),
    List(Box<Filter>),
    Search(Search),
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..Default::default() })]

    #[test]
    fn sqlite_and_memory_agree(steps in vec(step(), 1..60)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(compare(steps));
    }
}

async fn compare(steps: Vec<Step>) {
    let (sqlite, memory) = (SqliteStore::in_memory().unwrap(), MemoryStore::default());
    for step in steps {
        let said = [say(&sqlite, &step).await, say(&memory, &step).await];
        assert_eq!(said[0], said[1], "{step:?}");
    }
    let rest = [all(&sqlite).await, all(&memory).await];
    assert_eq!(rest[0], rest[1]);
    assert_eq!(sqlite.check().await.unwrap(), Vec::<String>::new());
}

async fn say(store: &dyn Store, step: &Step) -> String {
    match step.clone() {
        Step::Append(append) => format!("{:?}", store.append(*append).await),
        Step::Touch(touch) => format!("{:?}", store.touch(touch).await),
        Step::Files(filter) => format!("{:?}", store.files(filter).await),
        Step::List(filter) => format!("{:?}", store.list(*filter).await),
        Step::Search(search) => {
            // Scores may differ in their last digits, and with them what comes first.
            let mut hits: Vec<_> = store.search(search).await.unwrap().hits;
            hits.sort_by_key(|hit| (hit.run, hit.seq));
            let shown = hits.into_iter().map(|hit| (hit.run, hit.seq, hit.snippet));
            format!("{:?}", shown.collect::<Vec<_>>())
        }
    }
}

async fn all(store: &dyn Store) -> String {
    let mut said = format!("{:?}", store.tail(0, 1000).await);
    for number in 0..RUNS {
        said += &format!("{:?}", store.load(run(number), 0).await);
    }
    for id in 0..4 {
        said += &format!("{:?}", store.find_request("p0", &format!("r{id}")).await);
    }
    said
}

/// Few of everything, so that things meet.
const RUNS: u128 = 4;

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => appends().prop_map(|it| Step::Append(Box::new(it))),
        1 => (0..RUNS, 1_u64..6, 0_i64..9, 0_i64..9).prop_map(|(number, generation, now, until)| {
            let (now, until) = (Timestamp(now), Timestamp(until));
            Step::Touch(Touch::Lease(Heartbeat { run: run(number), generation, now, until }))
        }),
        1 => (0..RUNS, vec(mark(), 0..3)).prop_map(|(number, marks)| {
            Step::Touch(Touch::Files(run(number), marks))
        }),
        1 => (option::of("p[01]"), option::of(0..RUNS), option::of("w[01]"), any::<bool>())
            .prop_map(|(project, number, workflow, is_owed)| {
                Step::Files(FileFilter { project, run: number.map(run), workflow, is_owed })
            }),
        2 => filters().prop_map(|it| Step::List(Box::new(it))),
        1 => (words(), option::of(0..RUNS), option::of("p[01]")).prop_map(|(text, number, project)| {
            Step::Search(Search { project, run: number.map(run), text, offset: 0, limit: 100 })
        }),
    ]
}

fn appends() -> impl Strategy<Value = Append> {
    let names = ("p[01]", "w[01]", option::of(KEYS), "/[ab]", "(running|waiting|failed)");
    let times = (any::<bool>(), any::<bool>(), 0_i64..9, 0_i64..9, option::of(0_i64..9));
    let request = option::of((0..4, 0..2));
    let beside = (vec(change(), 0..3), vec("f[01]", 0..3));
    (0..RUNS, 0_u64..5, vec(words(), 1..3), names, times, request, beside).prop_map(
        |(number, expected, texts, names, times, request, (leases, owes))| {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let mut append = append(run(number), expected, &texts);
            let (project, workflow, key, root, status) = names;
            let (is_live, holds_key, started_at, updated_at, due_at) = times;
            append.project = project;
            append.summary.workflow = workflow;
            append.summary.key = key;
            append.summary.root = root;
            append.summary.status = status;
            append.summary.is_live = is_live;
            append.summary.holds_key = holds_key;
            append.summary.started_at = Timestamp(started_at);
            append.summary.updated_at = Timestamp(updated_at);
            append.summary.due_at = due_at.map(Timestamp);
            append.request = request.map(|(id, fingerprint)| RequestKey {
                id: format!("r{id}"),
                fingerprint: format!("f{fingerprint}"),
            });
            append.leases = leases;
            append.owes = owes;
            append
        },
    )
}

/// Some have a scope.
const KEYS: &str = "k[01](@e[01])?";

fn mark() -> impl Strategy<Value = FileMark> {
    ("f[01]", 0_u64..6, 0_u64..6, "[ab]?", 0_u64..3, 0_i64..3).prop_map(
        |(path, owed, written, sha256, size, modified)| FileMark {
            path,
            owed,
            written,
            sha256,
            size,
            modified,
        },
    )
}

fn change() -> impl Strategy<Value = LeaseChange> {
    let until = || (0_i64..9).prop_map(Timestamp);
    let take = ("s[01]", option::of("p[01]"), 1_u64..6, until(), option::of(until()));
    prop_oneof![
        2 => take.prop_map(|(step, part, generation, until, replaces)| LeaseChange::Take {
            lease: Lease {
                step: serde_json::from_value(step.into()).unwrap(),
                part: part.map(|part| serde_json::from_value(part.into()).unwrap()),
                holder: "agent".to_owned(),
                generation,
                until,
            },
            replaces,
        }),
        1 => (1_u64..6).prop_map(|generation| LeaseChange::Drop { generation }),
    ]
}

fn filters() -> impl Strategy<Value = Filter> {
    let names = (
        option::of("p[01]"),
        option::of("w[01]"),
        vec("(running|waiting|failed)", 0..3),
        option::of(KEYS),
        option::of("/[ab]"),
        option::of("(e[01])?"),
    );
    let places = (
        option::of((0..RUNS, 0..RUNS)),
        option::of(0_i64..9),
        option::of((0_i64..9, 0..RUNS)),
        (0_u32..3, 0_u32..6),
    );
    let order = prop_oneof![
        Just(Order::Changed),
        Just(Order::Started),
        Just(Order::Key),
        Just(Order::Status)
    ];
    let kinds = (order, any::<bool>(), any::<bool>());
    (names, places, kinds).prop_map(|(names, places, (order, is_newest_of_key, counts))| {
        let (project, workflow, statuses, key, root, scope) = names;
        let (ids, due_by, after, (offset, limit)) = places;
        Filter {
            project,
            workflow,
            statuses,
            key,
            root,
            ids: ids.map(|(first, last)| (run(first), run(last))),
            due_by: due_by.map(Timestamp),
            after: after.map(|(at, number)| (Timestamp(at), run(number))),
            is_newest_of_key,
            scope,
            order,
            offset,
            limit,
            counts,
        }
    })
}

/// Words that are like each other, and a few things that are none.
fn words() -> impl Strategy<Value = String> {
    let word = "(apple|apples|pear|running|run|migration|migrat\\*|\"red pear\"|red|größe|--|\")";
    vec(word, 0..5).prop_map(|words| words.join(" "))
}
