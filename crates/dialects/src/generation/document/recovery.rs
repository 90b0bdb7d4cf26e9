//! Where a generation that was stopped would go on, and what it need not do again.

use core::time::Duration;

use engine::Timestamp;

use super::Document;
use crate::generation::words::{STEPS, Status, Step, StepStatus};

/// After how long a state may not fit its blueprint any more.
const FRESH: Duration = Duration::from_hours(24);

/// What a resume would do.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Recovery {
    /// The step that the run is at; `None` where all are done.
    pub(crate) point: Option<&'static Step>,
    /// The completed steps before that.
    pub(crate) completed: Vec<&'static Step>,
    /// What these took.
    pub(crate) saved_seconds: f64,
}

impl Document {
    /// Returns what a resume at `point` would do. Only the steps before that count as done.
    pub(crate) fn recovery(&self, point: Option<&'static Step>) -> Recovery {
        let is_before = |it: &&Step| point.is_none_or(|point| it.number < point.number);
        let is_completed = |it: &&Step| self.step(it).status() == StepStatus::Completed;
        let completed: Vec<&'static Step> =
            STEPS.iter().filter(is_before).filter(is_completed).collect();
        let saved_seconds = completed.iter().map(|it| self.step(it).duration_seconds()).sum();
        Recovery { point, completed, saved_seconds }
    }

    /// Returns why the generation stopped.
    pub(crate) fn reason(&self) -> &str {
        let failure = self.find_text("failure_reason");
        let failure = failure.or_else(|| self.errors().rev().flatten().next());
        failure.or_else(|| self.find_text("cancellation_reason")).unwrap_or("Unknown")
    }

    /// Returns why it was cancelled, if it was.
    pub(crate) fn cancellation(&self) -> Option<&str> {
        let is_cancelled = self.status() == Some(Status::Cancelled);
        self.find_text("cancellation_reason").filter(|_| is_cancelled)
    }

    /// Returns how many hours old the state is, if that is more than a day.
    pub(crate) fn stale_hours(&self, now: Timestamp) -> Option<u64> {
        let age = now.since(self.updated_at()?);
        (FRESH < age).then_some(age.as_secs() / 3600)
    }
}
