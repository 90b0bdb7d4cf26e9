//! The only place that joins store, world and runtime, as the configuration says.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use engine::{Actor, Surface};
use runtime::{Runtime, World as _};
use store::{Filter, SqliteStore, Store, StoreError};
use world::RealWorld;

use crate::{
    config::{Config, DEFAULT_PROJECT, Named, StorePlace},
    failure::Failure,
    secret, tracked,
};

/// How many runs are kept folded for one client, which works on a few, …
const STATES_OWN: usize = 4;
/// … and for many.
const STATES_SHARED: usize = 256;

/// Everything a command needs.
pub(crate) struct Joined {
    pub(crate) config: Config,
    pub(crate) world: Arc<RealWorld>,
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) database: Database,
}

/// Where runs are kept, if anywhere.
pub(crate) enum Database {
    File {
        path: PathBuf,
        store: Arc<SqliteStore>,
    },
    Memory,
    /// Nothing was stored yet. Questions are answered from nothing.
    Missing {
        path: PathBuf,
    },
}

impl fmt::Display for Database {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, .. } | Self::Missing { path } => write!(out, "{}", path.display()),
            Self::Memory => out.write_str("in memory"),
        }
    }
}

/// What a command wants of the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// To look at what is there, and to change runs that are there.
    Existing,
    /// To store new runs: the database is made if it is not there.
    Create,
    /// The same for many clients at once.
    Share,
}

impl Joined {
    /// Opens the database and joins the rest to it.
    pub(crate) async fn open(config: Config, access: Access) -> Result<Self, Failure> {
        let world = Arc::new(RealWorld::new(config.world()));
        check_own(&config)?;
        let (database, store) = open_database(&config, &world, access)?;
        set_clock(&world, &database);
        let project = find_project(&config, &*store).await?;
        let states_max = if access == Access::Share { STATES_SHARED } else { STATES_OWN };
        let settings = config.runtime(project, states_max);
        let runtime = Runtime::new(store, Arc::<RealWorld>::clone(&world), settings)
            .with_projections(config.projections());
        Ok(Self { config, world, runtime: Arc::new(runtime), database })
    }

    /// Returns who it is that asks.
    pub(crate) fn actor(&self) -> Actor {
        actor(&self.config)
    }

    /// Returns the key that seals what clients must send back: a secret beside the database, so that
    /// all processes that share it have the same.
    pub(crate) fn seal_key(&self) -> Result<[u8; 32], Failure> {
        match &self.database {
            Database::File { path, .. } => {
                let path = path.with_extension("key");
                secret::find_or_make(&path).map_err(|error| {
                    let message =
                        format!("the secret `{}` cannot be used: {error}", path.display());
                    Failure::refused("secret_unusable", message)
                        .with_hint("delete it, or let it be read and written")
                })
            }
            Database::Memory | Database::Missing { .. } => Ok(secret::make()?),
        }
    }

    /// Returns what to say where nothing was stored yet.
    pub(crate) fn note(&self) -> Option<String> {
        let Database::Missing { path } = &self.database else { return None };
        Some(format!(
            "Nothing has been stored yet: there is no `{}`. It is made when a client starts \
             `milepost mcp`; `milepost demo` shows what a run looks like.",
            path.display()
        ))
    }

    /// Returns the database file, or why there is none.
    pub(crate) fn file(&self) -> Result<(&Path, &SqliteStore), Failure> {
        match &self.database {
            Database::File { path, store } => Ok((path, store)),
            Database::Memory => {
                Err(Failure::refused("database_missing", "the database is only in memory"))
            }
            Database::Missing { path } => {
                let message = format!("there is no database `{}` yet", path.display());
                Err(Failure::refused("database_missing", message)
                    .with_hint("it is made when a client starts `milepost mcp`"))
            }
        }
    }
}

/// Returns who it is that asks.
pub(crate) fn actor(config: &Config) -> Actor {
    Actor {
        name: Some(config.person.clone()),
        client: Some(format!("milepost {}", env!("CARGO_PKG_VERSION"))),
        surface: Surface::Cli,
    }
}

