//! Readers of artifacts' text: headings, words, verdicts, findings, parts.
//!
//! They are given text and look nothing up. What a missing heading or an unknown verdict leads to
//! is the engine's business.

mod fence;
mod parts;
mod verdict;
mod visible;

pub(crate) use fence::{find_open_fence, outside_fences};
pub(crate) use parts::find_flaw;
pub use parts::{check_parts, parse_parts};
pub use verdict::{Finding, Reviewed, find_findings, find_verdict, read_review};
pub use visible::{is_blank, visible};

/// Returns whether a Markdown text has the wanted heading, outside of fenced code.
///
/// A wanted text that begins with `#` fixes the level; one that ends with a space, or is only `#`s,
/// fits every heading that begins so. Case and the spaces around the words do not matter.
pub fn find_heading(text: &str, wanted: &str) -> bool {
    let (level, words) = match wanted.trim_start().trim_start_matches('#') {
        words if words.len() == wanted.trim_start().len() => (None, words),
        words => (Some(wanted.trim_start().len() - words.len()), words),
    };
    let is_beginning = words.trim().is_empty() || words.ends_with(' ');
    let words = normalize(words);
    outside_fences(text).filter_map(|(_, line)| parse_heading(line)).any(|heading| {
        let found = normalize(heading.text);
        // Whole words: `## Task ` fits `## Task 1`, not `## Tasks`.
        let begins = words.is_empty() || format!("{found} ").starts_with(&format!("{words} "));
        let fits = if is_beginning { begins } else { found == words };
        fits && level.is_none_or(|it| it == heading.level)
    })
}

/// Counts the words of a text: runs of anything but white space that have a letter or a digit.
pub fn word_count(text: &str) -> u64 {
    let words = text.split_whitespace().filter(|it| it.chars().any(char::is_alphanumeric));
    u64::try_from(words.count()).unwrap_or(u64::MAX)
}

/// Returns whether a text names something as a word of its own: `AC-1` is not in `AC-12`.
pub fn mentions(text: &str, name: &str) -> bool {
    let is_apart = |it: Option<char>| it.is_none_or(|it| !it.is_alphanumeric());
    text.match_indices(name).any(|(at, _)| {
        let before = text.get(..at).and_then(|it| it.chars().next_back());
        let after = text.get(at + name.len()..).and_then(|it| it.chars().next());
        is_apart(before) && is_apart(after)
    })
}

/// An ATX heading of Markdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Heading<'a> {
    /// How many `#`s it has: 1 to 6.
    pub(crate) level: usize,
    pub(crate) text: &'a str,
}

/// Reads a line as a heading: at most three spaces, one to six `#`s, then a space or nothing.
pub(crate) fn parse_heading(line: &str) -> Option<Heading<'_>> {
    let unindented = line.trim_start_matches(' ');
    if line.len() - unindented.len() > 3 {
        return None;
    }
    let rest = unindented.trim_start_matches('#');
    let level = unindented.len() - rest.len();
    let is_heading = (1..=6).contains(&level) && (rest.is_empty() || rest.starts_with([' ', '\t']));
    let rest = rest.trim();
    // `## Title ##` closes with as many `#`s as it likes, after a space.
    let open = rest.trim_end_matches('#');
    let is_closed = open.len() < rest.len() && (open.is_empty() || open.ends_with([' ', '\t']));
    let text = if is_closed { open.trim_end() } else { rest };
    is_heading.then_some(Heading { level, text })
}

fn normalize(words: &str) -> String {
    words.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}
