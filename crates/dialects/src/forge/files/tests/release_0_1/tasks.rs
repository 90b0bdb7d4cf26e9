//! What happens to the parts of a run, as its tasks have it.

use definition::PartId;
use engine::{PartPlaced, Progress, Ruling};

use super::super::super::super::state_file::StateFile;

/// The phase in which tasks are built.
pub(super) const BUILDING: &str = "phase-5";
/// The phase in which they are judged.
pub(super) const JUDGING: &str = "phase-6";
/// The set of parts that are the tasks.
pub(super) const SET: &str = "tasks";

const PASSED: &str = "completed_pass";
const PASSED_WITH_NOTES: &str = "completed_pass_with_notes";
const REJECTED: &str = "completed_fail";

/// An attempt at a task was begun.
pub(super) fn start(document: &mut StateFile, step: &str, part: &PartId) -> bool {
    if step == BUILDING {
        document.set_task(part.as_str(), "implStatus", "in_progress");
    }
    step == BUILDING
}

/// A task was built. What a review said of it before says nothing any more.
pub(super) fn complete(document: &mut StateFile, step: &str, part: &PartId) -> bool {
    if step != BUILDING {
        return false;
    }
    let is_rejected = document.find_task(part.as_str()).is_some_and(|it| it.is_rejected());
    document.set_task(part.as_str(), "implStatus", "completed");
    if is_rejected {
        document.set_task(part.as_str(), "reviewStatus", "");
    }
    true
}

/// A task is to be built again. Where that is for a review, the review says so.
pub(super) fn reopen(document: &mut StateFile, step: &str, part: &PartId) -> bool {
    let is_rejected = document.find_task(part.as_str()).is_some_and(|it| it.is_rejected());
    let status = if is_rejected { "completed" } else { "" };
    match step {
        BUILDING => document.set_task(part.as_str(), "implStatus", status),
        JUDGING if !is_rejected => document.set_task(part.as_str(), "reviewStatus", ""),
        _ => return false,
    }
    true
}

/// A person did a task that is theirs, or let it be: nobody reviews it. What was not done has not
/// passed either.
pub(super) fn settle(document: &mut StateFile, part: &PartId, is_done: bool) {
    document.set_task(part.as_str(), "implStatus", "completed");
    document.set_task(part.as_str(), "reviewStatus", if is_done { PASSED } else { "" });
}

/// A review judged a task.
pub(super) fn judge(document: &mut StateFile, part: &PartId, verdict: &str, ruling: Ruling) {
    let key = part.as_str();
    if ruling == Ruling::Approved {
        document.set_task(key, "reviewStatus", passed(verdict));
        return;
    }
    // What was found wanting before, and not done again since, is not a further failure.
    if document.find_task(key).is_some_and(|it| it.is_rejected()) {
        return;
    }
    let retries = document.find_task(key).map_or(0, |it| it.count("implRetries"));
    document.set_task(key, "reviewStatus", REJECTED);
    document.set_task(key, "implRetries", retries.saturating_add(1));
}

/// Someone said how far a task is.
pub(super) fn place(document: &mut StateFile, placed: &PartPlaced) {
    let key = placed.part.as_str();
    let is_judging = placed.step.as_str() == JUDGING;
    if let Some(revisions) = placed.revisions {
        let field = if is_judging { "reviewRetries" } else { "implRetries" };
        document.set_task(key, field, u64::from(revisions));
    }
    for (field, word) in [("title", &placed.title), ("executionMode", &placed.mode)] {
        if let Some(word) = word {
            document.set_task(key, field, word.as_str());
        }
    }
    match (is_judging, &placed.verdict, placed.progress) {
        (true, Some(verdict), _) if verdict == "FAIL" => {
            document.set_task(key, "reviewStatus", REJECTED);
        }
        (true, Some(verdict), _) => document.set_task(key, "reviewStatus", passed(verdict)),
        (true, None, Some(progress)) => {
            document.set_task(key, "reviewStatus", judged(progress));
        }
        (false, _, Some(progress)) => document.set_task(key, "implStatus", built(progress)),
        (_, _, None) => {}
    }
}

/// A person's word lets a task pass, and does not make it flawless.
fn passed(verdict: &str) -> &'static str {
    if verdict == "PASS" { PASSED } else { PASSED_WITH_NOTES }
}

fn built(progress: Progress) -> &'static str {
    match progress {
        Progress::Idle | Progress::Rejected => "",
        Progress::Ready => "pending",
        Progress::Active => "in_progress",
        Progress::Done | Progress::Skipped => "completed",
    }
}

fn judged(progress: Progress) -> &'static str {
    match progress {
        Progress::Idle | Progress::Active => "",
        Progress::Ready => "pending",
        Progress::Done | Progress::Skipped => PASSED,
        Progress::Rejected => REJECTED,
    }
}
