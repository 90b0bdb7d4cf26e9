//! `error_recovery_guidance`: something failed.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Ask, DialectTool};
use crate::toolsets::devworkflow::{answer::Failure, options::Settings as Options, text::Guidance};

pub(super) struct Guide;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// What is to be done, best as `Action: Brief description`
    task_description: String,
    /// What went wrong, with the output that shows it
    error_details: String,
}

impl DialectTool for Guide {
    type Parameters = Parameters;
    const TOOL: Guidance = Guidance::ErrorRecovery;
    const TITLE: &'static str = "Recover from an error";
    const DESCRIPTION: &'static str =
        "Record an error and learn how to go on: simple, complex or critical.";

    fn ask(parameters: Parameters, _: &Options) -> Result<Ask, Failure> {
        let Parameters { task_description, error_details } = parameters;
        Ok(Ask::with_detail(task_description, "error_details", error_details))
    }
}
