//! `phase_start`: a phase begins.

use definition::StepName;
use engine::{Command, GatePolicy, Refusal, StartStep};

use super::{
    super::{answer::Failure, way_out, workspace::Pipeline},
    change::{Card as _, Change, card, taken_up},
    phase, task,
};
use crate::kit::Hints;

card! {
    PhaseStart "phase_start" "Start a phase"
    "Say that work on a phase begins: the next one, or an earlier one again."
    Hints::ADDS;
    /// Its id
    phase: String,
}

impl Change for PhaseStart {
    fn command(&self, pipeline: &Pipeline) -> Result<Command, Failure> {
        let step = phase::find(Self::NAME, pipeline, &self.phase)?.name.to_string();
        let start = StartStep { step: step.clone(), again: true, ..StartStep::default() };
        let go = Command::GoTo { step, passing: GatePolicy::InOrder };
        let both = Command::All(vec![go, Command::StartStep(start)]);
        Ok(taken_up(pipeline, vec![Command::StopAtNextStep(both.into())]))
    }

    fn guard(&self, pipeline: &Pipeline, refusal: &Refusal) -> Option<String> {
        if let Refusal::GateOpen { step, .. } = refusal
            && step.as_str() == self.phase
        {
            return Some(format!("`{step}` is for the user; call `checkpoint`, and ask them"));
        }
        let has_tasks = pipeline.view.state.parts.get(task::SET).is_some_and(|it| !it.is_empty());
        match find_before(refusal) {
            Some(before) if self.phase == phase::IMPLEMENTATION && !has_tasks => {
                let way_out = way_out::first(&pipeline.view, before);
                Some(format!("no tasks are initialised; {way_out}, and then call `task_init`"))
            }
            Some(_) | None => phase::guard(pipeline, refusal),
        }
    }
}

/// Returns the phase that comes before the one that is refused.
fn find_before(refusal: &Refusal) -> Option<&StepName> {
    if let Refusal::StepOutOfOrder { before, .. } = refusal {
        return Some(before);
    }
    if let Refusal::GateNotAsked { step, .. } = refusal { Some(step) } else { None }
}
