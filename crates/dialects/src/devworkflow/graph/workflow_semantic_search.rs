//! `workflow_semantic_search`: which sessions speak of what is asked for.

use std::collections::BTreeMap;

use engine::{Entry, RunId, RunState, Timestamp};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    answer::{Answer, Failure, ask, check_size, tell},
    search,
    session::{self, Found, Which},
    words,
};
use crate::kit::{Ask, Caller, Hints, Indexing, Look, Tell, Tool};

/// The version of the text that is searched.
const CACHE_VERSION: &str = "1.0";
/// The largest that a query may be, in bytes.
const QUERY_BYTES_MAX: usize = 4 * 1024;
const RESULTS_MAX: u64 = 100;
const RESULTS_DEFAULT: u64 = 3;
const SIMILARITY_DEFAULT: f64 = 0.1;
/// How much of a text an answer shows.
const TEXT_CHARS_MAX: usize = 2_000;
/// How many nodes of a session an answer shows, how many visits of each, and how much of one piece of
/// evidence.
const OUTPUTS_MAX: usize = 20;
const VISITS_MAX: usize = 3;
const OUTPUT_CHARS_MAX: usize = 300;
/// How large an answer may become, in bytes. The first result is always told.
const ANSWER_BYTES_MAX: usize = 64 * 1024;

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "Parameters")]
pub(super) struct WorkflowSemanticSearch {
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

impl Tool for WorkflowSemanticSearch {
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = "workflow_semantic_search";
    const TITLE: &'static str = "Search sessions";
    const DESCRIPTION: &'static str =
        "Find earlier sessions whose tasks, logs or evidence speak of something.";
    const HINTS: Hints = Hints::READS;

    fn ask(self, caller: &Caller) -> Result<Ask, Failure> {
        let Self { query, client_id, max_results, min_similarity } = self;
        check_size("the query", &query, QUERY_BYTES_MAX)?;
        if !caller.options.devworkflow.sessions.cache {
            return Err(Failure::new(
                "CACHE_DISABLED",
                "❌ Cache mode not enabled. Semantic analysis unavailable.",
                "the user turns it on with `devworkflow.cache = true`",
            ));
        }
        let client = client_id.unwrap_or_else(|| words::DEFAULT_CLIENT.to_owned());
        let max = max_results.map_or(RESULTS_DEFAULT, clamped);
        let max = usize::try_from(max).unwrap_or(1);
        let least = min_similarity.unwrap_or(SIMILARITY_DEFAULT).clamp(0.0, 1.0);
        let searched = Searched { client, known: BTreeMap::new(), texts: Vec::new() };
        Ok(session::each(
            caller,
            Which::Ever,
            searched,
            |seen, it| seen.see(&it),
            move |searched| {
                ask(searched.map(|Searched { known, texts, .. }| {
                    let indexing =
                        Indexing { is_cleared: false, texts, query: Some(query.clone()) };
                    Look::Index(
                        indexing,
                        Box::new(move |indexed| {
                            let mut hits = ranked(&indexed.hits, &known, least);
                            hits.truncate(max);
                            Results { query, hits, told: 0, blocks: Vec::new(), rows: Vec::new() }
                                .tell(0)
                                .into()
                        }),
                    )
                    .into()
                }))
            },
        ))
    }
}

/// The sessions of a client, as they are searched.
struct Searched {
    client: String,
    known: BTreeMap<String, (RunId, Timestamp)>,
    texts: Vec<(String, u64, String)>,
}

impl Searched {
    fn see(&mut self, found: &Found) {
        if found.record.client_id == self.client && !is_deleted(found.state()) {
            self.known.insert(found.id().to_owned(), (found.run(), found.state().updated_at));
            self.texts.push(search::entry(found));
        }
    }
}

/// Whether someone deleted a session. One that was only put away is still found.
fn is_deleted(state: &RunState) -> bool {
    let is_mark = |it: &Entry| matches!(it, Entry::Note { tags, .. } if tags.iter().any(|it| it == words::DELETED));
    state.gave_up_key && state.entries.iter().any(|it| is_mark(&it.entry))
}

/// What is told of the sessions that fit.
struct Results {
    query: String,
    hits: Vec<(RunId, f64)>,
    /// How many bytes are told so far.
    told: usize,
    blocks: Vec<String>,
    rows: Vec<Value>,
}

impl Results {
    /// Looks at the session at this place, and tells of it while there is room.
    fn tell(mut self, place: usize) -> Tell {
        let Some((run, similarity)) = self.hits.get(place).copied() else { return self.end() };
        let look = session::load(run, Which::Ever, move |found| match found {
            Ok(Some(found)) => {
                let block = block(self.blocks.len() + 1, (&found, similarity));
                let row = row((&found, similarity));
                self.told += block.len() + row.to_string().len();
                if ANSWER_BYTES_MAX < self.told && !self.blocks.is_empty() {
                    return self.end();
                }
                self.blocks.push(block);
                self.rows.push(row);
                self.tell(place + 1)
            }
            Ok(None) => self.tell(place + 1),
            Err(failure) => tell(Err(failure)),
        });
        look.into()
    }

    fn end(mut self) -> Tell {
        if self.blocks.is_empty() {
            let query = words::cut(&self.query, 200);
            let none = Answer::new(format!("No results found for query: {query}"));
            return tell(Ok(Answer { results: Some(Vec::new()), ..none }.into()));
        }
        let left = self.hits.len() - self.blocks.len();
        if 0 < left {
            self.blocks.push(format!(
                "{left} more results fit, but not into one answer. Narrow the query."
            ));
        }
        let answer = Answer::new(self.blocks.join("\n\n"));
        tell(Ok(Answer { results: Some(self.rows), ..answer }.into()))
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
fn ranked(
    found: &[(String, f64)],
    known: &BTreeMap<String, (RunId, Timestamp)>,
    least: f64,
) -> Vec<(RunId, f64)> {
    let mut hits: Vec<((RunId, Timestamp), f64)> = found
        .iter()
        .filter_map(|(id, similarity)| Some((*known.get(id)?, *similarity)))
        .filter(|(_, similarity)| least <= *similarity && 0.0 < *similarity)
        .collect();
    hits.sort_by(|one, two| two.1.total_cmp(&one.1).then_with(|| two.0.1.cmp(&one.0.1)));
    hits.into_iter().map(|((run, _), similarity)| (run, similarity)).collect()
}

fn block(place: usize, (found, similarity): (&Found, f64)) -> String {
    let record = &found.record;
    let outputs = search::outputs(record).into_iter().take(OUTPUTS_MAX);
    let outputs: Vec<String> = outputs.map(|it| words::cut(&it, OUTPUT_CHARS_MAX)).collect();
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
        let text = words::cut(&search::text(&found.record), TEXT_CHARS_MAX);
        row.insert("text".to_owned(), text.into());
        let outputs = found.record.node_outputs.iter().take(OUTPUTS_MAX);
        let outputs: Map<String, Value> =
            outputs.map(|(node, it)| (node.clone(), shortened(json!(it)))).collect();
        row.insert("node_outputs".to_owned(), outputs.into());
    }
    row
}

/// Cuts every text in a value; of a list the last ones are kept.
fn shortened(value: Value) -> Value {
    match value {
        Value::String(text) => words::cut(&text, OUTPUT_CHARS_MAX).into(),
        Value::Array(items) => {
            let skipped = items.len().saturating_sub(VISITS_MAX);
            items.into_iter().skip(skipped).map(shortened).collect()
        }
        Value::Object(map) => map.into_iter().map(|(key, it)| (key, shortened(it))).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}
