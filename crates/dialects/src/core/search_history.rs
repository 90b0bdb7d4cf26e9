//! `search_history`: what was said and done in past and present runs, best match first.

use engine::{Hit, Hits, RunId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    run,
    words::{Failure, Tried},
};
use crate::kit::{self, Ask, Caller, Done, Hints, Look, Tell, Tool};

/// How many hits a page has unless its reader says so.
const LIMIT: u32 = 10;
/// The most hits of one page.
const LIMIT_MAX: u32 = 99;

/// The parameters.
#[derive(Deserialize, JsonSchema)]
pub(super) struct SearchHistory {
    /// Plain words
    query: String,
    /// Only this run
    #[schemars(extend("x-names" = ["run"]))]
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

impl kit::Answer for Answer {}

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
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = "search_history";
    const TITLE: &'static str = "Search past work";
    const DESCRIPTION: &'static str =
        "Find reports, errors, answers and notes of all runs by their words.";
    const HINTS: Hints = Hints::READS;

    fn ask(mut self, caller: &Caller) -> Result<Ask, Failure> {
        let tried = Tried::new(caller.person, "Failed to search");
        Ok(match self.instance_id.take() {
            Some(instance) => {
                let failed = tried.clone();
                run::find::<Self>(instance, failed, move |run| self.search(Some(run), tried).into())
            }
            None => self.search(None, tried).into(),
        })
    }
}

impl SearchHistory {
    fn search(self, run: Option<RunId>, tried: Tried) -> Tell {
        let offset = self.offset.unwrap_or(0);
        let limit = self.limit.unwrap_or(LIMIT).clamp(1, LIMIT_MAX);
        let say = move |found: Hits| {
            let (warning, mut hits) = (found.warning(), found.hits);
            let shown = usize::try_from(limit).unwrap_or(usize::MAX);
            let has_more = shown < hits.len();
            hits.truncate(shown);
            let answer = Answer {
                hits: hits.into_iter().map(item).collect(),
                next_offset: has_more.then(|| offset.saturating_add(limit)),
            };
            let warnings = warning.into_iter().collect();
            Self::say(Done { answer, warnings, then: None })
        };
        // One more than is shown tells whether there is more.
        let come = tried.or_fail::<Self, _, _>(say);
        Tell::Look(Look::Search(self.query, run, (offset, limit + 1), come))
    }
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
