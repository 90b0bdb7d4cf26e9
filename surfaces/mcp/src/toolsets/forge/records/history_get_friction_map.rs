//! `history_get_friction_map`: what made work hard for agents.

use insight::past::FrictionPoint;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    super::{
        answer::{Answer, Failure},
        dialect::DialectTool,
    },
    friction,
};
use crate::tool::{Call, Done, Hints};

const LIMIT: usize = 20;
const LIMIT_MAX: usize = 500;

pub(super) struct HistoryGetFrictionMap;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// At most; 20 unless it is said
    limit: Option<i64>,
}

#[derive(Serialize)]
struct Found {
    friction_points: Vec<FrictionPoint>,
    total_reports_analyzed: u64,
    /// How many there are, where not all of them are answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    total_friction_points: Option<usize>,
}

impl DialectTool for HistoryGetFrictionMap {
    type Parameters = Parameters;
    const NAME: &'static str = "history_get_friction_map";
    const TITLE: &'static str = "Friction map";
    const DESCRIPTION: &'static str = "What made work hard in past pipelines, as their improvement reports say; the most frequent \
         first.";
    const HINTS: Hints = Hints::READS;

    async fn call(call: &Call<'_>, parameters: Parameters) -> Result<Done<Answer>, Failure> {
        let limit = usize::try_from(parameters.limit.unwrap_or(0)).unwrap_or(0);
        let limit = if limit == 0 { LIMIT } else { limit.min(LIMIT_MAX) };
        let mut made = friction::friction(call).await?;
        let count = made.friction_points.len();
        made.friction_points.truncate(limit);
        let found = Found {
            friction_points: made.friction_points,
            total_reports_analyzed: made.total_reports_analyzed,
            total_friction_points: (limit < count).then_some(count),
        };
        Ok(Answer::json(&found).into())
    }
}
