//! What happens to a step, and the attempts at the draft.

use engine::{Report, StepCompleted, Timestamp};
use serde_json::{Map, Value};

use super::{
    super::super::super::words::{ATTEMPTS_MAX, DRAFT, FAST_CHECK, Step, StepStatus},
    State, find,
};
use crate::kit::json::{Json, Object};

/// The fields of a step's record that are written from the log, and not by what a caller says.
const STEP_FIELDS: [&str; 13] = [
    "status",
    "started_at",
    "completed_at",
    "duration_seconds",
    "agent_used",
    "phase_name",
    "artifacts",
    "metadata",
    "failed_at",
    "failure_reason",
    "retry_metadata",
    "interrupted_at",
    "skipped_reason",
];
/// The same of an entry of `errors`.
const ERROR_FIELDS: [&str; 4] = ["step", "step_name", "timestamp", "message"];

impl State {
    pub(super) fn start(&mut self, name: &str, details: &Map<String, Value>, at: Timestamp) {
        let Some(step) = find(name) else { return };
        let text = |key: &str| details.get(key).and_then(Value::as_str);
        let phase = text("phase_name").unwrap_or(step.title).to_owned();
        let record = self.document.step_mut(step);
        record.set("status", StepStatus::InProgress.word());
        record.set("started_at", at.to_string());
        record.set("phase_name", phase.as_str());
        if let Some(agent) = text("agent_name") {
            record.set("agent_used", agent);
        }
        for key in ["completed_at", "duration_seconds", "failed_at", "failure_reason"]
            .into_iter()
            .chain(["retry_metadata", "interrupted_at", "skipped_reason"])
        {
            record.remove(key);
        }
        merge(record, details.get("metadata").and_then(Value::as_object), &STEP_FIELDS);
        self.set_current(name);
        self.document.set(&["current_phase"], phase);
        if step.number == DRAFT {
            self.open_attempt(at);
        }
    }

    pub(super) fn complete(&mut self, completed: &StepCompleted, at: Timestamp) {
        let Some(step) = find(completed.step.as_str()) else { return };
        let details = completed.report.details.as_object();
        let given = |key: &str| details.and_then(|it| it.get(key));
        let since = self.document.step(step).started_at();
        let took = given("duration_seconds").and_then(Value::as_f64);
        let took = took.or_else(|| since.map(|since| at.since(since).as_secs_f64()));
        let record = self.document.step_mut(step);
        record.set("status", StepStatus::Completed.word());
        record.set("completed_at", at.to_string());
        if let Some(took) = took {
            record.set("duration_seconds", took);
        }
        for key in ["failed_at", "failure_reason", "retry_metadata", "interrupted_at"] {
            record.remove(key);
        }
        if let Some(metadata) = given("metadata") {
            record.set("metadata", metadata);
        }
        if let Some(artifacts) = given("artifacts").and_then(Value::as_object) {
            record.set("artifacts", Value::Object(artifacts.clone()));
            let all = self.document.object_mut(&["artifacts"]);
            artifacts.iter().for_each(|(key, path)| all.set(key, path));
        }
        self.count_time(at);
        self.set_current(completed.step.as_str());
        if step.number == DRAFT {
            self.close_attempt("SUCCESS", None, at);
        }
    }

    pub(super) fn skip(&mut self, name: &str, reason: &str) {
        let is_folded = find(name).is_some_and(|it| it.number == FAST_CHECK);
        let reason = if is_folded { "folded into step 4" } else { reason };
        self.set_step(name, StepStatus::Skipped);
        self.with_step(name, |it| it.set("skipped_reason", reason));
    }

    pub(super) fn fail(
        &mut self,
        name: &str,
        reason: &str,
        report: Option<&Report>,
        at: Timestamp,
    ) {
        let Some(step) = find(name) else { return };
        let metadata = report.and_then(|it| it.details.as_object()).filter(|it| !it.is_empty());
        self.add_error(step, reason, metadata, at);
        let record = self.document.step_mut(step);
        record.set("status", StepStatus::Failed.word());
        record.set("failed_at", at.to_string());
        record.set("failure_reason", reason);
        record.remove("retry_metadata");
        if let Some(metadata) = metadata {
            record.set("metadata", Value::Object(metadata.clone()));
        }
        merge(record, metadata, &STEP_FIELDS);
    }

    pub(super) fn add_error(
        &mut self,
        step: &Step,
        message: &str,
        more: Option<&Map<String, Value>>,
        at: Timestamp,
    ) {
        let mut entry = Object::new();
        entry.set("step", step.number);
        entry.set("step_name", step.key);
        entry.set("timestamp", at.to_string());
        entry.set("message", message);
        merge(&mut entry, more, &ERROR_FIELDS);
        self.document.push(&["errors"], entry);
        if step.number == DRAFT || step.number == FAST_CHECK {
            self.close_attempt("FAILED", Some((message, step.number == FAST_CHECK)), at);
        }
    }

    /// Begins an attempt at the draft, unless one is under way.
    pub(super) fn open_attempt(&mut self, at: Timestamp) {
        if self.last_attempt("IN_PROGRESS").is_some() {
            return;
        }
        let count = self.document.find_in("generation_attempts", "current_attempt");
        let count = count.and_then(Json::as_count).unwrap_or_default() + 1;
        let attempts = self.document.object_mut(&["generation_attempts"]);
        attempts.set("current_attempt", count);
        if attempts.get("max_attempts").is_none() {
            attempts.set("max_attempts", ATTEMPTS_MAX);
        }
        let mut entry = Object::new();
        entry.set("attempt", count);
        entry.set("started_at", at.to_string());
        entry.set("status", "IN_PROGRESS");
        self.document.push(&["generation_attempts", "attempts_history"], entry);
    }

    /// Ends the attempt that is under way; or the last one although it went well, because a check
    /// of it failed.
    pub(super) fn close_attempt(
        &mut self,
        status: &str,
        error: Option<(&str, bool)>,
        at: Timestamp,
    ) {
        let reopens = error.is_some_and(|(_, reopens)| reopens);
        let is_found = self.last_attempt("IN_PROGRESS").is_some()
            || (reopens && self.last_attempt("SUCCESS").is_some());
        let history = self.document.list_mut(&["generation_attempts", "attempts_history"]);
        let Some(last) = history.and_then(|it| it.last_mut()).filter(|_| is_found) else { return };
        let last = last.make_object();
        last.set("completed_at", at.to_string());
        last.set("status", status);
        if let Some((error, _)) = error {
            last.set("error", error);
        }
    }

    /// Returns the last attempt if it has this status.
    fn last_attempt(&self, status: &str) -> Option<&Object> {
        let history = self.document.find_in("generation_attempts", "attempts_history")?;
        let last = history.as_list()?.last()?.as_object()?;
        let is_so = last.get("status").and_then(Json::as_text) == Some(status);
        is_so.then_some(last)
    }

    fn count_time(&mut self, at: Timestamp) {
        if let Some(since) = self.document.started_at() {
            let total = at.since(since).as_secs_f64();
            self.document.set(&["metadata", "total_duration_seconds"], total);
        }
    }
}

/// Adds what a caller said to what the log says, which nobody else may write.
fn merge(object: &mut Object, more: Option<&Map<String, Value>>, kept: &[&str]) {
    let said = more.into_iter().flatten();
    for (key, value) in
        said.filter(|(key, value)| !value.is_null() && !kept.contains(&key.as_str()))
    {
        object.set(key, value);
    }
}
