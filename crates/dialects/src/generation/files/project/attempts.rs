//! The attempts at the draft. A check that finds the draft wanting ends its attempt too.

use definition::{StepName, Workflow};
use engine::{Attempt, AttemptOutcome, Ending, Mark};

use super::{
    super::super::words::{ATTEMPTS_MAX, DRAFT, FAST_CHECK, STEPS, Step},
    Base,
};
use crate::{
    generation::document::Document,
    kit::json::{Json, Object},
};

/// Returns how many attempts at the draft are meant to be enough.
pub(super) fn max(workflow: &Workflow) -> u64 {
    let draft = name(DRAFT).and_then(|it| workflow.find_step(&it));
    let attempts = draft.and_then(|it| it.attempts.as_ref());
    attempts.map_or(ATTEMPTS_MAX, |it| u64::from(it.max))
}

impl Base<'_> {
    pub(super) fn set_attempts(&self, document: &mut Document) {
        let Some(draft) = name(DRAFT) else { return };
        let attempts: Vec<&Attempt> = self.history.attempts_at(&draft).collect();
        let mut count = self.document.find_in("generation_attempts", "current_attempt");
        let mut count = count.take().and_then(Json::as_count).unwrap_or_default();
        let mut resumes = self.reopenings().map(|it| it.mark.seq).peekable();
        if resumes.peek().is_some() {
            document.set(&["generation_attempts", "current_attempt"], 0_u64);
        }
        for (place, attempt) in attempts.iter().enumerate() {
            let next = attempts.get(place + 1).map_or(u64::MAX, |it| it.opened.seq);
            let span = (attempt.opened.seq, next);
            if let Some(opened) = self.find_opening(document, attempt) {
                while resumes.next_if(|it| *it < opened.seq).is_some() {
                    count = 0;
                }
                count += 1;
                open(document, count, opened);
                if document.find_in("generation_attempts", "max_attempts").is_none() {
                    document.set(&["generation_attempts", "max_attempts"], max(self.workflow));
                }
            } else if self.is_new(attempt.opened) {
                continue;
            }
            self.close_attempt(document, attempt, span);
        }
        if resumes.next().is_some() {
            document.set(&["generation_attempts", "current_attempt"], 0_u64);
        }
        if attempts.is_empty() {
            self.close_unknown(document);
        }
    }

    /// Returns when an attempt began that the document does not list yet. One that nobody began is
    /// not listed.
    fn find_opening(&self, document: &Document, attempt: &Attempt) -> Option<Mark> {
        let first = attempt.starts.first().map(|it| it.mark).filter(|it| self.is_new(*it));
        if self.is_new(attempt.opened) {
            return first
                .or(attempt.retry.as_ref().map(|_| attempt.opened))
                .map(|_| attempt.opened);
        }
        // The text says that the step is under way, but lists no attempt that is.
        first.filter(|_| last_status(document) != Some("IN_PROGRESS"))
    }

    /// Ends the last attempt that the document lists, as far as something ended it.
    fn close_attempt(&self, document: &mut Document, attempt: &Attempt, span: (u64, u64)) {
        let mut ends: Vec<(Mark, &str, Option<String>)> = Vec::new();
        if let Some((mark, message)) = &attempt.fault {
            ends.push((*mark, "FAILED", Some(message.clone())));
        }
        if let Some(end) = &attempt.end {
            let reason = self.reason_at(end.mark);
            ends.push(match end.how {
                AttemptOutcome::Done => (end.mark, "SUCCESS", None),
                AttemptOutcome::Failed => (end.mark, "FAILED", reason),
                AttemptOutcome::Interrupted | AttemptOutcome::Dropped if reason.is_some() => {
                    (end.mark, "CANCELLED", reason)
                }
                // A resume ended it: it was stopped by what stopped the run.
                AttemptOutcome::Interrupted | AttemptOutcome::Dropped => {
                    (end.mark, "FAILED", Some(self.reason_before(end.mark, self.seq, true)))
                }
            });
        }
        ends.extend(self.checks_failed(span).map(|(at, said)| (at, "FAILED", Some(said))));
        ends.retain(|it| self.is_new(it.0));
        ends.sort_by_key(|it| it.0);
        for (mark, status, error) in ends {
            let is_check = status == "FAILED" && !self.is_of_draft(mark, attempt);
            close(document, (status, error), is_check, mark);
        }
    }

    /// What ended no attempt that the run knows of may still end one that the text lists.
    fn close_unknown(&self, document: &mut Document) {
        let checks = self.checks_failed((self.seq, u64::MAX));
        for (mark, said) in checks.collect::<Vec<_>>() {
            close(document, ("FAILED", Some(said)), true, mark);
        }
    }

    fn is_of_draft(&self, mark: Mark, attempt: &Attempt) -> bool {
        let is_fault = attempt.fault.as_ref().is_some_and(|it| it.0 == mark);
        is_fault || attempt.end.as_ref().is_some_and(|it| it.mark == mark)
    }

    /// Returns when the check failed within a span of events, and why.
    fn checks_failed(&self, span: (u64, u64)) -> impl Iterator<Item = (Mark, String)> {
        let check = name(FAST_CHECK);
        let errors = self.errors().into_iter();
        let errors = errors.filter(move |it| Some(it.step) == check.as_ref());
        let said: Vec<_> = errors.map(|it| (it.mark, it.message.to_owned())).collect();
        said.into_iter().filter(move |it| span.0 < it.0.seq && it.0.seq < span.1)
    }

    /// Returns why a step or the run ended by this event.
    fn reason_at(&self, mark: Mark) -> Option<String> {
        let failure = self.history.failures.iter().find(|it| it.mark == mark);
        let ended = self.history.ends.iter().find(|it| it.mark == mark);
        let ended = ended.and_then(|it| match &it.how {
            Ending::Failed { reason } | Ending::Cancelled { reason } => Some(reason.clone()),
            Ending::Completed { .. } => None,
        });
        failure.map(|it| it.reason.clone()).or(ended)
    }
}

/// Lists an attempt as begun.
fn open(document: &mut Document, count: u64, mark: Mark) {
    let mut entry = Object::new();
    entry.set("attempt", count);
    entry.set("started_at", mark.at.to_string());
    entry.set("status", "IN_PROGRESS");
    document.push(&["generation_attempts", "attempts_history"], entry);
    document.set(&["generation_attempts", "current_attempt"], count);
}

fn last_status(document: &Document) -> Option<&str> {
    let history = document.find_in("generation_attempts", "attempts_history")?.as_list()?;
    history.last()?.as_object()?.get("status")?.as_text()
}

/// Ends the last attempt of a document if it is open, or if it went well and a check says otherwise.
fn close(document: &mut Document, said: (&str, Option<String>), is_check: bool, mark: Mark) {
    let history = document.list_mut(&["generation_attempts", "attempts_history"]);
    let Some(Json::Object(last)) = history.and_then(|it| it.last_mut()) else { return };
    match last.get("status").and_then(Json::as_text) {
        Some("IN_PROGRESS") => {}
        Some("SUCCESS") if is_check => {}
        _ => return,
    }
    last.set("completed_at", mark.at.to_string());
    last.set("status", said.0);
    if let Some(error) = said.1 {
        last.set("error", error);
    }
}

fn name(number: u8) -> Option<StepName> {
    let step: Option<&Step> = STEPS.iter().find(|it| it.number == number);
    step.and_then(|it| StepName::parse(it.key).ok())
}
