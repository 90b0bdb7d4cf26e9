//! `analytics_pipeline_summary`: what one pipeline took so far.

use insight::past::{SpecState, Summary};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    super::{
        answer::{Answer, Failure},
        dialect::DialectTool,
        place::Folder,
        state_file::StateFile,
    },
    files::{STATE, read_wanted, unreadable},
};
use crate::tool::{Call, Done, Hints};

pub(super) struct AnalyticsPipelineSummary;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// The spec's folder
    workspace: String,
}

impl DialectTool for AnalyticsPipelineSummary {
    type Parameters = Parameters;
    const NAME: &'static str = "analytics_pipeline_summary";
    const TITLE: &'static str = "Pipeline summary";
    const DESCRIPTION: &'static str =
        "Tokens, time, cost, phases, retries and findings of one pipeline.";
    const HINTS: Hints = Hints::READS;

    async fn call(call: &Call<'_>, parameters: Parameters) -> Result<Done<Answer>, Failure> {
        let workspace = Folder::reach(call, &parameters.workspace)?;
        Ok(Answer::json(&summary(call, &workspace).await?).into())
    }
}

/// Sums up the pipeline of a workspace as its file says.
pub(in crate::toolsets::forge) async fn summary(
    call: &Call<'_>,
    workspace: &Folder,
) -> Result<Summary, Failure> {
    let text = workspace.read_large(call, STATE).await.unwrap_or_default();
    let Some(file) = StateFile::glance(&text) else {
        let message = format!("there is no `{STATE}` in `{}`", workspace.as_str());
        return Err(Failure::new("state_not_found", message, "name a spec's folder"));
    };
    summary_of(call, workspace, &SpecState::from(&file)).await
}

/// Sums up the pipeline of a workspace whose state is known.
pub(in crate::toolsets::forge) async fn summary_of(
    call: &Call<'_>,
    workspace: &Folder,
    state: &SpecState,
) -> Result<Summary, Failure> {
    let reviews = read_wanted(call, workspace, is_review).await;
    let reviews = reviews.map_err(|problem| unreadable(workspace.as_str(), &problem))?;
    let reviews: Vec<String> = reviews.into_iter().map(|(_, text)| text).collect();
    Ok(Summary::new(state, &reviews, &call.options.forge.prices))
}

fn is_review(name: &str) -> bool {
    name.starts_with("review-") && name.ends_with(".md")
}
