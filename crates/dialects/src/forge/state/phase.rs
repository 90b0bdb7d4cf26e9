//! Phases as the tools are told them, and the guards that speak of them.

use definition::Step;
use engine::Refusal;

use super::{
    super::{answer::Failure, way_out, workspace::Pipeline},
    task,
};

/// The phase that the tasks are built in.
pub(super) const IMPLEMENTATION: &str = "phase-5";
/// The phase that judges what was built.
pub(super) const REVIEW: &str = "phase-6";
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

/// Returns the words of the guards that hold wherever a pipeline is moved.
pub(super) fn guard(pipeline: &Pipeline, refusal: &Refusal) -> Option<String> {
    let words = if let Refusal::ArtifactMissing { step, path } = refusal {
        format!("`{path}` must exist before `{step}` is completed; write it first")
    } else if let Refusal::GateOpen { step, .. } = refusal {
        let way_out = way_out::hint_at(refusal, pipeline);
        format!("`{step}` is awaiting_human; {way_out}")
    } else if let Refusal::GateHeld { step, .. } = refusal {
        let way_out = way_out::hint_at(refusal, pipeline);
        format!("a revision is pending at `{step}`; {way_out}")
    } else if let Refusal::GateNotAsked { step, to } = refusal {
        format!("`{to}` lies behind `{step}`; {}", way_out::first(pipeline, to))
    } else if let Refusal::GateNeedsPerson { step, is_asked: false, .. } = refusal {
        format!("at `{step}` only the user's own answer counts; {}", way_out::first(pipeline, step))
    } else if let Refusal::GateNeedsPerson { step, .. } = refusal {
        format!("at `{step}` only the user's own answer counts; have them run `milepost gate`")
    } else if let Refusal::StepOutOfOrder { step, before } = refusal {
        format!("`{step}` comes after `{before}`; {}", way_out::first(pipeline, step))
    } else if let Refusal::StepPassed { step } = refusal {
        format!("`{step}` was passed; leave it as it is")
    } else if let Refusal::PartsUnknown { .. } = refusal {
        format!("no tasks are initialised; {}", task::way_to_init(pipeline))
    } else {
        return None;
    };
    Some(words)
}
