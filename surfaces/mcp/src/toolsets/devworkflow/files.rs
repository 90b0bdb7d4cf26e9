//! `workflow_state.md` as it is made from the log, and the other files that the log has changed.

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

use definition::{StepName, Workflow};
use engine::{
    ClaimedProgress, ClaimedStatus, Event, Item, JournalRotated, Progress, Recorded, journal_line,
};
use runtime::{Basis, FileText, Goal, Projection, Reading, SideFileWrite};
use serde_json::{Map, Value};

use super::{
    WORKFLOW, config_file,
    options::Options,
    state_file::{Row, StateFile},
    words::{COMPLETED, CONFIG_FILE, PENDING, PHASES, STATE_FILE, config_paths, is_pending},
};

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

    fn blank(&self, _workflow: &Arc<Workflow>) -> Option<Box<dyn FileText>> {
        Some(Box::new(Page::blank()))
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
        let date = self.options.changelog_date.then(|| recorded.at.to_date());
        let inserted = config_file::insert_changelog(text, line, date.as_deref());
        let text = inserted.is_changed.then_some(inserted.text);
        SideFileWrite { text, notice: inserted.warning }
    }
}

/// Returns where a log is kept that an event put into the archive.
pub(super) fn archive_path(recorded: &Recorded, options: &Options) -> Option<String> {
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
fn logged(file: &StateFile) -> String {
    format!("{}\n{}", file.archive_log(), file.log())
}

/// The state file of one run in the making.
#[derive(Debug, Clone)]
pub(super) struct Page {
    file: StateFile,
    /// Where the run is, whatever the file says.
    phase: String,
}

impl FileText for Page {
    fn apply(&mut self, recorded: &Recorded) {
        if let Event::RunPlaced(placement) = &recorded.event {
            self.file = StateFile::parse(&placement.text);
            if let Some(step) = &placement.current {
                step.as_str().clone_into(&mut self.phase);
            }
            return;
        }
        if self.write(recorded) {
            self.file.set_date(&recorded.at.to_date());
        }
    }

    fn text(&self) -> String {
        self.file.text().to_owned()
    }

    /// What it was made from is told by the lines of its log.
    fn basis(&self, _text: &str) -> Basis {
        Basis::Current
    }

    fn is_torn(&self, beginning: &[u8]) -> bool {
        let Ok(text) = std::str::from_utf8(beginning) else { return true };
        let is_whole = !StateFile::parse(text).issues().iter().any(|it| it.starts_with("Missing"));
        !(is_whole && text.ends_with('\n'))
    }

    fn distance(&self, text: &str) -> Option<usize> {
        Some(StateFile::distance(self.file.text(), text))
    }

    fn is_seen(&self, text: &str) -> bool {
        let now = logged(&self.file);
        let last = now.lines().rfind(|it| !it.is_empty());
        last.is_none_or(|it| logged(&StateFile::parse(text)).lines().any(|line| line == it))
    }

    /// What was written from there has seen the last line that was logged until then, and none that
    /// was logged since. Where nothing was logged since, nothing tells.
    fn is_base(&self, base: &str, text: &str) -> bool {
        let (before, now) = (logged(&StateFile::parse(base)), logged(&self.file));
        let seen = logged(&StateFile::parse(text));
        let seen: HashSet<&str> = seen.lines().collect();
        let known: HashSet<&str> = before.lines().collect();
        let last = before.lines().rfind(|it| !it.is_empty());
        let mut since = now.lines().filter(|it| !known.contains(it)).peekable();
        last.is_none_or(|it| seen.contains(it))
            && since.peek().is_some()
            && !since.any(|it| seen.contains(it))
    }

    fn rebase(&self, base: &str, text: &str) -> Option<String> {
        StateFile::rebase(base, text, self.file.text())
    }
}

impl Page {
    /// Returns the file of a run of which nothing is known.
    pub(super) fn blank() -> Self {
        Self { file: StateFile::blank(), phase: String::new() }
    }

    /// Writes an event down, and returns whether there was anything to write.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the file has a place for these only")]
    fn write(&mut self, recorded: &Recorded) -> bool {
        match &recorded.event {
            Event::StepEntered { step, .. } => {
                step.as_str().clone_into(&mut self.phase);
                self.file.set_phase(step.as_str());
            }
            Event::MoveMade { .. } => {
                self.file.complete();
                // A word that is not a phase stays only until the next call.
                if !self.phase.is_empty() {
                    self.file.set_phase(&self.phase);
                }
            }
            Event::VarsChanged { set } => return self.set(set),
            Event::ItemAdded { item } => {
                let (id, description) = (item.id, item.text.clone());
                let mut rows = self.file.items();
                rows.push(Row { id, description, status: PENDING.to_owned() });
                self.file.set_items(&rows);
            }
            Event::ItemClosed { id } => {
                let mut rows = self.file.items();
                let open = rows.iter_mut().find(|it| it.id == *id && is_pending(&it.status));
                open.into_iter().for_each(|it| COMPLETED.clone_into(&mut it.status));
                self.file.set_items(&rows);
            }
            Event::EntryRecorded { .. } | Event::GateAnswered { .. } => {
                let Some(line) = journal_line(recorded) else { return false };
                self.file.append_log(&line);
            }
            Event::JournalRotated(rotated) => {
                self.file.append_archive_log(&rotated.archived);
                self.file.set_log("");
            }
            Event::RunStarted(_) => {}
            _ => return false,
        }
        true
    }

    fn set(&mut self, set: &Map<String, Value>) -> bool {
        let text = |name: &str| set.get(name).and_then(Value::as_str);
        if let Some(status) = text("status") {
            self.file.set_status(status);
        }
        if let Some(item) = text("item") {
            self.file.set_current_item(Some(item).filter(|it| !it.is_empty()));
        }
        if let Some(plan) = text("plan") {
            self.file.set_plan(plan);
        }
        ["status", "item", "plan"].iter().any(|it| set.contains_key(*it))
    }
}
