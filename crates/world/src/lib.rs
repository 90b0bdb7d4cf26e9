//! Eyes and hands: the real clock, files, git, commands, workflow folders and a language model,
//! behind the runtime's [`World`]. It looks and does; it decides nothing.

mod checks;
mod chores;
mod clock;
mod command;
mod desk;
mod files;
mod git;
mod inner;
mod ledger;
mod library;
mod model;
mod shelf;
mod tree;
mod watched;

use std::{path::PathBuf, time::Duration};

use engine::{
    ChoreOutcome, Fact, GitDeed, ModelFact, ModelFailure, ModelFailureKind, Question, RunId,
    Timestamp, Usage,
};
use runtime::{Desk, Found, Looking, Tree, World};

pub use clock::Boot;
use clock::Clock;
use model::Model;
pub use model::{Api, ModelSettings, Secret};

/// What the configuration says about the world.
#[derive(Debug, Clone)]
pub struct WorldSettings {
    /// Folders of workflow folders and of graphs, the first one first.
    pub workflow_dirs: Vec<PathBuf>,
    /// Whether the built-in workflows are there too.
    pub has_builtin: bool,
    /// Whether `checks` of definitions may run commands here.
    pub allow_checks: bool,
    /// The largest artifact that is looked into, in bytes.
    pub text_bytes_max: u64,
    /// The largest artifact that is taken at all, in bytes.
    pub file_bytes_max: u64,
    /// The chores that are not done here, by their words in definitions.
    pub forbidden_chores: Vec<String>,
    /// How long programs may take that do chores.
    pub chore_times: ChoreTimes,
    /// The language model, if there is one.
    pub model: Option<ModelSettings>,
    /// How far the wall clock is ahead of what the system says, in seconds. For tests.
    #[doc(hidden)]
    pub clock_ahead_s: i64,
}

impl Default for WorldSettings {
    fn default() -> Self {
        Self {
            workflow_dirs: Vec::new(),
            has_builtin: true,
            allow_checks: false,
            text_bytes_max: 4 * 1024 * 1024,
            file_bytes_max: 64 * 1024 * 1024,
            forbidden_chores: Vec::new(),
            chore_times: ChoreTimes::default(),
            model: None,
            clock_ahead_s: 0,
        }
    }
}

/// How long a program may take that does a chore, or a part of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChoreTimes {
    /// On this machine. The user's own hooks run in it.
    pub near: Duration,
    /// Over a network.
    pub far: Duration,
}

impl Default for ChoreTimes {
    fn default() -> Self {
        Self { near: Duration::from_secs(120), far: Duration::from_secs(180) }
    }
}

/// The world as this process finds it.
#[derive(Debug)]
pub struct RealWorld {
    settings: WorldSettings,
    clock: Clock,
    model: Option<Model>,
    watched: watched::Watched,
    inner: inner::Watch,
    graphs: library::GraphNames,
}

impl RealWorld {
    /// Creates the world.
    pub fn new(settings: WorldSettings) -> Self {
        let clock = Clock::new(settings.clock_ahead_s);
        let model = settings.model.clone().map(Model::new);
        let graphs = library::GraphNames::default();
        let (watched, inner) = (watched::Watched::default(), inner::Watch::default());
        Self { settings, clock, model, watched, inner, graphs }
    }

    /// Returns which boot of the machine this is, and how long ago it was; `None` where the system
    /// does not tell. Then the wall clock measures durations too.
    pub fn boot(&self) -> Option<Boot> {
        Boot::look()
    }

    /// Says what the steady clock shows: this, and how long the machine has been up. The first word
    /// counts.
    pub fn set_steady(&self, at_boot: Timestamp) {
        self.clock.set_steady(at_boot);
    }
}

impl RealWorld {
    async fn ask(&self, system: &str, user: &str, names: &[String]) -> ModelFact {
        match &self.model {
            Some(model) => model.ask(system, user, names).await,
            None => ModelFact::Failed {
                failure: ModelFailure {
                    kind: ModelFailureKind::Api,
                    message: "no language model is configured".to_owned(),
                },
                usage: Usage::default(),
            },
        }
    }
}

impl World for RealWorld {
    fn desk(&self) -> Option<&dyn Desk> {
        Some(self)
    }

    fn tree(&self) -> Option<&dyn Tree> {
        Some(self)
    }

    fn now(&self) -> Timestamp {
        self.clock.wall()
    }

    fn steady(&self) -> Timestamp {
        self.clock.steady()
    }

    fn new_run(&self) -> RunId {
        RunId::from_bytes(*uuid::Uuid::now_v7().as_bytes())
    }

    fn look<'a>(&'a self, root: &'a str, question: &'a Question) -> Looking<'a, Option<Fact>> {
        Box::pin(async move {
            // Where the folder itself is gone nothing can be said of what is in it.
            let root = || PathBuf::from(root).canonicalize().ok();
            Some(match question {
                Question::Beside(name) => {
                    let beside = root()?.parent()?.to_path_buf();
                    Fact::File(files::look(beside, name.clone(), &self.settings).await)
                }
                Question::File(path) => {
                    Fact::File(files::look(root()?, path.clone(), &self.settings).await)
                }
                Question::Git => Fact::Git(git::look(&root()?).await),
                Question::Check { run, timeout_s } => {
                    let timeout = Duration::from_secs(*timeout_s);
                    let allowed = self.settings.allow_checks;
                    Fact::Check(checks::run(&root()?, run, timeout, allowed).await)
                }
                Question::Model { system, user, names } => {
                    Fact::Model(self.ask(system, user, names).await)
                }
            })
        })
    }

    fn do_chore<'a>(
        &'a self,
        (root, home): (&'a str, &'a str),
        deed: &'a GitDeed,
        texts: &'a [(String, String)],
    ) -> Looking<'a, Option<ChoreOutcome>> {
        Box::pin(async move {
            if self.settings.forbidden_chores.iter().any(|it| it == deed.word()) {
                return Some(forbidden(deed));
            }
            let [root, home] = [root, home].map(|it| PathBuf::from(it).canonicalize());
            let folders = chores::Folders { root: root.ok()?, home: home.ok()? };
            Some(chores::run(&folders, deed, texts, self.settings.chore_times).await)
        })
    }

    fn find_workflows(&self) -> Vec<Found> {
        library::find(&self.settings, &self.graphs)
    }

    #[expect(clippy::disallowed_methods, reason = "this is the one real clock")]
    fn sleep(&self, duration: Duration) -> Looking<'_, ()> {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// What comes of a deed that the settings forbid. What is not committed lies in the work tree still,
/// for a person to commit, so that nothing has to wait for it.
fn forbidden(deed: &GitDeed) -> ChoreOutcome {
    let word = deed.word();
    let reason =
        format!("`{word}` is not among what the setting `chores.allow` lets the server do");
    match deed {
        GitDeed::Commit { .. } => ChoreOutcome::Done {
            detail: "nothing was committed".to_owned(),
            warnings: vec![format!("{reason}, so the commit is left to you")],
        },
        GitDeed::RenameBranch { .. }
        | GitDeed::Push { .. }
        | GitDeed::Publish { .. }
        | GitDeed::Checkout { .. } => ChoreOutcome::Failed { reason },
    }
}
