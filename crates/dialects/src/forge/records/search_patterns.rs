//! `search_patterns`: what reviews of similar pipelines wanted, or which files these changed.

use insight::past::{IndexEntry, Outcome, Request};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    super::{
        answer::{Answer, Failure},
        intake::request::REQUEST_FILE,
        place,
    },
    index::Written,
    library::Specs,
};
use crate::kit::{Ask, Caller, Hints, Tool};

const TOP: usize = 3;
const TOP_OF_WORK: usize = 2;
const TOP_MAX: usize = 50;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct SearchPatterns {
    /// The spec's folder
    workspace: String,
    /// Pipelines at most; 3, or 2 for `impl`
    top_k: Option<i64>,
    /// `impl`: changed files instead of findings
    mode: Option<String>,
}

impl Tool for SearchPatterns {
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = "search_patterns";
    const TITLE: &'static str = "Search patterns";
    const DESCRIPTION: &'static str =
        "What reviews of pipelines with a similar request wanted changed, from `index.json`.";
    const HINTS: Hints = Hints::READS;

    fn ask(self, caller: &Caller) -> Result<Ask, Failure> {
        let workspace = place::reached(caller, &self.workspace)?;
        let specs = Specs::at(caller, workspace.parent());
        let is_of_work = self.mode.as_deref() == Some("impl");
        let top = usize::try_from(self.top_k.unwrap_or(0)).unwrap_or(0).min(TOP_MAX);
        let top = match (top, is_of_work) {
            (0, true) => TOP_OF_WORK,
            (0, false) => TOP,
            _ => top,
        };
        let library = specs.library.clone();
        Ok(workspace.large(REQUEST_FILE).then(move |request| {
            let request = request.unwrap_or_default();
            specs.written_index().then(move |()| {
                let (library, query) = (library.lock(), Request::parse(&request));
                let text = match (&library.written, is_of_work) {
                    (Some(index), true) => work(index, query.body(), top),
                    (Some(index), false) => findings(index, query.body(), top),
                    (None, _) => String::new(),
                };
                Self::say(Answer::text(text)).into()
            })
        }))
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
