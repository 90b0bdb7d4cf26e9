//! Runs, events and appends that say only what a test is about.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;

use engine::{Actor, Event, Recorded, RunId, Summary, Timestamp};
use store::{Append, SqliteSettings, SqliteStore};

/// The database of a test.
pub(crate) fn open(folder: &Path) -> SqliteStore {
    SqliteStore::open(&folder.join("test.db"), SqliteSettings::default()).unwrap()
}

/// The id of a run.
pub(crate) fn run(number: u128) -> RunId {
    RunId::from_bytes(number.to_be_bytes())
}

/// An event that holds a text.
pub(crate) fn note(text: &str) -> Event {
    let entry = serde_json::json!({"type": "note", "text": text});
    let event = serde_json::json!({"kind": "EntryRecorded", "step": "build", "entry": entry});
    Event::decode(1, &event.to_string()).unwrap()
}

/// An append of notes to the log of a live run.
pub(crate) fn append(run: RunId, expected: u64, texts: &[&str]) -> Append {
    let at = |seq| Timestamp(1000 + i64::try_from(seq).unwrap());
    let events = (expected + 1..).zip(texts).map(|(seq, text)| Recorded {
        seq,
        at: at(seq),
        steady: at(seq),
        by: Actor::default(),
        event: note(text),
    });
    let events: Vec<Recorded> = events.collect();
    let updated_at = events.last().map_or(at(expected), |last| last.at);
    Append {
        project: "project".to_owned(),
        run,
        expected,
        events,
        summary: Summary {
            workflow: "flow".to_owned(),
            key: None,
            root: "/work".to_owned(),
            status: "running".to_owned(),
            is_live: true,
            holds_key: true,
            step: "build".to_owned(),
            title: "A test".to_owned(),
            steps_begun: 1,
            steps_done: 0,
            steps_total: 3,
            errors: 0,
            started_at: at(1),
            updated_at,
            ended_at: None,
            due_at: None,
        },
        definition: None,
        request: None,
        leases: Vec::new(),
        owes: Vec::new(),
    }
}
