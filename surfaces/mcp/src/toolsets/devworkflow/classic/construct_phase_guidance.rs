//! `construct_phase_guidance`: the phase of building begins, with an approved plan.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Ask, DialectTool};
use crate::toolsets::devworkflow::{answer::Failure, options::Settings as Options, text::Guidance};

pub(super) struct Guide;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// What is to be done, best as `Action: Brief description`
    task_description: String,
    /// The user approved the recorded plan. Never pass true without having asked them
    user_approval: Option<bool>,
}

impl DialectTool for Guide {
    type Parameters = Parameters;
    const TOOL: Guidance = Guidance::Construct;
    const TITLE: &'static str = "Begin CONSTRUCT";
    const DESCRIPTION: &'static str =
        "Begin or go on with CONSTRUCT. Needs a recorded plan that the user approved.";

    fn ask(parameters: Parameters, _: &Options) -> Result<Ask, Failure> {
        let Parameters { task_description, user_approval } = parameters;
        let mut ask = Ask::new(task_description);
        ask.is_approved = user_approval.unwrap_or_default();
        Ok(ask)
    }
}
