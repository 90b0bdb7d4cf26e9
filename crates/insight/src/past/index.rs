//! `index.json`: what was asked of each run, what its reviews wanted changed, and which files it
//! changed.

use serde::{Deserialize, Serialize};

mod changed;

use super::{
    record::Outcome,
    request::{Request, stand_in},
    review::Review,
    state::SpecState,
};

const DESIGN_REVIEW: &str = "review-design";
const PLAN_REVIEW: &str = "review-tasks";
const REVISE: &str = "REVISE";

/// What a folder of a run says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct IndexEntry {
    pub spec_name: String,
    pub timestamp: String,
    pub request_summary: String,
    pub review_feedback: Vec<ReviewFeedback>,
    pub impl_patterns: Vec<ImplPattern>,
    pub impl_outcomes: Vec<ImplOutcome>,
    pub outcome: Outcome,
}

/// What a review wanted changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReviewFeedback {
    pub source: String,
    pub verdict: String,
    pub findings: Vec<String>,
}

/// What a part of the work changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ImplPattern {
    pub task_title: String,
    pub files_modified: Vec<String>,
}

/// How a part of the work was judged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ImplOutcome {
    pub review_file: String,
    pub verdict: String,
}

/// The texts of a folder that matter: their names, in order, and what they say.
#[derive(Debug, Clone, Copy)]
pub struct SpecTexts<'a> {
    pub directory: &'a str,
    /// What `state.json` says; `None` where there is none that can be read.
    pub state: Option<&'a SpecState>,
    pub texts: &'a [(String, String)],
    /// Where the project is, so that paths in it are told apart from where it happens to lie.
    pub root: &'a str,
}

impl SpecTexts<'_> {
    /// Whether a file of a folder is looked into.
    pub fn wants(name: &str) -> bool {
        let is_fixed = matches!(
            name,
            "state.json" | "request.md" | "summary.md" | "review-design.md" | "review-tasks.md"
        );
        is_fixed || is_numbered(name, "impl-") || is_numbered(name, "review-")
    }

    fn find(&self, name: &str) -> Option<&str> {
        self.texts.iter().find(|(it, _)| it == name).map(|(_, text)| text.as_str())
    }

    fn numbered<'b>(&'b self, prefix: &'b str) -> impl Iterator<Item = &'b (String, String)> {
        self.texts.iter().filter(move |(name, _)| is_numbered(name, prefix))
    }
}

impl IndexEntry {
    /// Reads a folder.
    pub fn new(spec: &SpecTexts<'_>) -> Self {
        let outcome = spec.state.map_or(Outcome::Unknown, SpecState::outcome);
        let state = spec.state.cloned().unwrap_or_default();
        let or = |text: String, other: &str| {
            if text.is_empty() { other.to_owned() } else { text }
        };
        Self {
            spec_name: or(state.spec_name.clone(), spec.directory),
            timestamp: or(state.created, "unknown"),
            request_summary: request_summary(spec, &state.spec_name),
            review_feedback: feedback(spec),
            impl_patterns: spec
                .numbered("impl-")
                .map(|(_, text)| ImplPattern {
                    task_title: changed::title(text).to_owned(),
                    files_modified: changed::files(text, spec.root),
                })
                .collect(),
            impl_outcomes: outcomes(spec),
            outcome,
        }
    }
}

/// Returns what was asked for; where there is no request, as on a clone, what stands in for it.
fn request_summary(spec: &SpecTexts<'_>, name: &str) -> String {
    let summary = spec.find("summary.md").unwrap_or_default();
    match spec.find("request.md") {
        Some(request) => Request::parse(request).summary(),
        None if name.is_empty() && summary.is_empty() => String::new(),
        None => Request::parse(&stand_in(name, summary)).summary(),
    }
}

