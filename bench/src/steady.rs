//! Many clients that never pause, over two processes on one database: how long the write-ahead log
//! becomes, and what lists and searches cost meanwhile.

use std::{
    fs,
    path::Path,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};

use serde_json::json;

use crate::{
    Measured,
    figures::{Samples, ratio, time},
    rig::{self, Rig},
    table::Section,
    web::{Line, Web},
};

const CLIENTS: usize = 32;
/// What the write-ahead log must stay below.
const LOG_MAX: u64 = 64 * 1024 * 1024;
/// How many times as long a list or search may take as when nobody else calls.
const OVER_QUIET_MAX: f64 = 3.0;
/// How long a client that works steadily pauses between two calls.
const PAUSE: Duration = Duration::from_millis(100);
/// How many calls of each kind are made while it is quiet.
const QUIET_CALLS: usize = 200;

/// What calls of each kind took.
#[derive(Default)]
struct Took {
    write: Samples,
    status: Samples,
    list: Samples,
    search: Samples,
}

impl Took {
    fn kinds(&self) -> [(&'static str, &Samples); 4] {
        [
            ("`record_entry`", &self.write),
            ("`get_workflow_status`", &self.status),
            ("`list_runs`", &self.list),
            ("`search_history`", &self.search),
        ]
    }

    fn extend(&mut self, other: &Self) {
        self.write.extend(&other.write);
        self.status.extend(&other.status);
        self.list.extend(&other.list);
        self.search.extend(&other.search);
    }
}

/// What came of a load.
struct Load {
    took: Took,
    calls: u64,
    seconds: f64,
    log_bytes: u64,
}

pub(crate) fn measure(rig: &Rig) -> Measured<Section> {
    let during = rig.steady;
    let note = format!(
        "{CLIENTS} clients over HTTP, half of them with each of two servers on one database: entries \
         (5 of 10 calls), status (2), lists (2) and searches (1), for {} s flat out, then for {} s \
         with a pause of {} after each call. Quiet is one client alone, on the same database \
         afterwards. Flat out, two cores are shared by all clients and both servers.",
        during.as_secs(),
        (during / 3).as_secs(),
        time(PAUSE)
    );
    let head = ["call", "quiet p50", "steady p50", "× quiet", "steady p99", "flat out p50", "p99"];
    let mut section = Section::new("Steady load", note, &head);
    let folder = rig.folder()?;
    let servers = [
        Web::start(&mut rig.web_server(folder.path()))?,
        Web::start(&mut rig.web_server(folder.path()))?,
    ];
    let hard = load(&servers, folder.path(), during, Duration::ZERO)?;
    let steady = load(&servers, folder.path(), during / 3, PAUSE)?;
    let quiet = quiet(&servers)?;
    let rows = quiet.kinds().into_iter().zip(steady.took.kinds()).zip(hard.took.kinds());
    for (((name, quiet), (_, steady)), (_, hard)) in rows {
        section.row(&[
            name.to_owned(),
            time(quiet.median()),
            time(steady.median()),
            ratio(steady.median(), quiet.median()),
            time(steady.quantile(99)),
            time(hard.median()),
            time(hard.quantile(99)),
        ]);
        if matches!(name, "`list_runs`" | "`search_history`") {
            let over = steady.median().as_secs_f64() / quiet.median().as_secs_f64();
            let promise = format!("{name} under steady load ≤ {OVER_QUIET_MAX} × quiet");
            section.target(promise, format!("{over:.2} ×"), over <= OVER_QUIET_MAX);
        }
    }
    for (name, load) in [("flat out", &hard), ("steady", &steady)] {
        let rate = load.calls as f64 / load.seconds;
        let found = format!("{:.1} MiB at {rate:.0} calls/s", mib(load.log_bytes));
        let promise = format!("the write-ahead log, {name} < {:.0} MiB", mib(LOG_MAX));
        section.target(promise, found, load.log_bytes < LOG_MAX);
    }
    Ok(section)
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

/// Has all clients call for a while, and watches the write-ahead log.
fn load(servers: &[Web], folder: &Path, during: Duration, pause: Duration) -> Measured<Load> {
    let (is_over, largest) = (AtomicBool::new(false), AtomicU64::new(0));
    let (is_over, largest) = (&is_over, &largest);
    let log = rig::database(folder).with_extension("db-wal");
    let begun = Instant::now();
    let (took, calls) = thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|number| {
                let server = servers.get(number % servers.len()).ok_or("no server");
                scope.spawn(move || client(server?, number, pause, is_over))
            })
            .collect();
        while begun.elapsed() < during {
            let bytes = fs::metadata(&log).map_or(0, |it| it.len());
            largest.fetch_max(bytes, Ordering::Relaxed);
            thread::sleep(Duration::from_millis(20));
        }
        is_over.store(true, Ordering::Relaxed);
        let (mut took, mut calls) = (Took::default(), 0);
        for client in clients {
            let (its, made) = client.join().map_err(|_| "a client broke down")??;
            took.extend(&its);
            calls += made;
        }
        Measured::Ok((took, calls))
    })?;
    let (seconds, log_bytes) = (begun.elapsed().as_secs_f64(), largest.load(Ordering::Relaxed));
    Ok(Load { took, calls, seconds, log_bytes })
}

fn client(
    server: &Web,
    number: usize,
    pause: Duration,
    is_over: &AtomicBool,
) -> Measured<(Took, u64)> {
    let mut line = server.connect()?;
    let (mut took, mut calls) = (Took::default(), 0);
    let mut run = line.begin("SPRINT_TASK")?;
    while !is_over.load(Ordering::Relaxed) {
        calls += 1;
        if calls % 500 == 0 {
            run = line.begin("SPRINT_TASK")?;
        }
        match calls % 10 {
            0..=4 => took.write.add(record(&mut line, &run, number as u64 + calls)?),
            5 | 6 => took.status.add(status(&mut line, &run)?),
            7 | 8 => took.list.add(list(&mut line)?),
            _ => took.search.add(search(&mut line, calls)?),
        }
        thread::sleep(pause);
    }
    Ok((took, calls))
}

/// One client alone.
fn quiet(servers: &[Web]) -> Measured<Took> {
    let mut line = servers.first().ok_or("no server")?.connect()?;
    let run = line.begin("SPRINT_TASK")?;
    // What the load left to be indexed is not the quiet calls' to wait for.
    search(&mut line, 0)?;
    let mut took = Took::default();
    for call in 0..QUIET_CALLS as u64 {
        took.write.add(record(&mut line, &run, call)?);
        took.status.add(status(&mut line, &run)?);
        took.list.add(list(&mut line)?);
        took.search.add(search(&mut line, call)?);
    }
    Ok(took)
}

fn record(line: &mut Line, run: &str, call: u64) -> Measured<Duration> {
    let text = format!("Looked into module m{}, found case c{call} settled.", call % 997);
    line.call("record_entry", &json!({"instance_id": run, "type": "note", "text": text}))
}

fn status(line: &mut Line, run: &str) -> Measured<Duration> {
    line.call("get_workflow_status", &json!({"instance_id": run}))
}

fn list(line: &mut Line) -> Measured<Duration> {
    line.call("list_runs", &json!({"limit": 20}))
}

fn search(line: &mut Line, call: u64) -> Measured<Duration> {
    line.call("search_history", &json!({"query": format!("m{} settled", call % 997)}))
}
