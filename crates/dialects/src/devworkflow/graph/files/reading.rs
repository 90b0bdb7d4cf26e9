//! What a session's file says, as a run takes it in: also one that another program wrote.

use std::collections::BTreeMap;

use definition::StepName;
use engine::{ClaimedProgress, ClaimedStatus, FileClaim, Progress, Reading, RunId};
use serde_json::{Map, Value};

use super::super::{
    record::Record,
    words::{self, Status},
};
use crate::kit::moment;

/// A session that a file holds, ready to be begun where the file says that it is.
#[derive(Debug, Clone)]
pub struct SessionFile {
    pub run: RunId,
    /// The name of the workflow.
    pub workflow: String,
    /// The YAML that the session goes by. `None` where the file does not have it.
    pub definition: Option<String>,
    /// The other files that it is made of, by their paths beside it.
    pub parts: BTreeMap<String, String>,
    /// The name of its file, without the ending.
    pub stem: String,
    /// The start context.
    pub context: Map<String, Value>,
    pub placement: FileClaim,
}

/// Reads a session's file.
pub fn read_session(text: &str) -> Result<SessionFile, String> {
    let record = Record::parse(text)?;
    let run = RunId::parse(&record.session_id).ok_or_else(|| {
        format!("`{}` is not the id of a session", words::cut(&record.session_id, 60))
    })?;
    let created = moment(&record.created_at).unwrap_or_default();
    let named = record.session_filename.as_deref().and_then(|it| it.strip_suffix(".json"));
    let stem = named.filter(|it| super::is_stem(it)).map(ToOwned::to_owned);
    let stem = stem.unwrap_or_else(|| words::stem(run, created));
    let (placement, context) = of(&record).claim(&format!("{stem}.json"), text);
    Ok(SessionFile {
        run,
        workflow: record.workflow_name,
        definition: record.definition,
        parts: record.definition_files,
        stem,
        context,
        placement,
    })
}

/// Returns what a record says of where the work is.
pub(super) fn of(record: &Record) -> Reading {
    let (stood, reason) = match Status::parse(&record.status) {
        Some(Status::Completed) => (ClaimedStatus::Completed, String::new()),
        Some(Status::Failed) => (ClaimedStatus::Failed, "its file says so".to_owned()),
        Some(Status::Cancelled) => (ClaimedStatus::Cancelled, "its file says so".to_owned()),
        Some(
            Status::Ready
            | Status::Running
            | Status::NeedsPlanApproval
            | Status::Paused
            | Status::Error,
        )
        | None => (ClaimedStatus::Running, String::new()),
    };
    Reading {
        stood,
        reason,
        stated: StepName::parse(&record.current_node).ok(),
        at: None,
        parts: BTreeMap::new(),
        steps: steps(record, stood),
        started_at: moment(&record.created_at),
        updated_at: moment(&record.last_updated),
        context: context(record),
        vars: vars(record),
        items: Some(items(record)),
        journal: Some(record.log.join("\n")),
        stamp: Some(format!("`revision` to {}", record.revision)),
        is_cut: false,
        doubt: doubt(record),
    }
}

/// Returns what nobody can follow: a word for how the session stands that is none.
fn doubt(record: &Record) -> Option<String> {
    let (word, known) = (record.status.trim(), Status::ALL.map(Status::word).join(", "));
    (!word.is_empty() && Status::parse(word).is_none())
        .then(|| format!("its `status` is {}, and must be one of {known}", words::cut(word, 60)))
}

/// Every node that was left is done, and the one that it says to be at is under way.
fn steps(record: &Record, stood: ClaimedStatus) -> BTreeMap<StepName, ClaimedProgress> {
    let of = |progress| ClaimedProgress { progress, attempts: 1, ..ClaimedProgress::default() };
    let left = record.node_history.iter().chain(record.node_outputs.keys());
    let left = left.filter_map(|it| StepName::parse(it).ok());
    let mut steps: BTreeMap<StepName, ClaimedProgress> =
        left.map(|it| (it, of(Progress::Done))).collect();
    if let Ok(current) = StepName::parse(&record.current_node) {
        let is_over = stood == ClaimedStatus::Completed;
        steps.insert(current, of(if is_over { Progress::Done } else { Progress::Active }));
    }
    steps
}

