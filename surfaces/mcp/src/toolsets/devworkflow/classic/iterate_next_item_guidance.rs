//! `iterate_next_item_guidance`: the next pending item is taken.

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
    const TOOL: Guidance = Guidance::Iterate;
    const TITLE: &'static str = "Take the next item";
    const DESCRIPTION: &'static str =
        "Take the next pending item, if the rules have not done so already.";

    async fn call(call: &Call<'_>, parameters: Parameters) -> Result<Done<Answer>, Failure> {
        let Parameters {} = parameters;
        make(call, Self::TOOL, Ask::default()).await
    }
}
