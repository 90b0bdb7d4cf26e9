//! `history_search`: past pipelines by the words of their requests.

use insight::past::{Outcome, Record, cut};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    super::answer::{Answer, Failure},
    files::DESIGN,
    library::{Specs, path},
};
use crate::kit::{Ask, Caller, Hints, Tool};

const LIMIT: usize = 3;
const LIMIT_MAX: usize = 100;
const EXCERPT_BYTES_MAX: usize = 200;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct HistorySearch {
    /// Words
    query: String,
    /// At most; 3 unless it is said
    limit: Option<i64>,
}

#[derive(Serialize)]
struct Results {
    results: Vec<Found>,
    index_size: usize,
}

#[derive(Serialize)]
struct Found {
    spec_name: String,
    similarity: f64,
    effort: String,
    flow_template: String,
    one_liner: String,
    design_excerpt: String,
    outcome: Outcome,
    tokens_total: u64,
    duration_total_ms: u64,
}

impl Tool for HistorySearch {
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = "history_search";
    const TITLE: &'static str = "Search past pipelines";
    const DESCRIPTION: &'static str =
        "Past pipelines whose request is most like the query, with what they took.";
    const HINTS: Hints = Hints::READS;

    fn ask(self, caller: &Caller) -> Result<Ask, Failure> {
        let limit = usize::try_from(self.limit.unwrap_or(0)).unwrap_or(0);
        let limit = if limit == 0 { LIMIT } else { limit.min(LIMIT_MAX) };
        let specs = Specs::of(caller);
        let folder = specs.folder.clone();
        Ok(specs.runs().then(move |library| {
            let (found, index_size) = match library {
                Ok(it) => {
                    let library = it.lock();
                    (library.search(&self.query, limit), library.len())
                }
                Err(failure) => return Self::fail(failure).into(),
            };
            let designs = found.iter().map(|(it, _)| path(&it.directory, DESIGN)).collect();
            folder.texts(designs).then(move |designs| {
                let designs =
                    designs.unwrap_or_default().into_iter().map(Option::unwrap_or_default);
                let results =
                    found.into_iter().zip(designs).map(|(it, design)| result(it, &design));
                let results = Results { results: results.collect(), index_size };
                Self::say(Answer::json(&results)).into()
            })
        }))
    }
}

fn result((record, similarity): (Record, f64), design: &str) -> Found {
    Found {
        spec_name: record.spec_name,
        similarity,
        effort: record.effort,
        flow_template: record.flow_template,
        one_liner: record.one_liner,
        design_excerpt: cut(design, EXCERPT_BYTES_MAX).to_owned(),
        outcome: record.outcome,
        tokens_total: record.tokens_total,
        duration_total_ms: record.duration_ms,
    }
}
