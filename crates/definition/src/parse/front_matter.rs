//! Front matter: YAML between a first line `---` and the next line `---`; and what looks like it, but
//! is read as prose.

use super::keys;
use crate::{Diagnostic, Label, text::outside_fences};

/// Cuts the front matter off a text, and returns it with the rest. The lines of the YAML keep their
/// numbers, because an empty one stands in for the opening `---`.
pub(super) fn split(text: &str) -> (Option<String>, &str) {
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|it| is_mark(it) && it.ends_with('\n')) else {
        return (None, text);
    };
    let mut end = first.len();
    for line in lines {
        if is_mark(line) {
            let yaml = text.get(first.len()..end).unwrap_or_default();
            let rest = text.get(end + line.len()..).unwrap_or_default();
            return (Some(format!("\n{yaml}")), rest);
        }
        end += line.len();
    }
    (None, text)
}

fn is_mark(line: &str) -> bool {
    line.trim_end() == "---"
}

/// Tells of front matter that [`split`] leaves in the prose, where its keys have no effect.
///
/// Texts of runs that exist keep their meaning, so this does not stop reading.
pub(super) fn find_lost(text: &str, file: &str) -> Vec<Diagnostic> {
    let (front, prose) = split(text);
    let skipped = text.len() - prose.len();
    let mut found = Vec::new();
    let mut end = 0;
    for (start, line) in outside_fences(prose) {
        if start < end || line.trim() != "---" {
            continue;
        }
        let rest = prose.get(start + line.len()..).unwrap_or_default();
        let rest = rest.strip_prefix('\n').unwrap_or(rest);
        let Some(length) = measure_keys(rest) else { continue };
        let close = rest.get(length..).and_then(|it| it.lines().next());
        let is_closed = close.is_some_and(|it| it.trim() == "---");
        let is_first = front.is_none() && prose.get(..start).is_some_and(|it| it.trim().is_empty());
        let before = text.get(..skipped + start).unwrap_or_default();
        let line = u32::try_from(before.matches('\n').count() + 1).unwrap_or(u32::MAX);
        let label = Label { file: file.to_owned(), line: Some(line), column: Some(1), width: 3 };
        if is_first && !is_closed {
            let help = "write a line `---` after its last key".to_owned();
            let message = "the front matter is not closed, so its keys have no effect";
            found.push(Diagnostic::error("front_matter_open", label, message).with_help(help));
        } else if is_first || is_closed {
            let told = if is_first { Diagnostic::error } else { Diagnostic::warning };
            let message = format!(
                "the front matter begins on line {line} and not on line 1, so its keys have no effect"
            );
            let help = match front {
                Some(_) => "move its keys to the front matter on line 1",
                None => "move it to line 1",
            };
            found.push(told("front_matter_late", label, message).with_help(help.to_owned()));
        }
        // The line that closes it begins no other.
        end = start + "---\n-".len() + length;
    }
    found
}

/// Returns how many bytes of a text read as front matter, if a key of ours is among them.
fn measure_keys(text: &str) -> Option<usize> {
    let mut has_key = false;
    let mut length = 0;
    for line in text.split_inclusive('\n') {
        let is_more = line.trim().is_empty() || line.starts_with([' ', '\t', '#']);
        let is_item = line.starts_with("- ");
        if !is_more && !is_item {
            let key = line.split_once(':').filter(|(_, it)| it.starts_with([' ', '\n']));
            let Some((key, _)) = key else { break };
            has_key |= keys::INDEX.has(key) || keys::STEP.has(key);
        }
        length += line.len();
    }
    has_key.then_some(length)
}
