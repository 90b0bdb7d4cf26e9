//! A scene's state file as release 0.1 wrote it, event by event. Nothing but the comparison uses it.

use engine::{Entry, Event, OpenGate, Recorded, Report, RunStarted, StepCompleted, Timestamp};
use serde_json::{Map, Value};

use super::super::{
    super::{
        document::Document,
        words::{ATTEMPTS_MAX, DRAFT, FAST_CHECK, STEPS, Status, Step, StepStatus, session_id},
    },
    split,
};
use crate::toolsets::json::{Json, Object};

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
/// The word for a person being asked.
const REQUESTED: &str = "APPROVAL_REQUESTED";
/// What is known of a finished scene.
const METRICS: [&str; 5] = [
    "final_scene_path",
    "validation_report_path",
    "word_count",
    "total_duration_seconds",
    "retry_count",
];

/// The state file of one run in the making.
#[derive(Default)]
pub(super) struct State {
    document: Document,
    /// What someone wrote, until the next event: until then it stays as it was written.
    written: Option<String>,
}

impl State {
    /// Takes the next event of the log in.
    pub(super) fn apply(&mut self, recorded: &Recorded) {
        if let Event::RunPlaced(placement) = &recorded.event {
            self.document = Document::parse(&placement.text).unwrap_or_default();
            self.written = Some(placement.text.clone());
            return;
        }
        if self.write(recorded) {
            self.written = None;
            self.document.set(&["updated_at"], recorded.at.to_string());
            let revision = revision(&self.document).unwrap_or_default() + 1;
            self.document.set(&["revision"], revision);
        }
    }

    /// Returns what the file says.
    pub(super) fn text(&self) -> String {
        self.written.clone().unwrap_or_else(|| self.document.render())
    }
}

/// Returns how often a document was written, as it says itself.
fn revision(document: &Document) -> Option<u64> {
    document.object().get("revision").and_then(Json::as_count)
}

impl State {
    /// Writes an event down, and returns whether there was anything to write.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the file has a place for these only")]
    fn write(&mut self, recorded: &Recorded) -> bool {
        let at = recorded.at;
        match &recorded.event {
            Event::RunStarted(started) => self.begin(started, at),
            Event::StepEntered { step, .. } => return self.enter(step.as_str()),
            Event::StepStarted { step, details, .. } => self.start(step.as_str(), details, at),
            Event::StepCompleted(completed) if completed.part.is_none() => {
                self.complete(completed, at);
            }
            Event::StepSkipped { step, part: None, reason, .. } => self.skip(step.as_str(), reason),
            Event::StepFailed { step, reason, report, .. } => {
                self.fail(step.as_str(), reason, report.as_ref(), at);
            }
            Event::StepReopened { step, .. } => self.set_step(step.as_str(), StepStatus::Pending),
            Event::StepRetried { step, details } => {
                self.set_step(step.as_str(), StepStatus::Pending);
                let metadata = Json::from(Value::Object(details.clone()));
                self.with_step(step.as_str(), |it| it.set("retry_metadata", metadata));
                if find(step.as_str()).is_some_and(|it| it.number == DRAFT) {
                    self.open_attempt(at);
                }
            }
            Event::GateOpened(gate) => return self.ask(gate, at),
            Event::GateAnswered { how: engine::How::Automatic, .. } => return false,
            Event::GateAnswered { step, answer, feedback, by, .. } => {
                self.set_status(Status::InProgress);
                // Who was asked and answered at once was not asked at all.
                if !self.unask(at) {
                    self.interact(step.as_str(), (action(answer), feedback), Some(by), at);
                }
            }
            Event::GateWithdrawn { step } => {
                self.set_status(Status::InProgress);
                self.interact(step.as_str(), ("APPROVAL_WITHDRAWN", ""), None, at);
            }
            Event::ContextChanged { set, .. } => return self.keep_paths(set),
            Event::EntryRecorded { step, entry } => return self.note(step.as_str(), entry, at),
            Event::RunCompleted { details } => self.finish(details, at),
            Event::RunFailed { reason, step, .. } => {
                self.give_up(step.as_ref().map(definition::StepName::as_str), reason, at);
            }
            Event::RunCancelled { reason } => self.cancel(reason, at),
            Event::RunReopened { forced, .. } => self.resume(*forced, at),
            _ => return false,
        }
        true
    }

