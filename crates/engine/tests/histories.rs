//! Logs that earlier releases wrote can still be read. The files are never edited.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

use std::{fs, path::Path};

use engine::{
    Actor, DecodeError, EVENT_VERSION, Event, Recorded, RunId, Standing, Timestamp, fold,
};
use serde_json::Value;

#[test]
fn every_history_is_read_and_folded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/histories");
    let mut count = 0;
    for file in fs::read_dir(folder).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        let log: Vec<Recorded> = text.lines().map(read).collect();
        let state = fold(RunId::from_bytes([7; 16]), &log);
        assert_eq!(state.length, log.len() as u64);
        assert_eq!(state.standing, Standing::Completed);
        count += 1;
    }
    assert!(0 < count, "no history found");
}

#[test]
fn an_event_of_a_later_release_is_called_newer() {
    let newer = |kind: &str, version| Err(DecodeError::Newer { kind: kind.to_owned(), version });
    let unknown = r#"{"kind":"RunPaused","reason":"tea"}"#;
    assert_eq!(Event::decode(EVENT_VERSION, unknown), newer("RunPaused", EVENT_VERSION));
    let later = r#"{"kind":"RunCompleted"}"#;
    assert_eq!(Event::decode(EVENT_VERSION + 1, later), newer("RunCompleted", EVENT_VERSION + 1));
}

#[test]
fn a_torn_event_is_called_corrupt() {
    for text in ["", "{", "[]", r#"{"kind":"RunFailed"}"#] {
        let read = Event::decode(EVENT_VERSION, text);
        assert!(matches!(read, Err(DecodeError::Corrupt(_))), "{text}: {read:?}");
    }
}

fn read(line: &str) -> Recorded {
    let line: Value = serde_json::from_str(line).unwrap();
    let version = u32::try_from(line["v"].as_u64().unwrap()).unwrap();
    let at = Timestamp::parse(line["at"].as_str().unwrap()).unwrap();
    Recorded {
        seq: line["seq"].as_u64().unwrap(),
        at,
        steady: at,
        by: serde_json::from_value::<Actor>(line["by"].clone()).unwrap(),
        event: Event::decode(version, &line["event"].to_string()).unwrap(),
    }
}
