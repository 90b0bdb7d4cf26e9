//! `fix_validation_issues_guidance`: validation found something.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Ask, DialectTool};
use crate::toolsets::devworkflow::{answer::Failure, options::Settings as Options, text::Guidance};

pub(super) struct Guide;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// What is to be done, best as `Action: Brief description`
    task_description: String,
    /// What validation found
    issues: String,
}

impl DialectTool for Guide {
    type Parameters = Parameters;
    const TOOL: Guidance = Guidance::FixValidation;
    const TITLE: &'static str = "Fix what validation found";
    const DESCRIPTION: &'static str = "Record what VALIDATE found and learn how to fix it.";

    fn ask(parameters: Parameters, _: &Options) -> Result<Ask, Failure> {
        let Parameters { task_description, issues } = parameters;
        Ok(Ask::with_detail(task_description, "issues", issues))
    }
}
