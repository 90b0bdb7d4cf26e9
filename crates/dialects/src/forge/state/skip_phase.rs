//! `skip_phase`: a phase is left out.

use engine::Command;

use super::{
    super::{answer::Failure, workspace::Pipeline},
    change::{Card as _, Change, ENDS, card},
    moves::Move,
    phase,
};

card! {
    SkipPhase "skip_phase" "Skip a phase"
    "Leave a phase out, and go to the one after it."
    ENDS;
    /// Its id
    phase: String,
}

impl Change for SkipPhase {
    fn command(&self, pipeline: &Pipeline) -> Result<Command, Failure> {
        let step = phase::find(Self::NAME, pipeline, &self.phase)?;
        Ok(Move::Skip.at(step, &pipeline.view))
    }
}
