//! The verdict and the findings of a review.

use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};

/// A remark of a review, such as `**1. [CRITICAL] No rollback**`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The number that it bears, if it bears one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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

/// Returns the verdict of a review, if it is one of `words`. The case of a word matters.
///
/// A heading of any level, `## Verdict: WORD`, wins over a line `Verdict: WORD`; among each kind the
/// first with a known word counts. Emphasis and punctuation around the word do not matter, and
/// `PASS WITH NOTES` is `PASS_WITH_NOTES`. Under a heading that says only `Verdict`, the word may be
/// on the next line. A review may also be nothing but the word.
pub fn find_verdict(text: &str, words: &[&str]) -> Option<String> {
    let known = |said: &str| {
        let said = words.iter().filter(|it| begins_with(said, it));
        said.max_by_key(|it| it.len()).map(|it| (*it).to_owned())
    };
    let exactly = |said: &str| {
        let count = said.split_whitespace().count();
        known(said).filter(|it| count == 1 || count == it.split('_').count())
    };
    let lines: Vec<&str> = text.lines().collect();
    let find = |is_heading: bool| {
        lines.iter().enumerate().find_map(|(at, line)| {
            let found = VERDICT.captures(line)?;
            if found.name("heading").is_some() != is_heading {
                return None;
            }
            let said = found.name("said").map_or("", |it| it.as_str().trim());
            if !said.is_empty() || !is_heading {
                return known(said);
            }
            let mut below = lines.iter().skip(at + 1).filter(|it| !it.trim().is_empty());
            let line = below.next()?.trim();
            let line = line.strip_prefix("- ").or_else(|| line.strip_prefix("> ")).unwrap_or(line);
            exactly(line).or_else(|| first_word(line).and_then(known))
        })
    };
    find(true).or_else(|| find(false)).or_else(|| exactly(text.trim()))
}

/// Whether a text begins with a verdict. One of several words may be written with spaces, and then
/// all but the first in any case.
fn begins_with(text: &str, verdict: &str) -> bool {
    let mut said = text.split_whitespace().map(plain).filter(|it| !it.is_empty()).peekable();
    if said.peek() == Some(&verdict) {
        return true;
    }
    let mut words = verdict.split('_');
    words.next() == said.next()
        && words.all(|word| said.next().is_some_and(|it| it.eq_ignore_ascii_case(word)))
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

static VERDICT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:(?<heading> {0,3}#{1,6}[ \t]+)|[-*>][ \t]+)?[*_]{0,3}(?i:verdict)[*_]{0,3}[ \t]*(?:[:–—-][*_]{0,3}[ \t]*(?<said>.*))?$",
    )
});
static FINDING: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\*\*(?:(\d+)\.[ \t]+)?\[(CRITICAL|MINOR)\][ \t]+(.+?)\*\*"));

/// Takes emphasis and punctuation off a word.
fn plain(word: &str) -> &str {
    word.trim_matches(['*', '_', '`', '"', '.', ',', ';', ':', '!'])
}

/// Returns the word that a line consists of or begins with, if it does not go on as a sentence.
fn first_word(line: &str) -> Option<&str> {
    let (word, rest) = line.split_once([' ', '\t']).unwrap_or((line, ""));
    let is_closed = word.ends_with(['.', ',', ';', ':', '!']) || word.ends_with("**");
    let is_apart = rest.trim_start().starts_with(['-', '–', '—', '(']);
    (rest.trim().is_empty() || is_closed || is_apart).then(|| plain(word))
}

fn pattern(source: &str) -> Regex {
    Regex::new(source).expect("the pattern is fixed, and a test compiles it")
}
