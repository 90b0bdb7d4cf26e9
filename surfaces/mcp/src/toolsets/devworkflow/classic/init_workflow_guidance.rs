//! `init_workflow_guidance`: a task is taken up, or added to the items.

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
    const TOOL: Guidance = Guidance::Init;
    const TITLE: &'static str = "Take up a task";
    const DESCRIPTION: &'static str = "Take up a task: it becomes the item at hand, or is added to the items while another is under way.";

    async fn call(call: &Call<'_>, parameters: Parameters) -> Result<Done<Answer>, Failure> {
        let ask = Ask::new(parameters.task_description);
        make(call, Self::TOOL, ask).await
    }
}
