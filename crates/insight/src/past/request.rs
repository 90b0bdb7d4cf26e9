//! `request.md`: what was asked for.

use super::cut::cut;
use crate::ranking::words;

/// How many words stand for a request when it is searched.
const TAGS_MAX: usize = 50;
/// How much of a request is kept to be searched and shown.
const SUMMARY_BYTES_MAX: usize = 200;

/// A request without its front matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request<'a> {
    body: &'a str,
}

impl<'a> Request<'a> {
    /// Reads a request.
    pub fn parse(text: &'a str) -> Self {
        let text = text.trim_start_matches('\u{feff}');
        Self { body: body(text).unwrap_or(text) }
    }

    /// Returns what was asked for.
    pub fn body(&self) -> &'a str {
        self.body
    }

    /// Returns the first line that says something, without the marks of a heading.
    pub fn one_liner(&self) -> &'a str {
        let line = self.body.lines().map(str::trim).find(|it| !it.is_empty());
        line.unwrap_or_default().trim_start_matches('#').trim()
    }

    /// Returns the first words of it, each once.
    pub fn tags(&self) -> Vec<String> {
        let mut tags: Vec<String> = Vec::new();
        for word in words(self.body) {
            if TAGS_MAX <= tags.len() {
                break;
            }
            if !tags.contains(&word) {
                tags.push(word);
            }
        }
        tags
    }

    /// Returns the beginning of it in one line.
    pub fn summary(&self) -> String {
        let words: Vec<&str> = self.body.split_whitespace().collect();
        cut(&words.join(" "), SUMMARY_BYTES_MAX).to_owned()
    }
}

/// Returns what was probably asked for: the first sentence of a summary that says something, the
/// words of the name, and the rest of the summary.
pub(super) fn stand_in(name: &str, summary: &str) -> String {
    let is_text = |it: &&str| !it.is_empty() && !it.starts_with(['#', '|', '-', '`', '*', '>']);
    let first = summary.lines().map(str::trim).find(is_text).unwrap_or_default();
    let words = name.replace(['-', '_', '/'], " ");
    let first = if first.is_empty() { &words } else { first };
    format!("{first}\n\n{words}\n\n{summary}")
}

/// Returns what follows the front matter, if there is one.
fn body(text: &str) -> Option<&str> {
    let (first, mut rest) = text.split_once('\n')?;
    if first.trim_end() != "---" {
        return None;
    }
    while let Some((line, after)) = rest.split_once('\n') {
        if line.trim_end() == "---" {
            return Some(after);
        }
        rest = after;
    }
    (rest.trim_end() == "---").then_some("")
}

#[cfg(test)]
mod tests {
    use super::Request;

    #[test]
    fn the_front_matter_is_left_out() {
        let text = "---\nsource_type: text\n---\n\n# Add caching\n\nUse redis caching.\n";
        let request = Request::parse(text);
        assert_eq!(request.one_liner(), "Add caching");
        assert_eq!(request.tags(), ["caching", "redis"]);
        assert_eq!(request.summary(), "# Add caching Use redis caching.");
        assert_eq!(Request::parse("---\nno end\n").one_liner(), "---");
        assert_eq!(Request::parse("---\na: b\n---").body(), "");
        assert_eq!(Request::parse("").one_liner(), "");
    }

    #[test]
    fn a_long_request_is_cut() {
        let text: Vec<String> = (0..90).map(|at| format!("word{at}")).collect();
        let text = text.join("\n");
        let request = Request::parse(&text);
        assert_eq!(request.tags().len(), 50);
        assert_eq!(request.summary().len(), 200);
    }
}
