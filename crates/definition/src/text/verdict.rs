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
/// first with a known word counts. Emphasis and punctuation around the word do not matter. Under a
/// heading that says only `Verdict`, the word may be on the next line. A review may also be nothing
/// but the word.
pub fn find_verdict(text: &str, words: &[&str]) -> Option<String> {
    let known = |said: &str| words.iter().find(|it| **it == said).map(|it| (*it).to_owned());
    let lines: Vec<&str> = text.lines().collect();
    let find = |is_heading: bool| {
        let said = lines.iter().enumerate().filter_map(|(at, line)| {
            let found = VERDICT.captures(line)?;
            if found.name("heading").is_some() != is_heading {
                return None;
            }
            let word = found.name("word").map_or("", |it| plain(it.as_str()));
            if !word.is_empty() || !is_heading {
                return Some(word);
            }
            let mut below = lines.iter().skip(at + 1).filter(|it| !it.trim().is_empty());
            below.next().and_then(|it| first_word(it))
        });
        said.into_iter().find_map(known)
    };
    find(true).or_else(|| find(false)).or_else(|| known(text.trim()))
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
        r"^(?:(?<heading> {0,3}#{1,6}[ \t]+)|[-*>][ \t]+)?[*_]{0,3}(?i:verdict)[*_]{0,3}[ \t]*(?:[:–—-][*_]{0,3}[ \t]*(?<word>\S*).*)?$",
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
    let line = line.trim();
    let line = line.strip_prefix("- ").or_else(|| line.strip_prefix("> ")).unwrap_or(line);
    let (word, rest) = line.split_once([' ', '\t']).unwrap_or((line, ""));
    let is_closed = word.ends_with(['.', ',', ';', ':', '!']) || word.ends_with("**");
    let is_apart = rest.trim_start().starts_with(['-', '–', '—', '(']);
    (rest.trim().is_empty() || is_closed || is_apart).then(|| plain(word))
}

fn pattern(source: &str) -> Regex {
    Regex::new(source).expect("the pattern is fixed, and a test compiles it")
}
