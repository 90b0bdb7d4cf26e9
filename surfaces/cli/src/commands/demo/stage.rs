//! Where the demo plays: a temporary folder with a database and one workflow, and the real world
//! for everything else.

use std::{fs, io, path::Path, sync::Arc, time::Duration};

use runtime::{Runtime, World as _};
use world::{RealWorld, WorldSettings};

use crate::{commands::scratch::Scratch, failure::Failure};

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
    scratch: Scratch,
    world: Arc<RealWorld>,
}

impl Stage {
    /// Builds it in a folder of its own.
    pub(super) fn build() -> io::Result<Self> {
        let scratch = Scratch::new("milepost-demo-")?;
        let workflows = scratch.folder().join(WORKFLOWS);
        fs::create_dir_all(workflows.join("demo/steps"))?;
        for (path, text) in FILES {
            fs::write(workflows.join(path), text)?;
        }
        let workflow_dirs = vec![workflows];
        let settings =
            WorldSettings { workflow_dirs, has_builtin: false, ..WorldSettings::default() };
        Ok(Self { scratch, world: Arc::new(RealWorld::new(settings)) })
    }

    /// Returns the folder in which the agents work.
    pub(super) fn folder(&self) -> &Path {
        self.scratch.folder()
    }

    /// Opens the database again, as another process would.
    pub(super) fn enter(&self) -> Result<Runtime, Failure> {
        self.scratch.enter(Arc::<RealWorld>::clone(&self.world))
    }

    /// Waits.
    pub(super) async fn pause(&self, duration: Duration) {
        if !duration.is_zero() {
            self.world.sleep(duration).await;
        }
    }
}
