//! `phase_fail`: a phase came to nothing.

use engine::Command;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    super::{answer::Failure, workspace::Pipeline},
    change::{Change, ENDS},
    phase,
};
use crate::kit::Hints;

#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::forge) struct PhaseFail {
    /// Its folder
    workspace: String,
    /// Its id
    phase: String,
    /// What went wrong
    #[serde(default)]
    message: String,
}

impl Change for PhaseFail {
    const NAME: &'static str = "phase_fail";
    const TITLE: &'static str = "Fail a phase";
    const DESCRIPTION: &'static str =
        "Say that a phase failed. The pipeline stops until a phase is started again.";
    const HINTS: Hints = ENDS;

    fn workspace(&self) -> &str {
        &self.workspace
    }

    fn command(&self, pipeline: &Pipeline) -> Result<Command, Failure> {
        let step = phase::find(Self::NAME, pipeline, &self.phase)?.name.to_string();
        let reason = self.message.clone();
        Ok(Command::FailRun { reason, step: Some(step), errors: Vec::new() })
    }
}
