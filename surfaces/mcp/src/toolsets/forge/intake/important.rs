//! `__IMPORTANT`: says that the pipelines are here, to an agent that looks at names only.

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::{
    answer::{Answer, Failure},
    dialect::DialectTool,
};
use crate::tool::{Call, Done, Hints};

pub(super) struct Important;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {}

impl DialectTool for Important {
    type Parameters = Parameters;
    const NAME: &'static str = "__IMPORTANT";
    const TITLE: &'static str = "Read this first";
    const DESCRIPTION: &'static str = "What this server is for, and how a pipeline is begun.";
    const HINTS: Hints = Hints::READS;

    async fn call(_: &Call<'_>, _: Parameters) -> Result<Done<Answer>, Failure> {
        let text = "The forge pipeline orchestrator is active.\n\
                    Begin a pipeline with `/forge <task, issue URL or spec folder>`, which calls \
                    `pipeline_init`, and go on with `pipeline_next_action`.";
        Ok(Answer::text(text).into())
    }
}
