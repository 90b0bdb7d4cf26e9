//! `checkpoint`: the user is asked.

use engine::{Command, Refusal};

use super::{
    super::{answer::Failure, workspace::Pipeline},
    change::{self, Change, OnPhase, SETS, taken_up},
    phase,
};
use crate::tool::Hints;

pub(super) struct Checkpoint;

impl Change for Checkpoint {
    type Parameters = OnPhase;
    const NAME: &'static str = "checkpoint";
    const TITLE: &'static str = "Ask at a checkpoint";
    const DESCRIPTION: &'static str =
        "Wait for the user at checkpoint-a, checkpoint-b or the current phase (awaiting_human).";
    const HINTS: Hints = SETS;

    fn command(parameters: &OnPhase, pipeline: &Pipeline) -> Result<Command, Failure> {
        let step = phase::find(Self::NAME, pipeline, &parameters.phase)?.name.to_string();
        let current = pipeline.view.state.current.as_ref().map(ToString::to_string);
        let is_checkpoint = phase::CHECKPOINTS.iter().any(|(name, _)| *name == step);
        if let Some(current) = current.filter(|it| *it != step && !is_checkpoint) {
            return Err(change::not_current(Self::NAME, &step, &current));
        }
        Ok(taken_up(pipeline, vec![Command::AskPerson { step }]))
    }

    fn guard(_parameters: &OnPhase, _: &Pipeline, refusal: &Refusal) -> Option<String> {
        phase::guard(refusal)
    }
}
