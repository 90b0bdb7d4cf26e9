//! Two server processes that write one scene as fast as they can, while someone reads its file.
//!
//! For a long trial by hand, `MILEPOST_RACE_SECONDS` says how long they go on.

use std::{
    collections::BTreeMap,
    fs,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    project::Project,
    server::{Era, Server},
    stage::Stage,
};

const SCENE: &str = "0204";
/// How often each logs, unless a time is given.
const CALLS: u64 = 150;

/// When a writer has done enough.
#[derive(Debug, Clone, Copy)]
enum Until {
    Calls(u64),
    Moment(Instant),
}

impl Until {
    #[expect(clippy::disallowed_methods, reason = "a trial by hand has no other configuration")]
    fn new() -> Self {
        let given = std::env::var("MILEPOST_RACE_SECONDS").ok();
        match given.and_then(|it| it.parse().ok()) {
            Some(seconds) => Self::Moment(Instant::now() + Duration::from_secs(seconds)),
            None => Self::Calls(CALLS),
        }
    }

    #[expect(clippy::disallowed_methods, reason = "a trial by hand goes by real time")]
    fn is_over(self, calls: u64) -> bool {
        match self {
            Self::Calls(number) => number <= calls,
            Self::Moment(moment) => moment <= Instant::now(),
        }
    }
}

#[test]
fn two_processes_that_log_to_one_scene_lose_nothing_and_never_leave_a_torn_file() {
    let stage = Stage::apart(Project::new());
    stage.begin(SCENE);
    let other = Stage::serve_apart(&stage.project, Era::Modern);
    let until = Until::new();
    let is_over = AtomicBool::new(false);
    let path = stage.path(SCENE);
    let (acknowledged, reads) = thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut reads: u64 = 0;
            while !is_over.load(Ordering::Relaxed) {
                let bytes = fs::read(&path).expect("the file is there all the time");
                let read = serde_json::from_slice::<Value>(&bytes);
                assert!(read.is_ok(), "read {reads}: {}", String::from_utf8_lossy(&bytes));
                reads += 1;
            }
            reads
        });
        let writers = [("left", &stage.server), ("right", &other)]
            .map(|(name, server)| scope.spawn(move || write(server, name, until)));
        let written: Vec<_> = writers.into_iter().map(thread::ScopedJoinHandle::join).collect();
        // The reader is told before anyone fails, so that the test ends.
        is_over.store(true, Ordering::Relaxed);
        let acknowledged: Vec<String> = written.into_iter().flat_map(Result::unwrap).collect();
        (acknowledged, reader.join().unwrap())
    });
    let state = stage.state(SCENE);
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for entry in state["user_questions"].as_array().unwrap() {
        *found.entry(entry["question"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    let wanted: BTreeMap<String, usize> = acknowledged.into_iter().map(|it| (it, 1)).collect();
    assert_eq!(found, wanted);
    println!("{} entries of two processes, {reads} reads beside them", wanted.len());
}

/// Logs until it is over; every call must be taken. Returns what was.
fn write(server: &Server, name: &str, until: Until) -> Vec<String> {
    let mut taken = Vec::new();
    for number in 0.. {
        if until.is_over(number) {
            break;
        }
        let question = format!("{name} {number}");
        let arguments = json!({"scene_id": SCENE, "question": question, "answer": "да"});
        let said = Stage::try_call(server, "log_question_answer", arguments).ok().unwrap();
        assert!(!said.is_error, "{}", said.text);
        taken.push(question);
    }
    taken
}
