//! How long one call takes over stdio, beside a call of a server that does nothing and beside one
//! write that is forced to the disk.

use std::{
    process::{self, Command, Stdio},
    thread,
    time::Duration,
};

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

/// What was seen in one round.
#[derive(Default)]
struct Round {
    disk: Samples,
    nothing: Samples,
    read: Samples,
    write: Samples,
}

/// Has all threads of this process, and what it starts from now on, run on these cores.
fn run_on(cores: &str) -> Measured<()> {
    let mut taskset = Command::new("taskset");
    taskset.args(["-apc", cores, &process::id().to_string()]).stdout(Stdio::null());
    let pinned = taskset.status()?;
    if pinned.success() { Ok(()) } else { Err(format!("taskset: {pinned}").into()) }
}

pub(crate) fn measure(rig: &Rig) -> Measured<Section> {
    // On several cores, a call takes twice as long where the server is woken up on another one.
    let cores = thread::available_parallelism()?.get();
    run_on("0")?;
    let measured = measure_on_one_core(rig);
    run_on(&format!("0-{}", cores - 1))?;
    measured
}

fn measure_on_one_core(rig: &Rig) -> Measured<Section> {
    let folder = rig.folder()?;
    let mut raw = Raw::new(folder.path())?;
    let mut empty = Peer::start(&mut rig.empty())?;
    let mut server = Peer::start(&mut rig.server(folder.path()))?;
    // The first one only warms up.
    round(&mut raw, &mut empty, &mut server)?;
    let mut rounds = Vec::new();
    for _ in 0..rig.pick(30, 6) {
        rounds.push(round(&mut raw, &mut empty, &mut server)?);
    }
    // A throttled disk makes several times as much of each of a commit's writes: only those rounds
    // count in which it was about as quick as it can be.
    rounds.sort_by_key(|it| it.disk.median());
    rounds.truncate(rounds.len() / 2);
    let mut all = Round::default();
    for round in &rounds {
        all.disk.extend(&round.disk);
        all.nothing.extend(&round.nothing);
        all.read.extend(&round.read);
        all.write.extend(&round.write);
    }
    Ok(section(&all))
}

/// Has the four take turns, so that whatever else the machine does strikes all of them alike.
fn round(raw: &mut Raw, empty: &mut Peer, server: &mut Peer) -> Measured<Round> {
    let mut round = Round::default();
    let run = server.begin("SPRINT_TASK")?;
    let status = json!({"instance_id": run});
    let note = json!({"instance_id": run, "type": "note", "text": "Ran the tests: all passed."});
    for _ in 0..100 {
        round.disk.add(raw.write()?);
        round.write.add(server.done("record_entry", &note)?.1);
    }
    for _ in 0..200 {
        round.nothing.add(empty.call("nothing", &json!({}))?.1);
        round.read.add(server.done("get_workflow_status", &status)?.1);
    }
    Ok(round)
}

fn section(Round { disk, nothing, read, write }: &Round) -> Section {
    let note = "One call at a time over stdio, in turns: a write to the disk and a recorded entry, a \
                call of an empty rmcp server and a status call. Client and servers share one core. \
                Of all rounds the half counts in which the disk was quicker.";
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
