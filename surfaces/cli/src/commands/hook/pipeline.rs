//! The pipeline that is going on, as far as its `state.json` says. What is torn, unreadable or no
//! state at all is passed over.

use std::path::{Path, PathBuf};

use dialects::forge::{STATE_FILE, StateFile};
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
        folders.filter_map(load).max_by(|one, other| one.age().cmp(&other.age()))
    }

    /// Returns whether an agent is working on the phase.
    pub(super) fn is_in_progress(&self) -> bool {
        self.status == "in_progress"
    }

    fn load(specs: &Root, inside: &Path, workspace: &Path) -> Option<Self> {
        let text = specs.read_text(&inside.join(STATE_FILE), FILE_BYTES_MAX).ok()?;
        let file = StateFile::glance(&text).filter(StateFile::is_active)?;
        let (phase, status) = file.stated()?;
        let updated = file.updated().trim_end_matches('Z');
        let (second, rest) = updated.split_once('.').unwrap_or((updated, ""));
        Some(Self {
            workspace: workspace.to_owned(),
            name: file.name().to_owned(),
            phase: phase.to_owned(),
            status: status.to_owned(),
            branch: file.branch().map(str::to_owned),
            under_way: file.under_way(),
            updated: (second.to_owned(), rest.to_owned()),
        })
    }

    fn age(&self) -> (&(String, String), &Path) {
        (&self.updated, &self.workspace)
    }
}