/// Refuses a database that git tracks: everyone who can push could then write its history, approvals
/// included.
fn check_own(config: &Config) -> Result<(), Failure> {
    let (StorePlace::Project(path) | StorePlace::Named(path)) = config.store_place() else {
        return Ok(());
    };
    let path = path.canonicalize().unwrap_or(path);
    let beside = |ending: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    let beside = ["-wal", "-shm", "-journal"].map(beside);
    let files: Vec<PathBuf> =
        [path.clone(), path.with_extension("key")].into_iter().chain(beside).collect();
    let shown = path.display();
    match tracked::find(&files) {
        Ok(None) => Ok(()),
        Ok(Some(found)) => {
            let found = found.display();
            let message = format!(
                "git tracks `{found}`, so everyone who can push to the repository can write the \
                 history in the database `{shown}`"
            );
            Err(Failure::refused("database_tracked", message).with_hint(format!(
                "take it out of the repository: `git rm --cached '{found}'`, then commit; delete \
                 the file if it came with the repository"
            )))
        }
        Err(error) => {
            let message = format!(
                "Milepost cannot read the repository's index, which says whether git tracks the \
                 database `{shown}`: {error}"
            );
            Err(Failure::refused("database_tracked", message)
                .with_hint("repair the repository: `git status` says what is wrong with it"))
        }
    }
}

fn open_database(
    config: &Config,
    world: &RealWorld,
    access: Access,
) -> Result<(Database, Arc<dyn Store>), Failure> {
    let path = match config.store_place() {
        StorePlace::Memory => {
            return Ok((Database::Memory, Arc::new(SqliteStore::in_memory()?)));
        }
        StorePlace::Project(path) | StorePlace::Named(path)
            if path.exists() && (access != Access::Existing || !is_empty(&path)) =>
        {
            path
        }
        StorePlace::Project(path) | StorePlace::Named(path) if access == Access::Existing => {
            SqliteStore::check_kept(&path).map_err(|error| not_opened(&path, error))?;
            return Ok((Database::Missing { path }, Arc::new(SqliteStore::in_memory()?)));
        }
        StorePlace::Project(path) => {
            let new = world.new_run().short().replace("run_", "project_");
            config
                .places
                .settle(&new)
                .map_err(|error| not_made(&config.places.folder(), &error))?;
            path
        }
        StorePlace::Named(path) => {
            let folder = path.parent().unwrap_or(Path::new(""));
            fs::create_dir_all(folder).map_err(|error| not_made(folder, &error))?;
            path
        }
    };
    let opened = SqliteStore::open(&path, config.sqlite());
    let store = Arc::new(opened.map_err(|error| not_opened(&path, error))?);
    Ok((Database::File { path, store: Arc::clone(&store) }, store))
}

/// Returns whether a file has nothing in it: someone is about to make a database of it, or a copy
/// was never finished.
fn is_empty(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|it| it.is_file() && it.len() == 0)
}

/// Measures durations by the clock that all processes on the database share.
fn set_clock(world: &RealWorld, database: &Database) {
    let (Database::File { store, .. }, Some(boot)) = (database, world.boot()) else { return };
    match store.anchor(&boot.id, boot.uptime, world.now()) {
        Ok(at_boot) => world.set_steady(at_boot),
        // The wall clock serves instead. Other code reports a database that is not writable.
        Err(error) => tracing::warn!("the steady clock could not be set: {error}"),
    }
}

/// Returns the project's id: what its own file says; for a database that was named, the common
/// one; else that of the runs that are there, if the file was lost.
async fn find_project(config: &Config, store: &dyn Store) -> Result<String, Failure> {
    let found = config.places.find_id().map_err(|error| {
        Failure::refused("project_invalid", error.to_string())
            .with_hint("fix or delete `.milepost/project.toml`")
    })?;
    if let Named::As(id) = found {
        return Ok(id);
    }
    let mut project = DEFAULT_PROJECT.to_owned();
    if let StorePlace::Project(_) = config.store_place() {
        let newest = store.list(Filter { limit: 1, ..Filter::default() }).await?;
        project = newest.rows.into_iter().next().map_or(project, |it| it.project);
    }
    if found == Named::Lost
        && let Err(error) = config.places.name_again(&project)
    {
        tracing::warn!("`.milepost/project.toml` is empty, and cannot be written: {error}");
    }
    Ok(project)
}

fn not_made(folder: &Path, error: &std::io::Error) -> Failure {
    let message = format!("the folder `{}` cannot be made: {error}", folder.display());
    Failure::refused("folder_not_made", message)
        .with_hint("set `store.path` (or `WORKFLOW_DB_PATH`) to a place that can be written to")
}

fn not_opened(path: &Path, error: StoreError) -> Failure {
    let failure = Failure::from(error);
    let message = format!("the database `{}` cannot be used: {}", path.display(), failure.message);
    Failure { message, ..failure }
}