fn context(record: &Record) -> Map<String, Value> {
    let mut context = record.execution_context.clone();
    let task = record.current_item.clone().unwrap_or_default();
    context.insert(words::TASK.to_owned(), task.into());
    context.insert(words::INPUTS.to_owned(), Value::Object(record.inputs.clone()));
    context.insert(words::CLIENT.to_owned(), record.client_id.clone().into());
    let file = record.workflow_file.clone();
    context.extend(file.map(|it| (words::WORKFLOW_FILE.to_owned(), it.into())));
    context
}

/// A word for the status that nobody knows is kept as it is.
fn vars(record: &Record) -> Map<String, Value> {
    let status = Status::parse(&record.status);
    if status.is_some_and(Status::is_final) || record.status.trim().is_empty() {
        return Map::new();
    }
    Map::from_iter([(words::STATUS.to_owned(), record.status.trim().into())])
}

fn items(record: &Record) -> Vec<engine::Item> {
    let item = |it: &super::super::record::Item| engine::Item {
        id: it.id,
        text: it.description.clone(),
        is_done: it.is_done(),
    };
    record.items.iter().map(item).collect()
}

#[cfg(test)]
mod tests {
    use engine::{ClaimedStatus, Progress};
    use serde_json::json;

    use super::read_session;

    /// As another program wrote it: times without a zone, no definition, a key that nobody knows.
    fn foreign(status: &str) -> String {
        json!({
            "session_id": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
            "client_id": "default",
            "created_at": "2025-06-20T10:00:00.5",
            "workflow_name": "Tiny",
            "last_updated": "2025-06-20T10:05:00+00:00",
            "current_node": "Beta",
            "status": status,
            "inputs": { "n": 3 },
            "node_outputs": { "Alpha": { "goal_achieved": true, "completed_criteria": { "c": "x" } } },
            "current_item": "Add: old",
            "items": [{ "id": 1, "description": "one", "status": "completed" }],
            "log": ["[10:00:00] began", "went on"],
            "archive_log": null,
            "node_history": ["Alpha"],
            "plan": "",
        })
        .to_string()
    }

    #[test]
    fn a_file_of_another_program_says_where_the_session_is() {
        let file = read_session(&foreign("RUNNING")).unwrap();
        assert_eq!(file.stem, "7c9e6679-7425-40de-944b-e07fc1f90ae7_2025-06-20T10-00-00_001");
        assert_eq!((file.workflow.as_str(), file.definition), ("Tiny", None));
        assert_eq!(file.context["task_description"], "Add: old");
        assert_eq!(file.context["inputs"], json!({ "n": 3 }));
        let placed = file.placement;
        assert_eq!(
            (placed.stood, placed.journal.as_deref()),
            (ClaimedStatus::Running, Some("[10:00:00] began\nwent on"))
        );
        let progress = |name: &str| {
            placed.steps.iter().find(|(step, _)| step.as_str() == name).map(|(_, it)| it.progress)
        };
        assert_eq!(
            (progress("Alpha"), progress("Beta")),
            (Some(Progress::Done), Some(Progress::Active))
        );
        assert!(placed.items.unwrap()[0].is_done);
        assert_eq!(placed.vars["status"], "RUNNING");
    }

    #[test]
    fn a_word_that_ends_a_session_is_no_variable() {
        let file = read_session(&foreign("completed")).unwrap();
        assert_eq!(file.placement.stood, ClaimedStatus::Completed);
        assert!(file.placement.vars.is_empty());
    }

    #[test]
    fn what_is_no_session_is_refused_with_its_reason() {
        for (text, reason) in [
            ("", "EOF"),
            ("[]", "expected"),
            ("{}", "no `session_id`"),
            (r#"{"session_id": "x", "current_node": "a"}"#, "not the id of a session"),
            (r#"{"version": 9, "session_id": "x", "current_node": "a"}"#, "version 9"),
        ] {
            let error = read_session(text).unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
