//! `checkpoint`: the user is asked.

use engine::{Command, Refusal};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    super::{answer::Failure, workspace::Pipeline},
    change::{Change, SETS, taken_up},
    phase,
};
use crate::kit::Hints;

#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::forge) struct Checkpoint {
    /// Its folder
    workspace: String,
    /// Its id
    phase: String,
}

impl Change for Checkpoint {
    const NAME: &'static str = "checkpoint";
    const TITLE: &'static str = "Ask at a checkpoint";
    const DESCRIPTION: &'static str =
        "Wait for the user at checkpoint-a, checkpoint-b or the current phase (awaiting_human).";
    const HINTS: Hints = SETS;

    fn workspace(&self) -> &str {
        &self.workspace
    }

    fn command(&self, pipeline: &Pipeline) -> Result<Command, Failure> {
        let step = phase::find(Self::NAME, pipeline, &self.phase)?.name.to_string();
        Ok(taken_up(pipeline, vec![Command::AskPerson { step }]))
    }

    fn guard(&self, pipeline: &Pipeline, refusal: &Refusal) -> Option<String> {
        phase::guard(pipeline, refusal)
    }
}
