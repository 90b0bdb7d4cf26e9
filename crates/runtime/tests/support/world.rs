//! A world that a test holds in its hands: its clock, its files and its chance.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
    time::Duration,
};

use definition::{Digest, MemoryFiles, WorkflowName};
use engine::{CheckFact, Fact, FileFact, Question, RunId, Timestamp};
use parking_lot::Mutex;
use runtime::{Found, Looking, World};

/// 2026-01-01T00:00:00Z.
const START: i64 = 1_767_225_600_000_000;

pub(crate) struct TestWorld {
    now: AtomicI64,
    steady: AtomicI64,
    runs: AtomicU64,
    pub(crate) files: Mutex<BTreeMap<String, String>>,
    workflows: BTreeMap<String, String>,
}

impl TestWorld {
    pub(crate) fn new(workflows: &[(&str, &str)]) -> Arc<Self> {
        let own = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
        Arc::new(Self {
            now: AtomicI64::new(START),
            steady: AtomicI64::new(START),
            runs: AtomicU64::new(0),
            files: Mutex::default(),
            workflows: workflows.iter().map(own).collect(),
        })
    }

    /// Lets time pass.
    pub(crate) fn pass(&self, seconds: i64) {
        self.turn_clock(seconds);
        self.steady.fetch_add(seconds * 1_000_000, Ordering::Relaxed);
    }

    /// Moves the wall clock, also back.
    pub(crate) fn turn_clock(&self, seconds: i64) {
        self.now.fetch_add(seconds * 1_000_000, Ordering::Relaxed);
    }
}

impl World for TestWorld {
    fn now(&self) -> Timestamp {
        Timestamp(self.now.fetch_add(1, Ordering::Relaxed))
    }

    fn steady(&self) -> Timestamp {
        Timestamp(self.steady.fetch_add(1, Ordering::Relaxed))
    }

    fn new_run(&self) -> RunId {
        let number = self.runs.fetch_add(1, Ordering::Relaxed) + 1;
        RunId::from_bytes(u128::from(number).to_be_bytes())
    }

    fn look<'a>(
        &'a self,
        _folders: (&'a str, &'a str),
        question: &'a Question,
    ) -> Looking<'a, Option<Fact>> {
        let fact = match question {
            Question::Beside(_) => Fact::File(FileFact::Missing),
            Question::File(path) => Fact::File(match self.files.lock().get(path) {
                None => FileFact::Missing,
                Some(text) => FileFact::Present {
                    sha256: Digest::of(text.as_bytes()),
                    size: text.len() as u64,
                    text: Some(text.clone()),
                    modified: None,
                },
            }),
            Question::Git => Fact::Git(None),
            Question::Branch(_) => Fact::Branch(None),
            Question::Check { .. } => Fact::Check(CheckFact::NotAllowed),
            Question::Model { .. } => unreachable!("no language model is there"),
        };
        Box::pin(async move { Some(fact) })
    }

    fn find_workflows(&self) -> Vec<Found> {
        let files = Arc::new(MemoryFiles(self.workflows.clone()));
        let folders = self.workflows.keys().filter_map(|it| it.strip_suffix("/index.md"));
        let found = |name: &str| Found {
            name: WorkflowName::parse(name).expect("a test names its workflows well"),
            is_builtin: false,
            origin: "test".to_owned(),
            files: files.clone(),
            file: None,
            refused: None,
        };
        folders.map(found).collect()
    }

    fn sleep(&self, _duration: Duration) -> Looking<'_, ()> {
        Box::pin(tokio::task::yield_now())
    }
}
