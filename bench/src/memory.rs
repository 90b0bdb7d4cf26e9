//! How much memory a server takes, at first and after a day's calls.

use serde_json::json;

use crate::{Measured, peer::Peer, rig::Rig, table::Section};

const RESIDENT_MAX_MB: f64 = 32.0;

pub(crate) fn measure(rig: &Rig) -> Measured<Section> {
    let calls = rig.pick(10_000, 1_000);
    let folder = rig.folder()?;
    let mut section = Section::new(
        "Memory",
        format!(
            "Resident memory. The {calls} calls are status, entries, lists and searches over \
             {} runs.",
            calls / 100
        ),
        &["server", "after the first answer", "after all calls"],
    );
    let mut empty = Peer::start(&mut rig.empty())?;
    empty.request("tools/list", json!({}))?;
    let first = empty.resident_kib()?;
    for _ in 0..calls {
        empty.call("nothing", &json!({}))?;
    }
    section.row(&["empty rmcp server".to_owned(), mb(first), mb(empty.resident_kib()?)]);
    let mut server = Peer::start(&mut rig.server(folder.path()))?;
    server.request("tools/list", json!({}))?;
    let first = server.resident_kib()?;
    call_all(&mut server, calls)?;
    let last = server.resident_kib()?;
    section.row(&["milepost".to_owned(), mb(first), mb(last)]);
    let most = megabytes(first.max(last));
    section.target(
        format!("resident memory < {RESIDENT_MAX_MB} MB"),
        mb(first.max(last)),
        most < RESIDENT_MAX_MB,
    );
    Ok(section)
}

/// Makes the calls of many agents, one after the other.
fn call_all(server: &mut Peer, calls: usize) -> Measured<()> {
    server.done("list_workflows", &json!({}))?;
    for _ in 0..calls / 100 {
        let run = server.begin("SPRINT_TASK")?;
        for call in 1..100 {
            let note = format!("Looked into module {call}, found nothing that speaks against it.");
            match call % 10 {
                0 => server.done("list_runs", &json!({}))?,
                5 => server.done("search_history", &json!({"query": "module speaks"}))?,
                1..=3 => server.done(
                    "record_entry",
                    &json!({"instance_id": run, "type": "note", "text": note}),
                )?,
                _ => server.done("get_workflow_status", &json!({"instance_id": run}))?,
            };
        }
    }
    Ok(())
}

fn megabytes(kib: u64) -> f64 {
    kib as f64 * 1024.0 / 1e6
}

fn mb(kib: u64) -> String {
    format!("{:.1} MB", megabytes(kib))
}
