//! `phase_start`: a phase begins.

use engine::{Command, Passing, Refusal, StartStep};

use super::{
    super::{answer::Failure, workspace::Pipeline},
    change::{Change, OnPhase, taken_up},
    phase,
};
use crate::tool::Hints;

pub(super) struct PhaseStart;

impl Change for PhaseStart {
    type Parameters = OnPhase;
    const NAME: &'static str = "phase_start";
    const TITLE: &'static str = "Start a phase";
    const DESCRIPTION: &'static str =
        "Say that work on a phase begins: the next one, or an earlier one again.";
    const HINTS: Hints = Hints::ADDS;

    fn command(parameters: &OnPhase, pipeline: &Pipeline) -> Result<Command, Failure> {
        let step = phase::find(Self::NAME, pipeline, &parameters.phase)?.name.to_string();
        let start = StartStep { step: step.clone(), again: true, ..StartStep::default() };
        let go = Command::GoTo { step, passing: Passing::InOrder };
        let both = Command::All(vec![go, Command::StartStep(start)]);
        Ok(taken_up(pipeline, vec![Command::Halting(both.into())]))
    }

    fn guard(parameters: &OnPhase, refusal: &Refusal) -> Option<String> {
        if let Refusal::GateOpen { step, .. } = refusal
            && step.as_str() == parameters.phase
        {
            return Some(format!("`{step}` is for the user; call `checkpoint`, and ask them"));
        }
        phase::guard(refusal)
    }
}
