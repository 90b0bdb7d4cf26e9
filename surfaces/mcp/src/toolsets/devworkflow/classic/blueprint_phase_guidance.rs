//! `blueprint_phase_guidance`: the phase of planning begins.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Ask, DialectTool};
use crate::toolsets::devworkflow::{answer::Failure, options::Settings as Options, text::Guidance};

pub(super) struct Guide;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// What is to be done, best as `Action: Brief description`
    task_description: String,
    /// What ANALYZE found out
    requirements_summary: String,
}

impl DialectTool for Guide {
    type Parameters = Parameters;
    const TOOL: Guidance = Guidance::Blueprint;
    const TITLE: &'static str = "Begin BLUEPRINT";
    const DESCRIPTION: &'static str =
        "Begin BLUEPRINT: plan in small steps, record the plan, have the user approve it.";

    fn ask(parameters: Parameters, _: &Options) -> Result<Ask, Failure> {
        let Parameters { task_description, requirements_summary } = parameters;
        Ok(Ask::with_detail(task_description, "requirements_summary", requirements_summary))
    }
}
