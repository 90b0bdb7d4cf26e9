//! `history_get_patterns`: what reviews find again and again.

use insight::past::Pattern;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    super::{
        answer::{Answer, Failure},
        place,
    },
    patterns,
};
use crate::kit::{Ask, Caller, Hints, Tool};

const LIMIT: usize = 10;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct HistoryGetPatterns {
    /// Only of this agent
    agent_filter: Option<String>,
    /// `CRITICAL` or `MINOR`
    severity_filter: Option<String>,
    /// At most; 10 unless it is said
    limit: Option<i64>,
}

#[derive(Serialize)]
struct Found<'a> {
    patterns: Vec<&'a Pattern>,
    total_reviews_analyzed: u64,
}

impl Tool for HistoryGetPatterns {
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = "history_get_patterns";
    const TITLE: &'static str = "Review patterns";
    const DESCRIPTION: &'static str = "What reviews find again and again, and how often.";
    const HINTS: Hints = Hints::READS;

    fn ask(self, caller: &Caller) -> Result<Ask, Failure> {
        let limit = usize::try_from(self.limit.unwrap_or(0)).unwrap_or(0);
        let limit = if limit == 0 { LIMIT } else { limit };
        Ok(patterns::load(&place::specs(caller)).then(move |all| {
            let (agent, severity) =
                (self.agent_filter.unwrap_or_default(), self.severity_filter.unwrap_or_default());
            let found = Found {
                patterns: all.select(&agent, &severity, limit),
                total_reviews_analyzed: all.total_reviews_analyzed,
            };
            Self::say(Answer::json(&found)).into()
        }))
    }
}
