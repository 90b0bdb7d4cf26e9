//! `analytics_estimate`: what a pipeline of some effort will take.

use insight::past::{self, Estimate};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    super::answer::{Answer, Failure},
    files::no_specs,
    library::Specs,
};
use crate::kit::{Ask, Caller, Hints, Seeing, Tool};

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct AnalyticsEstimate {
    /// `S`, `M` or `L`
    effort: String,
}

impl Tool for AnalyticsEstimate {
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = "analytics_estimate";
    const TITLE: &'static str = "Estimate";
    const DESCRIPTION: &'static str =
        "Tokens, minutes and cost of a pipeline, going by completed ones of the same effort.";
    const HINTS: Hints = Hints::READS;

    fn ask(self, caller: &Caller) -> Result<Ask, Failure> {
        let estimate = estimate(caller, self.effort);
        Ok(estimate.then(|it| Self::tell(it.map(|it| Answer::json(&it))).into()))
    }
}

/// Estimates a pipeline of this effort.
pub(in crate::forge) fn estimate(
    caller: &Caller,
    effort: String,
) -> Seeing<Result<Estimate, Failure>> {
    let (specs, prices) = (Specs::of(caller), caller.options.forge.prices.clone());
    specs.folder.is_there().then(move |is_there| {
        if !is_there {
            return Seeing::Seen(Err(no_specs(&specs.folder)));
        }
        specs
            .runs()
            .map(move |library| Ok(past::estimate(library?.lock().records(), &effort, &prices)))
    })
}
