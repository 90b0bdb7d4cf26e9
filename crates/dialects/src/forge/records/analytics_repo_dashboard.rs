//! `analytics_repo_dashboard`: what all pipelines of the repository took.

use insight::past::Dashboard;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    super::answer::{Answer, Failure},
    library::Specs,
    patterns,
};
use crate::kit::{Ask, Caller, Hints, Tool};

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct AnalyticsRepoDashboard {}

impl Tool for AnalyticsRepoDashboard {
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = "analytics_repo_dashboard";
    const TITLE: &'static str = "Repository dashboard";
    const DESCRIPTION: &'static str =
        "All pipelines of this repository: how many, what they took, how their reviews went.";
    const HINTS: Hints = Hints::READS;

    fn ask(self, caller: &Caller) -> Result<Ask, Failure> {
        let (specs, prices) = (Specs::of(caller), caller.options.forge.prices.clone());
        Ok(patterns::load(&specs.folder).then(move |patterns| {
            specs.runs().then(move |library| {
                let board = library
                    .map(|it| Dashboard::new(it.lock().records(), &patterns.patterns, &prices));
                Self::tell(board.map(|it| Answer::json(&it))).into()
            })
        }))
    }
}
