//! `complete_workflow_guidance`: an item is done.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Ask, DialectTool};
use crate::toolsets::devworkflow::{answer::Failure, options::Settings as Options, text::Guidance};

pub(super) struct Guide;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// What is to be done, best as `Action: Brief description`
    task_description: String,
    /// One sentence for the changelog, past tense; without it the task itself
    summary: Option<String>,
}

impl DialectTool for Guide {
    type Parameters = Parameters;
    const TOOL: Guidance = Guidance::Complete;
    const TITLE: &'static str = "Complete the item";
    const DESCRIPTION: &'static str = "Complete the item at hand after VALIDATE. Writes the changelog and moves on to the next pending item.";

    fn ask(parameters: Parameters, _: &Options) -> Result<Ask, Failure> {
        let Parameters { task_description, summary } = parameters;
        let mut ask = Ask::new(task_description);
        ask.args.insert("summary".to_owned(), summary.unwrap_or_default().trim().into());
        Ok(ask)
    }
}
