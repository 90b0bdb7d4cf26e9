//! Whether a write to a run gets slower as the run gets longer.

use std::time::Instant;

use engine::{Actor, Command, Entry, RunId};
use runtime::{Request, Runtime, Target};

use crate::{
    Measured,
    appends::{begin, record},
    figures::{Samples, ratio, time},
    rig::{self, Rig},
    table::Section,
};

/// How many entries the long run has.
const ENTRIES: usize = 20_000;
/// How many of them are recorded at once while it is made.
const AT_ONCE: usize = 1_000;
/// How many times as long a write to it may take as one to a small run.
const GROWTH_MAX: f64 = 2.0;

pub(crate) fn measure(rig: &Rig) -> Measured<Section> {
    let threads = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let folder = rig.folder()?;
    let runtime = rig::runtime(folder.path())?;
    let writes = rig.pick(2_000, 300);
    let (small, long) = threads.block_on(write(&runtime, writes))?;
    let note = format!(
        "One entry at a time through the runtime, in turns to a run that has just begun and to one \
         that has {ENTRIES} entries; {writes} each."
    );
    let mut section = Section::new("A long run", note, &["run", "p50", "p99", "× small run"]);
    for (name, samples) in [("small", &small), ("long", &long)] {
        section.row(&[
            name.to_owned(),
            time(samples.median()),
            time(samples.quantile(99)),
            ratio(samples.median(), small.median()),
        ]);
    }
    let growth = long.median().as_secs_f64() / small.median().as_secs_f64();
    let promise =
        format!("a write to a run of {ENTRIES} entries ≤ {GROWTH_MAX} × one to a small run");
    section.target(promise, format!("{growth:.2} ×"), growth <= GROWTH_MAX);
    Ok(section)
}

/// Writes to both runs in turns.
async fn write(runtime: &Runtime, writes: usize) -> Measured<(Samples, Samples)> {
    let long = begin(runtime).await?;
    for _ in 0..ENTRIES / AT_ONCE {
        lengthen(runtime, long).await?;
    }
    let small = begin(runtime).await?;
    let mut samples = [Samples::new(), Samples::new()];
    for _ in 0..writes {
        for (run, samples) in [small, long].into_iter().zip(&mut samples) {
            let begun = Instant::now();
            record(runtime, run).await?;
            samples.add(begun.elapsed());
        }
    }
    let [small, long] = samples;
    Ok((small, long))
}

/// Records many entries in one go.
async fn lengthen(runtime: &Runtime, run: RunId) -> Measured<()> {
    let text = "Ran the tests once more, and looked at what they say of the storage layer.";
    let entry = Entry::Note { text: text.to_owned(), tags: Vec::new() };
    let command = Command::RecordEntry { step: None, entry };
    let command = Command::All(vec![command; AT_ONCE]);
    let (target, actor) = (Target::Run(run), Actor::default());
    runtime.execute(Request { target, command, actor, request_id: None }).await?;
    Ok(())
}
