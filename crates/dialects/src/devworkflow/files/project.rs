//! A state file, rendered from the state of its run.
//!
//! What someone wrote into the file is where it starts from: it stays as it is until the run says
//! something else. A run whose file nobody ever wrote starts from a template.

use engine::{Kind, Mark, RunState};
use serde_json::Value;

use super::super::{
    state_file::{Row, StateFile},
    words::{COMPLETED, PENDING, is_pending},
};

/// The variables that the file shows.
const SHOWN: [&str; 3] = ["status", "item", "plan"];

/// Returns what the file of a run says.
pub(in super::super) fn render(state: &RunState) -> String {
    let (history, seq) = (&state.history, state.history.placed_by());
    let placed = history.placed.as_ref();
    let mut file = placed.map_or_else(StateFile::blank, |it| StateFile::parse(&it.text));
    let is_new = |mark: &Mark| seq < mark.seq;
    let said = |name: &str| history.vars.get(name).copied().filter(is_new);
    let counted = history.counts.newest(counts).filter(is_new);
    let Some(last) = SHOWN.iter().filter_map(|it| said(it)).chain(counted).max() else {
        return file.text().to_owned();
    };
    let has_happened = |kinds: &[&str]| {
        let newest = history.counts.newest(|it| kinds.contains(&it.event));
        newest.is_some_and(|it| is_new(&it))
    };
    if has_happened(&["MoveMade"]) {
        file.complete();
    }
    // A word that is not a phase stays only until the next call.
    let is_moved = has_happened(&["MoveMade", "StepEntered"]);
    if let Some(step) = state.current.as_ref().filter(|_| is_moved) {
        file.set_phase(step.as_str());
    }
    let var = |name: &str| said(name).and_then(|_| state.vars.get(name)).and_then(Value::as_str);
    if let Some(status) = var("status") {
        file.set_status(status);
    }
    if let Some(item) = var("item") {
        file.set_current_item(Some(item).filter(|it| !it.is_empty()));
    }
    if let Some(plan) = var("plan") {
        file.set_plan(plan);
    }
    if has_happened(&["ItemAdded", "ItemClosed"]) {
        let rows = rows(&file, state);
        file.set_items(&rows);
    }
    let archived = history.archived.iter().filter(|it| is_new(&it.mark));
    let archived: Vec<&str> = archived.map(|it| it.text.as_str()).collect();
    if !archived.is_empty() {
        file.append_archive_log(archived);
        file.set_log("");
    }
    file.append_log(state.journal.entries.iter().map(String::as_str));
    file.set_date(&last.at.to_date());
    file.text().to_owned()
}

/// Whether the file has something to say of an event. Variables are looked at one by one.
fn counts(kind: Kind) -> bool {
    match kind.event {
        "RunStarted" | "StepEntered" | "MoveMade" | "GateAnswered" => true,
        "ItemAdded" | "ItemClosed" | "JournalRotated" => true,
        "EntryRecorded" => matches!(kind.of, "note" | "error" | "question"),
        _ => false,
    }
}

/// Returns the items. A word that someone wrote stays while it says what is so.
fn rows(file: &StateFile, state: &RunState) -> Vec<Row> {
    let word = |is_done: bool| if is_done { COMPLETED } else { PENDING }.to_owned();
    let mut rows = file.items();
    for (row, item) in rows.iter_mut().zip(state.items.iter()) {
        if item.is_done && is_pending(&row.status) {
            row.status = word(true);
        }
    }
    let added = state.items.iter().skip(rows.len()).map(|it| Row {
        id: it.id,
        description: it.text.clone(),
        status: word(it.is_done),
    });
    let added: Vec<Row> = added.collect();
    rows.extend(added);
    rows
}
