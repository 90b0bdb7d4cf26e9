//! `workflow_state.md` as it is made from the log, and the other files that the log has changed.

mod project;

use std::collections::{BTreeMap, HashSet};

use definition::{StepName, Workflow};
use engine::{
    Basis, ClaimedProgress, ClaimedStatus, Edits, Event, Item, JournalRotated, Layout, Progress,
    Projection, Reading, Rebased, Recorded, RunState, SideFile, SideFileWrite, Timestamp,
};
use serde_json::Map;

use super::{
    WORKFLOW, config_file,
    options::Options,
    state_file::StateFile,
    words::{CONFIG_FILE, PHASES, STATE_FILE, WAITING, config_paths, is_pending},
};

pub(super) use project::render;

/// The state files of a project, and what goes with them.
#[derive(Debug, Clone)]
pub struct WorkflowFiles {
    layout: Layout,
    options: Options,
}

impl WorkflowFiles {
    /// Returns the files where the configuration has them.
    pub fn new(options: Options) -> Self {
        let (workflow, edits) = (Some(WORKFLOW), Edits::Joined);
        Self { layout: Layout { workflow, edits, ..Layout::default() }, options }
    }

    fn is_state_file(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or_default();
        name == STATE_FILE || path == self.options.state_file
    }
}

impl Projection for WorkflowFiles {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn path(&self, key: &str) -> Option<String> {
        self.is_state_file(key).then(|| key.to_owned())
    }

    fn key(&self, path: &str) -> Option<String> {
        self.is_state_file(path).then(|| path.to_owned())
    }

    fn render(&self, _workflow: &Workflow, state: &RunState) -> String {
        render(state)
    }

    /// What a text was made from is told by the lines of its log.
    fn basis(&self, _workflow: &Workflow, own: &str, text: &str) -> Basis {
        let now = logged(own);
        let last = now.lines().rfind(|it| !it.is_empty());
        let is_seen = last.is_none_or(|it| logged(text).lines().any(|line| line == it));
        if is_seen { Basis::Current } else { Basis::Earlier }
    }

    fn rebase(&self, own: &str, before: &[String], text: &str) -> Rebased {
        let bases = before.iter().filter(|it| is_base(own, it, text));
        let bases = bases.map(|it| (StateFile::distance(it, text), it));
        match bases.min_by_key(|(distance, _)| *distance) {
            None => Rebased::Current,
            Some((0, _)) => Rebased::Back,
            Some((_, base)) => {
                StateFile::rebase(base, text, own).map_or(Rebased::Conflict, Rebased::Text)
            }
        }
    }

    fn read(&self, text: &str) -> Result<Reading, String> {
        if text.contains('\0') {
            return Err("it is not text".to_owned());
        }
        Ok(read(&StateFile::parse(text)))
    }

    fn aside(&self, _key: &str, _text: &str) -> String {
        format!("{}/backups/{STATE_FILE}", self.options.directory)
    }

    fn side_file<'a>(&'a self, recorded: &'a Recorded) -> Option<SideFile<'a>> {
        let options = &self.options;
        if let Event::JournalRotated(rotated) = &recorded.event {
            let paths = archive_path(recorded, options).into_iter().collect();
            let change = Box::new(|text: Option<&str>| keep(rotated, text));
            return Some(SideFile { name: "errand:archive", paths, change });
        }
        let Event::LineInserted { path, line, .. } = &recorded.event else { return None };
        let is_usual = path == CONFIG_FILE;
        let paths = if is_usual { config_paths(options) } else { vec![path.clone()] };
        let change = Box::new(|text: Option<&str>| {
            let today = recorded.at.to_date();
            let inserted =
                config_file::insert_changelog(text, line, &today, options.changelog_date);
            let text = inserted.is_changed.then_some(inserted.text);
            SideFileWrite { text, notice: inserted.warning }
        });
        Some(SideFile { name: "errand:changelog", paths, change })
    }
}

