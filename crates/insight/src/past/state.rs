//! `state.json` as far as it matters afterwards. Anyone who asks reads it.

use super::{prices::Usage, record::Outcome};

/// Where a run is, and what it took.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SpecState {
    pub spec_name: String,
    pub effort: String,
    pub flow_template: String,
    /// The step it is at: `currentPhase`.
    pub step: String,
    /// How that stands: `currentPhaseStatus`.
    pub status: String,
    pub completed_steps: Vec<String>,
    pub skipped_steps: Vec<String>,
    pub design_revisions: u64,
    pub task_revisions: u64,
    /// How often work was done or reviewed again, over all parts.
    pub retries: u64,
    pub log: Vec<LogEntry>,
    pub created: String,
    pub last_updated: String,
}

/// A row of `phaseLog`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LogEntry {
    pub step: String,
    pub duration_ms: u64,
    pub usage: Usage,
}

impl SpecState {
    /// Returns how the run ended, or that it did not. Giving up leaves the step as it was, so the
    /// status counts first.
    pub fn outcome(&self) -> Outcome {
        match (self.step.as_str(), self.status.as_str()) {
            ("abandoned", _) | (_, "abandoned") => Outcome::Abandoned,
            (_, "failed") => Outcome::Failed,
            ("completed", _) | ("post-to-source", "completed") => Outcome::Completed,
            _ => Outcome::InProgress,
        }
    }

    /// Returns how many tokens it took.
    pub fn tokens(&self) -> u64 {
        self.log.iter().fold(0, |sum, it| sum.saturating_add(it.usage.tokens))
    }

    /// Returns how long its steps took together.
    pub fn duration_ms(&self) -> u64 {
        self.log.iter().fold(0, |sum, it| sum.saturating_add(it.duration_ms))
    }

    /// Returns what the model calls of each step took.
    pub fn usages(&self) -> impl Iterator<Item = &Usage> {
        self.log.iter().map(|it| &it.usage)
    }
}

#[cfg(test)]
mod tests {
    use super::{LogEntry, SpecState};
    use crate::past::{Outcome, Usage};

    #[test]
    fn what_is_too_much_to_add_up_is_the_most_there_is() {
        let usage = Usage { tokens: u64::MAX, ..Usage::default() };
        let entry = LogEntry { duration_ms: u64::MAX, usage, ..LogEntry::default() };
        let state = SpecState { log: vec![entry.clone(), entry], ..SpecState::default() };
        assert_eq!((state.tokens(), state.duration_ms()), (u64::MAX, u64::MAX));
    }

    #[test]
    fn an_abandoned_run_is_told_by_its_status() {
        let outcome = |step: &str, status: &str| {
            let (step, status) = (step.to_owned(), status.to_owned());
            SpecState { step, status, ..SpecState::default() }.outcome()
        };
        assert_eq!(outcome("phase-3", "abandoned"), Outcome::Abandoned);
        assert_eq!(outcome("abandoned", ""), Outcome::Abandoned);
        assert_eq!(outcome("phase-3", "failed"), Outcome::Failed);
        assert_eq!(outcome("completed", "completed"), Outcome::Completed);
        assert_eq!(outcome("completed", "pending"), Outcome::Completed);
        assert_eq!(outcome("phase-5", "pending"), Outcome::InProgress);
    }
}
