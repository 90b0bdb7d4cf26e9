//! `phase_fail`: a phase came to nothing.

use engine::Command;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    super::{answer::Failure, workspace::Pipeline},
    change::{Change, ENDS, in_workspace},
    phase,
};
use crate::tool::Hints;

pub(super) struct PhaseFail;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// Its folder
    workspace: String,
    /// Its id
    phase: String,
    /// What went wrong
    #[serde(default)]
    message: String,
}

in_workspace!(Parameters);

impl Change for PhaseFail {
    type Parameters = Parameters;
    const NAME: &'static str = "phase_fail";
    const TITLE: &'static str = "Fail a phase";
    const DESCRIPTION: &'static str =
        "Say that a phase failed. The pipeline stops until a phase is started again.";
    const HINTS: Hints = ENDS;

    fn command(parameters: &Parameters, pipeline: &Pipeline) -> Result<Command, Failure> {
        let step = phase::find(Self::NAME, pipeline, &parameters.phase)?.name.to_string();
        let reason = parameters.message.clone();
        Ok(Command::FailRun { reason, step: Some(step), errors: Vec::new() })
    }
}
