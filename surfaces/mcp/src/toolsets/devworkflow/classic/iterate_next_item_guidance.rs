//! `iterate_next_item_guidance`: the next pending item is taken.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Ask, DialectTool};
use crate::toolsets::devworkflow::{answer::Failure, options::Settings as Options, text::Guidance};

pub(super) struct Guide;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {}

impl DialectTool for Guide {
    type Parameters = Parameters;
    const TOOL: Guidance = Guidance::Iterate;
    const TITLE: &'static str = "Take the next item";
    const DESCRIPTION: &'static str =
        "Take the next pending item, if the rules have not done so already.";

    fn ask(parameters: Parameters, _: &Options) -> Result<Ask, Failure> {
        let Parameters {} = parameters;
        Ok(Ask::default())
    }
}
