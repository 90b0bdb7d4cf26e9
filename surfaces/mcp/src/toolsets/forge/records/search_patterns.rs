//! `search_patterns`: what reviews of similar pipelines wanted, or which files these changed.

use insight::past::{IndexEntry, Outcome, Request};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    super::{
        answer::{Answer, Failure},
        dialect::DialectTool,
        place::Folder,
    },
    files::REQUEST,
    index::Written,
    library::library,
};
use crate::tool::{Call, Done, Hints};

const TOP: usize = 3;
const TOP_OF_WORK: usize = 2;
const TOP_MAX: usize = 50;

pub(super) struct SearchPatterns;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// The spec's folder
    workspace: String,
    /// Pipelines at most; 3, or 2 for `impl`
    top_k: Option<i64>,
    /// `impl`: changed files instead of findings
    mode: Option<String>,
}

impl DialectTool for SearchPatterns {
    type Parameters = Parameters;
    const NAME: &'static str = "search_patterns";
    const TITLE: &'static str = "Search patterns";
    const DESCRIPTION: &'static str =
        "What reviews of pipelines with a similar request wanted changed, from `index.json`.";
    const HINTS: Hints = Hints::READS;

    async fn call(call: &Call<'_>, parameters: Parameters) -> Result<Done<Answer>, Failure> {
        let workspace = Folder::reach(call, &parameters.workspace)?;
        let specs = workspace.parent();
        let is_of_work = parameters.mode.as_deref() == Some("impl");
        let top = usize::try_from(parameters.top_k.unwrap_or(0)).unwrap_or(0).min(TOP_MAX);
        let top = match (top, is_of_work) {
            (0, true) => TOP_OF_WORK,
            (0, false) => TOP,
            _ => top,
        };
        let request = workspace.read_large(call, REQUEST).await.unwrap_or_default();
        let query = Request::parse(&request);
        let mut library = library(call, &specs).await;
        let Some(index) = library.written_index(call, &specs).await else {
            return Ok(Answer::text("").into());
        };
        let text = match is_of_work {
            true => work(index, query.body(), top),
            false => findings(index, query.body(), top),
        };
        Ok(Answer::text(text).into())
    }
}

fn findings(index: &Written, query: &str, top: usize) -> String {
    let found = index.ranking.search(query, top).into_iter();
    let entries = found.filter_map(|(at, _)| index.entries.get(at));
    let bullets = entries.flat_map(|entry| {
        let of_review = |it: &insight::past::ReviewFeedback| -> Vec<String> {
            let (source, spec) = (&it.source, &entry.spec_name);
            let line = |finding| format!("- **[{source}]** {finding} _(from: {spec})_");
            it.findings.iter().map(line).collect()
        };
        entry.review_feedback.iter().flat_map(of_review).collect::<Vec<_>>()
    });
    under("What reviews of similar pipelines wanted changed:", &bullets.collect::<Vec<_>>())
}

fn work(index: &Written, query: &str, top: usize) -> String {
    let found = index.ranking.search(query, index.entries.len()).into_iter();
    let entries = found.filter_map(|(at, _)| index.entries.get(at));
    let completed = entries.filter(|it| it.outcome == Outcome::Completed).take(top);
    let bullets = completed.flat_map(|entry: &IndexEntry| {
        let line = |it: &insight::past::ImplPattern| {
            let files = it.files_modified.join(", ");
            format!("- **{}** {}: files: {files}", entry.spec_name, it.task_title)
        };
        entry.impl_patterns.iter().map(line).collect::<Vec<_>>()
    });
    under("What similar pipelines changed:", &bullets.collect::<Vec<_>>())
}

/// A heading without anything below it says nothing.
fn under(heading: &str, bullets: &[String]) -> String {
    if bullets.is_empty() { String::new() } else { format!("{heading}\n{}", bullets.join("\n")) }
}
