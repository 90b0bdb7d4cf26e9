//! `abandon`: the pipeline is given up.

use engine::{Command, Refusal, Status};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    super::{answer::Failure, workspace::Pipeline},
    change::{Change, ENDS},
};
use crate::kit::Hints;

#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::forge) struct Abandon {
    /// Its folder
    workspace: String,
}

impl Change for Abandon {
    const NAME: &'static str = "abandon";
    const TITLE: &'static str = "Abandon a pipeline";
    const DESCRIPTION: &'static str = "Give the pipeline up for good.";
    const HINTS: Hints = Hints { is_idempotent: true, ..ENDS };

    fn workspace(&self) -> &str {
        &self.workspace
    }

    fn command(&self, _: &Pipeline) -> Result<Command, Failure> {
        Ok(Command::CancelRun { reason: "the pipeline was abandoned".to_owned() })
    }

    fn is_done(refusal: &Refusal) -> bool {
        matches!(refusal, Refusal::RunEnded { status: Status::Cancelled })
    }
}
