//! Whether calls get slower as runs pile up.
//!
//! The runs are copies of one that was really worked on, with other words and times, appended in
//! large groups and without waiting for the disk. They are then asked for through a server.

use std::{path::Path, sync::Arc};

use engine::{
    Actor, Command, Entry, Event, Recorded, Report, ReportStep, RunId, StartRun, Timestamp,
};
use runtime::{Request, Target, World as _};
use serde_json::json;
use store::{Append, Log, Row, SqliteSettings, SqliteStore, Store as _, Synchronous};
use tokio::task::JoinSet;
use world::{RealWorld, WorldSettings};

use crate::{
    Measured,
    figures::{Samples, ratio, time},
    peer::Peer,
    rig::{self, PROJECT, Rig},
    table::Section,
};

/// How many times as long a call may take with the most runs as with the fewest.
const GROWTH_MAX: f64 = 1.5;
/// How many runs are being worked on.
const IN_USE: usize = 10;
/// How many appends are under way at once while runs are made.
const AT_ONCE: usize = 256;

/// A run that was worked on, to be copied.
struct Model {
    row: Row,
    log: Log,
}

/// What was measured with some number of runs.
struct Measures {
    status: Samples,
    any: Samples,
    list: Samples,
    filtered: Samples,
    search: Samples,
}

pub(crate) fn measure(rig: &Rig) -> Measured<Section> {
    let sizes = rig.pick([100, 10_000, 100_000], [100, 1_000, 10_000]);
    let threads = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let head = ["runs", "status", "status, any run", "list", "list, one status", "search", "file"];
    let note = "Medians over stdio, and in brackets how many times the first row's. The status is \
                that of one of a few runs that are being worked on, or of any run: then it is read \
                from the disk and folded, unless there are few. The search is for two words.";
    let mut section = Section::new("With many runs", note, &head);
    let mut first: Option<Measures> = None;
    for size in sizes {
        let folder = rig.folder()?;
        let runs = threads.block_on(fill(folder.path(), size))?;
        let bytes = std::fs::metadata(rig::database(folder.path()))?.len();
        let measures = ask(rig, folder.path(), &runs)?;
        let base = first.as_ref().unwrap_or(&measures);
        let cell = |one: &Samples, other: &Samples| {
            format!("{} ({})", time(one.median()), ratio(one.median(), other.median()))
        };
        section.row(&[
            size.to_string(),
            cell(&measures.status, &base.status),
            cell(&measures.any, &base.any),
            cell(&measures.list, &base.list),
            cell(&measures.filtered, &base.filtered),
            cell(&measures.search, &base.search),
            format!("{:.1} MB", bytes as f64 / 1e6),
        ]);
        if size == sizes[2] {
            promise(&mut section, size, base, &measures);
        }
        first.get_or_insert(measures);
    }
    Ok(section)
}

fn promise(section: &mut Section, size: usize, base: &Measures, measures: &Measures) {
    for (name, one, other) in [
        ("status", &measures.status, &base.status),
        ("list", &measures.list, &base.list),
        ("list of one status", &measures.filtered, &base.filtered),
    ] {
        let growth = one.median().as_secs_f64() / other.median().as_secs_f64();
        let promise = format!("{name} does not grow: with {size} runs ≤ {GROWTH_MAX} ×");
        section.target(promise, format!("{growth:.2} ×"), growth <= GROWTH_MAX);
    }
}

/// Asks a server for what is there.
fn ask(rig: &Rig, folder: &Path, runs: &[RunId]) -> Measured<Measures> {
    let calls = rig.pick(500, 100);
    let mut server = Peer::start(&mut rig.server(folder))?;
    let [status, any, list, filtered, search] = [const { Samples::new() }; 5];
    let mut measures = Measures { status, any, list, filtered, search };
    for call in 0..calls {
        let words = format!("{} {}", word(mix(call + 7)), word(mix(call + 11)));
        let status_of = |at: usize| {
            let run = runs.get(at).map(ToString::to_string);
            ("get_workflow_status", json!({"instance_id": run}))
        };
        let asked = [
            (&mut measures.status, status_of(call % IN_USE)),
            (&mut measures.any, status_of(mix(call) % runs.len())),
            (&mut measures.list, ("list_runs", json!({}))),
            (&mut measures.filtered, ("list_runs", json!({"status": "COMPLETED"}))),
            (&mut measures.search, ("search_history", json!({"query": words}))),
        ];
        for (samples, (tool, arguments)) in asked {
            let (_, took) = server.done(tool, &arguments)?;
            // The first calls find nothing in memory yet.
            if calls / 10 <= call {
                samples.add(took);
            }
        }
    }
    Ok(measures)
}

