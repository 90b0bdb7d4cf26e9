//! What is searched of a session.

use serde_json::Value;

use super::{record::Record, session::Found, words};

/// How much of a session is searched, in characters.
const SEARCHED_CHARS_MAX: usize = 16_000;
/// How many of the last log entries are searched.
const LOG_SEARCHED: usize = 5;

/// Returns a session for the index: its id, how long its log is, and its text.
pub(super) fn entry(found: &Found) -> (String, u64, String) {
    (found.id().to_owned(), found.state().length, text(&found.record))
}

/// Returns what is searched of a session.
pub(super) fn text(record: &Record) -> String {
    let mut parts = vec![
        format!("workflow: {}", record.workflow_name),
        format!("node: {}", record.current_node),
        format!("status: {}", record.status),
    ];
    parts.extend(record.current_item.iter().map(|it| format!("task: {it}")));
    let skipped = record.log.len().saturating_sub(LOG_SEARCHED);
    parts.extend(record.log.iter().skip(skipped).map(|it| without_time(it).to_owned()));
    let plain = record.execution_context.iter().filter(|(_, it)| it.is_string());
    parts.extend(plain.map(|(key, value)| format!("{key}: {}", words::shown(value))));
    parts.extend(outputs(record));
    words::cut(&parts.join(" | "), SEARCHED_CHARS_MAX)
}

/// Returns the evidence of each node.
pub(super) fn outputs(record: &Record) -> Vec<String> {
    let mut lines = Vec::new();
    for visit in record.node_outputs.values().flat_map(|it| it.visits()) {
        let said = visit.completed_criteria.iter().chain(&visit.extra_evidence);
        let said = said.filter(|(_, value)| **value != Value::Null);
        let said: Vec<String> =
            said.map(|(key, value)| format!("{key}: {}", words::shown(value))).collect();
        if !said.is_empty() {
            lines.push(format!("{} completed work: {}", visit.node_name, said.join(" | ")));
        }
    }
    lines
}

/// A time says nothing of what was done.
fn without_time(entry: &str) -> &str {
    let rest = entry.strip_prefix('[').and_then(|it| it.split_once("] "));
    rest.map_or(entry, |(_, text)| text)
}
