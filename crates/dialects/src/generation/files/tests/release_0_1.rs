//! A scene's state file as release 0.1 wrote it, event by event. Nothing but the comparison uses it.

mod ends;
mod steps;

use engine::{Entry, Event, OpenGate, Recorded, RunStarted, Timestamp};
use serde_json::{Map, Value};

use super::super::{
    super::{
        document::Document,
        words::{ATTEMPTS_MAX, DRAFT, STEPS, Status, Step, StepStatus, session_id},
    },
    split,
};
use crate::kit::json::{Json, Object};

/// The word for a person being asked.
const REQUESTED: &str = "APPROVAL_REQUESTED";

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

/// Returns the word for what a person answered.
fn action(answer: &str) -> &str {
    match answer {
        "approve" => "APPROVED",
        "changes" => "CHANGES_REQUESTED",
        "stop" => "REJECTED",
        other => other,
    }
}
