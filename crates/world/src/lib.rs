//! The real world: clock, files, git, commands, workflow folders and a language model,
//! behind the runtime's [`World`]. It looks and does; it decides nothing.

pub mod beneath;
mod checks;
mod chores;
mod clock;
mod command;
mod event_log;
mod file_system;
mod files;
mod git;
mod library;
mod model;
mod news;
mod subfolders;
mod tree;
mod watched;

use std::{
    fmt,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use definition::Digest;
use engine::{
    CheckFact, ChoreOutcome, Fact, FileFact, GitDeed, ModelFact, ModelFailure, ModelFailureKind,
    Question, RunId, Timestamp, Usage,
};
use runtime::{FileSystem, Found, Held, Looking, Tree, World};

use beneath::Root;
pub use clock::Boot;
use clock::Clock;
use file_system::LockFile;
pub use library::{Hidden, is_builtin, is_workflow};
use model::Model;
pub use model::{Api, ModelSettings, Secret};

/// What the configuration says about the world.
#[derive(Debug, Clone)]
pub struct WorldSettings {
    /// Folders of workflow folders and of graphs, the first one first.
    pub workflow_dirs: Vec<PathBuf>,
    /// Whether the built-in workflows are there too.
    pub has_builtin: bool,
    /// What the user has allowed definitions to have done.
    pub permits: Arc<dyn Permits>,
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
            permits: Arc::new(NothingPermitted),
            forbidden_chores: Vec::new(),
            chore_times: ChoreTimes::default(),
            model: None,
            clock_ahead_s: 0,
        }
    }
}

/// What the user has allowed. It is asked for each deed, so that what was allowed or taken back
/// counts at once, and with what would be done, so that no text elsewhere has to be believed.
pub trait Permits: fmt::Debug + Send + Sync {
    /// Returns whether a definition may have this command run in the folder `root`.
    fn allows_check(&self, root: &Path, run: &[String]) -> bool;

    /// Returns whether the chores of the definition with this digest may be done in the folder
    /// `root`.
    fn allows_chores(&self, root: &Path, definition: &Digest) -> bool;

    /// Returns whether the files in the folder `root` belong to the project that is served. A copy of
    /// a project has runs that were begun in the original, and must leave that alone.
    fn serves(&self, root: &Path) -> bool;
}

/// Allows nothing.
#[derive(Debug)]
struct NothingPermitted;

impl Permits for NothingPermitted {
    fn allows_check(&self, _root: &Path, _run: &[String]) -> bool {
        false
    }

    fn allows_chores(&self, _root: &Path, _definition: &Digest) -> bool {
        false
    }

    fn serves(&self, _root: &Path) -> bool {
        true
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
    inner: subfolders::Watch,
    graphs: library::GraphNames,
}

impl RealWorld {
    /// Creates the world.
    pub fn new(settings: WorldSettings) -> Self {
        let clock = Clock::new(settings.clock_ahead_s);
        let model = settings.model.clone().map(Model::new);
        let graphs = library::GraphNames::default();
        let (watched, inner) = (watched::Watched::default(), subfolders::Watch::default());
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
    /// Returns the workflows that are not used because others have their names.
    pub fn find_hidden_workflows(&self) -> Vec<Hidden> {
        library::find_hidden(&self.settings, &self.graphs)
    }

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
    fn file_system(&self) -> Option<&dyn FileSystem> {
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

    fn look<'a>(
        &'a self,
        (root, home): (&'a str, &'a str),
        question: &'a Question,
    ) -> Looking<'a, Option<Fact>> {
        Box::pin(async move {
            if let Question::Model { system, user, names } = question {
                return Some(Fact::Model(self.ask(system, user, names).await));
            }
            let (root, home) = (Path::new(root), Path::new(home));
            if let Question::Branch(name) = question {
                return Some(Fact::Branch(git::find_branch(home, name.as_deref()).await));
            }
            if !self.settings.permits.serves(root) {
                return None;
            }
            // Where the folder itself is gone nothing can be said of what is in it.
            let folder = match Root::of(root, home) {
                Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                    return Some(refuse(question, &error));
                }
                folder => folder.ok()?,
            };
            Some(match question {
                Question::File(path) => Fact::File(files::look(&folder, path).await),
                Question::Beside(name) => match find_beside(root, home) {
                    Some(Ok(beside)) => Fact::File(files::look(&beside, name).await),
                    Some(Err(error)) => Fact::File(files::unseen(&error)),
                    None => Fact::File(FileFact::Missing),
                },
                Question::Git => Fact::Git(git::look(&home.canonicalize().ok()?).await),
                Question::Check { run, timeout_s } => {
                    let timeout = Duration::from_secs(*timeout_s);
                    let home = home.canonicalize().ok()?;
                    let allowed = self.settings.permits.allows_check(&home, run);
                    Fact::Check(checks::run(&home, run, timeout, allowed).await)
                }
                Question::Branch(_) | Question::Model { .. } => return None,
            })
        })
    }

