//! `analytics_pipeline_summary`: what one pipeline took so far.

use insight::past::{SpecState, Summary};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    super::{
        answer::{Answer, Failure},
        place,
        state_file::StateFile,
    },
    files::{STATE, read_wanted, unreadable},
};
use crate::kit::{Ask, Caller, Folder, Hints, Seeing, Tool};

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct AnalyticsPipelineSummary {
    /// The spec's folder
    workspace: String,
}

impl Tool for AnalyticsPipelineSummary {
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = "analytics_pipeline_summary";
    const TITLE: &'static str = "Pipeline summary";
    const DESCRIPTION: &'static str =
        "Tokens, time, cost, phases, retries and findings of one pipeline.";
    const HINTS: Hints = Hints::READS;

    fn ask(self, caller: &Caller) -> Result<Ask, Failure> {
        let (workspace, caller) = (place::reached(caller, &self.workspace)?, caller.clone());
        Ok(workspace.large(STATE).then(move |text| {
            let Some(file) = text.as_deref().and_then(StateFile::glance) else {
                let message = format!("there is no `{STATE}` in `{}`", workspace.as_str());
                let hint = "name a spec's folder";
                return Self::fail(Failure::new("state_not_found", message, hint)).into();
            };
            let summary = summary_of(&caller, &workspace, SpecState::from(&file));
            summary.then(|it| Self::tell(it.map(|it| Answer::json(&it))).into())
        }))
    }
}

/// Sums up the pipeline of a workspace whose state is known.
pub fn summary_of(
    caller: &Caller,
    workspace: &Folder,
    state: SpecState,
) -> Seeing<Result<Summary, Failure>> {
    let (prices, folder) = (caller.options.forge.prices.clone(), workspace.clone());
    read_wanted(workspace, is_review).map(move |reviews| {
        let reviews = reviews.map_err(|problem| unreadable(folder.as_str(), &problem))?;
        let reviews: Vec<String> = reviews.into_iter().map(|(_, text)| text).collect();
        Ok(Summary::new(&state, &reviews, &prices))
    })
}

fn is_review(name: &str) -> bool {
    name.starts_with("review-") && name.ends_with(".md")
}
