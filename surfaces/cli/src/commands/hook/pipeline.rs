//! The pipeline that is going on, as far as its `state.json` says. What is torn, unreadable or no
//! state at all is passed over.

use std::path::{Path, PathBuf};

use serde_json::Value;
use world::beneath::Root;

/// The largest file of a pipeline that is looked into.
pub(super) const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// A pipeline that is neither completed nor abandoned. One that failed can be taken up again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pipeline {
    pub(super) workspace: PathBuf,
    pub(super) name: String,
    pub(super) phase: String,
    pub(super) status: String,
    pub(super) branch: Option<String>,
    /// The parallel tasks that an agent is working on.
    pub(super) under_way: Vec<String>,
    /// To the second, and what is behind it: the latter may have any number of digits.
    updated: (String, String),
}

impl Pipeline {
    /// Returns the pipeline that changed last of those going on.
    pub(super) fn find_active(root: &Path, specs: &Path) -> Option<Self> {
        let folder = Root::of(root, specs).ok()?;
        let names = folder.names().ok()?.into_iter();
        let folders = names.filter_map(|it| it.strip_suffix('/').map(PathBuf::from));
        let load = |it: PathBuf| Self::load(&folder, &it, &specs.join(&it));
        let active = folders.filter_map(load).filter(Self::is_active);
        active.max_by(|one, other| one.age().cmp(&other.age()))
    }

    /// Returns whether an agent is working on the phase.
    pub(super) fn is_in_progress(&self) -> bool {
        self.status == "in_progress"
    }

    fn load(specs: &Root, inside: &Path, workspace: &Path) -> Option<Self> {
        let text = specs.read_text(&inside.join("state.json"), FILE_BYTES_MAX).ok()?;
        Self::read(workspace, &serde_json::from_str(&text).ok()?)
    }

    fn read(workspace: &Path, state: &Value) -> Option<Self> {
        let text = |name: &str| state.get(name).and_then(Value::as_str).map(str::to_owned);
        let tasks = state.get("tasks").and_then(Value::as_object);
        let under_way = tasks.into_iter().flatten().filter(|(_, it)| is_under_way(it));
        let updated = state.pointer("/timestamps/lastUpdated").and_then(Value::as_str);
        let updated = updated.unwrap_or_default().trim_end_matches('Z');
        let (second, rest) = updated.split_once('.').unwrap_or((updated, ""));
        Some(Self {
            workspace: workspace.to_owned(),
            name: text("specName").unwrap_or_default(),
            phase: text("currentPhase")?,
            status: text("currentPhaseStatus")?,
            branch: text("branch"),
            under_way: under_way.map(|(key, _)| key.clone()).collect(),
            updated: (second.to_owned(), rest.to_owned()),
        })
    }

    fn is_active(&self) -> bool {
        let over = ["completed", "abandoned"];
        !over.contains(&self.status.as_str()) && !over.contains(&self.phase.as_str())
    }

    fn age(&self) -> (&(String, String), &Path) {
        (&self.updated, &self.workspace)
    }
}

fn is_under_way(task: &Value) -> bool {
    let is = |name: &str, value: &str| task.get(name).is_some_and(|it| it == value);
    is("executionMode", "parallel") && is("implStatus", "in_progress")
}
