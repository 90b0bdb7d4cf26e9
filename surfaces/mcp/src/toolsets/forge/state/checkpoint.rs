//! `checkpoint`: the user is asked.

use engine::{Command, Refusal};

use super::{
    super::{answer::Failure, workspace::Pipeline},
    change::{Change, OnPhase, SETS, taken_up},
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
        Ok(taken_up(pipeline, vec![Command::AskPerson { step }]))
    }

    fn guard(_parameters: &OnPhase, pipeline: &Pipeline, refusal: &Refusal) -> Option<String> {
        phase::guard(pipeline, refusal)
    }
}
