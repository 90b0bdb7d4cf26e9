//! A task as the tools are told it: its words for how far it is, and what they mean of a part.

use definition::{PartId, StepName};
use engine::{PartPlaced, Progress};

use super::phase::{IMPLEMENTATION, REVIEW};

pub(super) use super::super::state_file::{REVIEWS, SET, WORK};

/// How a task may be worked on. The empty word is as good as the first.
pub(super) const MODES: [&str; 4] = ["sequential", "parallel", "human_gate", ""];

/// Says nothing yet of the work on a task.
pub(super) fn work_on(task: &PartId) -> PartPlaced {
    PartPlaced::of(step(IMPLEMENTATION), task.clone())
}

/// Says nothing yet of the review of a task.
pub(super) fn review_of(task: &PartId) -> PartPlaced {
    PartPlaced::of(step(REVIEW), task.clone())
}

/// Says how far the work on a task is, by one of [`WORK`].
pub(super) fn worked(task: &PartId, status: &str) -> PartPlaced {
    let progress = match status {
        "completed" => Progress::Done,
        "in_progress" => Progress::Active,
        "pending" => Progress::Ready,
        _ => Progress::Idle,
    };
    PartPlaced { progress: Some(progress), ..work_on(task) }
}

/// Says what a review made of a task, by one of [`REVIEWS`].
pub(super) fn reviewed(task: &PartId, status: &str) -> PartPlaced {
    let (progress, verdict) = match status {
        "completed_pass" => (Progress::Done, Some("PASS")),
        "completed_pass_with_notes" => (Progress::Done, Some("PASS_WITH_NOTES")),
        "completed_fail" => (Progress::Rejected, Some("FAIL")),
        "pending" => (Progress::Ready, None),
        _ => (Progress::Idle, None),
    };
    let verdict = verdict.map(ToOwned::to_owned);
    PartPlaced { progress: Some(progress), verdict, ..review_of(task) }
}

fn step(name: &str) -> StepName {
    StepName::parse(name).expect("the names of the phases are fixed, and names of steps")
}