/// Whether a text may have been made from `base`, which the file said before, and not from `own`,
/// which it says now: it has the last line that was logged until then, and none that was logged
/// since. Where nothing was logged since, nothing tells.
fn is_base(own: &str, base: &str, text: &str) -> bool {
    let [now, before, seen] = [own, base, text].map(logged);
    let seen: HashSet<&str> = seen.lines().collect();
    let known: HashSet<&str> = before.lines().collect();
    let last = before.lines().rfind(|it| !it.is_empty());
    let mut since = now.lines().filter(|it| !known.contains(it)).peekable();
    last.is_none_or(|it| seen.contains(it))
        && since.peek().is_some()
        && !since.any(|it| seen.contains(it))
}

/// Returns where a log is kept that an event put into the archive.
pub(super) fn archive_path(recorded: &Recorded, options: &Options) -> Option<String> {
    let Event::JournalRotated(_) = &recorded.event else { return None };
    Some(archive_path_at(recorded.at, options))
}

/// Returns where a log is kept that was put into the archive because of what someone wrote into the
/// file, if nothing was called since.
pub(super) fn placed_archive_path(state: &RunState, options: &Options) -> Option<String> {
    let history = &state.history;
    let moved = history.counts.newest(|it| it.event == "MoveMade").map_or(0, |it| it.seq);
    let archived = history.archived.iter().next_back()?.mark;
    let is_new = moved < history.placed_by() && history.placed_by() < archived.seq;
    is_new.then(|| archive_path_at(archived.at, options))
}

fn archive_path_at(at: Timestamp, options: &Options) -> String {
    let time = at.to_string().replace(':', "-");
    format!("{}/archive/log-{time}.md", options.directory)
}

/// Keeps a log that was put into the archive, whole, with the plan that was put away with it. Two of
/// one moment share a file.
fn keep(rotated: &JournalRotated, text: Option<&str>) -> SideFileWrite {
    let mut kept = rotated.text.clone();
    if !rotated.with.trim().is_empty() {
        kept.push_str(&format!("\n\n## Plan\n\n{}", rotated.with));
    }
    let text = match text {
        Some(text) if text.contains(&kept) => None,
        Some(text) => Some(format!("{text}\n{kept}\n")),
        None => Some(format!("{kept}\n")),
    };
    SideFileWrite { text, notice: None }
}

/// Returns where the work is, as a state file says.
fn read(file: &StateFile) -> Reading {
    let phase = file.phase();
    let status = file.status();
    let place = PHASES.iter().position(|it| *it == phase);
    let stages = PHASES.iter().take(place.map_or(0, |it| it + 1)).filter_map(|name| {
        let progress = if *name == phase { Progress::Active } else { Progress::Done };
        let stage = ClaimedProgress { progress, attempts: 1, ..ClaimedProgress::default() };
        Some((StepName::parse(name).ok()?, stage))
    });
    let is_asked = status == WAITING;
    let items = file.items().into_iter().map(|row| Item {
        id: row.id,
        is_done: !is_pending(&row.status),
        text: row.description,
    });
    let vars: [(&str, String); 3] = [
        ("status", status.to_owned()),
        ("item", file.current_item().unwrap_or_default()),
        ("plan", file.plan()),
    ];
    Reading {
        stood: if is_asked { ClaimedStatus::Waiting } else { ClaimedStatus::Running },
        reason: String::new(),
        at: None,
        parts: BTreeMap::new(),
        stated: place.and_then(|_| StepName::parse(phase).ok()),
        steps: stages.collect::<BTreeMap<_, _>>(),
        started_at: None,
        updated_at: None,
        context: Map::new(),
        vars: vars.into_iter().map(|(name, it)| (name.to_owned(), it.into())).collect(),
        items: Some(items.collect()),
        journal: Some(file.log()),
        stamp: None,
        is_cut: file.issues().iter().any(|it| it.starts_with("Missing")),
        doubt: None,
    }
}

/// Returns all that was ever logged, oldest first.
fn logged(text: &str) -> String {
    let file = StateFile::parse(text);
    format!("{}\n{}", file.archive_log(), file.log())
}
