//! `subscribe_events`: where the events of pipelines can be followed.

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::answer::{Answer, Failure};
use crate::kit::{Ask, Caller, Hints, Tool};

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct SubscribeEvents {}

impl Tool for SubscribeEvents {
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = "subscribe_events";
    const TITLE: &'static str = "Subscribe to events";
    const DESCRIPTION: &'static str = "Where the events of pipelines can be followed.";
    const HINTS: Hints = Hints::READS;

    fn ask(self, caller: &Caller) -> Result<Ask, Failure> {
        let mut text =
            "This release has no event stream, whatever `FORGE_EVENTS_PORT` says.".to_owned();
        if let Some(log) = &caller.options.forge.events_log {
            text.push_str(&format!(" Every event is a line of JSON in `{log}`: follow that file."));
        }
        Ok(Self::say(Answer::text(text)).into())
    }
}
