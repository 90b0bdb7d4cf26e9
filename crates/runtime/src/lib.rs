//! The loop that joins the engine to a store: load, look, decide, append, perform.
//!
//! This is the one door to a run. Every surface comes in through [`Runtime::execute`], so every
//! change is decided by the engine and on disk before anyone hears of it. What it leads to outside
//! of the log leaves by `outbox.rs`. What others wrote into files is taken in by `promise/`.
//! Questions go through the methods of `query.rs`, and never write.

mod asked;
mod audit;
mod begin;
mod cards;
mod changes;
mod commit;
mod delete;
mod execute;
mod file_system;
mod found;
mod graphs;
mod hearing;
mod load;
mod outbox;
mod policies;
mod promise;
mod query;
mod timers;
mod tree;
mod wait;
mod watch;
mod workflows;

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use definition::{Answers, Digest};
use engine::{Bounds, ChoreOutcome, Fact, GitDeed, Question, RunId, Timestamp};
use store::{Store, StoreError};

pub use asked::{Asked, Asking, Identity};
pub use audit::{Audit, Problem};
pub use begin::{Fork, Import};
pub use changes::{Change, Changes};
pub use delete::{Deletable, DeleteError, LeftFile};
pub use engine::{
    Appended, Basis, Card, Cursor, Edits, EventLog, Hit, Hits, Invalid, Kept, KeyFilter,
    LINT_IGNORE, LINT_IGNORE_TEXT, Layout, Listed, Listing, Order, Page, Projection, Reading,
    Rebased, Row, RunFile, RunFilter, SideFile, SideFileWrite, Stat, Subfolder, Taken, Unreadable,
    Unseen, View, Walked, Wanted,
};
pub use execute::{ExecuteError, Outcome, Request, Target};
pub use file_system::{FileSystem, Handled, Held, Place};
pub use found::Found;
pub use hearing::Hearing;
pub use outbox::Chores;
pub use policies::Policies;
pub use promise::Released;
pub use query::History;
pub use tree::{Tree, Visit, Walk};
pub use watch::{Phase, Watch, unhurried};

/// Something that is being looked at or waited for.
pub type Looking<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The world, as far as a decision needs to see it. Tests bring their own.
pub trait World: Send + Sync {
    /// Returns the time now by the wall clock, which may jump. For history and for people.
    fn now(&self) -> Timestamp;

    /// Returns the time now by the clock that durations are measured with: one for all processes
    /// on a store, and it does not jump. Where there is none, the wall clock has to do.
    fn steady(&self) -> Timestamp {
        self.now()
    }

    /// Returns an id that no run has.
    fn new_run(&self) -> RunId;

    /// Finds the answer to `question` in a folder of a run; `None` if that folder is not here.
    /// `folders` are the root of the run, and the folder that its artifacts are in.
    fn look<'a>(
        &'a self,
        folders: (&'a str, &'a str),
        question: &'a Question,
    ) -> Looking<'a, Option<Fact>>;

    /// Returns the workflows that are to be had, first come first served where names meet.
    fn find_workflows(&self) -> Vec<Found>;

    /// Waits.
    fn sleep(&self, duration: Duration) -> Looking<'_, ()>;

    /// Does what is to be done in the repository that the folder `home` of a run lies in, which may
    /// be its `root`; `None` if that folder is not here. `texts` are files of the folder that are
    /// written once it is done, with what they will say. Programs that are started for it keep the
    /// lock `_held`, so that nobody begins a chore while one of them outlives this process.
    fn do_chore<'a>(
        &'a self,
        (_root, _home): (&'a str, &'a str),
        _deed: &'a GitDeed,
        _texts: &'a [(String, String)],
        _held: Option<&'a Held>,
    ) -> Looking<'a, Option<ChoreOutcome>> {
        let reason = "nothing here can do that".to_owned();
        Box::pin(async move { Some(ChoreOutcome::Failed { reason }) })
    }

    /// Returns why the chores of a definition may not be done in the folder `root`, nor its changes
    /// of files, by the digest of the definition; `None` where they may.
    fn find_ban(&self, _root: &str, _definition: &Digest) -> Option<String> {
        None
    }

    /// Returns the hands on promised files; `None` where none are written.
    fn file_system(&self) -> Option<&dyn FileSystem> {
        None
    }

    /// Returns the eyes on trees of files; `None` where none are looked at.
    fn tree(&self) -> Option<&dyn Tree> {
        None
    }
}

/// What the runtime is told by the configuration.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The namespace that runs live in.
    pub project: String,
    /// The folder that new runs are worked in.
    pub root: String,
    pub bounds: Bounds,
    /// Which answers count at every gate, whatever the definitions say.
    pub gates: Option<Answers>,
    /// What settings say about single workflows.
    pub policies: Policies,
    /// Whether a language model is there to decide.
    pub has_model: bool,
    /// Whether a model that cannot be had fails the run.
    pub fail_on_model_error: bool,
    /// How large a brief is unless its reader says so, in tokens.
    pub brief_tokens: usize,
    /// The longest that a call may wait.
    pub wait_max: Duration,
    /// How many runs are kept folded. One that was pushed out is folded again when it is needed.
    pub states_max: usize,
    /// How much memory they may take together, in bytes.
    pub states_bytes_max: usize,
}

/// Runs workflows. A clone shares everything with the original.
#[derive(Clone)]
pub struct Runtime {
    store: Arc<dyn Store>,
    world: Arc<dyn World>,
    settings: Arc<Settings>,
    loaded: Arc<load::Loaded>,
    promises: Arc<promise::Promises>,
    outbox: Arc<outbox::Outbox>,
    /// The call that everything is done for, where it has a request id.
    ask: Option<Arc<asked::Ask>>,
    /// What was noticed since, where the answer of a call tells it.
    heard: Option<hearing::Heard>,
}

impl Runtime {
    /// Creates a runtime over `store`.
    pub fn new(store: Arc<dyn Store>, world: Arc<dyn World>, settings: Settings) -> Self {
        let (loaded, promises, outbox) = (Arc::default(), Arc::default(), Arc::default());
        let settings = Arc::new(settings);
        Self { store, world, settings, loaded, promises, outbox, ask: None, heard: None }
    }

    /// Has files written from the logs of some workflows' runs.
    #[must_use]
    pub fn with_projections(mut self, projections: Vec<Arc<dyn Projection>>) -> Self {
        self.promises = Arc::new(promise::Promises::of(projections));
        self
    }

    /// Returns what the runtime was told.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns an id that no run has.
    pub fn new_run(&self) -> RunId {
        self.world.new_run()
    }

    /// Returns the time now by the wall clock. For history and for people.
    pub fn now(&self) -> Timestamp {
        self.world.now()
    }

    /// Returns the time now by the clock that durations are measured with.
    pub fn steady(&self) -> Timestamp {
        self.world.steady()
    }

    /// Returns the hands on files, for those that a dialect keeps beside its runs.
    pub fn file_system(&self) -> Option<&dyn FileSystem> {
        self.world.file_system()
    }

    /// Returns the eyes on trees of files, where there are any.
    pub fn tree(&self) -> Option<&dyn Tree> {
        self.world.tree()
    }

    /// Waits, by the same clock.
    pub async fn sleep(&self, duration: Duration) {
        self.world.sleep(duration).await;
    }
}

/// Makes a store's failure an answer.
fn fault(error: StoreError) -> ExecuteError {
    ExecuteError::Store(error)
}
