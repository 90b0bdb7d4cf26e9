//! `phase_start`: a phase begins.

use engine::{Command, GatePolicy, Refusal, StartStep};

use super::{
    super::{answer::Failure, workspace::Pipeline},
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
        let is_early =
            matches!(refusal, Refusal::StepOutOfOrder { .. } | Refusal::GateNotAsked { .. });
        if is_early && self.phase == phase::IMPLEMENTATION && !has_tasks {
            return Some(format!("no tasks are initialised; {}", task::way_to_init(pipeline)));
        }
        phase::guard(pipeline, refusal)
    }
}
