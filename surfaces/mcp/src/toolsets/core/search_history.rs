//! `search_history`: what was said and done in past and present runs, best match first.

use runtime::{ExecuteError, Hit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::words::Failure;
use crate::tool::{Call, Done, Hints, Tool};

/// How many hits a page has unless its reader says so.
const LIMIT: u32 = 10;
/// The most hits of one page.
const LIMIT_MAX: u32 = 99;

pub(super) struct SearchHistory;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// Plain words
    query: String,
    /// Only this run
    instance_id: Option<String>,
    /// At most
    limit: Option<u32>,
    /// Hits to leave out
    offset: Option<u32>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Answer {
    hits: Vec<Item>,
    /// Where the next page begins; `null` after the last.
    next_offset: Option<u32>,
}

#[derive(Serialize, JsonSchema)]
struct Item {
    instance_id: String,
    run: String,
    seq: u64,
    at: String,
    kind: String,
    /// Words around what was found, which is in brackets.
    snippet: String,
}

impl Tool for SearchHistory {
    type Parameters = Parameters;
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = "search_history";
    const TITLE: &'static str = "Search past work";
    const DESCRIPTION: &'static str =
        "Find reports, errors, answers and notes of all runs by their words.";
    const HINTS: Hints = Hints::READS;

    async fn call(call: &Call<'_>, parameters: Parameters) -> Result<Done<Answer>, Failure> {
        let done = search(call, parameters).await;
        done.map_err(|error| Failure::new("Failed to search", &error))
    }
}

async fn search(call: &Call<'_>, parameters: Parameters) -> Result<Done<Answer>, ExecuteError> {
    let run = match &parameters.instance_id {
        Some(instance) => Some(call.runtime.find_run(instance).await?),
        None => None,
    };
    let offset = parameters.offset.unwrap_or(0);
    let limit = parameters.limit.unwrap_or(LIMIT).clamp(1, LIMIT_MAX);
    // One more than is shown tells whether there is more.
    let found = call.runtime.search(&parameters.query, run, (offset, limit + 1)).await?;
    let (warning, mut hits) = (found.warning(), found.hits);
    let shown = usize::try_from(limit).unwrap_or(usize::MAX);
    let has_more = shown < hits.len();
    hits.truncate(shown);
    let answer = Answer {
        hits: hits.into_iter().map(item).collect(),
        next_offset: has_more.then(|| offset.saturating_add(limit)),
    };
    Ok(Done { warnings: warning.into_iter().collect(), ..answer.into() })
}

fn item(hit: Hit) -> Item {
    Item {
        instance_id: hit.run.to_string(),
        run: hit.run.short(),
        seq: hit.seq,
        at: hit.at.to_string(),
        kind: hit.kind,
        snippet: hit.snippet,
    }
}
