//! A temporary folder with a database of its own, which is gone afterwards: where something is played
//! that must touch nothing of the user's.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use runtime::{Runtime, World};
use store::{SqliteSettings, SqliteStore};
use world::{RealWorld, WorldSettings};

use crate::{
    config::{Config, DEFAULT_PROJECT, Surroundings},
    failure::Failure,
};

/// The folder, which is removed when this is dropped.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// Makes a folder whose name begins with this.
    pub(crate) fn new(beginning: &str) -> io::Result<Self> {
        let name = RealWorld::new(WorldSettings::default()).new_run().short();
        let folder = std::env::temp_dir().join(name.replace("run_", beginning));
        fs::create_dir(&folder)?;
        Ok(Self(folder.canonicalize()?))
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.0
    }

    /// Opens the database, as another process would.
    pub(crate) fn enter(&self, world: Arc<dyn World>) -> Result<Runtime, Failure> {
        let store = SqliteStore::open(&self.0.join("scratch.db"), SqliteSettings::default())?;
        let around = Surroundings { working: self.0.clone(), ..Surroundings::default() };
        let settings = Config::load(&around, &[]).runtime(DEFAULT_PROJECT.to_owned(), 8);
        Ok(Runtime::new(Arc::new(store), world, settings))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed is in the system's folder for temporary files.
        drop(fs::remove_dir_all(&self.0));
    }
}
