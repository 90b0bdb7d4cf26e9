//! `history_search`: past pipelines by the words of their requests.

use insight::past::{Outcome, Record, cut};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    super::{
        answer::{Answer, Failure},
        dialect::DialectTool,
        place::Folder,
    },
    files::DESIGN,
    library::{self, path},
};
use crate::tool::{Call, Done, Hints};

const LIMIT: usize = 3;
const LIMIT_MAX: usize = 100;
const EXCERPT_BYTES_MAX: usize = 200;

pub(super) struct HistorySearch;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
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

impl DialectTool for HistorySearch {
    type Parameters = Parameters;
    const NAME: &'static str = "history_search";
    const TITLE: &'static str = "Search past pipelines";
    const DESCRIPTION: &'static str =
        "Past pipelines whose request is most like the query, with what they took.";
    const HINTS: Hints = Hints::READS;

    async fn call(call: &Call<'_>, parameters: Parameters) -> Result<Done<Answer>, Failure> {
        let limit = usize::try_from(parameters.limit.unwrap_or(0)).unwrap_or(0);
        let limit = if limit == 0 { LIMIT } else { limit.min(LIMIT_MAX) };
        let specs = Folder::specs(call);
        let (found, index_size) = {
            let library = library::runs(call, &specs).await?;
            (library.search(&parameters.query, limit), library.len())
        };
        let designs = found.iter().map(|(it, _)| path(&it.directory, DESIGN)).collect();
        let designs = specs.read_all(call, designs).await.unwrap_or_default();
        let designs = designs.into_iter().map(Option::unwrap_or_default);
        let results = found.into_iter().zip(designs).map(|(it, design)| result(it, &design));
        Ok(Answer::json(&Results { results: results.collect(), index_size }).into())
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
