//! `finalize_workflow_guidance`: all items are done.

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
pub(super) struct Parameters {}

impl Verb for Guide {
    type Parameters = Parameters;
    const TOOL: Guidance = Guidance::Finalize;
    const TITLE: &'static str = "Finalize";
    const DESCRIPTION: &'static str = "End the work once no item is pending; back to INIT.";

    async fn call(call: &Call<'_>, parameters: Parameters) -> Result<Done<Answer>, Failure> {
        let Parameters {} = parameters;
        make(call, Self::TOOL, Ask::default()).await
    }
}
