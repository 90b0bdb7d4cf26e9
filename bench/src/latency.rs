//! How long one call takes over stdio, beside a call of a server that does nothing and beside one
//! write that is forced to the disk.

use std::time::Duration;

use serde_json::json;

use crate::{
    Measured,
    figures::{Samples, ratio, time},
    peer::Peer,
    raw::Raw,
    rig::Rig,
    table::Section,
};

/// How much longer a write may take than the disk does.
const OVER_DISK_MAX: Duration = Duration::from_micros(500);
/// How many times as long a read may take as a call that does nothing.
const OVER_EMPTY_MAX: f64 = 3.0;

pub(crate) fn measure(rig: &Rig) -> Measured<Section> {
    let folder = rig.folder()?;
    let mut raw = Raw::new(folder.path())?;
    let mut empty = Peer::start(&mut rig.empty())?;
    let mut server = Peer::start(&mut rig.server(folder.path()))?;
    let rounds = rig.pick(20, 4);
    let [mut disk, mut nothing, mut read, mut write] = [const { Samples::new() }; 4];
    // The four take turns, so that whatever else the machine does strikes all of them alike.
    for round in 0..=rounds {
        let run = server.begin("SPRINT_TASK")?;
        let status = json!({"instance_id": run});
        let note =
            json!({"instance_id": run, "type": "note", "text": "Ran the tests: all passed."});
        for _ in 0..100 {
            let disk_took = raw.write()?;
            let (_, write_took) = server.done("record_entry", &note)?;
            // The first round only warms up.
            if 0 < round {
                disk.add(disk_took);
                write.add(write_took);
            }
        }
        for _ in 0..200 {
            let (_, nothing_took) = empty.call("nothing", &json!({}))?;
            let (_, read_took) = server.done("get_workflow_status", &status)?;
            if 0 < round {
                nothing.add(nothing_took);
                read.add(read_took);
            }
        }
    }
    Ok(section(&disk, &nothing, &read, &write))
}

fn section(disk: &Samples, nothing: &Samples, read: &Samples, write: &Samples) -> Section {
    let note = "One call at a time over stdio, in turns: a write to the disk and a recorded entry, a \
                call of an empty rmcp server and a status call.";
    let head = ["what", "p50", "p99", "× empty tool", "over the disk"];
    let mut section = Section::new("Latency over stdio", note, &head);
    for (name, samples) in [
        ("one fdatasync", disk),
        ("empty tool", nothing),
        ("`get_workflow_status`", read),
        ("`record_entry`", write),
    ] {
        let half = samples.median();
        let over_disk = match name {
            "`record_entry`" => time(half.saturating_sub(disk.median())),
            _ => String::new(),
        };
        section.row(&[
            name.to_owned(),
            time(half),
            time(samples.quantile(99)),
            ratio(half, nothing.median()),
            over_disk,
        ]);
    }
    let over_disk = write.median().saturating_sub(disk.median());
    let promise = format!("a write over stdio ≤ one fsync + {}", time(OVER_DISK_MAX));
    section.target(promise, format!("+ {}", time(over_disk)), over_disk <= OVER_DISK_MAX);
    let over_empty = read.median().as_secs_f64() / nothing.median().as_secs_f64();
    let promise = format!("a status call ≤ {OVER_EMPTY_MAX} × an empty tool's");
    section.target(promise, format!("{over_empty:.2} ×"), over_empty <= OVER_EMPTY_MAX);
    section
}