    fn begin(&mut self, started: &RunStarted, at: Timestamp) {
        let scene = split(started.key.as_deref().unwrap_or_default()).0;
        let text = |key: &str| started.context.get(key).and_then(Value::as_str);
        let given = started.context.get("metadata").and_then(Value::as_object);
        let mut metadata: Object =
            [("initiated_by", text("initiated_by").unwrap_or("generation-coordinator"))]
                .into_iter()
                .collect();
        metadata.set("total_duration_seconds", 0_u64);
        for (key, value) in given.into_iter().flatten() {
            if metadata.get(key).is_none() {
                metadata.set(key, value);
            }
        }
        let document = &mut self.document;
        document.set(&["scene_id"], scene);
        document.set(&["session_id"], session_id(at, scene));
        document.set(&["started_at"], at.to_string());
        document.set(&["updated_at"], at.to_string());
        document.set(&["current_phase"], "INITIALIZED");
        document.set(&["current_step"], Json::Null);
        document.set(&["workflow_status"], Status::InProgress.word());
        document.set(&["steps"], Object::new());
        document.set(&["generation_attempts", "current_attempt"], 0_u64);
        document.set(&["generation_attempts", "max_attempts"], ATTEMPTS_MAX);
        document.set(&["generation_attempts", "attempts_history"], Vec::new());
        document.set(&["artifacts"], Object::new());
        document.set(&["user_interactions"], Vec::new());
        document.set(&["user_questions"], Vec::new());
        document.set(&["errors"], Vec::new());
        document.set(&["metadata"], metadata);
        self.keep_paths(&started.context);
    }

    /// The first step is only where the run is once it was started.
    fn enter(&mut self, step: &str) -> bool {
        let is_begun = self.document.object().get("current_step").is_some_and(|it| !it.is_null());
        if is_begun {
            self.set_current(step);
        }
        is_begun
    }

