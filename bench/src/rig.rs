//! What is measured, built and ready: the two servers, and folders for their files.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    time::Duration,
};

use runtime::{Runtime, Settings};
use store::{SqliteSettings, SqliteStore};
use tempfile::TempDir;
use world::{RealWorld, WorldSettings};

use crate::Measured;

/// The project that a server works in whose database is named in its environment.
pub(crate) const PROJECT: &str = "default";

/// Everything that the sections need.
pub(crate) struct Rig {
    pub(crate) is_quick: bool,
    pub(crate) repository: PathBuf,
    /// How long a load lasts that is to be a steady one.
    pub(crate) steady: Duration,
    /// The server that is measured.
    milepost: PathBuf,
    /// One that does nothing.
    empty: PathBuf,
}

impl Rig {
    /// Builds both servers in the profile that this program was built in.
    pub(crate) fn build(is_quick: bool) -> Measured<Self> {
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
        let built = std::env::current_exe()?;
        let folder = built.parent().ok_or("the binary is in no folder")?;
        let profile = match folder.file_name().and_then(|it| it.to_str()) {
            Some("debug") => {
                eprintln!("built without --release: the figures mean little");
                "dev"
            }
            Some(profile) => profile,
            None => "release",
        };
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--package=cli", "--package=bench", "--bins", "--profile"]);
        if !cargo.arg(profile).current_dir(&repository).status()?.success() {
            return Err("the servers could not be built".into());
        }
        let (milepost, empty) = (folder.join("milepost"), folder.join("empty"));
        let steady = Duration::from_secs(if is_quick { 12 } else { 300 });
        Ok(Self { is_quick, repository, steady, milepost, empty })
    }

    /// Returns `full`, or `quick` if it must be quick.
    pub(crate) fn pick<T>(&self, full: T, quick: T) -> T {
        if self.is_quick { quick } else { full }
    }

    /// Returns a new folder on the disk that the repository is on: a folder for temporary files may
    /// be in memory.
    pub(crate) fn folder(&self) -> Measured<TempDir> {
        let target = self.milepost.parent().ok_or("the binary is in no folder")?;
        let folder = tempfile::Builder::new().prefix("bench-").tempdir_in(target)?;
        // A repository of its own: git would look at all of the one that it lies in.
        let made = Command::new("git").args(["init", "--quiet"]).arg(folder.path()).status()?;
        if !made.success() {
            return Err("`git init` failed".into());
        }
        Ok(folder)
    }

    /// Returns the server, to be started in `folder` with its database there.
    pub(crate) fn server(&self, folder: &Path) -> Command {
        self.milepost(folder, &["mcp"])
    }

    /// Returns the server with the tools for scenes.
    pub(crate) fn scene_server(&self, folder: &Path) -> Command {
        self.milepost(folder, &["mcp", "--toolset", "generation"])
    }

    /// Returns the server with the tools for pipelines.
    pub(crate) fn pipeline_server(&self, folder: &Path) -> Command {
        self.milepost(folder, &["mcp", "--toolset", "forge"])
    }

    /// Returns what takes over the scenes of a folder.
    pub(crate) fn import_scenes(&self, folder: &Path, workspace: &str) -> Command {
        self.milepost(folder, &["import", "generation", workspace, "--json"])
    }

    /// Returns the server over HTTP, which says where it is in a line of JSON.
    pub(crate) fn web_server(&self, folder: &Path) -> Command {
        self.milepost(folder, &["serve", "--address", "127.0.0.1:0", "--json"])
    }

    fn milepost(&self, folder: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.milepost);
        command.args(arguments).current_dir(folder).env_clear();
        command.env("HOME", folder).env("WORKFLOW_DB_PATH", database(folder));
        command.env("LOG_LEVEL", "warn");
        command
    }

    /// Returns the server that does nothing.
    pub(crate) fn empty(&self) -> Command {
        Command::new(&self.empty)
    }
}

/// Returns where the database of a folder is.
pub(crate) fn database(folder: &Path) -> PathBuf {
    folder.join("milepost.db")
}

/// Returns a runtime of our own on the database of `folder`.
pub(crate) fn runtime(folder: &Path) -> Measured<Arc<Runtime>> {
    let store = SqliteStore::open(&database(folder), SqliteSettings::default())?;
    let world = RealWorld::new(WorldSettings::default());
    let settings = Settings {
        project: PROJECT.to_owned(),
        root: folder.display().to_string(),
        bounds: engine::Bounds::default(),
        gates: None,
        policies: runtime::Policies::default(),
        has_model: false,
        fail_on_model_error: false,
        brief_tokens: 2500,
        wait_max: Duration::from_secs(50),
        states_max: 64,
        states_bytes_max: 32 << 20,
    };
    Ok(Arc::new(Runtime::new(Arc::new(store), Arc::new(world), settings)))
}
