//! What follows from the other fields: the pipeline's `status`, and a record of each phase.

use super::{COMPLETED, PHASES, SETUP, StateFile, Status};
use crate::kit::json::{Json, Object};

impl StateFile {
    /// Returns the record of a phase, which is made if it is not there.
    pub fn record(&mut self, phase: &str) -> &mut Object {
        let records = self.object.entry("phases").make_list();
        let place = records.iter().position(|it| name(it) == Some(phase));
        let place = place.unwrap_or_else(|| {
            records.push(Object::from_iter([("phase", phase)]).into());
            records.len() - 1
        });
        records.get_mut(place).expect("it was found or added").make_object()
    }

    /// Works out again what follows from the other fields.
    pub(super) fn derive(&mut self) {
        let records: Vec<Json> = PHASES.iter().filter_map(|it| self.derived(it)).collect();
        self.set("phases", records);
        self.set("status", self.overall());
    }

    /// Returns the record of a phase, if it was ever come to.
    fn derived(&self, phase: &str) -> Option<Json> {
        let known = self.list("phases").iter().find(|it| name(it) == Some(phase));
        let time = |key: &str| known?.as_object()?.get(key).filter(|it| it.as_text().is_some());
        let is_logged = |it: &&Json| name(it) == Some(phase);
        let log: Vec<Json> = self.list("phaseLog").iter().filter(is_logged).cloned().collect();
        let is_known = time("started").is_some() || !log.is_empty();
        let status = self.status_of(phase).or_else(|| is_known.then_some("pending"))?;
        let mut record = Object::new();
        record.set("phase", phase);
        record.set("status", status);
        record.set("started", time("started").cloned());
        record.set("completed", time("completed").cloned());
        record.set("log", log);
        Some(record.into())
    }

    /// Returns how a phase stands; `None` where the pipeline has not come to it.
    fn status_of(&self, phase: &str) -> Option<&'static str> {
        if self.phase() == phase {
            return Some(self.status().word());
        }
        let is_done = self.is_completed(phase);
        let is_skipped = self.texts("skippedPhases").any(|it| it == phase);
        let is_passed = self.has_passed(phase);
        match (is_skipped && (is_done || is_passed), is_done) {
            (true, _) => Some("skipped"),
            (false, true) => Some(Status::Completed.word()),
            (false, false) => None,
        }
    }

    /// Returns whether the pipeline is beyond a phase.
    pub fn has_passed(&self, phase: &str) -> bool {
        let place = |name: &str| PHASES.iter().position(|it| *it == name);
        match place(self.phase()) {
            Some(current) => place(phase).is_some_and(|it| it < current),
            None => self.phase() == COMPLETED,
        }
    }

    /// Returns how the pipeline stands as a whole.
    fn overall(&self) -> &'static str {
        let is_first = self.phase() == SETUP || PHASES.first() == Some(&self.phase());
        let is_begun = !is_first
            || !self.list("phaseLog").is_empty()
            || self.texts("completedPhases").any(|it| it != SETUP);
        match self.status() {
            _ if self.phase() == COMPLETED => COMPLETED,
            status @ (Status::Failed | Status::Abandoned) => status.word(),
            Status::Pending if !is_begun => "initialized",
            Status::Pending | Status::InProgress | Status::AwaitingHuman | Status::Completed => {
                Status::InProgress.word()
            }
        }
    }
}

fn name(record: &Json) -> Option<&str> {
    record.as_object()?.get("phase")?.as_text()
}
