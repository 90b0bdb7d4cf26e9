//! `init_workflow_guidance`: a task is taken up, or added to the items.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Ask, DialectTool};
use crate::toolsets::devworkflow::{answer::Failure, options::Settings as Options, text::Guidance};

pub(super) struct Guide;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// What is to be done, best as `Action: Brief description`
    task_description: String,
}

impl DialectTool for Guide {
    type Parameters = Parameters;
    const TOOL: Guidance = Guidance::Init;
    const TITLE: &'static str = "Take up a task";
    const DESCRIPTION: &'static str = "Take up a task: it becomes the item at hand, or is added to the items while another is under way.";

    fn ask(parameters: Parameters, _: &Options) -> Result<Ask, Failure> {
        let ask = Ask::new(parameters.task_description);
        Ok(ask)
    }
}
