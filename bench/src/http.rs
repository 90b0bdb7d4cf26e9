//! Many clients over HTTP at once, each working its own run on one database.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use serde_json::json;

use crate::{
    Measured,
    figures::{Samples, time},
    rig::Rig,
    table::Section,
    web::{Line, Web},
};

const CLIENTS: usize = 64;
/// What share of the calls of an empty server reads must reach.
const READS_MIN: f64 = 0.5;
/// How much more memory a server may have at the end than after a fifth of the time.
const GROWTH_MAX: f64 = 1.25;

/// What came of it.
struct Load {
    calls: u64,
    seconds: f64,
    took: Samples,
    early_kib: u64,
    last_kib: u64,
}

impl Load {
    fn per_second(&self) -> f64 {
        self.calls as f64 / self.seconds
    }
}

pub(crate) fn measure(rig: &Rig) -> Measured<Section> {
    let reading = Duration::from_secs(rig.pick(15, 3));
    let working = Duration::from_secs(rig.pick(60, 5));
    let note = format!(
        "{CLIENTS} clients at once, one call at a time each, over kept connections in the newest \
         revision. The empty server answers with as many letters as a read has. Reads are `get_workflow_status` of a run of the client's own ({} s); work is \
         starting it, reports, entries and reads in turn ({} s). Every call must be answered.",
        reading.as_secs(),
        working.as_secs()
    );
    let head = ["server", "calls/s", "p50", "p99", "memory early", "memory at the end"];
    let mut section = Section::new("Over HTTP", note, &head);
    let folder = rig.folder()?;
    let web = Web::start(&mut rig.web_server(folder.path()))?;
    let mut line = web.connect()?;
    let run = line.begin("SPRINT_TASK")?;
    line.call("get_workflow_status", &json!({"instance_id": run}))?;
    let beside = Web::start(rig.empty().args(["http", &line.received().to_string()]))?;
    let empty = load(&beside, reading, |_| Ok(()), |line, ()| line.call("nothing", &json!({})))?;
    drop(beside);
    let reads = load(
        &web,
        reading,
        |line| line.begin("SPRINT_TASK"),
        |line, run| line.call("get_workflow_status", &json!({"instance_id": run})),
    )?;
    let work = load(&web, working, |_| Ok((String::new(), 0)), work)?;
    for (name, load) in [("empty rmcp server", &empty), ("reads", &reads), ("work", &work)] {
        section.row(&[
            name.to_owned(),
            format!("{:.0}", load.per_second()),
            time(load.took.median()),
            time(load.took.quantile(99)),
            format!("{:.1} MB", mb(load.early_kib)),
            format!("{:.1} MB", mb(load.last_kib)),
        ]);
    }
    let share = reads.per_second() / empty.per_second();
    let promise = format!("reads of {CLIENTS} clients ≥ {READS_MIN} × an empty server's calls");
    section.target(promise, format!("{share:.2} ×"), READS_MIN <= share);
    let growth = mb(work.last_kib) / mb(work.early_kib);
    let promise = format!("memory under work stays: at the end ≤ {GROWTH_MAX} × early");
    section.target(promise, format!("{growth:.2} ×"), growth <= GROWTH_MAX);
    Ok(section)
}

fn mb(kib: u64) -> f64 {
    kib as f64 * 1024.0 / 1e6
}

/// Makes the next call of a client that works runs, one after the other.
fn work(line: &mut Line, (run, call): &mut (String, u64)) -> Measured<Duration> {
    *call += 1;
    if *call % 100 == 1 {
        *run = line.begin("SPRINT_TASK")?;
    }
    let text = format!("Looked into module {call}, found nothing that speaks against it.");
    match *call % 10 {
        0 => line.call("list_runs", &json!({"limit": 5})),
        1 => {
            let status = "in_progress";
            let report = json!({"step_id": "Select Issue", "status": status, "message": text});
            line.call("advance_workflow", &json!({"instance_id": run, "report": report}))
        }
        2..=4 => {
            line.call("record_entry", &json!({"instance_id": run, "type": "note", "text": text}))
        }
        _ => line.call("get_workflow_status", &json!({"instance_id": run})),
    }
}

/// Has all clients call for a while.
fn load<T: Send>(
    web: &Web,
    duration: Duration,
    prepare: impl Fn(&mut Line) -> Measured<T> + Sync,
    call: impl Fn(&mut Line, &mut T) -> Measured<Duration> + Sync,
) -> Measured<Load> {
    let is_over = AtomicBool::new(false);
    let (prepare, call, is_over) = (&prepare, &call, &is_over);
    thread::scope(|scope| {
        let client = || -> Measured<(u64, Samples)> {
            let mut line = web.connect()?;
            let mut state = prepare(&mut line)?;
            let (mut calls, mut took) = (0, Samples::new());
            while !is_over.load(Ordering::Relaxed) {
                took.add(call(&mut line, &mut state)?);
                calls += 1;
            }
            Ok((calls, took))
        };
        let begun = Instant::now();
        let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(client)).collect();
        thread::sleep(duration / 5);
        let early_kib = web.resident_kib();
        thread::sleep(duration - duration / 5);
        let last_kib = web.resident_kib();
        is_over.store(true, Ordering::Relaxed);
        let (mut calls, mut took) = (0, Samples::new());
        for client in clients {
            let (made, samples) = client.join().map_err(|_| "a client broke down")??;
            calls += made;
            took.extend(&samples);
        }
        let seconds = begun.elapsed().as_secs_f64();
        Ok(Load { calls, seconds, took, early_kib: early_kib?, last_kib: last_kib? })
    })
}
