//! Reads the cause of an event out of its words, for events that were stored before they had one.
//!
//! The only place that knows those words. They are what earlier releases wrote, so they never change.

use alloc::string::ToString as _;

use crate::{CompletedBy, FailCause, ReopenCause, Report, SkipCause, SkipReason};

pub(crate) fn skip_cause(reason: &str, why: SkipReason) -> Option<SkipCause> {
    if reason == "a caller asked for it" {
        return Some(SkipCause::Named);
    }
    if reason.starts_with("the run begins with `") {
        return Some(SkipCause::Range);
    }
    if reason.starts_with("a person answered `") {
        return Some(SkipCause::Person);
    }
    if reason.starts_with("flow `") {
        return Some(SkipCause::Flow);
    }
    if reason.ends_with("` does not hold") {
        return Some(SkipCause::NotMeant);
    }
    if reason.ends_with("` holds") {
        return Some(SkipCause::Condition);
    }
    match why {
        SkipReason::Definition => None,
        SkipReason::Caller => Some(SkipCause::Named),
        SkipReason::Person => Some(SkipCause::Person),
    }
}

pub(crate) fn reopen_cause(feedback: &str) -> Option<ReopenCause> {
    if let Some(path) = feedback.strip_prefix('`').and_then(|it| it.strip_suffix("` is gone")) {
        return Some(ReopenCause::FileGone { path: path.to_string() });
    }
    if feedback.starts_with("the parts break rules of the project; see `") {
        return Some(ReopenCause::Rules);
    }
    if feedback.starts_with('`') && feedback.contains("` says ") {
        return Some(ReopenCause::Review);
    }
    None
}

pub(crate) fn completed_by(report: &Report) -> CompletedBy {
    // An agent that reports says more than this, or something else.
    let is_bare = report.result.is_null() && report.details.is_null() && report.error.is_none();
    let message = report.message.as_deref().filter(|_| is_bare).unwrap_or_default();
    match message {
        "nothing of it is left to do" => CompletedBy::NothingLeft,
        "the step has no work of its own" => CompletedBy::NoWork,
        "it was approved" | "approved" => CompletedBy::Approved,
        "a person did it" => CompletedBy::Person,
        "the review was there already" => CompletedBy::FoundReview,
        "the run went on" => CompletedBy::PassedOver,
        _ if message.starts_with("all ") && message.ends_with(" parts are done") => {
            CompletedBy::Parts
        }
        _ if message.starts_with("chore `") && message.ends_with("` is done") => CompletedBy::Chore,
        _ => CompletedBy::Report,
    }
}

/// An attempt that nobody reported on failed by the clock.
pub(crate) fn step_fail_cause(report: Option<&Report>) -> FailCause {
    if report.is_some() { FailCause::Report } else { FailCause::Timeout }
}

pub(crate) fn run_fail_cause(reason: &str) -> Option<FailCause> {
    if reason.starts_with("step `") && reason.contains("` failed on its last attempt: ") {
        return Some(FailCause::AttemptsSpent);
    }
    if reason.starts_with("the review `") && reason.ends_with("` was not met") {
        return Some(FailCause::Review);
    }
    (reason.starts_with("step `") && reason.ends_with("` leads to failure"))
        .then_some(FailCause::Route)
}
