//! How a scene ends, and is taken up again.

use engine::Timestamp;
use serde_json::{Map, Value};

use super::{
    super::super::super::words::{DRAFT, STEPS, Status, Step, StepStatus},
    State, find,
};
use crate::kit::json::Object;

/// What is known of a finished scene.
const METRICS: [&str; 5] = [
    "final_scene_path",
    "validation_report_path",
    "word_count",
    "total_duration_seconds",
    "retry_count",
];

impl State {
    pub(super) fn finish(&mut self, details: &Map<String, Value>, at: Timestamp) {
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

    pub(super) fn give_up(&mut self, step: Option<&str>, reason: &str, at: Timestamp) {
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

    pub(super) fn cancel(&mut self, reason: &str, at: Timestamp) {
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

    /// Anyone who ends a scene that waits for approval has not approved.
    fn reject(&mut self, reason: &str, at: Timestamp) {
        if self.document.status() == Some(Status::WaitingUserApproval) {
            let step = Step::find(self.document.current_step()).map_or("", |it| it.key);
            self.interact(step, ("REJECTED", reason), None, at);
        }
    }

    pub(super) fn resume(&mut self, forced: bool, at: Timestamp) {
        let point = self.document.missing_steps().next();
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
}
