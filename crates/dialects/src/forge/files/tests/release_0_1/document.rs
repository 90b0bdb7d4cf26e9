//! How the document was changed.

use definition::PartSpec;
use serde_json::{Map, Value};

use super::super::super::super::state_file::{StateFile, Task};
use crate::kit::json::{Json, Object};

/// Where in the document each variable is: by itself, null where it is empty, or inside a field.
const TEXTS: [(&str, &str); 2] = [("spec_name", "specName"), ("workspace", "workspace")];
const MAYBES: [(&str, &str); 3] =
    [("branch", "branch"), ("effort", "effort"), ("flow_template", "flowTemplate")];
const OTHERS: [(&str, &str); 8] = [
    ("auto_approve", "autoApprove"),
    ("skip_pr", "skipPr"),
    ("use_current_branch", "useCurrentBranch"),
    ("branch_classified", "branchClassified"),
    ("branch_pushed", "branchPushed"),
    ("debug", "debug"),
    ("skipped_phases", "skippedPhases"),
    ("design_revise_cap_reached", "designReviseCapReached"),
];
const INSIDE: [(&str, &str, &str); 6] = [
    ("design_revisions", "revisions", "designRevisions"),
    ("task_revisions", "revisions", "taskRevisions"),
    ("design_inline_revisions", "revisions", "designInlineRevisions"),
    ("task_inline_revisions", "revisions", "taskInlineRevisions"),
    ("revision_pending_a", "checkpointRevisionPending", "checkpoint-a"),
    ("revision_pending_b", "checkpointRevisionPending", "checkpoint-b"),
];

/// Writes variables into a document, and returns whether there was anything to write.
pub(super) fn set_vars(document: &mut StateFile, set: &Map<String, Value>) -> bool {
    let mut is_any = false;
    for (name, key) in TEXTS.into_iter().chain(OTHERS) {
        if let Some(value) = set.get(name) {
            document.set(key, value);
            is_any = true;
        }
    }
    for (name, key) in MAYBES {
        if let Some(value) = set.get(name) {
            document.set(key, value.as_str().filter(|it| !it.is_empty()));
            is_any = true;
        }
    }
    for (name, outer, key) in INSIDE {
        if let Some(value) = set.get(name) {
            document.set_inside(outer, key, value);
            is_any = true;
        }
    }
    if let Some(batch) = set.get("batch").and_then(Value::as_array) {
        document.set("needsBatchCommit", !batch.is_empty());
        is_any = true;
    }
    is_any
}

impl StateFile {
    /// Adds an entry to a list.
    pub(super) fn push(&mut self, key: &str, entry: impl Into<Json>) {
        self.object.entry(key).make_list().push(entry.into());
    }

    /// Puts a phase among those that are done, if it is not there.
    pub(super) fn complete_phase(&mut self, phase: &str) {
        if !self.is_completed(phase) {
            self.push("completedPhases", phase);
        }
    }

    /// Takes a phase out of those that are done.
    pub(super) fn reopen_phase(&mut self, phase: &str) {
        let done = self.object.entry("completedPhases").make_list();
        done.retain(|it| it.as_text() != Some(phase));
    }

    /// Notes when a phase was begun.
    pub(super) fn note_started(&mut self, phase: &str, at: &str) {
        let record = self.record(phase);
        record.set("started", at);
        record.set("completed", Json::Null);
    }

    /// Notes when a phase was done or left out.
    pub(super) fn note_completed(&mut self, phase: &str, at: &str) {
        self.record(phase).set("completed", at);
    }

    /// Puts these tasks in the place of those there are. One that was there already keeps how far
    /// it is, unless a caller names them again.
    pub(super) fn plan_tasks(&mut self, parts: &[PartSpec], by_hand: bool) {
        let known = std::mem::take(self.object.entry("tasks").make_object());
        let status = if by_hand { "" } else { "pending" };
        let mut tasks = Object::new();
        for part in parts {
            let old = known.get(part.id.as_str()).and_then(Json::as_object).filter(|_| !by_hand);
            let mut task = old.cloned().unwrap_or_else(|| fresh(status));
            task.set("title", part.title.as_str());
            task.set("executionMode", part.mode.as_str());
            let after = part.after.iter().map(|it| number(it.as_str()));
            task.set("depends_on", after.collect::<Vec<Json>>());
            let files = part.files.iter().map(|it| Json::from(it.as_str()));
            task.set("files", files.collect::<Vec<Json>>());
            tasks.set(part.id.as_str(), task);
        }
        self.object.set("tasks", tasks);
    }

    /// Sets a field of a task, if there is that task.
    pub(super) fn set_task(&mut self, key: &str, field: &str, value: impl Into<Json>) {
        if let Some(task) = self.object.entry("tasks").make_object().get_mut(key) {
            task.make_object().set(field, value);
        }
    }

    /// Returns a task.
    pub(super) fn find_task(&self, key: &str) -> Option<Task<'_>> {
        self.tasks().into_iter().find(|it| it.key == key)
    }
}

fn fresh(status: &str) -> Object {
    let mut task = Object::new();
    for field in ["title", "executionMode", "depends_on", "files"] {
        task.set(field, Json::Null);
    }
    task.set("implStatus", status);
    task.set("reviewStatus", status);
    task.set("implRetries", 0_u64);
    task.set("reviewRetries", 0_u64);
    task
}

fn number(text: &str) -> Json {
    text.parse::<u64>().map_or_else(|_| text.into(), Json::from)
}
