//! `workflow_state.md` as it is made from the log, and the other files that the log has changed.

mod project;

use std::collections::{BTreeMap, HashSet};

use definition::{StepName, Workflow};
use engine::{
    ClaimedProgress, ClaimedStatus, Event, Goal, Item, JournalRotated, Progress, Projection,
    Reading, Recorded, RunState, SideFileWrite,
};
use serde_json::Map;

use super::{
    WORKFLOW, config_file,
    options::Options,
    state_file::StateFile,
    words::{CONFIG_FILE, PHASES, STATE_FILE, config_paths, is_pending},
};

pub use project::render;

/// The state files of a project, and what goes with them.
#[derive(Debug, Clone)]
pub struct WorkflowFiles {
    options: Options,
}

impl WorkflowFiles {
    /// Returns the files where the configuration has them.
    pub fn new(options: Options) -> Self {
        Self { options }
    }

    fn is_state_file(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or_default();
        name == STATE_FILE || path == self.options.state_file
    }
}

impl Projection for WorkflowFiles {
    fn workflow(&self) -> &str {
        WORKFLOW
    }

    fn folder(&self) -> &'static str {
        ""
    }

    fn path(&self, key: &str) -> Option<String> {
        self.is_state_file(key).then(|| key.to_owned())
    }

    fn key(&self, path: &str) -> Option<String> {
        self.is_state_file(path).then(|| path.to_owned())
    }

    fn outlives_file(&self, _key: &str) -> bool {
        true
    }

    fn render(&self, _workflow: &Workflow, state: &RunState) -> String {
        render(state)
    }

    fn is_torn(&self, beginning: &[u8]) -> bool {
        let Ok(text) = std::str::from_utf8(beginning) else { return true };
        let is_whole = !StateFile::parse(text).issues().iter().any(|it| it.starts_with("Missing"));
        !(is_whole && text.ends_with('\n'))
    }

    fn distance(&self, own: &str, text: &str) -> Option<usize> {
        Some(StateFile::distance(own, text))
    }

    /// What a text was made from is told by the lines of its log.
    fn is_seen(&self, own: &str, text: &str) -> bool {
        let now = logged(own);
        let last = now.lines().rfind(|it| !it.is_empty());
        last.is_none_or(|it| logged(text).lines().any(|line| line == it))
    }

    /// What was written from there has seen the last line that was logged until then, and none that
    /// was logged since. Where nothing was logged since, nothing tells.
    fn is_base(&self, own: &str, base: &str, text: &str) -> bool {
        let [now, before, seen] = [own, base, text].map(logged);
        let seen: HashSet<&str> = seen.lines().collect();
        let known: HashSet<&str> = before.lines().collect();
        let last = before.lines().rfind(|it| !it.is_empty());
        let mut since = now.lines().filter(|it| !known.contains(it)).peekable();
        last.is_none_or(|it| seen.contains(it))
            && since.peek().is_some()
            && !since.any(|it| seen.contains(it))
    }

    fn rebase(&self, own: &str, base: &str, text: &str) -> Option<String> {
        StateFile::rebase(base, text, own)
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

    fn side_file(&self, recorded: &Recorded) -> Option<Goal> {
        if let Some(path) = archive_path(recorded, &self.options) {
            return Some(Goal { name: "errand:archive", paths: vec![path] });
        }
        let Event::LineInserted { path, .. } = &recorded.event else { return None };
        let is_usual = path == CONFIG_FILE;
        let paths = if is_usual { config_paths(&self.options) } else { vec![path.clone()] };
        Some(Goal { name: "errand:changelog", paths })
    }

    fn write_side_file(&self, recorded: &Recorded, text: Option<&str>) -> SideFileWrite {
        if let Event::JournalRotated(rotated) = &recorded.event {
            return keep(rotated, text);
        }
        let Event::LineInserted { line, .. } = &recorded.event else {
            return SideFileWrite::default();
        };
        let today = recorded.at.to_date();
        let is_dated = self.options.changelog_date;
        let inserted = config_file::insert_changelog(text, line, &today, is_dated);
        let text = inserted.is_changed.then_some(inserted.text);
        SideFileWrite { text, notice: inserted.warning }
    }
}

/// Returns where a log is kept that an event put into the archive.
pub fn archive_path(recorded: &Recorded, options: &Options) -> Option<String> {
    let Event::JournalRotated(_) = &recorded.event else { return None };
    let time = recorded.at.to_string().replace(':', "-");
    Some(format!("{}/archive/log-{time}.md", options.directory))
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
    let is_asked = phase == "BLUEPRINT" && status == "NEEDS_PLAN_APPROVAL";
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
        doubt: None,
    }
}

/// Returns all that was ever logged, oldest first.
fn logged(text: &str) -> String {
    let file = StateFile::parse(text);
    format!("{}\n{}", file.archive_log(), file.log())
}