fn feedback(spec: &SpecTexts<'_>) -> Vec<ReviewFeedback> {
    let mut all = Vec::new();
    for source in [DESIGN_REVIEW, PLAN_REVIEW] {
        let Some(text) = spec.find(&format!("{source}.md")) else { continue };
        let review = Review::parse(text);
        if review.verdict != REVISE {
            continue;
        }
        let findings = review.findings.iter().map(|it| match &it.number {
            Some(number) => format!("{number}. [{}] {}", it.severity, it.text),
            None => format!("[{}] {}", it.severity, it.text),
        });
        let findings = findings.collect();
        all.push(ReviewFeedback { source: source.to_owned(), verdict: review.verdict, findings });
    }
    all
}

fn outcomes(spec: &SpecTexts<'_>) -> Vec<ImplOutcome> {
    let judged = spec.numbered("review-").filter_map(|(name, text)| {
        let verdict = Review::parse(text).verdict;
        let is_known = matches!(verdict.as_str(), "PASS" | "PASS_WITH_NOTES" | "FAIL");
        is_known.then(|| ImplOutcome { review_file: name.clone(), verdict })
    });
    judged.collect()
}

/// Whether a name is such as `impl-1.md`.
fn is_numbered(name: &str, prefix: &str) -> bool {
    let rest = name.strip_suffix(".md").and_then(|it| it.strip_prefix(prefix));
    rest.is_some_and(|it| it.starts_with(|first: char| first.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::{IndexEntry, SpecTexts};
    use crate::past::SpecState;

    fn entry(texts: &[(&str, &str)], state: Option<&SpecState>) -> String {
        let texts: Vec<(String, String)> =
            texts.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        let spec = SpecTexts { directory: "20260101-x", state, texts: &texts, root: "/p" };
        serde_json::to_string(&IndexEntry::new(&spec)).unwrap()
    }

    fn completed(name: &str) -> SpecState {
        let (step, created) = ("completed".to_owned(), "then".to_owned());
        SpecState { spec_name: name.to_owned(), step, created, ..SpecState::default() }
    }

    #[test]
    fn an_empty_folder_has_an_entry_too() {
        assert_eq!(
            entry(&[], None),
            r#"{"specName":"20260101-x","timestamp":"unknown","requestSummary":"","reviewFeedback":[],"implPatterns":[],"implOutcomes":[],"outcome":"unknown"}"#
        );
    }

    #[test]
    fn an_entry_says_what_the_folder_says() {
        let texts = [
            ("impl-1.md", "# Task 1: cache\n## Files Modified\n- `src/cache.rs` - new\n"),
            ("request.md", "---\na: b\n---\nAdd\n  caching"),
            ("review-1.md", "## Verdict: PASS_WITH_NOTES\n"),
            ("review-2.md", "nothing said"),
            ("review-design.md", "## Verdict: REVISE\n**1. [CRITICAL] No**\n**[MINOR] Why**\n"),
            ("review-tasks.md", "## Verdict: APPROVE\nnever REVISE **[MINOR] it**\n"),
        ];
        assert_eq!(
            entry(&texts, Some(&completed("x"))),
            r#"{"specName":"x","timestamp":"then","requestSummary":"Add caching","reviewFeedback":[{"source":"review-design","verdict":"REVISE","findings":["1. [CRITICAL] No","[MINOR] Why"]}],"implPatterns":[{"taskTitle":"Task 1: cache","filesModified":["src/cache.rs"]}],"implOutcomes":[{"reviewFile":"review-1.md","verdict":"PASS_WITH_NOTES"}],"outcome":"completed"}"#
        );
    }

    #[test]
    fn without_a_request_the_summary_stands_in() {
        let summary = ("summary.md", "# Summary\n\nSearches are cached.\n");
        let said =
            r#""requestSummary":"Searches are cached. add cache # Summary Searches are cached.""#;
        let entry = entry(&[summary], Some(&completed("add-cache")));
        assert!(entry.contains(said), "{entry}");
    }

    #[test]
    fn only_some_files_are_looked_into() {
        let names = ["impl-1.md", "impl-10b.md", "review-2.md", "review-design.md", "state.json"];
        assert!(names.iter().all(|it| SpecTexts::wants(it)));
        let others = ["impl-x.md", "impl-.md", "design.md", "review-1.txt", "analysis.md"];
        assert!(!others.iter().any(|it| SpecTexts::wants(it)));
    }
}
