//! The log of the phases: what each took, what was left out, and where a person answered.

use engine::{Entry, GateReason, Mark, Noted, Passed, PassedBy, Timestamp};

use super::{super::StateFile, Base};
use crate::kit::json::{Json, Object};

/// The model of an entry that nobody worked for.
const SKIPPED: &str = "skipped";
/// The model of an entry that is a person's answer.
const CHECKPOINT: &str = "checkpoint";
/// The model of an entry that the server worked for.
const EXECUTED: &str = "exec";
/// The phase whose work the server does, and the chore that it consists of.
const FINAL_COMMIT: &str = "final-commit";

/// A row of the log, and the event that it is about.
struct Row<'a> {
    seq: u64,
    at: Timestamp,
    phase: &'a str,
    model: &'a str,
    /// In tokens and milliseconds.
    took: (u64, u64),
}

impl Base<'_> {
    pub(super) fn add_log(&self, file: &mut StateFile) {
        let usages = self.state.entries.iter().filter_map(usage);
        let passed = self.history.passing.passed.iter().filter_map(passed);
        let mut rows: Vec<Row<'_>> = usages.chain(passed).filter(|it| self.seq < it.seq).collect();
        rows.sort_by_key(|it| it.seq);
        let mut log = file.list("phaseLog").to_vec();
        log.extend(rows.iter().map(row));
        file.set("phaseLog", log);
    }

    /// Returns when the server last did the work of the phase that is its own.
    pub(super) fn committed(&self) -> Option<Mark> {
        let is_it = |it: &&Passed| matches!(&it.how, PassedBy::Chore(name) if name == FINAL_COMMIT);
        self.history.passing.passed.iter().rev().find(is_it).map(|it| it.mark)
    }
}

fn usage(noted: &Noted) -> Option<Row<'_>> {
    let Entry::Usage { tokens, duration_ms, model } = &noted.entry else { return None };
    let (seq, at, phase) = (noted.seq, noted.at, noted.step.as_str());
    Some(Row { seq, at, phase, model, took: (*tokens, *duration_ms) })
}

fn passed(passed: &Passed) -> Option<Row<'_>> {
    let model = match &passed.how {
        PassedBy::LeftOut | PassedBy::NothingLeft | PassedBy::Automatic => SKIPPED,
        PassedBy::Answered(GateReason::Part) => return None,
        PassedBy::Answered(_) => CHECKPOINT,
        PassedBy::Chore(name) if name == FINAL_COMMIT => EXECUTED,
        PassedBy::Chore(_) => return None,
    };
    let (seq, at, phase) = (passed.mark.seq, passed.mark.at, passed.step.as_str());
    Some(Row { seq, at, phase, model, took: (0, 0) })
}

fn row(row: &Row<'_>) -> Json {
    let mut entry = Object::new();
    entry.set("phase", row.phase);
    entry.set("tokens", row.took.0);
    entry.set("duration_ms", row.took.1);
    entry.set("model", row.model);
    entry.set("timestamp", row.at.to_string());
    entry.into()
}
