//! How many writes a second reach the disk through the whole server, with few and many callers.
//!
//! A caller has runs of its own and records one entry after the other, each answered only once it
//! is on disk. The disk's own rate is measured right before and after, since it is never the same
//! for long.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use engine::{Actor, Command, Entry, RunId, StartRun};
use runtime::{Request, Runtime, Target};
use tokio::task::JoinSet;

use crate::{
    Measured,
    figures::{Samples, median, time},
    others::Look,
    raw::Raw,
    rig::{self, Rig},
    table::Section,
};

const CALLERS: [usize; 3] = [1, 16, 64];
/// How many entries a run gets before its caller takes another.
const ENTRIES: usize = 100;
/// How many runs a caller has.
const RUNS: usize = 8;
/// How many cores others may keep busy in a round that counts.
const OTHERS_MAX: f64 = 0.25;
/// How often a round may be measured again.
const TRIES: usize = 4;

/// What was seen in one round.
struct Round {
    rate: f64,
    /// The disk's own rate, before and after.
    before: f64,
    after: f64,
    /// How many cores other processes kept busy.
    others: f64,
    samples: Vec<Duration>,
}

pub(crate) fn measure(rig: &Rig) -> Measured<Section> {
    let threads = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let wanted = rig.pick(7, 3);
    let during = Duration::from_millis(rig.pick(2000, 500));
    let note = format!(
        "Entries recorded through the runtime on SQLite with `synchronous=FULL`, each answered once \
         it is on disk; {wanted} rounds of {} each. `× raw` is the median of each round's rate over \
         the disk's own rate in that round (4 KiB written and `fdatasync`). Rounds in which the disk \
         was throttled or others were busy are measured again.",
        time(during)
    );
    let head = ["callers", "appends/s", "disk alone /s", "× raw", "p50", "p99"];
    let mut section = Section::new("Durable appends", note, &head);
    let mut best = 0.0;
    for callers in CALLERS {
        let mut rounds = Vec::new();
        for _ in 0..wanted * TRIES {
            let round = round(rig, &threads, callers, during)?;
            best = round.before.max(round.after).max(best);
            rounds.push(round);
            if wanted <= rounds.iter().filter(|it| it.is_healthy(best)).count() {
                break;
            }
        }
        // If there were too few good ones, the others must do.
        rounds.sort_by_key(|it| !it.is_healthy(best));
        rounds.truncate(wanted);
        add(&mut section, callers, &rounds);
    }
    Ok(section)
}

fn add(section: &mut Section, callers: usize, rounds: &[Round]) {
    let mut samples = Samples::new();
    for sample in rounds.iter().flat_map(|it| &it.samples) {
        samples.add(*sample);
    }
    let ratio = median(rounds.iter().map(|it| it.rate / it.disk()).collect());
    section.row(&[
        callers.to_string(),
        format!("{:.0}", median(rounds.iter().map(|it| it.rate).collect())),
        format!("{:.0}", median(rounds.iter().map(Round::disk).collect())),
        format!("{ratio:.2}"),
        time(samples.median()),
        time(samples.quantile(99)),
    ]);
    let promised = match callers {
        16 => 1.2,
        64 => 2.0,
        _ => return,
    };
    let promise = format!("appends with {callers} callers ≥ {promised} × the disk's rate");
    section.target(promise, format!("{ratio:.2} ×"), promised <= ratio);
}

impl Round {
    fn disk(&self) -> f64 {
        f64::midpoint(self.before, self.after)
    }

    /// Returns whether the disk was about as quick as it can be, and the machine ours.
    fn is_healthy(&self, best: f64) -> bool {
        best / 2.0 <= self.before.min(self.after) && self.others < OTHERS_MAX
    }
}

fn round(
    rig: &Rig,
    threads: &tokio::runtime::Runtime,
    callers: usize,
    during: Duration,
) -> Measured<Round> {
    let folder = rig.folder()?;
    let mut raw = Raw::new(folder.path())?;
    let runtime = rig::runtime(folder.path())?;
    let runs = threads.block_on(begin_all(&runtime, callers))?;
    let before = raw.rate(during / 4)?;
    let (look, begun) = (Look::now(), Instant::now());
    let samples = threads.block_on(append_all(&runtime, runs, begun + during))?;
    let rate = samples.len() as f64 / begun.elapsed().as_secs_f64();
    let others = look.others();
    let after = raw.rate(during / 4)?;
    Ok(Round { rate, before, after, others, samples })
}

/// Begins runs for each caller.
async fn begin_all(runtime: &Runtime, callers: usize) -> Measured<Vec<Vec<RunId>>> {
    let mut runs = Vec::new();
    for _ in 0..callers {
        let mut own = Vec::new();
        for _ in 0..RUNS {
            own.push(begin(runtime).await?);
        }
        runs.push(own);
    }
    Ok(runs)
}

async fn append_all(
    runtime: &Arc<Runtime>,
    runs: Vec<Vec<RunId>>,
    end: Instant,
) -> Measured<Vec<Duration>> {
    let mut calling = JoinSet::new();
    for own in runs {
        let runtime = Arc::clone(runtime);
        calling.spawn(async move { append(&runtime, &own, end).await });
    }
    let mut samples = Vec::new();
    while let Some(called) = calling.join_next().await {
        samples.extend(called??);
    }
    Ok(samples)
}

/// Records entries in one run after the other until the time is over.
async fn append(runtime: &Runtime, runs: &[RunId], end: Instant) -> Measured<Vec<Duration>> {
    let mut samples = Vec::new();
    for run in runs.iter().cycle() {
        for _ in 0..ENTRIES {
            let begun = Instant::now();
            if end <= begun {
                return Ok(samples);
            }
            record(runtime, *run).await?;
            samples.push(begun.elapsed());
        }
    }
    Ok(samples)
}

pub(crate) async fn begin(runtime: &Runtime) -> Measured<RunId> {
    let start = StartRun {
        goes_on: false,
        key: None,
        flow: None,
        context: serde_json::Map::new(),
        vars: serde_json::Map::new(),
        root: runtime.settings().root.clone(),
    };
    let target = Target::New("SPRINT_TASK".to_owned());
    let outcome = execute(runtime, target, Command::StartRun(Box::new(start))).await?;
    Ok(outcome.view.state.run)
}

pub(crate) async fn record(runtime: &Runtime, run: RunId) -> Measured<()> {
    let text =
        "Edited two files of the storage layer, ran the tests, and asked for a review of the \
                order of migrations before merging."
            .to_owned();
    let entry = Entry::Note { text, tags: Vec::new() };
    execute(runtime, Target::Run(run), Command::RecordEntry { step: None, entry }).await?;
    Ok(())
}

async fn execute(
    runtime: &Runtime,
    target: Target,
    command: Command,
) -> Measured<runtime::Outcome> {
    let request = Request { target, command, actor: Actor::default(), request_id: None };
    Ok(runtime.execute(request).await?)
}
