//! `history_get_friction_map`: what made work hard for agents.

use insight::past::FrictionPoint;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    super::{
        answer::{Answer, Failure},
        dialect::Verb,
    },
    friction,
};
use crate::tool::{Call, Done, Hints};

pub(super) struct HistoryGetFrictionMap;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {}

#[derive(Serialize)]
struct Found {
    friction_points: Vec<FrictionPoint>,
    total_reports_analyzed: u64,
}

impl Verb for HistoryGetFrictionMap {
    type Parameters = Parameters;
    const NAME: &'static str = "history_get_friction_map";
    const TITLE: &'static str = "Friction map";
    const DESCRIPTION: &'static str =
        "What made work hard in past pipelines, as their improvement reports say.";
    const HINTS: Hints = Hints::READS;

    async fn call(call: &Call<'_>, _parameters: Parameters) -> Result<Done<Answer>, Failure> {
        let made = friction::friction(call).await?;
        let found = Found {
            friction_points: made.friction_points,
            total_reports_analyzed: made.total_reports_analyzed,
        };
        Ok(Answer::json(&found).into())
    }
}
