//! `subscribe_events`: where the events of pipelines can be followed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::{
    answer::{Answer, Failure},
    dialect::Verb,
};
use crate::tool::{Call, Done, Hints};

pub(super) struct SubscribeEvents;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {}

#[derive(Serialize)]
struct Endpoint {
    endpoint: String,
}

impl Verb for SubscribeEvents {
    type Parameters = Parameters;
    const NAME: &'static str = "subscribe_events";
    const TITLE: &'static str = "Subscribe to events";
    const DESCRIPTION: &'static str = "Where the events of pipelines can be followed (SSE).";
    const HINTS: Hints = Hints::READS;

    async fn call(call: &Call<'_>, _: Parameters) -> Result<Done<Answer>, Failure> {
        let port = call.options.forge.events_port;
        if port == 0 {
            let text = "SSE is not configured: set `FORGE_EVENTS_PORT` (or `forge.events_port`) to \
                        a port, and start the server again";
            return Ok(Answer::text(text).into());
        }
        let endpoint = format!("http://localhost:{port}/events");
        Ok(Answer::json(&Endpoint { endpoint }).into())
    }
}
