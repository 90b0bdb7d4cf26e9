//! `workflow_semantic_search`: which sessions speak of what is asked for.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    answer::{Answer, Failure, check_size},
    dialect::Verb,
    search,
    session::{self, Found, Which},
    upkeep, words,
};
use crate::tool::{Call, Done, Hints};

/// The version of the text that is searched.
const CACHE_VERSION: &str = "1.0";
/// The largest that a query may be, in bytes.
const QUERY_BYTES_MAX: usize = 4 * 1024;
const RESULTS_MAX: u64 = 100;
const RESULTS_DEFAULT: u64 = 3;
const SIMILARITY_DEFAULT: f64 = 0.1;
/// How much of a text an answer shows.
const TEXT_CHARS_MAX: usize = 2_000;

pub(super) struct WorkflowSemanticSearch;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// Words, or a sentence
    query: String,
    /// Whose sessions; `default` unless it is said
    #[schemars(extend("x-default" = "default"))]
    client_id: Option<String>,
    /// From 1 to 100; 3 unless it is said
    #[schemars(extend("x-default" = 3))]
    max_results: Option<f64>,
    /// From 0 to 1; 0.1 unless it is said
    #[schemars(extend("x-default" = 0.1))]
    min_similarity: Option<f64>,
}

impl Verb for WorkflowSemanticSearch {
    type Parameters = Parameters;
    const NAME: &'static str = "workflow_semantic_search";
    const TITLE: &'static str = "Search sessions";
    const DESCRIPTION: &'static str =
        "Find earlier sessions whose tasks, logs or evidence speak of something.";
    const HINTS: Hints = Hints::READS;

    async fn call(call: &Call<'_>, parameters: Parameters) -> Result<Done<Answer>, Failure> {
        let Parameters { query, client_id, max_results, min_similarity } = parameters;
        check_size("the query", &query, QUERY_BYTES_MAX)?;
        let options = session::options(call);
        if !options.sessions.cache {
            return Err(Failure::new(
                "CACHE_DISABLED",
                "❌ Cache mode not enabled. Semantic analysis unavailable.",
                "the user turns it on with `devworkflow.cache = true`",
            ));
        }
        upkeep::look_after(call).await;
        let client = client_id.unwrap_or_else(|| words::DEFAULT_CLIENT.to_owned());
        let mut sessions = session::list(call.runtime, session::options(call), Which::All).await?;
        sessions.retain(|it| it.record.client_id == client);
        let max = max_results.map_or(RESULTS_DEFAULT, clamped);
        let least = min_similarity.unwrap_or(SIMILARITY_DEFAULT).clamp(0.0, 1.0);
        let hits = options.memory.with_index(|index| {
            search::update(index, &sessions);
            ranked(index, &query, &sessions, least)
        });
        let hits: Vec<(&Found, f64)> =
            hits.into_iter().take(usize::try_from(max).unwrap_or(1)).collect();
        if hits.is_empty() {
            let query = words::cut(&query, 200);
            let none = Answer::new(format!("No results found for query: {query}"));
            return Ok(Answer { results: Some(Vec::new()), ..none }.into());
        }
        let blocks: Vec<String> =
            hits.iter().enumerate().map(|(place, hit)| block(place + 1, *hit)).collect();
        let results = hits.iter().map(|hit| row(*hit)).collect();
        Ok(Answer { results: Some(results), ..Answer::new(blocks.join("\n\n")) }.into())
    }
}

/// Takes the nearest number of results that is allowed.
fn clamped(wanted: f64) -> u64 {
    (1..=RESULTS_MAX).rev().find(|it| to_float(*it) <= wanted).unwrap_or(1)
}

fn to_float(number: u64) -> f64 {
    u32::try_from(number).map_or(f64::MAX, f64::from)
}

/// Returns the sessions that fit, best first; of equals the one that was changed last.
fn ranked<'a>(
    index: &insight::Index,
    query: &str,
    sessions: &'a [Found],
    least: f64,
) -> Vec<(&'a Found, f64)> {
    let found = index.search(query, index.len(), 0.0);
    let mut hits: Vec<(&Found, f64)> = found
        .iter()
        .filter_map(|hit| {
            let session = sessions.iter().find(|it| it.id() == hit.id)?;
            Some((session, f64::from(hit.similarity)))
        })
        .filter(|(_, similarity)| least <= *similarity && 0.0 < *similarity)
        .collect();
    hits.sort_by(|one, two| {
        let changed = |it: &Found| it.view.state.updated_at;
        two.1.total_cmp(&one.1).then_with(|| changed(two.0).cmp(&changed(one.0)))
    });
    hits
}

fn block(place: usize, (found, similarity): (&Found, f64)) -> String {
    let record = &found.record;
    let outputs = search::outputs(record);
    let outputs = if outputs.is_empty() { "none".to_owned() } else { outputs.join("\n- ") };
    format!(
        "--- Result {place} ---\n**Workflow:** {}\n**Session:** {}\n**Client:** \
         {}\n**Similarity:** {similarity:.3}\n**Status:** {}\n**Node:** {}\n**File:** \
         {}\n**Created:** {}\n**Updated:** {}\n**Cache version:** {CACHE_VERSION}\n**Current \
         item:** {}\n**Matching text:** {}\n**Node outputs:**\n- {outputs}",
        record.workflow_name,
        record.session_id,
        record.client_id,
        record.status,
        record.current_node,
        record.session_filename.as_deref().unwrap_or("none"),
        record.created_at,
        record.last_updated,
        record.current_item.as_deref().unwrap_or("none"),
        words::cut(&search::text(record), TEXT_CHARS_MAX),
    )
}

fn row((found, similarity): (&Found, f64)) -> Value {
    let mut row = found.row();
    if let Some(row) = row.as_object_mut() {
        // Three places are what is shown, too.
        let rounded = (similarity * 1000.0).round() / 1000.0;
        row.insert("similarity".to_owned(), json!(rounded));
        row.insert("text".to_owned(), search::text(&found.record).into());
        row.insert("node_outputs".to_owned(), json!(found.record.node_outputs));
    }
    row
}
