//! What checksums cost a write.

use std::time::{Duration, Instant};

use engine::{Actor, Entry, Event, Recorded, RunId, Timestamp};
use serde_json::json;

use crate::{
    Measured,
    figures::{Samples, time},
    peer::Peer,
    rig::Rig,
    table::Section,
};

/// What share of a write the checksum of its event may be.
const SHARE_MAX: f64 = 0.03;
/// How many events are timed at once.
const EVENTS: u32 = 1000;

pub(crate) fn measure(rig: &Rig) -> Measured<Section> {
    let note = "An entry of 130 and one of 4000 letters: encoding its event, encoding it with its \
                checksum, and recording it over stdio, answered once it is on disk.";
    let head = ["entry", "encoded", "with its checksum", "recorded", "share of the checksum"];
    let mut section = Section::new("Checksums", note, &head);
    let folder = rig.folder()?;
    let mut server = Peer::start(&mut rig.server(folder.path()))?;
    for letters in [130, 4000] {
        let text = "Ran the tests. ".repeat(letters / 15);
        let events: Vec<Recorded> =
            (1..=u64::from(EVENTS)).map(|seq| recorded(seq, &text)).collect();
        let (plain, with) = encode_often(&events, rig.pick(50, 10))?;
        let written = write_often(&mut server, &text, rig.pick(600, 100))?;
        let cost = with.saturating_sub(plain);
        let share = cost.as_secs_f64() / written.as_secs_f64();
        let [plain, with] = [plain, with].map(|it| format!("{:.2} µs", it.as_secs_f64() * 1e6));
        let found = format!("{:.2} %", share * 100.0);
        section.row(&[format!("{letters} letters"), plain, with, time(written), found.clone()]);
        let promise =
            format!("the checksum of {letters} letters ≤ {:.0} % of a write", SHARE_MAX * 100.0);
        section.target(promise, found, share <= SHARE_MAX);
    }
    Ok(section)
}

fn recorded(seq: u64, text: &str) -> Recorded {
    let entry = Entry::Note { text: text.to_owned(), tags: Vec::new() };
    let step = definition::StepName::parse("Build").unwrap_or_else(|_| unreachable!("a good name"));
    let event = Event::EntryRecorded { step, entry };
    Recorded { seq, at: Timestamp(1), steady: Timestamp(1), by: Actor::default(), event }
}

/// Returns how long one event takes to encode, without and with its checksum.
fn encode_often(events: &[Recorded], rounds: usize) -> Measured<(Duration, Duration)> {
    let run = RunId::from_bytes([7; 16]);
    let (mut plain, mut with) = (Samples::new(), Samples::new());
    for _ in 0..rounds {
        let begun = Instant::now();
        for recorded in events {
            std::hint::black_box((serde_json::to_string(&recorded.by)?, recorded.event.encode()));
        }
        plain.add(begun.elapsed() / EVENTS);
        let begun = Instant::now();
        std::hint::black_box(store::checksum_of(run, "project", events)?);
        with.add(begun.elapsed() / EVENTS);
    }
    Ok((plain.median(), with.median()))
}

fn write_often(server: &mut Peer, text: &str, calls: usize) -> Measured<Duration> {
    let run = server.begin("SPRINT_TASK")?;
    let note = json!({"instance_id": run, "type": "note", "text": text});
    let mut took = Samples::new();
    for _ in 0..calls {
        took.add(server.done("record_entry", &note)?.1);
    }
    Ok(took.median())
}
