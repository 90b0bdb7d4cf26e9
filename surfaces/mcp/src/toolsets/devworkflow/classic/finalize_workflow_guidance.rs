//! `finalize_workflow_guidance`: all items are done.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Ask, DialectTool};
use crate::toolsets::devworkflow::{answer::Failure, options::Settings as Options, text::Guidance};

pub(super) struct Guide;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {}

impl DialectTool for Guide {
    type Parameters = Parameters;
    const TOOL: Guidance = Guidance::Finalize;
    const TITLE: &'static str = "Finalize";
    const DESCRIPTION: &'static str = "End the work once no item is pending; back to INIT.";

    fn ask(parameters: Parameters, _: &Options) -> Result<Ask, Failure> {
        let Parameters {} = parameters;
        Ok(Ask::default())
    }
}
