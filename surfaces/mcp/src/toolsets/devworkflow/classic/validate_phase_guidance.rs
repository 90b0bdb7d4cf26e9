//! `validate_phase_guidance`: the phase of checking begins.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Ask, DialectTool};
use crate::toolsets::devworkflow::{answer::Failure, options::Settings as Options, text::Guidance};

pub(super) struct Guide;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// What is to be done, best as `Action: Brief description`
    task_description: String,
}

impl DialectTool for Guide {
    type Parameters = Parameters;
    const TOOL: Guidance = Guidance::Validate;
    const TITLE: &'static str = "Begin VALIDATE";
    const DESCRIPTION: &'static str =
        "Begin VALIDATE: run everything again and check each requirement.";

    fn ask(parameters: Parameters, _: &Options) -> Result<Ask, Failure> {
        let ask = Ask::new(parameters.task_description);
        Ok(ask)
    }
}
