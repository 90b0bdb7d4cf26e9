//! The index over sessions: what is searched, and how it is brought up to date.

use insight::{HashedEmbedder, Index};
use serde_json::Value;

use super::{record::Record, session::Found, words};

/// How many sessions the index holds.
const ENTRIES_MAX: usize = 10_000;
/// How much of a session is searched, in characters.
const SEARCHED_CHARS_MAX: usize = 16_000;
/// How many of the last log entries are searched.
const LOG_SEARCHED: usize = 5;

/// Returns an index that holds nothing.
pub(super) fn empty() -> Index {
    Index::new(HashedEmbedder, ENTRIES_MAX)
}

/// Takes in the sessions that have changed since they were, and drops those that are gone. Returns
/// how many were taken in.
pub(super) fn update(index: &mut Index, sessions: &[Found]) -> usize {
    sessions.iter().filter(|it| take_in(index, it)).count()
}

/// Takes a session in, unless it is as it was. Returns whether it was taken in.
pub(super) fn take_in(index: &mut Index, found: &Found) -> bool {
    let version = found.view.state.length;
    let is_news = index.version(found.id()) != Some(version);
    if is_news {
        index.put(found.id(), version, &text(&found.record));
    }
    is_news
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
