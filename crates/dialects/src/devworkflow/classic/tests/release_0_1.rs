//! The state file as release 0.1 wrote it: event by event.

use engine::{Event, Recorded, journal_line};
use serde_json::{Map, Value};

use super::super::super::{
    state_file::{Row, StateFile},
    words::{COMPLETED, PENDING, is_pending},
};

/// The state file of one run in the making.
#[derive(Debug, Clone)]
pub(super) struct Page {
    file: StateFile,
    /// Where the run is, whatever the file says.
    phase: String,
}

impl Page {
    pub(super) fn apply(&mut self, recorded: &Recorded) {
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

    pub(super) fn text(&self) -> String {
        self.file.text().to_owned()
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
                self.file.append_log([line.as_str()]);
            }
            Event::JournalRotated(rotated) => {
                self.file.append_archive_log([rotated.archived.as_str()]);
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
