//! `fix_validation_issues_guidance`: validation found something.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Ask, Verb, make};
use crate::{
    tool::{Call, Done},
    toolsets::devworkflow::{
        answer::{Answer, Failure},
        text::Guidance,
    },
};

pub(super) struct Guide;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// What is to be done, best as `Action: Brief description`
    task_description: String,
    /// What validation found
    issues: String,
}

impl Verb for Guide {
    type Parameters = Parameters;
    const TOOL: Guidance = Guidance::FixValidation;
    const TITLE: &'static str = "Fix what validation found";
    const DESCRIPTION: &'static str = "Record what VALIDATE found and learn how to fix it.";

    async fn call(call: &Call<'_>, parameters: Parameters) -> Result<Done<Answer>, Failure> {
        let Parameters { task_description, issues } = parameters;
        make(call, Self::TOOL, Ask::with_detail(task_description, "issues", issues)).await
    }
}
