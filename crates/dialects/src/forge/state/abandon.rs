//! `abandon`: the pipeline is given up.

use engine::{Command, Refusal, Status};

use super::{
    super::{answer::Failure, workspace::Pipeline},
    change::{Change, ENDS, card},
};
use crate::kit::Hints;

card! {
    Abandon "abandon" "Abandon a pipeline"
    "Give the pipeline up for good."
    Hints { is_idempotent: true, ..ENDS };
}

impl Change for Abandon {
    fn command(&self, _: &Pipeline) -> Result<Command, Failure> {
        Ok(Command::CancelRun { reason: "the pipeline was abandoned".to_owned() })
    }

    fn is_done(refusal: &Refusal) -> bool {
        matches!(refusal, Refusal::RunEnded { status: Status::Cancelled })
    }
}
