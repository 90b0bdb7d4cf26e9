//! `analytics_repo_dashboard`: what all pipelines of the repository took.

use insight::past::Dashboard;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    super::{
        answer::{Answer, Failure},
        dialect::DialectTool,
        place::Folder,
    },
    library, patterns,
};
use crate::tool::{Call, Done, Hints};

pub(super) struct AnalyticsRepoDashboard;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {}

impl DialectTool for AnalyticsRepoDashboard {
    type Parameters = Parameters;
    const NAME: &'static str = "analytics_repo_dashboard";
    const TITLE: &'static str = "Repository dashboard";
    const DESCRIPTION: &'static str =
        "All pipelines of this repository: how many, what they took, how their reviews went.";
    const HINTS: Hints = Hints::READS;

    async fn call(call: &Call<'_>, _parameters: Parameters) -> Result<Done<Answer>, Failure> {
        let patterns = patterns::load(call).await.patterns;
        let library = library::runs(call, &Folder::specs(call)).await?;
        let board = Dashboard::new(library.records(), &patterns, &call.options.forge.prices);
        Ok(Answer::json(&board).into())
    }
}
