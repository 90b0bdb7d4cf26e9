//! The verdict and the findings of a review.

use std::sync::LazyLock;

use regex::Regex;

/// A remark of a review, such as `**1. [CRITICAL] No rollback**`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The number that it bears, if it bears one.
    pub number: Option<String>,
    /// `CRITICAL` or `MINOR`.
    pub severity: String,
    pub text: String,
}

/// What a review says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reviewed {
    pub verdict: String,
    /// In the order they are written.
    pub findings: Vec<Finding>,
}

/// Reads a review; `None` where it has no verdict out of `words`, and its findings then count for
/// nothing.
pub fn read_review(text: &str, words: &[&str]) -> Option<Reviewed> {
    let verdict = find_verdict(text, words)?;
    Some(Reviewed { verdict, findings: find_findings(text) })
}

/// Returns the verdict of a review, if it is one of `words`. Case matters.
///
/// A heading `# Verdict: WORD` or `## Verdict: WORD` with a known word wins over a line
/// `Verdict: WORD`, which may be in bold, or have its first word in bold; among each kind the first
/// counts. Unknown words are passed over. A review may also be nothing but the word.
pub fn find_verdict(text: &str, words: &[&str]) -> Option<String> {
    let find = |pattern: &Regex| {
        let tokens = text.lines().filter_map(|line| pattern.captures(line)?.get(1));
        tokens.map(|it| it.as_str()).map(plain).find(|it| words.contains(it)).map(str::to_owned)
    };
    let whole = || words.iter().find(|it| **it == text.trim()).map(|it| (*it).to_owned());
    find(&HEADING).or_else(|| find(&LINE)).or_else(whole)
}

/// Returns the findings of a review, in order; at most one a line.
pub fn find_findings(text: &str) -> Vec<Finding> {
    text.lines()
        .filter_map(|line| {
            let found = FINDING.captures(line)?;
            let part = |at: usize| found.get(at).map(|it| it.as_str().trim().to_owned());
            Some(Finding { number: part(1), severity: part(2)?, text: part(3)? })
        })
        .collect()
}

static HEADING: LazyLock<Regex> = LazyLock::new(|| pattern(r"^##?[ \t]+Verdict:[ \t]+(\S+)"));
static LINE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(?:\*\*)?Verdict(?::|:\*\*|\*\*:)[ \t]+(\S+)"));
static FINDING: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\*\*(?:(\d+)\.[ \t]+)?\[(CRITICAL|MINOR)\][ \t]+(.+?)\*\*"));

/// Takes the end of a line in bold off its last word.
fn plain(word: &str) -> &str {
    word.strip_suffix("**").unwrap_or(word)
}

fn pattern(source: &str) -> Regex {
    Regex::new(source).expect("the pattern is fixed, and a test compiles it")
}
