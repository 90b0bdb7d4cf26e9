//! `analyze_phase_guidance`: the phase of understanding begins.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Ask, DialectTool, named};
use crate::toolsets::devworkflow::{answer::Failure, options::Settings as Options, text::Guidance};

pub(super) struct Guide;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// What is to be done, best as `Action: Brief description`
    task_description: String,
    /// The file with the project's commands
    #[schemars(extend("x-default" = "project_config.md"))]
    project_config_path: Option<String>,
}

impl DialectTool for Guide {
    type Parameters = Parameters;
    const TOOL: Guidance = Guidance::Analyze;
    const TITLE: &'static str = "Begin ANALYZE";
    const DESCRIPTION: &'static str =
        "Begin ANALYZE for a task: read and understand; no code, no plan.";

    fn ask(parameters: Parameters, options: &Options) -> Result<Ask, Failure> {
        let Parameters { task_description, project_config_path } = parameters;
        let mut ask = Ask::new(task_description);
        ask.config_path = named(Self::TOOL, project_config_path, options)?;
        Ok(ask)
    }
}
