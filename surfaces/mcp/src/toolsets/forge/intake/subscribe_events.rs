//! `subscribe_events`: where the events of pipelines can be followed.

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::{
    answer::{Answer, Failure},
    dialect::DialectTool,
};
use crate::tool::{Call, Done, Hints};

pub(super) struct SubscribeEvents;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {}

impl DialectTool for SubscribeEvents {
    type Parameters = Parameters;
    const NAME: &'static str = "subscribe_events";
    const TITLE: &'static str = "Subscribe to events";
    const DESCRIPTION: &'static str = "Where the events of pipelines can be followed.";
    const HINTS: Hints = Hints::READS;

    async fn call(call: &Call<'_>, _: Parameters) -> Result<Done<Answer>, Failure> {
        let mut text =
            "This release has no event stream, whatever `FORGE_EVENTS_PORT` says.".to_owned();
        if let Some(log) = &call.options.forge.events_log {
            text.push_str(&format!(" Every event is a line of JSON in `{log}`: follow that file."));
        }
        Ok(Answer::text(text).into())
    }
}
