//! `history_get_friction_map`: what made work hard for agents.

use insight::past::FrictionPoint;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    super::answer::{Answer, Failure},
    library::Specs,
};
use crate::kit::{Ask, Caller, Hints, Tool};

const LIMIT: usize = 20;
const LIMIT_MAX: usize = 500;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct HistoryGetFrictionMap {
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

impl Tool for HistoryGetFrictionMap {
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = "history_get_friction_map";
    const TITLE: &'static str = "Friction map";
    const DESCRIPTION: &'static str = "What made work hard in past pipelines, as their improvement reports say; the most frequent \
         first.";
    const HINTS: Hints = Hints::READS;

    fn ask(self, caller: &Caller) -> Result<Ask, Failure> {
        let limit = usize::try_from(self.limit.unwrap_or(0)).unwrap_or(0);
        let limit = if limit == 0 { LIMIT } else { limit.min(LIMIT_MAX) };
        Ok(Specs::of(caller).friction().then(move |made| {
            let found = made.map(|mut made| {
                let count = made.friction_points.len();
                made.friction_points.truncate(limit);
                Answer::json(&Found {
                    friction_points: made.friction_points,
                    total_reports_analyzed: made.total_reports_analyzed,
                    total_friction_points: (limit < count).then_some(count),
                })
            });
            Self::tell(found).into()
        }))
    }
}
