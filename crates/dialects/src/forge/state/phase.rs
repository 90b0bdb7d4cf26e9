//! Phases as the tools are told them, and the guards that speak of them.

use definition::Step;
use engine::Refusal;

use super::super::{answer::Failure, workspace::Pipeline};

/// The phase that the tasks are built in.
pub(super) const IMPLEMENTATION: &str = "phase-5";
/// The phase that judges what was built.
pub(super) const REVIEW: &str = "phase-6";
/// What is said where a phase needs tasks, and there are none.
pub(super) const NO_TASKS: &str = "no tasks are initialised";
/// The file that has them.
const TASKS: &str = "tasks.md";
/// The checkpoints that a revision may be pending at, and the variables that say so.
pub(super) const CHECKPOINTS: [(&str, &str); 2] =
    [("checkpoint-a", "revision_pending_a"), ("checkpoint-b", "revision_pending_b")];
/// The phases that are to be logged before they are completed.
pub(super) const LOGGED: [&str; 8] = [
    "phase-1",
    "phase-2",
    "phase-3",
    "phase-3b",
    "phase-4",
    "phase-4b",
    "phase-7",
    "final-verification",
];

/// Returns the phase with this id.
pub(super) fn find<'a>(
    tool: &str,
    pipeline: &'a Pipeline,
    phase: &str,
) -> Result<&'a Step, Failure> {
    let steps = &pipeline.view.workflow.steps;
    steps.iter().find(|it| it.name.as_str() == phase).ok_or_else(|| {
        let ids: Vec<&str> = steps.iter().map(|it| it.name.as_str()).collect();
        let message = format!("{tool}: invalid phase `{phase}`");
        Failure::new("step_unknown", message, format!("one of: {}", ids.join(", ")))
    })
}

/// Returns the variable that says whether a revision is pending at a checkpoint.
pub(in crate::forge) fn pending_at(checkpoint: &str) -> Option<&'static str> {
    CHECKPOINTS.iter().find(|(it, _)| *it == checkpoint).map(|(_, var)| *var)
}

/// Returns what holds a pipeline back, where a refusal says that something does.
#[expect(clippy::wildcard_enum_match_arm, reason = "the others are no guards of a pipeline")]
pub(super) fn blocked(refusal: &Refusal) -> Option<String> {
    Some(match refusal {
        Refusal::ArtifactMissing { step, path } => {
            let path = if path.is_empty() { TASKS } else { path };
            format!("`{path}` must exist before `{step}` is completed")
        }
        Refusal::GateOpen { step, .. } => format!("`{step}` is awaiting_human"),
        Refusal::GateHeld { step, .. } => format!("a revision is pending at `{step}`"),
        Refusal::GateNotAsked { step, to } => format!("`{to}` lies behind `{step}`"),
        Refusal::GateNeedsPerson { step, .. } => format!("`{step}` is for the user to answer"),
        Refusal::StepOutOfOrder { step, before } => format!("`{step}` comes after `{before}`"),
        Refusal::StepPassed { step } => format!("`{step}` was passed"),
        Refusal::PartsUnknown { .. } => NO_TASKS.to_owned(),
        _ => return None,
    })
}
