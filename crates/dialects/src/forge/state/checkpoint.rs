//! `checkpoint`: the user is asked.

use engine::Command;

use super::{
    super::{answer::Failure, workspace::Pipeline},
    change::{Card as _, Change, SETS, card},
    moves::Move,
    phase,
};

card! {
    Checkpoint "checkpoint" "Ask at a checkpoint"
    "Wait for the user at checkpoint-a, checkpoint-b or the current phase (awaiting_human)."
    SETS;
    /// Its id
    phase: String,
}

impl Change for Checkpoint {
    fn command(&self, pipeline: &Pipeline) -> Result<Command, Failure> {
        let step = phase::find(Self::NAME, pipeline, &self.phase)?;
        Ok(Move::Ask.at(step, &pipeline.view))
    }
}
