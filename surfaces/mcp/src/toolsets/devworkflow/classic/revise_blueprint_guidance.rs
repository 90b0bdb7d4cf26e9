//! `revise_blueprint_guidance`: the user wants the plan changed.

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
    /// What the user wants changed
    feedback: String,
}

impl Verb for Guide {
    type Parameters = Parameters;
    const TOOL: Guidance = Guidance::Revise;
    const TITLE: &'static str = "Revise the plan";
    const DESCRIPTION: &'static str =
        "Send the plan back with what the user wants changed. A given approval is void.";

    async fn call(call: &Call<'_>, parameters: Parameters) -> Result<Done<Answer>, Failure> {
        let Parameters { task_description, feedback } = parameters;
        make(call, Self::TOOL, Ask::with_detail(task_description, "feedback", feedback)).await
    }
}