    fn do_chore<'a>(
        &'a self,
        (root, home): (&'a str, &'a str),
        deed: &'a GitDeed,
        texts: &'a [(String, String)],
        held: Option<&'a Held>,
    ) -> Looking<'a, Option<ChoreOutcome>> {
        Box::pin(async move {
            if self.settings.forbidden_chores.iter().any(|it| it == deed.word()) {
                return Some(forbidden(deed));
            }
            if !self.settings.permits.serves(Path::new(root)) {
                return None;
            }
            Root::of(Path::new(root), Path::new(home)).ok()?;
            let [root, home] = [root, home].map(|it| PathBuf::from(it).canonicalize());
            let folders = chores::Folders { root: root.ok()?, home: home.ok()? };
            let held = held.and_then(|it| it.downcast_ref::<LockFile>()?.try_clone().ok());
            let (held, times) = (held.map(Arc::new), self.settings.chore_times);
            Some(chores::run(&folders, deed, texts, (times, held)).await)
        })
    }

    fn find_ban(&self, root: &str, definition: &Digest) -> Option<String> {
        let is_allowed = |root: PathBuf| self.settings.permits.allows_chores(&root, definition);
        if is_builtin(definition) || PathBuf::from(root).canonicalize().is_ok_and(is_allowed) {
            return None;
        }
        let reason = "no person has allowed here what this workflow does to files and git: tell \
                      them to run `milepost trust` in a terminal; do not run it yourself";
        Some(reason.to_owned())
    }

    fn find_workflows(&self) -> Vec<Found> {
        library::find(&self.settings, &self.graphs)
    }

    #[expect(clippy::disallowed_methods, reason = "this is the one real clock")]
    fn sleep(&self, duration: Duration) -> Looking<'_, ()> {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// What is known of a folder that a link leads out of the project.
fn refuse(question: &Question, error: &io::Error) -> Fact {
    match question {
        Question::File(_) | Question::Beside(_) => Fact::File(files::unseen(error)),
        Question::Check { .. } => {
            Fact::Check(CheckFact::Ended { exit: -1, output: error.to_string() })
        }
        Question::Git | Question::Branch(_) | Question::Model { .. } => Fact::Git(None),
    }
}

/// Opens the folder that the folder of a run is in; `None` where that is not in the project.
fn find_beside(root: &Path, home: &Path) -> Option<io::Result<Root>> {
    if home.components().eq(root.components()) {
        return None;
    }
    Some(Root::of(root, home.parent()?))
}

/// The outcome of a deed that the settings forbid. What is not committed stays in the work tree for
/// a person to commit, so the run does not wait for it.
fn forbidden(deed: &GitDeed) -> ChoreOutcome {
    let word = deed.word();
    let reason =
        format!("`{word}` is not among what the setting `chores.allow` lets the server do");
    match deed {
        GitDeed::Commit { .. } => ChoreOutcome::Done {
            detail: "nothing was committed".to_owned(),
            warnings: vec![format!("{reason}, so the commit is left to you")],
            pushed: None,
        },
        GitDeed::RenameBranch { .. }
        | GitDeed::Push { .. }
        | GitDeed::Publish { .. }
        | GitDeed::Checkout { .. } => ChoreOutcome::Failed { reason },
    }
}
