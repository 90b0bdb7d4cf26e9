//! `phase_start`: a phase begins.

use engine::{Command, Refusal};

use super::{
    super::{answer::Failure, way_out, workspace::Pipeline},
    change::{Card as _, Change, card},
    moves::Move,
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
        let step = phase::find(Self::NAME, pipeline, &self.phase)?;
        Ok(Move::Start.at(step, &pipeline.view))
    }

    fn guard(&self, pipeline: &Pipeline, refusal: &Refusal) -> Option<(String, String)> {
        if let Refusal::GateOpen { step, .. } = refusal
            && step.as_str() == self.phase
            && let Some(asking) = pipeline.view.workflow.find_step(step)
        {
            let way_out = way_out::ask(pipeline, asking);
            return Some((format!("`{step}` is for the user"), way_out));
        }
        let has_tasks = pipeline.view.state.parts.get(task::SET).is_some_and(|it| !it.is_empty());
        let is_early =
            matches!(refusal, Refusal::StepOutOfOrder { .. } | Refusal::GateNotAsked { .. });
        let needs_tasks = is_early && self.phase == phase::IMPLEMENTATION && !has_tasks;
        needs_tasks.then(|| (phase::NO_TASKS.to_owned(), way_out::way_to_init(pipeline)))
    }
}
