//! What a server does besides serving: it logs which definitions cannot be used, writes the files
//! that are owed, and expires attempts whose time is over.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use engine::RunId;
use mcp::devworkflow;
use runtime::{Runtime, World as _};
use world::RealWorld;

use crate::{config::Config, join::Joined, output::text::word};

/// How long the first client has the machine to itself.
const HEAD_START: Duration = Duration::from_millis(200);
/// How often runs are maintained.
const SWEEP_EVERY: Duration = Duration::from_secs(1);
/// After how many sweeps at most a file that cannot be written is tried again.
const RETRY_EVERY: u32 = 32;

/// Starts the background work, which ends with the process.
pub(crate) fn begin(joined: &Joined) {
    let (world, runtime) =
        (Arc::<RealWorld>::clone(&joined.world), Arc::<Runtime>::clone(&joined.runtime));
    let dirs = Dirs::of(&joined.config);
    let has_sessions = joined.config.toolsets().iter().any(|it| it == "devworkflow");
    let sessions = has_sessions.then(|| joined.config.dialects().devworkflow);
    tokio::spawn(async move {
        world.sleep(HEAD_START).await;
        let looking = Arc::<Runtime>::clone(&runtime);
        let looked = tokio::task::spawn_blocking(move || tell_unusable(&looking, &dirs));
        if let Err(error) = looked.await {
            tracing::error!("the workflows could not be looked at: {error}");
        }
        let mut keeper = Keeper { runtime, sessions, owed: BTreeMap::new(), told: String::new() };
        loop {
            keeper.sweep().await;
            world.sleep(SWEEP_EVERY).await;
        }
    });
}

/// Maintains runs between calls.
struct Keeper {
    runtime: Arc<Runtime>,
    sessions: Option<devworkflow::Options>,
    /// The runs of which files are owed.
    owed: BTreeMap<RunId, Owed>,
    /// The problem with time limits that was logged last.
    told: String,
}

/// Files of a run that are owed.
#[derive(Default)]
struct Owed {
    /// For how many sweeps.
    sweeps: u32,
    /// The problem with them that was logged last.
    told: String,
}

impl Keeper {
    async fn sweep(&mut self) {
        self.write_owed().await;
        let swept = self.runtime.sweep().await.map(drop);
        let problem = swept.err().map(|it| format!("time limits could not be enforced: {it}"));
        log_once(&mut self.told, problem.unwrap_or_default());
        if let Some(options) = &self.sessions {
            devworkflow::tend_sessions(&self.runtime, options).await;
        }
    }

    /// Writes the files that are owed. A process that is at work writes its own, so a file is only
    /// looked at if it was owed a sweep ago too; and less and less often if it cannot be written.
    async fn write_owed(&mut self) {
        // If the store cannot be read, the search for time limits says so.
        let Ok(owing) = self.runtime.find_owing().await else { return };
        self.owed.retain(|run, _| owing.contains(run));
        for run in owing {
            let owed = self.owed.entry(run).or_default();
            owed.sweeps = owed.sweeps.saturating_add(1);
            let is_due = owed.sweeps.is_power_of_two() || owed.sweeps.is_multiple_of(RETRY_EVERY);
            if owed.sweeps < 2 || !is_due {
                continue;
            }
            let written = self.runtime.write_owed(run).await;
            let problem = written.unwrap_or_else(|error| Some(error.to_string()));
            let problem = problem.map(|it| format!("run {}: {it}; it is retried", run.short()));
            log_once(&mut owed.told, problem.unwrap_or_default());
        }
    }
}

/// Logs a problem that was not logged the last time.
fn log_once(told: &mut String, problem: String) {
    if !problem.is_empty() && problem != *told {
        tracing::error!("{problem}");
    }
    *told = problem;
}

/// The folders in which workflows are looked for.
struct Dirs {
    all: Vec<PathBuf>,
    /// Those that a setting names.
    named: BTreeSet<PathBuf>,
}

impl Dirs {
    fn of(config: &Config) -> Self {
        let named = config.named_workflow_dirs().iter().map(PathBuf::from).collect();
        Self { all: config.world().workflow_dirs, named }
    }
}

fn tell_unusable(runtime: &Runtime, dirs: &Dirs) {
    for dir in &dirs.all {
        match fs::read_dir(dir) {
            Ok(_) => {}
            // The usual places need not exist.
            Err(error) if error.kind() == io::ErrorKind::NotFound && !dirs.named.contains(dir) => {}
            Err(error) => {
                tracing::warn!("workflow folder `{}` cannot be read: {error}", dir.display());
            }
        }
    }
    for invalid in runtime.list_invalid() {
        let problem = invalid.diagnostics.first().map(ToString::to_string).unwrap_or_default();
        let (name, origin) = (&invalid.name, &invalid.origin);
        tracing::error!(
            workflow = name,
            origin,
            "workflow `{name}` cannot be used: {problem}; `milepost workflow check {}` shows all",
            word(name)
        );
    }
}