    fn start(&mut self, name: &str, details: &Map<String, Value>, at: Timestamp) {
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

    fn complete(&mut self, completed: &StepCompleted, at: Timestamp) {
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

    fn skip(&mut self, name: &str, reason: &str) {
        let is_folded = find(name).is_some_and(|it| it.number == FAST_CHECK);
        let reason = if is_folded { "folded into step 4" } else { reason };
        self.set_step(name, StepStatus::Skipped);
        self.with_step(name, |it| it.set("skipped_reason", reason));
    }

    fn fail(&mut self, name: &str, reason: &str, report: Option<&Report>, at: Timestamp) {
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

    fn add_error(
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

    /// Asks for approval. A state that was found waiting waits already.
    fn ask(&mut self, gate: &OpenGate, at: Timestamp) -> bool {
        let is_waiting = self.document.status() == Some(Status::WaitingUserApproval);
        if self.written.is_some() && is_waiting {
            return false;
        }
        self.set_status(Status::WaitingUserApproval);
        self.interact(gate.step.as_str(), (REQUESTED, &gate.ask), None, at);
        true
    }

    /// Takes back a request for approval that was made in this very moment.
    fn unask(&mut self, at: Timestamp) -> bool {
        let now = at.to_string();
        let Some(entries) = self.document.list_mut(&["user_interactions"]) else { return false };
        let is_now = entries.last().and_then(Json::as_object).is_some_and(|it| {
            let text = |key| it.get(key).and_then(Json::as_text);
            text("action") == Some(REQUESTED) && text("timestamp") == Some(now.as_str())
        });
        if is_now {
            entries.pop();
        }
        is_now
    }

    fn interact(
        &mut self,
        step: &str,
        (action, message): (&str, &str),
        by: Option<&str>,
        at: Timestamp,
    ) {
        let mut entry = Object::new();
        entry.set("step", find(step).map(|it| it.number));
        entry.set("timestamp", at.to_string());
        entry.set("action", action);
        entry.set("message", message);
        if let Some(by) = by {
            entry.set("by", by);
        }
        self.document.push(&["user_interactions"], entry);
    }

    /// Keeps the paths of a context among the artifacts.
    fn keep_paths(&mut self, context: &Map<String, Value>) -> bool {
        let is_path =
            |(key, value): &(&String, &Value)| key.ends_with("_path") && value.is_string();
        let artifacts = self.document.object_mut(&["artifacts"]);
        let mut has_news = false;
        for (key, path) in context.iter().filter(is_path) {
            has_news |= artifacts.get(key).and_then(Json::as_text) != path.as_str();
            artifacts.set(key, path);
        }
        has_news
    }

    fn note(&mut self, step: &str, entry: &Entry, at: Timestamp) -> bool {
        match entry {
            Entry::Error { message, severity, details } => {
                let Some(step) = find(step) else { return false };
                let mut more = details.clone();
                if let Some(severity) = severity {
                    more.insert("severity".to_owned(), severity.as_str().into());
                }
                self.add_error(step, message, Some(&more), at);
                // Of an error that is handed in later it may be known when it was.
                if let Some(then) = details.get("timestamp").and_then(Value::as_str) {
                    let errors = self.document.list_mut(&["errors"]);
                    if let Some(Json::Object(entry)) = errors.and_then(|it| it.last_mut()) {
                        entry.set("timestamp", then);
                    }
                }
            }
            Entry::Question { question, answer, answered_at } => {
                let timestamp = answered_at.clone().unwrap_or_else(|| at.to_string());
                let mut entry = Object::new();
                entry.set("question", question.as_str());
                entry.set("answer", answer.as_str());
                entry.set("timestamp", timestamp);
                self.document.push(&["user_questions"], entry);
            }
            Entry::Metric { .. } | Entry::Usage { .. } | Entry::Note { .. } => return false,
        }
        true
    }

    fn finish(&mut self, details: &Map<String, Value>, at: Timestamp) {
        self.set_status(Status::Completed);
        self.document.set(&["completed_at"], at.to_string());
        self.document.set(&["current_phase"], Status::Completed.word());
        self.document.set(&["current_step"], STEPS.len() as u64);
        for key in METRICS {
            let Some(value) = details.get(key).filter(|it| !it.is_null()) else { continue };
            self.document.set(&["completion_metrics", key], value);
            match key {
                "final_scene_path" | "validation_report_path" => {
                    self.document.set(&["artifacts", key], value);
                }
                "word_count" => self.document.set(&["metadata", "final_word_count"], value),
                "total_duration_seconds" => self.document.set(&["metadata", key], value),
                _ => self.document.set(&["metadata", "generation_retries"], value),
            }
        }
    }

    fn give_up(&mut self, step: Option<&str>, reason: &str, at: Timestamp) {
        let is_again = self.document.status() == Some(Status::Failed);
        self.reject(reason, at);
        self.set_status(Status::Failed);
        self.document.set(&["failure_reason"], reason);
        if is_again {
            return;
        }
        let step = step.and_then(find).or_else(|| Step::find(self.document.current_step()));
        let Some(step) = step else { return };
        self.document.set(&["failed_at_step"], step.number);
        self.document.set(&["current_step"], step.number);
        if step.number == DRAFT {
            self.close_attempt("FAILED", Some((reason, false)), at);
        }
        if !self.document.step(step).status().is_done() {
            let record = self.document.step_mut(step);
            record.set("status", StepStatus::Failed.word());
            record.set("failed_at", at.to_string());
            record.set("failure_reason", reason);
        }
    }

    fn cancel(&mut self, reason: &str, at: Timestamp) {
        let before = self.document.shown("workflow_status").to_owned();
        self.reject(reason, at);
        self.close_attempt("CANCELLED", Some((reason, false)), at);
        self.set_status(Status::Cancelled);
        self.document.set(&["cancellation_reason"], reason);
        self.document.set(&["cancelled_at"], at.to_string());
        self.document.set(&["cancelled_from"], before);
        for step in &STEPS {
            if self.document.step(step).status() == StepStatus::InProgress {
                let record = self.document.step_mut(step);
                record.set("status", StepStatus::Pending.word());
                record.set("interrupted_at", at.to_string());
            }
        }
    }

    /// Whoever ends a scene that waits for approval has not approved.
    fn reject(&mut self, reason: &str, at: Timestamp) {
        if self.document.status() == Some(Status::WaitingUserApproval) {
            let step = Step::find(self.document.current_step()).map_or("", |it| it.key);
            self.interact(step, ("REJECTED", reason), None, at);
        }
    }

    fn resume(&mut self, forced: bool, at: Timestamp) {
        let point = self.document.recovery().point;
        let mut entry = Object::new();
        entry.set("resumed_at", at.to_string());
        entry.set("from_step", point.map(|it| it.number));
        entry.set("previous_status", self.document.shown("workflow_status"));
        entry.set("reason", self.document.reason());
        entry.set("forced", forced);
        self.document.push(&["resume_history"], entry);
        if self.document.status() == Some(Status::WaitingUserApproval) {
            let step = Step::find(self.document.current_step()).map_or("", |it| it.key);
            self.interact(step, ("APPROVAL_WITHDRAWN", ""), None, at);
        }
        self.set_status(Status::InProgress);
        for key in ["failed_at_step", "failure_reason", "cancellation_reason", "cancelled_at"]
            .into_iter()
            .chain(["cancelled_from"])
        {
            self.document.remove(key);
        }
        self.document.set(&["generation_attempts", "current_attempt"], 0_u64);
        let Some(point) = point else { return };
        self.document.set(&["current_step"], point.number);
        self.document.set(&["current_phase"], point.title);
        for step in STEPS.iter().filter(|it| point.number <= it.number) {
            if step == point || self.document.step(step).is_present() {
                self.document.step_mut(step).set("status", StepStatus::Pending.word());
            }
        }
    }

    /// Begins an attempt at the draft, unless one is under way.
    fn open_attempt(&mut self, at: Timestamp) {
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
    fn close_attempt(&mut self, status: &str, error: Option<(&str, bool)>, at: Timestamp) {
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

    fn set_status(&mut self, status: Status) {
        self.document.set(&["workflow_status"], status.word());
    }

    fn set_current(&mut self, step: &str) {
        if let Some(step) = find(step) {
            self.document.set(&["current_step"], step.number);
        }
    }

    fn set_step(&mut self, step: &str, status: StepStatus) {
        self.with_step(step, |it| it.set("status", status.word()));
    }

    fn with_step(&mut self, step: &str, change: impl FnOnce(&mut Object)) {
        if let Some(step) = find(step) {
            change(self.document.step_mut(step));
        }
    }
}

/// Returns the step that the definition calls so.
fn find(name: &str) -> Option<&'static Step> {
    STEPS.iter().find(|it| it.key == name)
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

/// Returns the word for what a person answered.
fn action(answer: &str) -> &str {
    match answer {
        "approve" => "APPROVED",
        "changes" => "CHANGES_REQUESTED",
        "stop" => "REJECTED",
        other => other,
    }
}
