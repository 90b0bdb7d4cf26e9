//! The work on steps and parts: found, ended, failed and taken up again.

use alloc::string::String;

use definition::{PartId, StepName};

use crate::{AttemptStatus, Effort, PartPlaced, Progress, Recorded, RunState, StepState};

/// An attempt that is under way when a run ends or is taken up again leads nowhere.
pub(super) fn interrupt(state: &mut RunState) {
    for step in state.steps.values_mut() {
        let step: &mut StepState = step;
        for effort in step.parts.values_mut().chain([&mut step.effort]) {
            if effort.progress == Progress::Active {
                effort.progress = Progress::Ready;
            }
        }
    }
}

/// A run that goes on again has nothing to retry: each step is begun as if it had not failed.
pub(super) fn forgive(state: &mut RunState) {
    let is_troubled = |it: &Effort| it.trouble != AttemptStatus::None;
    for step in state.steps.values_mut() {
        if !is_troubled(&step.effort) && !step.parts.values().any(is_troubled) {
            continue;
        }
        let step: &mut StepState = step;
        for effort in step.parts.values_mut().chain([&mut step.effort]) {
            effort.trouble = AttemptStatus::None;
        }
    }
}

/// A step that is done stays done, whatever is said of the run.
pub(super) fn fail(effort: &mut Effort, reason: &str, recorded: &Recorded) {
    if effort.progress.is_settled() {
        return;
    }
    if effort.progress == Progress::Active {
        end_attempt(effort, Progress::Ready, recorded);
    }
    effort.failure = Some(String::from(reason));
    effort.trouble = AttemptStatus::Failed;
}

/// An agent that reports without having said that it began has made one attempt all the same.
pub(super) fn end_attempt(effort: &mut Effort, progress: Progress, recorded: &Recorded) {
    if effort.progress != Progress::Active {
        effort.attempts += 1;
    }
    effort.progress = progress;
    effort.ended_at = Some(recorded.at);
    effort.since = Some(recorded.steady);
    effort.trouble = AttemptStatus::None;
}

pub(super) fn step_of<'a>(state: &'a mut RunState, step: &StepName) -> &'a mut StepState {
    state.steps.entry(step.clone()).or_default()
}

pub(super) fn effort_of<'a>(
    state: &'a mut RunState,
    step: &StepName,
    part: Option<&PartId>,
) -> &'a mut Effort {
    let step = step_of(state, step);
    match part {
        Some(part) => step.parts.entry(part.clone()).or_default(),
        None => &mut step.effort,
    }
}

/// Calls a part what it is to be called from now on.
pub(super) fn name_part(state: &mut RunState, placed: &PartPlaced) {
    for part in state.parts.values_mut().flatten().filter(|it| it.id == placed.part) {
        part.title = placed.title.clone().unwrap_or_else(|| part.title.clone());
        part.mode = placed.mode.clone().unwrap_or_else(|| part.mode.clone());
    }
}
