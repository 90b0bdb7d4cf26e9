//! How long a server takes from its start to its first answer.

use std::{
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use serde_json::json;

use crate::{
    Measured,
    figures::{Samples, time},
    peer::Peer,
    rig::Rig,
    table::Section,
};

const START_MAX: Duration = Duration::from_millis(20);

pub(crate) fn measure(rig: &Rig) -> Measured<Section> {
    let used = rig.folder()?;
    fill(rig, used.path())?;
    let rounds = rig.pick(60, 15);
    let [mut existing, mut new, mut empty] = [const { Samples::new() }; 3];
    for _ in 0..rounds {
        existing.add(start(&mut rig.server(used.path()))?);
        let fresh = rig.folder()?;
        new.add(start(&mut rig.server(fresh.path()))?);
        empty.add(start(&mut rig.empty())?);
    }
    let note = format!(
        "From starting the process to the answer of its first `tools/list`, {rounds} times each, in \
         turns. The existing database was written by another process and has 20 runs."
    );
    let mut section = Section::new("Cold start", note, &["server", "p50", "p99"]);
    for (name, samples) in [
        ("empty rmcp server", &empty),
        ("milepost, existing database", &existing),
        ("milepost, new database", &new),
    ] {
        section.row(&[name.to_owned(), time(samples.median()), time(samples.quantile(99))]);
    }
    for (name, samples) in [("an existing", &existing), ("a new", &new)] {
        let promise = format!("cold start with {name} database < {}", time(START_MAX));
        section.target(promise, time(samples.median()), samples.median() < START_MAX);
    }
    Ok(section)
}

fn start(command: &mut Command) -> Measured<Duration> {
    let begun = Instant::now();
    let mut peer = Peer::start(command)?;
    peer.request("tools/list", json!({}))?;
    Ok(begun.elapsed())
}

fn fill(rig: &Rig, folder: &Path) -> Measured<()> {
    let mut peer = Peer::start(&mut rig.server(folder))?;
    for _ in 0..20 {
        let run = peer.begin("SPRINT_TASK")?;
        let report = json!({"step_id": "Select Issue", "status": "in_progress"});
        peer.done("advance_workflow", &json!({"instance_id": run, "report": report}))?;
    }
    Ok(())
}
