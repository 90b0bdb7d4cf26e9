//! The state files `generation-state-{scene}.json`: where they are, how they are read, and how the
//! log is written into them.

mod project;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use definition::{StepName, Workflow};
use engine::{
    Basis, ClaimedProgress, ClaimedStatus, Layout, Progress, Projection, Reading, RunState,
};
use serde_json::Map;

use super::{
    WORKFLOW,
    document::{Document, StepRecord},
    words::{STEPS, STEPS_TOTAL, Status, Step, StepStatus},
};

pub(super) use project::project;

/// The folder of the state files unless a setting names another.
pub const WORKSPACE: &str = "workspace";

/// The folder of the sessions, each of which has state files of its own.
const SESSIONS: &str = "sessions";
const BEGINNING: &str = "generation-state-";
const ENDING: &str = ".json";
/// What stands between a scene and the session that its state is of, in a run's key.
const AT: char = '@';
/// The longest path that a run starts with.
const PATH_CHARS_MAX: usize = 500;

/// The state files of a workspace.
#[derive(Debug, Clone)]
pub struct StateFiles(Layout);

impl StateFiles {
    /// Returns the state files in this folder, seen from the project's root.
    pub fn new(workspace: &str) -> Self {
        Self(Layout {
            workflow: Some(WORKFLOW),
            folder: workspace.to_owned(),
            // Anyone who deletes a session's folder gives up what was done in it.
            ends_in: Some("sessions/"),
            ..Layout::default()
        })
    }

    /// Returns the state files in the usual folder of `root`, which is a folder of the project.
    pub fn within(root: &str) -> Self {
        Self(Layout { root: Some(root.to_owned()), ..Self::default().0 })
    }
}

impl Default for StateFiles {
    fn default() -> Self {
        Self::new(WORKSPACE)
    }
}

impl Projection for StateFiles {
    fn layout(&self) -> &Layout {
        &self.0
    }

    fn path(&self, key: &str) -> Option<String> {
        let (scene, session) = split(key);
        let name = format!("{BEGINNING}{scene}{ENDING}");
        Some(match session {
            Some(session) => format!("{}/{name}", folder(session)),
            None => name,
        })
    }

    fn key(&self, path: &str) -> Option<String> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let scene = name.strip_prefix(BEGINNING)?.strip_suffix(ENDING)?;
        let is_scene = scene.len() == 4 && scene.bytes().all(|it| it.is_ascii_digit());
        let session = folder.strip_prefix(SESSIONS).and_then(|it| it.strip_prefix('/'));
        match session.filter(|it| is_session(it)) {
            _ if !is_scene => None,
            None if folder.is_empty() => Some(scene.to_owned()),
            None => None,
            Some(session) => Some(key(scene, Some(session))),
        }
    }

    fn render(&self, workflow: &Workflow, state: &RunState) -> String {
        project::render(workflow, state)
    }

    fn basis(&self, _workflow: &Workflow, own: &str, text: &str) -> Basis {
        project::basis(own, text)
    }

    fn read(&self, text: &str) -> Result<Reading, String> {
        Document::parse(text).map(|document| read(&document))
    }

    fn aside(&self, key: &str, text: &str) -> String {
        let document = Document::parse(text).unwrap_or_default();
        let session = document.find_text("session_id").filter(|it| is_session(it));
        let scene = split(key).0;
        format!("backups/{BEGINNING}{scene}-{}{ENDING}", session.unwrap_or("unknown"))
    }
}

/// Returns the key of the run of a scene, in a session or outside of any.
pub(super) fn key(scene: &str, session: Option<&str>) -> String {
    match session {
        Some(session) => format!("{scene}{AT}{session}"),
        None => scene.to_owned(),
    }
}

/// Returns the scene and the session that a key names.
pub(super) fn split(key: &str) -> (&str, Option<&str>) {
    match key.split_once(AT) {
        Some((scene, session)) => (scene, Some(session)),
        None => (key, None),
    }
}