/// Makes a database with this many runs, and returns them.
async fn fill(folder: &Path, size: usize) -> Measured<Vec<RunId>> {
    let model = work(folder).await?;
    let settings = SqliteSettings { synchronous: Synchronous::Normal, ..SqliteSettings::default() };
    let store = Arc::new(SqliteStore::open(&rig::database(folder), settings)?);
    let world = RealWorld::new(WorldSettings::default());
    let runs: Vec<RunId> = (0..size).map(|_| world.new_run()).collect();
    let mut appending = JoinSet::new();
    for (number, run) in runs.iter().enumerate() {
        if AT_ONCE <= appending.len() {
            appending.join_next().await.ok_or("nothing is under way")???;
        }
        let (store, append) = (Arc::clone(&store), copy(&model, *run, number));
        appending.spawn(async move { store.append(append).await });
    }
    while let Some(appended) = appending.join_next().await {
        appended??;
    }
    // A search brings the index up to date, so that no later call has to wait for it.
    let search = store::Search { text: word(1), limit: 1, ..store::Search::default() };
    store.search(search).await?;
    Ok(runs)
}

/// Works on a run for a while, and returns it.
async fn work(folder: &Path) -> Measured<Model> {
    let run = {
        let runtime = rig::runtime(folder)?;
        let execute = async |target: Target, command: Command| {
            let request = Request { target, command, actor: Actor::default(), request_id: None };
            runtime.execute(request).await
        };
        let start = StartRun {
            goes_on: false,
            key: None,
            flow: None,
            context: serde_json::Map::new(),
            vars: serde_json::Map::new(),
            root: folder.display().to_string(),
        };
        let target = Target::New("SPRINT_TASK".to_owned());
        let begun = execute(target, Command::StartRun(Box::new(start))).await?;
        let run = begun.view.state.run;
        for _ in 0..2 {
            let report = Report {
                step_id: "Select Issue".to_owned(),
                status: "in_progress".to_owned(),
                message: Some("done as agreed".to_owned()),
                ..Report::default()
            };
            let report = ReportStep {
                part: None,
                report,
                context: engine::ContextChange::default(),
                next: None,
                holder: None,
                terms: engine::ReportOptions::default(),
            };
            execute(Target::Run(run), Command::ReportStep(Box::new(report))).await?;
        }
        let entry = Entry::Note { text: "a note".to_owned(), tags: Vec::new() };
        execute(Target::Run(run), Command::RecordEntry { step: None, entry }).await?;
        run
    };
    let store = SqliteStore::open(&rig::database(folder), SqliteSettings::default())?;
    let log = store.load(run, 0).await?.ok_or("the run is gone")?;
    let filter = store::Filter { limit: 1, ..store::Filter::default() };
    let row = store.list(filter).await?.rows.into_iter().next().ok_or("the run is not listed")?;
    Ok(Model { row, log })
}

/// Returns a copy of the run, a little different.
fn copy(model: &Model, run: RunId, number: usize) -> Append {
    let shift = i64::try_from(number).unwrap_or(0) * 1_000_000;
    let moved = |at: Timestamp| Timestamp(at.0 + shift);
    let events = model.log.events.iter().map(|it| Recorded {
        at: moved(it.at),
        steady: moved(it.steady),
        event: reword(&it.event, number),
        ..it.clone()
    });
    let mut summary = model.row.summary.clone();
    summary.started_at = moved(summary.started_at);
    summary.updated_at = moved(summary.updated_at);
    let statuses = ["completed", "completed", "completed", "failed", "cancelled", "running"];
    summary.status = statuses.get(number % statuses.len()).copied().unwrap_or_default().to_owned();
    summary.is_live = summary.status == "running";
    summary.holds_key = summary.is_live;
    Append {
        project: PROJECT.to_owned(),
        run,
        expected: 0,
        events: events.collect(),
        summary,
        definition: None,
        request: None,
        leases: Vec::new(),
        owes: Vec::new(),
    }
}

/// Gives notes other words.
fn reword(event: &Event, number: usize) -> Event {
    let mut event = event.clone();
    if let Event::EntryRecorded { entry: Entry::Note { text, .. }, .. } = &mut event {
        let words: Vec<String> = (0..40).map(|at| word(mix(number * 64 + at))).collect();
        *text = words.join(" ");
    }
    event
}

/// Returns one of some thousand words, the low ones far more often than the high ones.
fn word(number: usize) -> String {
    let rank = (number % 64) * (number / 64 % 64) + 1;
    format!("word{rank}")
}

fn mix(number: usize) -> usize {
    let mixed = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    usize::try_from((mixed ^ (mixed >> 29)) >> 8).unwrap_or(number)
}
