//! `history_get_patterns`: what reviews find again and again.

use insight::past::Pattern;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    super::{
        answer::{Answer, Failure},
        dialect::DialectTool,
    },
    patterns,
};
use crate::tool::{Call, Done, Hints};

const LIMIT: usize = 10;

pub(super) struct HistoryGetPatterns;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
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

impl DialectTool for HistoryGetPatterns {
    type Parameters = Parameters;
    const NAME: &'static str = "history_get_patterns";
    const TITLE: &'static str = "Review patterns";
    const DESCRIPTION: &'static str = "What reviews find again and again, and how often.";
    const HINTS: Hints = Hints::READS;

    async fn call(call: &Call<'_>, parameters: Parameters) -> Result<Done<Answer>, Failure> {
        let Parameters { agent_filter, severity_filter, limit } = parameters;
        let limit = usize::try_from(limit.unwrap_or(0)).unwrap_or(0);
        let limit = if limit == 0 { LIMIT } else { limit };
        let all = patterns::load(call).await;
        let (agent, severity) =
            (agent_filter.unwrap_or_default(), severity_filter.unwrap_or_default());
        let found = Found {
            patterns: all.select(&agent, &severity, limit),
            total_reviews_analyzed: all.total_reviews_analyzed,
        };
        Ok(Answer::json(&found).into())
    }
}
