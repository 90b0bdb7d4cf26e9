//! `__IMPORTANT`: says that the pipelines are here, to an agent that looks at names only.

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::answer::{Answer, Failure};
use crate::kit::{Ask, Caller, Hints, Tool};

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Important {}

impl Tool for Important {
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = "__IMPORTANT";
    const TITLE: &'static str = "Read this first";
    const DESCRIPTION: &'static str = "What this server is for, and how a pipeline is begun.";
    const HINTS: Hints = Hints::READS;

    fn ask(self, _: &Caller) -> Result<Ask, Failure> {
        let text = "The forge pipeline orchestrator is active.\n\
                    Begin a pipeline with `/forge <task, issue URL or spec folder>`, which calls \
                    `pipeline_init`, and go on with `pipeline_next_action`.";
        Ok(Self::say(Answer::text(text)).into())
    }
}
