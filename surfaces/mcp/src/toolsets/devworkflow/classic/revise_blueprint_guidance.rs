//! `revise_blueprint_guidance`: the user wants the plan changed.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Ask, DialectTool};
use crate::toolsets::devworkflow::{answer::Failure, options::Settings as Options, text::Guidance};

pub(super) struct Guide;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// What is to be done, best as `Action: Brief description`
    task_description: String,
    /// What the user wants changed
    feedback: String,
}

impl DialectTool for Guide {
    type Parameters = Parameters;
    const TOOL: Guidance = Guidance::Revise;
    const TITLE: &'static str = "Revise the plan";
    const DESCRIPTION: &'static str =
        "Send the plan back with what the user wants changed. A given approval is void.";

    fn ask(parameters: Parameters, _: &Options) -> Result<Ask, Failure> {
        let Parameters { task_description, feedback } = parameters;
        Ok(Ask::with_detail(task_description, "feedback", feedback))
    }
}
