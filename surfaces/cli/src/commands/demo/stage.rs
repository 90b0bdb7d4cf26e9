//! Where the demo plays: a temporary folder with a database and one workflow, and the real world
//! for everything else.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use runtime::{Runtime, World as _};
use store::{SqliteSettings, SqliteStore};
use world::{RealWorld, WorldSettings};

use crate::{
    config::{Config, DEFAULT_PROJECT, Surroundings},
    failure::Failure,
};

/// The folder of the workflow.
const WORKFLOWS: &str = "workflows";
/// The workflow's files.
const FILES: &[(&str, &str)] = &[
    ("demo/index.md", include_str!("workflow/index.md")),
    ("demo/steps/01-plan.md", include_str!("workflow/01-plan.md")),
    ("demo/steps/02-build.md", include_str!("workflow/02-build.md")),
    ("demo/steps/03-report.md", include_str!("workflow/03-report.md")),
];

/// The stage, which is removed when it is dropped.
pub(super) struct Stage {
    folder: PathBuf,
    world: Arc<RealWorld>,
}

impl Stage {
    /// Builds it in a folder of its own.
    pub(super) fn build() -> io::Result<Self> {
        let settings = WorldSettings { has_builtin: false, ..WorldSettings::default() };
        let name = RealWorld::new(settings.clone()).new_run().short();
        let folder = std::env::temp_dir().join(name.replace("run_", "milepost-demo-"));
        fs::create_dir(&folder)?;
        let workflow_dirs = vec![folder.canonicalize()?.join(WORKFLOWS)];
        let world = Arc::new(RealWorld::new(WorldSettings { workflow_dirs, ..settings }));
        let stage = Self { folder: folder.canonicalize()?, world };
        fs::create_dir_all(stage.folder.join(WORKFLOWS).join("demo/steps"))?;
        for (path, text) in FILES {
            fs::write(stage.folder.join(WORKFLOWS).join(path), text)?;
        }
        Ok(stage)
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
        Ok(Runtime::new(Arc::new(store), Arc::<RealWorld>::clone(&self.world), settings))
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
        // What cannot be removed is in the system's folder for temporary files.
        drop(fs::remove_dir_all(&self.folder));
    }
}
