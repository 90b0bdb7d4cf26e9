//! A world that does what it is told, fails or crashes when it is told so, and remembers it.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, atomic::AtomicBool, atomic::Ordering},
    time::Duration,
};

use definition::Workflow;
use engine::{ChoreOutcome, Fact, GitDeed, Question, RunId, RunState, Timestamp};
use parking_lot::Mutex;
use runtime::{
    FileSystem, Found, Handled, Held, Layout, Looking, Place, Projection, Reading, Stat, Wanted,
    World,
};
use tokio::sync::Notify;

use crate::world::TestWorld;

/// Files, with what they will say.
pub(crate) type Texts = Vec<(String, String)>;

pub(crate) struct ActingWorld {
    inner: Arc<TestWorld>,
    outcomes: Mutex<VecDeque<ChoreOutcome>>,
    did: Mutex<Vec<(GitDeed, Texts)>>,
    lock: Arc<tokio::sync::Mutex<()>>,
    crashes: AtomicBool,
    crashed: Notify,
    pub(crate) files: Mutex<BTreeMap<String, String>>,
    /// What files say after the next pause.
    soon: Mutex<BTreeMap<String, String>>,
}

impl ActingWorld {
    pub(crate) fn new(workflows: &[(&str, &str)]) -> Arc<Self> {
        Arc::new(Self {
            inner: TestWorld::new(workflows),
            outcomes: Mutex::default(),
            did: Mutex::default(),
            lock: Arc::default(),
            crashes: AtomicBool::new(false),
            crashed: Notify::new(),
            files: Mutex::default(),
            soon: Mutex::default(),
        })
    }

    /// Says how the next chore goes. Without a word it is done.
    pub(crate) fn will(&self, outcome: ChoreOutcome) {
        self.outcomes.lock().push_back(outcome);
    }

    /// Has someone write a file in place, of which only the beginning is there at first.
    pub(crate) fn write_slowly(&self, path: &str, text: &str, beginning: usize) {
        let begun = text.chars().take(beginning).collect();
        self.files.lock().insert(path.to_owned(), begun);
        self.soon.lock().insert(path.to_owned(), text.to_owned());
    }

    pub(crate) fn crash_next(&self) {
        self.crashes.store(true, Ordering::Relaxed);
    }

    pub(crate) async fn crashed(&self) {
        self.crashed.notified().await;
    }

    pub(crate) fn deeds(&self) -> Vec<GitDeed> {
        self.did.lock().iter().map(|(deed, _)| deed.clone()).collect()
    }

    pub(crate) fn texts(&self) -> Vec<Texts> {
        self.did.lock().iter().map(|(_, texts)| texts.clone()).collect()
    }
}

impl World for ActingWorld {
    fn now(&self) -> Timestamp {
        self.inner.now()
    }

    fn new_run(&self) -> RunId {
        self.inner.new_run()
    }

    fn look<'a>(
        &'a self,
        folders: (&'a str, &'a str),
        question: &'a Question,
    ) -> Looking<'a, Option<Fact>> {
        self.inner.look(folders, question)
    }

    fn find_workflows(&self) -> Vec<Found> {
        self.inner.find_workflows()
    }

    fn sleep(&self, duration: Duration) -> Looking<'_, ()> {
        self.files.lock().append(&mut self.soon.lock());
        // No test moves the clock here.
        self.inner.pass(0);
        self.inner.sleep(duration)
    }

    fn do_chore<'a>(
        &'a self,
        _folders: (&'a str, &'a str),
        deed: &'a GitDeed,
        texts: &'a [(String, String)],
        _held: Option<&'a Held>,
    ) -> Looking<'a, Option<ChoreOutcome>> {
        Box::pin(async move {
            self.did.lock().push((deed.clone(), texts.to_vec()));
            tokio::task::yield_now().await;
            if self.crashes.swap(false, Ordering::Relaxed) {
                self.crashed.notify_one();
                std::future::pending::<()>().await;
            }
            let said = self.outcomes.lock().pop_front();
            let (detail, warnings) = ("did it".to_owned(), vec!["odd".to_owned()]);
            Some(said.unwrap_or(ChoreOutcome::Done { detail, warnings, pushed: None }))
        })
    }

    fn file_system(&self) -> Option<&dyn FileSystem> {
        Some(self)
    }
}

/// Files that are only remembered.
impl FileSystem for ActingWorld {
    fn has_folder<'a>(&'a self, _folder: &'a str) -> Looking<'a, bool> {
        Box::pin(async { true })
    }

    fn stat<'a>(&'a self, place: &'a Place) -> Handled<'a, Option<Stat>> {
        Box::pin(async { Ok(self.files.lock().get(&place.path).map(|it| stat(it))) })
    }

    fn read<'a>(&'a self, place: &'a Place) -> Handled<'a, Option<(Vec<u8>, Stat)>> {
        Box::pin(async {
            let files = self.files.lock();
            Ok(files.get(&place.path).map(|it| (it.clone().into_bytes(), stat(it))))
        })
    }

    fn write<'a>(&'a self, place: &'a Place, text: String) -> Handled<'a, Stat> {
        let written = stat(&text);
        self.files.lock().insert(place.path.clone(), text);
        Box::pin(async move { Ok(written) })
    }

    fn rename<'a>(&'a self, _place: &'a Place, _path: &'a str) -> Handled<'a, ()> {
        Box::pin(async { Ok(()) })
    }

    fn remove<'a>(&'a self, _place: &'a Place) -> Handled<'a, ()> {
        Box::pin(async { Ok(()) })
    }

    fn write_durably<'a>(&'a self, place: &'a Place, text: String) -> Handled<'a, Stat> {
        self.write(place, text)
    }

    fn lock<'a>(&'a self, place: &'a Place) -> Handled<'a, Held> {
        Box::pin(async move {
            if place.path != "chores" {
                return Ok(Box::new(()) as Held);
            }
            Ok(Box::new(Arc::clone(&self.lock).lock_owned().await) as Held)
        })
    }

    fn scan<'a>(&'a self, _place: &'a Place, _wanted: Wanted) -> Handled<'a, Vec<(String, Stat)>> {
        Box::pin(async { Ok(Vec::new()) })
    }
}

fn stat(text: &str) -> Stat {
    Stat { size: text.len() as u64, modified: 1 }
}

/// A file that lists the kinds of all events, and the time of the last.
pub(crate) struct Listed(Layout);

impl Default for Listed {
    fn default() -> Self {
        Self(Layout { workflow: Some("W"), ..Layout::default() })
    }
}

impl Projection for Listed {
    fn layout(&self) -> &Layout {
        &self.0
    }

    fn path(&self, _key: &str) -> Option<String> {
        Some("state.txt".to_owned())
    }

    fn key(&self, _path: &str) -> Option<String> {
        None
    }

    fn render(&self, _workflow: &Workflow, state: &RunState) -> String {
        format!("{} {}", state.length, state.updated_at)
    }

    fn read(&self, _text: &str) -> Result<Reading, String> {
        Err("it is never read".to_owned())
    }

    fn aside(&self, _key: &str, _text: &str) -> String {
        "aside.txt".to_owned()
    }
}
