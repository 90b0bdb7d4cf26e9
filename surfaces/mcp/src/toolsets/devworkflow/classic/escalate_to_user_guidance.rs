//! `escalate_to_user_guidance`: the user must decide.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Ask, DialectTool};
use crate::toolsets::devworkflow::{answer::Failure, options::Settings as Options, text::Guidance};

pub(super) struct Guide;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// What is to be done, best as `Action: Brief description`
    task_description: String,
    /// What was tried, what went wrong, what is needed
    error_details: String,
}

impl DialectTool for Guide {
    type Parameters = Parameters;
    const TOOL: Guidance = Guidance::Escalate;
    const TITLE: &'static str = "Ask the user";
    const DESCRIPTION: &'static str =
        "Record a problem that only the user can decide, and wait for them.";

    fn ask(parameters: Parameters, _: &Options) -> Result<Ask, Failure> {
        let Parameters { task_description, error_details } = parameters;
        Ok(Ask::with_detail(task_description, "error_details", error_details))
    }
}
