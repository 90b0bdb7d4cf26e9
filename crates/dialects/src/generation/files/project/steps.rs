//! What a file says of each step.

use definition::StepName;
use engine::{
    Attempt, AttemptEnd, AttemptOutcome, AttemptStatus, Begun, Mark, Progress, RunState, Visited,
    comes_again,
};
use serde_json::{Map, Value};

use super::{Base, find, lists::merge};
use crate::{
    generation::{
        document::Document,
        words::{FAST_CHECK, Step, StepStatus},
    },
    kit::json::Object,
};

/// The fields of a step's record that a caller does not write.
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

/// When something failed, why, and what was said with it.
type Failed<'a> = (Mark, &'a str, Option<&'a Map<String, Value>>);

/// What happened at a step since the text.
struct Past<'a> {
    starts: Vec<&'a Begun>,
    done: Vec<&'a AttemptEnd>,
    /// Its failures, and those of the run at it: when, why, and what was said with it.
    failures: Vec<Failed<'a>>,
    retry: Option<(Mark, &'a Map<String, Value>)>,
    interrupted: Option<Mark>,
    skipped: Option<(Mark, &'a str)>,
    /// The last failure of the step itself.
    failed_by: u64,
    is_reopened: bool,
}

impl Step {
    /// Returns what an attempt is called.
    pub(super) fn phase(&self, begun: &Begun) -> String {
        let said = begun.details.get("phase_name").and_then(Value::as_str);
        said.unwrap_or(self.title).to_owned()
    }
}

impl<'a> Base<'a> {
    /// Returns the starts of all steps since the text.
    pub(super) fn starts(&self) -> Vec<(&'static Step, &'a Begun)> {
        let attempts = self.history.attempts.iter();
        let attempts = attempts.filter_map(|(step, it)| Some((find(step)?, it)));
        let starts = attempts.flat_map(|(step, attempts)| {
            attempts.iter().flat_map(|it| &it.starts).map(move |it| (step, it))
        });
        starts.filter(|it| self.is_new(it.1.mark)).collect()
    }

    /// Returns how steps were completed since the text, in their order.
    pub(super) fn completions(&self) -> Vec<&'a AttemptEnd> {
        let ends = self.history.attempts.values().flatten().filter_map(|it| it.end.as_ref());
        let mut done: Vec<&AttemptEnd> =
            ends.filter(|it| it.how == AttemptOutcome::Done && self.is_new(it.mark)).collect();
        done.sort_by_key(|it| it.mark);
        done
    }

    pub(super) fn set_step(&self, document: &mut Document, step: &'static Step) {
        let Ok(name) = StepName::parse(step.key) else { return };
        let past = self.past(&name);
        let is_resumed = self.reopenings().any(|it| it.step.as_ref() == Some(&name));
        let has_parts = is_part_begun(self.state, &name);
        let is_known = self.document.step(step).is_present();
        if !is_known && !past.is_touched() && !is_resumed && !has_parts {
            return;
        }
        let status = self.status(&name);
        // A resume says again how far each step is, also where the text has a word of its own.
        let is_said = is_known && !past.is_touched() && self.reopenings().next().is_none();
        if !is_said || self.document.step(step).status() != status {
            document.step_mut(step).set("status", status.word());
        }
        let since = past.starts.last().map(|it| it.mark.at);
        let since = since.or_else(|| self.document.step(step).started_at());
        let record = document.step_mut(step);
        past.clear(record);
        past.set_starts(record, step);
        past.set_completion(record, since);
        past.set_failure(record);
        past.set_rest(record, step);
    }

    fn past(&self, step: &StepName) -> Past<'a> {
        let attempts: Vec<&'a Attempt> = self.history.attempts_at(step).collect();
        let ends = attempts.iter().filter_map(|it| it.end.as_ref());
        let ends: Vec<&'a AttemptEnd> = ends.filter(|it| self.is_new(it.mark)).collect();
        let starts = attempts.iter().flat_map(|it| &it.starts);
        let own = self.history.failures.iter().filter(|it| it.step == *step && it.part.is_none());
        let own = own.filter(|it| self.is_new(it.mark)).map(|it| {
            (it.mark, it.reason.as_str(), it.details.as_object().filter(|it| !it.is_empty()))
        });
        let own: Vec<_> = own.collect();
        let failed_by = own.last().map_or(0, |it| it.0.seq);
        let of_run = self.ends().filter(|it| it.fails_step && it.step.as_ref() == Some(step));
        let of_run = of_run.filter_map(|it| match &it.how {
            engine::Ending::Failed { reason } => Some((it.mark, reason.as_str(), None)),
            engine::Ending::Completed { .. } | engine::Ending::Cancelled { .. } => None,
        });
        let mut failures: Vec<_> = own.into_iter().chain(of_run).collect();
        failures.sort_by_key(|it| it.0);
        let retries = attempts.iter().filter_map(|it| Some((it.opened, &**it.retry.as_ref()?)));
        let here = || self.history.visits.iter().filter(|it| it.step == *step);
        let skipped = here().filter(|it| it.part.is_none() && self.is_new(it.mark));
        let mut skipped = skipped.filter_map(|it| match &it.what {
            Visited::Skipped { reason, .. } => Some((it.mark, reason.as_str())),
            Visited::Entered
            | Visited::Completed(_)
            | Visited::Reopened
            | Visited::Judged { .. } => None,
        });
        let mut interrupted = ends.iter().filter(|it| it.how == AttemptOutcome::Interrupted);
        Past {
            starts: starts.filter(|it| self.is_new(it.mark)).collect(),
            done: ends.iter().filter(|it| it.how == AttemptOutcome::Done).copied().collect(),
            failures,
            retry: retries.rev().find(|it| self.is_new(it.0)),
            interrupted: interrupted.next_back().map(|it| it.mark),
            skipped: skipped.next_back(),
            failed_by,
            is_reopened: here().any(|it| it.what == Visited::Reopened && self.is_new(it.mark)),
        }
    }

    fn status(&self, step: &StepName) -> StepStatus {
        let progress = self.state.progress(step);
        let is_resumed = self.reopenings().next().is_some();
        if is_resumed && progress.is_settled() && comes_again(self.workflow, self.state, step) {
            return StepStatus::Pending;
        }
        let trouble = self.state.effort(step, None).map(|it| it.trouble).unwrap_or_default();
        let mut failures = self.failures_of_run().map(|it| it.0).filter(|it| it.fails_step);
        let is_failed =
            trouble == AttemptStatus::Failed || failures.any(|it| it.step.as_ref() == Some(step));
        match progress {
            Progress::Done => StepStatus::Completed,
            Progress::Skipped => StepStatus::Skipped,
            Progress::Idle | Progress::Ready | Progress::Rejected | Progress::Active
                if is_failed =>
            {
                StepStatus::Failed
            }
            Progress::Active => StepStatus::InProgress,
            Progress::Idle | Progress::Ready | Progress::Rejected
                if is_part_begun(self.state, step) =>
            {
                StepStatus::InProgress
            }
            Progress::Idle | Progress::Ready | Progress::Rejected => StepStatus::Pending,
        }
    }
}

