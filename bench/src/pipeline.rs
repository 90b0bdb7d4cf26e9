//! How long a pipeline's next action takes where the last one is reported with it, beside one write
//! to the disk.

use std::{fs, time::Duration};

use serde_json::{Value, json};

use crate::{
    Measured,
    figures::{Samples, time},
    peer::Peer,
    raw::Raw,
    rig::Rig,
    table::Section,
};

/// How much longer the call may take than the disk does.
const OVER_DISK_MAX: Duration = Duration::from_millis(6);
/// The first phases, by the files that they leave.
const FILES: [&str; 2] = ["analysis.md", "investigation.md"];

pub(crate) fn measure(rig: &Rig) -> Measured<Section> {
    let folder = rig.folder()?;
    let mut raw = Raw::new(folder.path())?;
    let mut server = Peer::start(&mut rig.pipeline_server(folder.path()))?;
    let (mut disk, mut asked, mut reported) =
        (Samples::default(), Samples::default(), Samples::default());
    for number in 0..rig.pick(60, 12) {
        let workspace = folder.path().join(format!(".specs/20260101-{number}"));
        fs::create_dir_all(&workspace)?;
        let call = |more: Value| {
            let mut arguments = more;
            arguments["workspace"] = json!(workspace);
            arguments
        };
        let init = json!({"spec_name": format!("x{number}"), "validated": true});
        server.done("init", &call(init))?;
        let first = server.done("pipeline_next_action", &call(json!({})))?.1;
        let mut samples = Vec::new();
        for (tokens, file) in (1000..).zip(FILES) {
            fs::write(workspace.join(file), "What was found.\n")?;
            let done = json!({"previous_action_complete": true, "previous_tokens": tokens});
            samples.push((raw.write()?, server.done("pipeline_next_action", &call(done))?.1));
        }
        // The first one only warms up.
        if 0 < number {
            asked.add(first);
            for (write, call) in samples {
                disk.add(write);
                reported.add(call);
            }
        }
    }
    Ok(section(&disk, &asked, &reported))
}

fn section(disk: &Samples, asked: &Samples, reported: &Samples) -> Section {
    let note = "One call at a time over stdio, in turns with a write to the disk. A report is one \
                decision and one commit, and comes with the next agent's prompt.";
    let head = ["what", "p50", "p99", "over the disk"];
    let mut section = Section::new("A pipeline's next action", note, &head);
    for (name, samples) in
        [("one fdatasync", disk), ("first action", asked), ("next action with a report", reported)]
    {
        let half = samples.median();
        let over_disk = time(half.saturating_sub(disk.median()));
        section.row(&[name.to_owned(), time(half), time(samples.quantile(99)), over_disk]);
    }
    let over_disk = reported.median().saturating_sub(disk.median());
    let promise = format!("a next action with a report ≤ one fsync + {}", time(OVER_DISK_MAX));
    section.target(promise, format!("+ {}", time(over_disk)), over_disk <= OVER_DISK_MAX);
    section
}
