//! Writes at random, and compares what `SQLite` says with what the plain model says. What a search
//! finds is compared with a plain look at every text.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::ops::Range;

use engine::{Lease, RunId, Timestamp, index_text};
use proptest::{collection::vec, option, prelude::*};
use store::{
    Append, Deletion, FileFilter, FileMark, Filter, Heartbeat, LeaseChange, Log, Order, RequestKey,
    Search, SqliteStore, Store, Sum, Touch, checksum_of,
};

use crate::{
    memory::MemoryStore,
    support::{append, run},
};

#[derive(Debug, Clone)]
enum Step {
    Append(Box<Append>),
    Touch(Touch),
    Delete(Deletion),
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
        if let Step::Search(search) = &step {
            assert_eq!(found(&sqlite, search).await, expected(&memory, search).await, "{step:?}");
            continue;
        }
        let said = [say(&sqlite, &step).await, say(&memory, &step).await];
        assert_eq!(said[0], said[1], "{step:?}");
    }
    let whole = |run, log: &Log| checksum_of(run, &log.project, &log.events).unwrap();
    let rest = [all(&sqlite, |_, log| log.head).await, all(&memory, whole).await];
    assert_eq!(rest[0], rest[1]);
    assert_eq!(sqlite.check().await.unwrap(), Vec::<String>::new());
}

async fn say(store: &dyn Store, step: &Step) -> String {
    match step.clone() {
        Step::Append(append) => format!("{:?}", store.append(*append).await),
        Step::Touch(touch) => format!("{:?}", store.touch(touch).await),
        Step::Delete(deletion) => format!("{:?}", store.delete(deletion).await),
        Step::Files(filter) => format!("{:?}", store.files(filter).await),
        Step::List(filter) => format!("{:?}", store.list(*filter).await),
        Step::Search(_) => unreachable!("the model does not search"),
    }
}

async fn all(store: &dyn Store, head: impl Fn(RunId, &Log) -> Sum) -> String {
    let mut said = format!("{:?}", store.tail(0, 1000).await);
    for number in 0..RUNS {
        let log = store.load(run(number), 0).await.unwrap();
        let log = log.map(|log| Log { head: head(run(number), &log), ..log });
        said += &format!("{log:?}");
    }
    for id in 0..4 {
        said += &format!("{:?}", store.find_request("p0", &format!("r{id}")).await);
    }
    said
}

/// An event that was found, and what is shown of it.
type Found = (RunId, u64, String);

async fn found(store: &SqliteStore, search: &Search) -> Vec<Found> {
    let mut hits = store.search(search.clone()).await.unwrap().hits;
    hits.sort_by_key(|hit| (hit.run, hit.seq));
    hits.into_iter().map(|hit| (hit.run, hit.seq, hit.snippet)).collect()
}

/// Looks at the text of every event.
async fn expected(store: &MemoryStore, search: &Search) -> Vec<Found> {
    let terms = terms(&search.text);
    let mut texts = Vec::new();
    for run in (0..RUNS).map(run).filter(|it| search.run.is_none_or(|run| run == *it)) {
        let log = store.load(run, 0).await.unwrap();
        let log = log.filter(|it| search.project.as_ref().is_none_or(|only| *only == it.project));
        for recorded in log.into_iter().flat_map(|it| it.events) {
            let text = index_text(&recorded.event);
            texts.extend(text.map(|text| (run, recorded.seq, text)));
        }
    }
    let has = |text: &str, term: &Term| !term.find(&words_of(text)).is_empty();
    let has_all = |text: &str| terms.iter().all(|it| has(text, it));
    let is_any = !texts.iter().any(|(_, _, text)| has_all(text));
    let fits = |text: &str| {
        !terms.is_empty() && (has_all(text) || is_any && terms.iter().any(|it| has(text, it)))
    };
    texts.retain(|(_, _, text)| fits(text));
    texts.into_iter().map(|(run, seq, text)| (run, seq, marked(&text, &terms))).collect()
}

/// Returns a text with everything that was found in brackets.
fn marked(text: &str, terms: &[Term]) -> String {
    let words = words_of(text);
    let found: Vec<usize> = terms.iter().flat_map(|it| it.find(&words)).flatten().collect();
    let mut marked = text.to_owned();
    for (at, (range, _)) in words.iter().enumerate().rev() {
        if found.contains(&at) {
            marked.replace_range(range.clone(), &format!("[{}]", &text[range.clone()]));
        }
    }
    marked
}

/// A word or a phrase that is asked for.
struct Term {
    stems: Vec<&'static str>,
    is_prefix: bool,
}

impl Term {
    fn of(text: &str) -> Option<Self> {
        let stems: Vec<&str> = words_of(text).into_iter().map(|(_, stem)| stem).collect();
        (!stems.is_empty()).then_some(Self { stems, is_prefix: text.ends_with('*') })
    }

    /// Returns where it is among some words.
    fn find(&self, words: &[(Range<usize>, &str)]) -> Vec<Range<usize>> {
        let length = self.stems.len();
        let is_there = |words: &[(Range<usize>, &str)]| {
            let mut pairs = words.iter().zip(&self.stems);
            pairs.all(|((_, word), stem)| word == stem || self.is_prefix && word.starts_with(stem))
        };
        let windows = words.windows(length).enumerate();
        windows.filter(|it| is_there(it.1)).map(|(at, _)| at..at + length).collect()
    }
}

fn terms(text: &str) -> Vec<Term> {
    let pieces = text.split('"').enumerate();
    let terms = pieces.flat_map(|(at, piece)| match at % 2 {
        0 => piece.split_whitespace().filter_map(Term::of).collect(),
        // Between quotes a star means nothing.
        _ => Vec::from_iter(Term::of(piece).map(|it| Term { is_prefix: false, ..it })),
    });
    terms.collect()
}

/// Returns the words of a text with their stems.
fn words_of(text: &str) -> Vec<(Range<usize>, &'static str)> {
    let stems = [
        ("apples", "appl"),
        ("apple", "appl"),
        ("running", "run"),
        ("run", "run"),
        ("migration", "migrat"),
        ("migrat", "migrat"),
        ("pear", "pear"),
        ("red", "red"),
        ("größe", "große"),
    ];
    let mut words = Vec::new();
    for word in text.split(|it: char| !it.is_alphabetic()).filter(|it| !it.is_empty()) {
        let start = word.as_ptr().addr() - text.as_ptr().addr();
        let (_, stem) = stems.iter().find(|(it, _)| *it == word).unwrap();
        words.push((start..start + word.len(), *stem));
    }
    words
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
        1 => (0..RUNS, 1_u64..4).prop_map(|(number, expected)| {
            let (at, steady) = (Timestamp(5), Timestamp(5));
            Step::Delete(Deletion { run: run(number), expected, at, steady })
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
