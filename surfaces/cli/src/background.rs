//! What a server does besides serving: it tells which definitions cannot be used, writes the files
//! that another process left owed, and lets the clock speak in runs whose time has come.

use std::{collections::BTreeSet, fs, io, path::PathBuf, sync::Arc, time::Duration};

use mcp::devworkflow;
use runtime::{Runtime, World as _};
use world::RealWorld;

use crate::{config::Config, join::Joined};

/// How long the first client has the machine to itself.
const HEAD_START: Duration = Duration::from_millis(200);
/// How often runs are looked after.
const SWEEP_EVERY: Duration = Duration::from_secs(1);

/// Begins with it. It ends with the process.
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
        if let Err(error) = runtime.write_owed().await {
            tracing::error!("files that are owed could not be written: {error}");
        }
        sweep(&world, &runtime, sessions.as_ref()).await;
    });
}

/// Enforces time limits and looks after sessions, for ever.
async fn sweep(world: &RealWorld, runtime: &Runtime, sessions: Option<&devworkflow::Options>) {
    let mut known = String::new();
    loop {
        let problem = match runtime.sweep().await {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        };
        // The same problem is told once, not every second.
        if !problem.is_empty() && problem != known {
            tracing::error!("time limits could not be enforced: {problem}");
        }
        known = problem;
        if let Some(options) = sessions {
            devworkflow::tend_sessions(runtime, options).await;
        }
        world.sleep(SWEEP_EVERY).await;
    }
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
            // Nobody has to have workflows in the usual places.
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
            "workflow `{name}` cannot be used: {problem}; `milepost workflow check {name}` shows all"
        );
    }
}