impl Past<'_> {
    fn is_touched(&self) -> bool {
        let has_work = !self.starts.is_empty() || !self.done.is_empty();
        has_work
            || !self.failures.is_empty()
            || self.retry.is_some()
            || self.skipped.is_some()
            || self.is_reopened
    }

    fn started_by(&self) -> u64 {
        self.starts.last().map_or(0, |it| it.mark.seq)
    }

    fn done_by(&self) -> u64 {
        self.done.last().map_or(0, |it| it.mark.seq)
    }

    /// Removes from the text what holds no more.
    fn clear(&self, record: &mut Object) {
        let by_start = ["completed_at", "duration_seconds", "skipped_reason"];
        if 0 < self.started_by() {
            by_start.iter().for_each(|it| drop(record.remove(it)));
        }
        if 0 < self.started_by().max(self.done_by()) {
            for key in ["failed_at", "failure_reason", "interrupted_at"] {
                record.remove(key);
            }
        }
        if 0 < self.started_by().max(self.done_by()).max(self.failed_by) {
            record.remove("retry_metadata");
        }
    }

    fn set_starts(&self, record: &mut Object, step: &Step) {
        let Some(last) = self.starts.last() else { return };
        record.set("started_at", last.mark.at.to_string());
        record.set("phase_name", step.phase(last));
        let mut agents = self.starts.iter().rev().filter_map(|it| it.details.get("agent_name"));
        if let Some(agent) = agents.find_map(Value::as_str) {
            record.set("agent_used", agent);
        }
        for begun in &self.starts {
            let said = begun.details.get("metadata").and_then(Value::as_object);
            merge(record, said, &STEP_FIELDS);
        }
    }

    fn set_completion(&self, record: &mut Object, since: Option<engine::Timestamp>) {
        if let Some(done) = self.done.last().filter(|it| self.started_by() < it.mark.seq) {
            record.set("completed_at", done.mark.at.to_string());
            let took = done.details.get("duration_seconds").and_then(Value::as_f64);
            let took = took.or_else(|| Some(done.mark.at.since(since?).as_secs_f64()));
            if let Some(took) = took {
                record.set("duration_seconds", took);
            }
        }
        if let Some(metadata) = self.metadata() {
            record.set("metadata", metadata);
        }
        let artifacts = self
            .done
            .iter()
            .rev()
            .find_map(|it| it.details.get("artifacts").filter(|it| it.is_object()));
        if let Some(artifacts) = artifacts {
            record.set("artifacts", artifacts);
        }
    }

    /// Returns what was last said with the end of an attempt.
    fn metadata(&self) -> Option<Value> {
        let done =
            self.done.iter().filter_map(|it| Some((it.mark, it.details.get("metadata")?.clone())));
        let failures = self.failures.iter();
        let failures = failures.filter_map(|it| Some((it.0, Value::Object(it.2?.clone()))));
        done.chain(failures).max_by_key(|it| it.0).map(|it| it.1)
    }

    fn set_failure(&self, record: &mut Object) {
        let last = self.failures.last();
        let is_over = self.started_by().max(self.done_by());
        if let Some((mark, reason, _)) = last.filter(|it| is_over < it.0.seq) {
            record.set("failed_at", mark.at.to_string());
            record.set("failure_reason", *reason);
        }
        for (_, _, details) in &self.failures {
            merge(record, *details, &STEP_FIELDS);
        }
    }

    fn set_rest(&self, record: &mut Object, step: &Step) {
        let is_over = self.started_by().max(self.done_by());
        let retry = self.retry.filter(|it| is_over.max(self.failed_by) < it.0.seq);
        if let Some((_, details)) = retry {
            record.set("retry_metadata", Value::Object(details.clone()));
        }
        if let Some(mark) = self.interrupted.filter(|it| is_over < it.seq) {
            record.set("interrupted_at", mark.at.to_string());
        }
        if let Some((_, reason)) = self.skipped.filter(|it| self.started_by() < it.0.seq) {
            let is_folded = step.number == FAST_CHECK;
            record.set("skipped_reason", if is_folded { "folded into step 4" } else { reason });
        }
    }
}

/// Whether someone has taken up a part of a step.
fn is_part_begun(state: &RunState, step: &StepName) -> bool {
    let parts = state.step(step).into_iter().flat_map(|it| it.parts.values());
    parts.into_iter().any(|it| 0 < it.attempts || it.progress.is_settled())
}
