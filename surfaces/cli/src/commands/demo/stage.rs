//! Where the demo plays: a temporary folder with a database and one workflow, and the real world
//! for everything else.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use definition::{MemoryFiles, WorkflowName};
use engine::{Fact, Question, RunId, Timestamp};
use runtime::{Found, Looking, Runtime, World};
use store::{SqliteSettings, SqliteStore};
use world::{RealWorld, WorldSettings};

use crate::{
    config::{Config, DEFAULT_PROJECT, Surroundings},
    failure::Failure,
};

/// The workflow's files.
const FILES: &[(&str, &str)] = &[
    ("demo/index.md", include_str!("workflow/index.md")),
    ("demo/steps/01-plan.md", include_str!("workflow/01-plan.md")),
    ("demo/steps/02-build.md", include_str!("workflow/02-build.md")),
    ("demo/steps/03-report.md", include_str!("workflow/03-report.md")),
];

/// The stage. It is gone when it is dropped.
pub(super) struct Stage {
    folder: PathBuf,
    world: Arc<StageWorld>,
}

impl Stage {
    /// Builds it in a folder of its own.
    pub(super) fn build() -> io::Result<Self> {
        let inner =
            RealWorld::new(WorldSettings { has_builtin: false, ..WorldSettings::default() });
        let name = inner.new_run().short().replace("run_", "milepost-demo-");
        let folder = std::env::temp_dir().join(name);
        fs::create_dir(&folder)?;
        Ok(Self { folder: folder.canonicalize()?, world: Arc::new(StageWorld { inner }) })
    }

    /// Returns the folder in which the agents work.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Opens the database again, as another process would.
    pub(super) fn enter(&self) -> Result<Runtime, Failure> {
        let path = self.folder.join("demo.db");
        let store = SqliteStore::open(&path, SqliteSettings::default())?;
        let around = Surroundings { working: self.folder.clone(), ..Surroundings::default() };
        let settings = Config::load(&around, &[]).runtime(DEFAULT_PROJECT.to_owned(), 8);
        Ok(Runtime::new(Arc::new(store), Arc::<StageWorld>::clone(&self.world), settings))
    }

    /// Waits.
    pub(super) async fn pause(&self, duration: Duration) {
        if !duration.is_zero() {
            self.world.sleep(duration).await;
        }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // What cannot be removed is in the system's own folder for such things.
        drop(fs::remove_dir_all(&self.folder));
    }
}

/// The real world with one workflow in it.
struct StageWorld {
    inner: RealWorld,
}

impl World for StageWorld {
    fn now(&self) -> Timestamp {
        self.inner.now()
    }

    fn steady(&self) -> Timestamp {
        self.inner.steady()
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
        let files: BTreeMap<String, String> =
            FILES.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        let name = WorkflowName::parse("demo");
        let origin = "the demo".to_owned();
        let files = Arc::new(MemoryFiles(files));
        let found =
            |name| Found { name, origin, is_builtin: true, files, file: None, refused: None };
        name.map(|name| vec![found(name)]).unwrap_or_default()
    }

    fn sleep(&self, duration: Duration) -> Looking<'_, ()> {
        self.inner.sleep(duration)
    }
}
