//! `state.json` of each workspace: where it is, and what becomes of it.

use definition::Workflow;
use engine::{Appended, Basis, EventLog, Projection, Reading};
use engine::{Recorded, RunState, Timestamp};
use serde_json::{Map, Value};

use super::{
    WORKFLOW, events,
    intake::{branch::branch_of_copy, slug},
    options::Options,
    state_file::StateFile,
};

/// The file that a workspace is known by.
pub const STATE_FILE: &str = "state.json";

/// The state files of all workspaces of a project. The key of a run is its workspace, seen from the
/// project's root.
#[derive(Debug, Clone, Default)]
pub struct SpecFiles {
    event_log: Option<EventLog>,
}

/// How large the file that others are told in becomes before it is put aside.
const EVENT_LOG_BYTES_MAX: u64 = 10 * 1024 * 1024;

impl SpecFiles {
    /// Returns the files of a project in which others are told what happens as the configuration
    /// has it.
    pub fn new(options: &Options) -> Self {
        let event_log =
            |path: &String| EventLog { path: path.clone(), bytes_max: EVENT_LOG_BYTES_MAX };
        Self { event_log: options.events_log.as_ref().map(event_log) }
    }
}

impl Projection for SpecFiles {
    fn workflow(&self) -> &str {
        WORKFLOW
    }

    fn folder(&self) -> &'static str {
        ""
    }

    fn path(&self, key: &str) -> Option<String> {
        is_workspace(key).then(|| format!("{key}/{STATE_FILE}"))
    }

    fn key(&self, path: &str) -> Option<String> {
        let workspace = path.strip_suffix(STATE_FILE)?.strip_suffix('/')?;
        is_workspace(workspace).then(|| workspace.to_owned())
    }

    fn home(&self, key: &str) -> Option<String> {
        is_workspace(key).then(|| key.to_owned())
    }

    fn vars_of_copy(&self, key: &str, home: &str, of: &RunState) -> Map<String, Value> {
        let name = key.rsplit('/').next().unwrap_or(key);
        let mut vars = Map::from_iter([
            ("spec_name".to_owned(), slug::spec_name(name).into()),
            ("workspace".to_owned(), home.into()),
        ]);
        let branch = of.vars.get("branch").and_then(Value::as_str).unwrap_or_default();
        let is_shared = of.vars.get("use_current_branch") == Some(&Value::Bool(true));
        if !branch.is_empty() && !is_shared {
            vars.insert("branch".to_owned(), branch_of_copy(branch, name).into());
            vars.insert("branch_from".to_owned(), branch.into());
            // What was found out about the branch of the original is not so of this one.
            vars.extend(["branch_to", "branch_at"].map(|it| (it.to_owned(), "".into())));
            vars.insert("branch_pushed".to_owned(), false.into());
        }
        vars
    }

    /// Who asked for what is nobody else's business.
    fn is_private(&self) -> bool {
        true
    }

    fn outlives_file(&self, _key: &str) -> bool {
        true
    }

    fn render(&self, workflow: &Workflow, state: &RunState) -> String {
        StateFile::text_of(workflow, state)
    }

    /// Whatever someone puts into the workspace is meant for it. A time that was never written here
    /// is somebody's own.
    fn basis(&self, _workflow: &Workflow, own: &str, text: &str) -> Basis {
        let Ok(file) = StateFile::read(text) else {
            return Basis::Other("it is not the state of a pipeline".to_owned());
        };
        let own = updated(own);
        match file.updated_at() {
            Some(said) if Some(said) != own => Basis::At(
                said,
                format!(
                    "its `timestamps.lastUpdated` is {said}, and the file's is {}",
                    own.map(|it| it.to_string()).unwrap_or_default()
                ),
            ),
            Some(_) | None => Basis::Current,
        }
    }

    fn stamp(&self, own: &str) -> Option<String> {
        Some(format!("`timestamps.lastUpdated` to \"{}\"", updated(own)?))
    }

    fn read(&self, text: &str) -> Result<Reading, String> {
        StateFile::read(text).and_then(|it| it.claim())
    }

    fn aside(&self, key: &str, _text: &str) -> String {
        format!("{key}/backups/state-replaced.json")
    }

    fn event_log(&self) -> Option<&EventLog> {
        self.event_log.as_ref()
    }

    fn is_told(&self, events: &[Recorded]) -> bool {
        events::is_told(events)
    }

    fn tell(&self, workflow: &Workflow, change: &Appended<'_>) -> Vec<String> {
        events::tell(workflow, change)
    }
}

fn updated(text: &str) -> Option<Timestamp> {
    StateFile::read(text).ok()?.updated_at()
}

/// Whether a key is a path inside the project.
fn is_workspace(key: &str) -> bool {
    key.split('/').all(|it| !matches!(it, "" | "." | ".."))
}

#[cfg(test)]
pub(super) mod tests;
