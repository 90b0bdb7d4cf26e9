//! `analytics_estimate`: what a pipeline of some effort will take.

use insight::past::{self, Estimate};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    super::{
        answer::{Answer, Failure},
        dialect::DialectTool,
        place::Folder,
    },
    files::no_specs,
    library,
};
use crate::tool::{Call, Done, Hints};

pub(super) struct AnalyticsEstimate;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// `S`, `M` or `L`
    effort: String,
}

impl DialectTool for AnalyticsEstimate {
    type Parameters = Parameters;
    const NAME: &'static str = "analytics_estimate";
    const TITLE: &'static str = "Estimate";
    const DESCRIPTION: &'static str =
        "Tokens, minutes and cost of a pipeline, going by completed ones of the same effort.";
    const HINTS: Hints = Hints::READS;

    async fn call(call: &Call<'_>, parameters: Parameters) -> Result<Done<Answer>, Failure> {
        Ok(Answer::json(&estimate(call, &parameters.effort).await?).into())
    }
}

/// Estimates a pipeline of this effort.
pub(in crate::toolsets::forge) async fn estimate(
    call: &Call<'_>,
    effort: &str,
) -> Result<Estimate, Failure> {
    let specs = Folder::specs(call);
    if !specs.exists(call).await {
        return Err(no_specs(&specs));
    }
    let library = library::runs(call, &specs).await?;
    Ok(past::estimate(library.records(), effort, &call.options.forge.prices))
}
