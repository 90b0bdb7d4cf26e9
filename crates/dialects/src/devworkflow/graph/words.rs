//! This dialect's words, and ours: a session is a run, a node is a step.

use std::collections::BTreeMap;

use definition::{Step, Target, Workflow};
use engine::{RunId, Standing, Timestamp, target_name};
use serde_json::{Map, Value};

/// The keys of a session's start context.
pub(super) const TASK: &str = "task_description";
pub(super) const INPUTS: &str = "inputs";
pub(super) const CLIENT: &str = "client_id";
pub(super) const WORKFLOW_FILE: &str = "workflow_file";
/// The session and the node that a session returns to when it is done.
pub(super) const PARENT: &str = "parent";
/// The variable that holds the word for how a session stands while it goes on.
pub(super) const STATUS: &str = "status";
/// The client of a session that names none.
pub(super) const DEFAULT_CLIENT: &str = "default";

/// How a session stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Ready,
    Running,
    NeedsPlanApproval,
    Paused,
    Completed,
    Failed,
    Error,
    Cancelled,
}

impl Status {
    /// All of them, in the order they are listed.
    pub(super) const ALL: [Self; 8] = [
        Self::Ready,
        Self::Running,
        Self::NeedsPlanApproval,
        Self::Paused,
        Self::Completed,
        Self::Failed,
        Self::Error,
        Self::Cancelled,
    ];

    /// Returns the word.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Ready => "READY",
            Self::Running => "RUNNING",
            Self::NeedsPlanApproval => "NEEDS_PLAN_APPROVAL",
            Self::Paused => "PAUSED",
            Self::Completed => "COMPLETED",
            Self::Failed => "FAILED",
            Self::Error => "ERROR",
            Self::Cancelled => "CANCELLED",
        }
    }

    /// Reads a word, in whichever case it is written.
    pub(super) fn parse(word: &str) -> Option<Self> {
        let word = word.trim();
        Self::ALL.into_iter().find(|it| it.word().eq_ignore_ascii_case(word))
    }

    /// Whether nothing can follow.
    pub(super) fn is_final(self) -> bool {
        match self {
            Self::Completed | Self::Failed | Self::Cancelled => true,
            Self::Ready | Self::Running | Self::NeedsPlanApproval | Self::Paused | Self::Error => {
                false
            }
        }
    }

    /// Returns all words, for anyone who gave another one.
    pub(super) fn list() -> String {
        Self::ALL.map(Self::word).join(", ")
    }
}

/// Returns how a run stands that is over; `None` while it goes on.
pub(super) fn ended(standing: &Standing) -> Option<Status> {
    match standing {
        Standing::New | Standing::Running | Standing::Waiting(_) => None,
        Standing::Completed => Some(Status::Completed),
        Standing::Failed { .. } => Some(Status::Failed),
        Standing::Cancelled { .. } => Some(Status::Cancelled),
    }
}

/// Returns a moment to the second, as logs and files have it.
pub(super) fn moment(at: Timestamp) -> String {
    let text = at.to_string();
    match text.split_once('.') {
        Some((seconds, _)) => format!("{seconds}Z"),
        None => text,
    }
}

/// How a report stands that only keeps evidence: its node is not done.
pub(super) const KEPT: &str = "in_progress";
/// What marks the line in the log of a session that says that it was deleted.
pub(super) const DELETED: &str = "deleted";
/// How the report of a node's work stands.
pub(super) const DONE: &str = "success";

/// Returns the name of a session's file without its ending, which is the run's key.
pub(super) fn stem(run: RunId, at: Timestamp) -> String {
    let at = moment(at).trim_end_matches('Z').replace(':', "-");
    format!("{run}_{at}_001")
}

/// Returns the session that a file's stem begins with; the whole of it where it begins with none.
pub(super) fn session_of(stem: &str) -> &str {
    stem.get(..36).filter(|it| RunId::parse(it).is_some()).unwrap_or(stem)
}

/// Returns the name of a file that is archived: its stem, how the session stood, and when.
pub(super) fn archived(stem: &str, status: &str, at: Timestamp) -> String {
    let at = moment(at).replace(['-', ':', 'Z'], "").replace('T', "_");
    format!("{stem}_{status}_{at}")
}

/// Whether a stem is that of an archived file: a status follows the number.
pub(super) fn is_archived(stem: &str) -> bool {
    Status::ALL.iter().any(|it| stem.contains(&format!("_{}_", it.word())))
}

/// Returns the text that a graph was read from.
pub(super) fn definition_of(workflow: &Workflow) -> Option<String> {
    workflow.source.files.get(&format!("{}/graph.yaml", workflow.name)).cloned()
}

/// Returns the other files that a graph was read from, by their paths beside it.
pub(super) fn parts_of(workflow: &Workflow) -> BTreeMap<String, String> {
    let beside = |(path, text): (&String, &String)| {
        let path = path.strip_prefix(workflow.name.as_str())?.strip_prefix('/')?;
        (path != "graph.yaml").then(|| (path.to_owned(), text.clone()))
    };
    workflow.source.files.iter().filter_map(beside).collect()
}

/// Returns the nodes that may follow a step, by name.
pub(super) fn next_nodes(step: &Step) -> Vec<&str> {
    let targets = step.next.iter().map(|it| &it.to);
    targets.filter(|it| matches!(it, Target::Step(_))).map(target_name).collect()
}

/// Returns everything that may be chosen at a step: nodes, then workflows.
pub(super) fn options(step: &Step) -> Vec<&str> {
    let workflows = step.workflows.iter().map(String::as_str);
    next_nodes(step).into_iter().chain(workflows).collect()
}

/// Whether nothing may be chosen at a step.
pub(super) fn is_terminal(step: &Step) -> bool {
    options(step).is_empty()
}

/// Puts the values of inputs into a text.
pub(super) fn fill(text: &str, inputs: &Map<String, Value>) -> String {
    definition::fill_inputs(text, inputs)
}

/// Returns a value as a person reads it.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

/// Returns the beginning of a text, with a sign where something is cut off.
pub(super) fn cut(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((place, _)) => format!("{}…", text.get(..place).unwrap_or_default().trim_end()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use engine::{RunId, Timestamp};

    use super::{archived, cut, is_archived, session_of, stem};

    #[test]
    fn a_file_is_named_by_its_session_and_its_time() {
        let id = "019a0000-0000-7000-8000-000000000001";
        let at = Timestamp::parse("2026-11-15T10:00:01.5Z").unwrap();
        let stem = stem(RunId::parse(id).unwrap(), at);
        assert_eq!(stem, format!("{id}_2026-11-15T10-00-01_001"));
        assert_eq!(session_of(&stem), id);
        let archived = archived(&stem, "COMPLETED", at);
        assert_eq!(archived, format!("{stem}_COMPLETED_20261115_100001"));
        assert!(is_archived(&archived) && !is_archived(&stem));
    }

    #[test]
    fn a_long_text_is_cut_between_letters() {
        assert_eq!(cut("äöü", 2), "äö…");
        assert_eq!(cut("äöü", 3), "äöü");
    }
}
