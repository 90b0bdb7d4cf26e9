//! The verdict and the findings of a review.

use std::sync::LazyLock;

use regex::Regex;

/// A remark of a review, such as `**1. [CRITICAL] No rollback**`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// `CRITICAL` or `MINOR`.
    pub severity: String,
    pub text: String,
}

/// Returns the verdict of a review, if it is one of `words`. Case matters.
///
/// A heading `# Verdict: WORD` or `## Verdict: WORD` with a known word wins over a line
/// `Verdict: WORD`; among each kind the first counts. Unknown words are passed over.
pub fn find_verdict(text: &str, words: &[&str]) -> Option<String> {
    let find = |pattern: &Regex| {
        let tokens = text.lines().filter_map(|line| pattern.captures(line)?.get(1));
        tokens.map(|it| it.as_str()).find(|it| words.contains(it)).map(str::to_owned)
    };
    find(&HEADING).or_else(|| find(&LINE))
}

/// Returns the findings of a review, in order; at most one a line.
pub fn find_findings(text: &str) -> Vec<Finding> {
    text.lines()
        .filter_map(|line| {
            let found = FINDING.captures(line)?;
            let part = |at: usize| found.get(at).map(|it| it.as_str().trim().to_owned());
            Some(Finding { severity: part(1)?, text: part(2)? })
        })
        .collect()
}

static HEADING: LazyLock<Regex> = LazyLock::new(|| pattern(r"^##?[ \t]+Verdict:[ \t]+(\S+)"));
static LINE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^Verdict:[ \t]+(\S+)"));
static FINDING: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\*\*(?:\d+\.[ \t]+)?\[(CRITICAL|MINOR)\][ \t]+(.+?)\*\*"));

fn pattern(source: &str) -> Regex {
    Regex::new(source).expect("the pattern is fixed, and a test compiles it")
}
