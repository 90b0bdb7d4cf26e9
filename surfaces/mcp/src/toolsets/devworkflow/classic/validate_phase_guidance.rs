//! `validate_phase_guidance`: the phase of checking begins.

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
}

impl Verb for Guide {
    type Parameters = Parameters;
    const TOOL: Guidance = Guidance::Validate;
    const TITLE: &'static str = "Begin VALIDATE";
    const DESCRIPTION: &'static str =
        "Begin VALIDATE: run everything again and check each requirement.";

    async fn call(call: &Call<'_>, parameters: Parameters) -> Result<Done<Answer>, Failure> {
        let ask = Ask::new(parameters.task_description);
        make(call, Self::TOOL, ask).await
    }
}