/// Returns the folder of a session in the workspace.
pub(super) fn folder(session: &str) -> String {
    format!("{SESSIONS}/{session}")
}

/// Whether a name can be a session's. It becomes a part of a path.
pub(super) fn is_session(name: &str) -> bool {
    let is_plain = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'-');
    !name.is_empty() && name.len() <= 100 && name.bytes().all(is_plain)
}

/// Returns how the work stands, as a document says. What nobody knows is for a person to have resumed.
fn stood(document: &Document) -> Status {
    match (document.status(), document.find_text("workflow_status")) {
        (Some(status), _) => status,
        (None, None) => Status::InProgress,
        (None, Some(_)) => Status::Failed,
    }
}

/// Returns where the work is, as a document says. Whatever it lacks is taken as not begun.
fn read(document: &Document) -> Reading {
    let said = document.find_text("workflow_status");
    let doubt = said.filter(|_| document.status().is_none()).map(|word| {
        format!("its `workflow_status` is {word}, and must be one of {}", Status::listed())
    });
    let doubt = doubt.or_else(|| {
        let step = document.beyond_steps()?;
        Some(format!("its `current_step` is {step}, and must be one of 0 to {STEPS_TOTAL}"))
    });
    let (stood, reason) = match (document.status(), said) {
        (Some(Status::InProgress), _) | (None, None) => (ClaimedStatus::Running, String::new()),
        (Some(Status::WaitingUserApproval), _) => (ClaimedStatus::Waiting, String::new()),
        (Some(Status::Completed), _) => (ClaimedStatus::Completed, String::new()),
        (Some(Status::Failed), _) => (ClaimedStatus::Failed, document.reason().to_owned()),
        (Some(Status::Cancelled), _) => {
            let reason = document.find_text("cancellation_reason").unwrap_or_default();
            (ClaimedStatus::Cancelled, reason.to_owned())
        }
        // Nobody knows what it means, so it is for a person to have it resumed.
        (None, Some(word)) => (ClaimedStatus::Failed, format!("workflow_status was {word}")),
    };
    let steps: BTreeMap<StepName, ClaimedProgress> = STEPS
        .iter()
        .filter_map(|step| {
            let record = document.step(step);
            let name = StepName::parse(step.key).ok()?;
            record.is_present().then(|| (name, stage(record)))
        })
        .collect();
    let stated = Step::find(document.current_step());
    let is_short = |it: &str| it.chars().count() <= PATH_CHARS_MAX;
    let paths = document.artifacts().filter(|(key, path)| key.ends_with("_path") && is_short(path));
    let context: Map<_, _> = paths.map(|(key, path)| (key.to_owned(), path.into())).collect();
    Reading {
        stood,
        reason,
        vars: Map::new(),
        items: None,
        journal: None,
        at: None,
        parts: BTreeMap::new(),
        stated: stated.and_then(|it| StepName::parse(it.key).ok()),
        steps,
        started_at: document.started_at(),
        updated_at: document.updated_at(),
        context,
        stamp: Some(project::stamp(document)),
        is_cut: false,
        doubt,
    }
}

fn stage(record: StepRecord<'_>) -> ClaimedProgress {
    let (progress, failure) = match record.status() {
        StepStatus::Pending => (Progress::Idle, None),
        StepStatus::InProgress => (Progress::Active, None),
        StepStatus::Completed => (Progress::Done, None),
        StepStatus::Skipped => (Progress::Skipped, None),
        StepStatus::Failed => {
            let reason = record.find_text("failure_reason").unwrap_or("Unknown");
            (Progress::Ready, Some(reason.to_owned()))
        }
    };
    ClaimedProgress {
        progress,
        attempts: u32::from(progress == Progress::Active || failure.is_some()),
        started_at: record.started_at(),
        ended_at: record.find_text("completed_at").and_then(crate::kit::moment),
        failure,
        is_retried: record.is_retried(),
        ..ClaimedProgress::default()
    }
}
