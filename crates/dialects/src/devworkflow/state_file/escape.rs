//! How any text is written so that it cannot pass for structure, and read back as it was.
//!
//! What people write by hand has none of these escapes, and reads as it looks.

use super::super::markdown;

/// What a line break is inside a table or a field.
const BREAK: &str = "<br>";

/// What opens a comment, which an empty section has for a placeholder.
const COMMENT: (&str, &str) = ("<!--", "-->");

/// What may stand around a comment.
const BLANKS: [char; 4] = [' ', '\t', '\r', '\n'];

/// Pieces of the placeholders that are around, ours and older ones.
const PLACEHOLDERS: [&str; 6] = [
    "goes here in BLUEPRINT",
    "fills this in",
    "AI appends",
    "leaves its summaries here",
    "stores condensed summaries",
    "entries yet",
];

/// Whether pipes separate cells where the text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pipes {
    Separate,
    Plain,
}

/// Whether fenced code in a text stays what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fences {
    Kept,
    /// Fences are written as text. That is needed where one of them would close code that someone
    /// left open further up.
    Escaped,
}

/// Writes a text on one line.
pub(super) fn write_line(text: &str, pipes: Pipes) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut written = String::with_capacity(text.len());
    let mut rest = markdown::trim(&text);
    while let Some(next) = rest.chars().next() {
        let is_break = rest.starts_with(BREAK);
        match next {
            '\n' => written.push_str(BREAK),
            '\\' => written.push_str(r"\\"),
            '|' if pipes == Pipes::Separate => written.push_str(r"\|"),
            '<' if is_break => written.push_str(r"\<"),
            other => written.push(other),
        }
        rest = rest.get(next.len_utf8()..).unwrap_or_default();
    }
    written
}

/// Reads a text that stands on one line.
pub(super) fn read_line(written: &str, pipes: Pipes) -> String {
    let mut text = String::with_capacity(written.len());
    let mut rest = markdown::trim(written);
    while let Some(next) = rest.chars().next() {
        let escaped = rest.strip_prefix('\\').unwrap_or_default();
        let (read, length) = if rest.starts_with(BREAK) {
            ("\n", BREAK.len())
        } else if next == '\r' {
            ("\n", 1)
        } else if escaped.starts_with(BREAK) {
            (BREAK, 1 + BREAK.len())
        } else if escaped.starts_with('\\') {
            ("\\", 2)
        } else if pipes == Pipes::Separate && escaped.starts_with('|') {
            ("|", 2)
        } else {
            (rest.get(..next.len_utf8()).unwrap_or_default(), next.len_utf8())
        };
        text.push_str(read);
        rest = rest.get(length..).unwrap_or_default();
    }
    text
}

/// Writes a text of many lines, in its normal form, with plain line ends.
pub(super) fn write_text(text: &str, fences: Fences) -> String {
    let mut written = String::with_capacity(text.len() + 1);
    if has_placeholder(text) {
        written.push('\\');
    }
    for line in markdown::lines(text) {
        let is_code = line.is_code && fences == Fences::Kept;
        if !is_code && is_structure(line.text.trim_start_matches('\\')) {
            written.push('\\');
        }
        written.push_str(line.whole);
    }
    written
}

/// Reads a text of many lines. Placeholders are no text.
pub(super) fn read_text(written: &str) -> String {
    let written = written.get(placeholder_length(written)..).unwrap_or_default();
    let written = written.get(markdown::inside(written)).unwrap_or_default();
    let mut text = String::with_capacity(written.len());
    for line in markdown::lines(written) {
        let bare = line.text.trim_start_matches('\\');
        let is_first = line.start == 0 && is_comment(bare);
        let is_escaped = bare.len() < line.text.len() && (is_first || is_structure(bare));
        let skipped = usize::from(is_escaped && !line.is_code);
        text.push_str(line.text.get(skipped..).unwrap_or_default());
        if line.whole.ends_with('\n') {
            text.push('\n');
        }
    }
    text
}

/// Returns how much of a content is its placeholder: all of it where there are comments only.
pub(super) fn placeholder_length(content: &str) -> usize {
    let mut rest = content;
    while let Some((_, after)) = comment(rest) {
        rest = after;
    }
    if markdown::is_blank(rest) {
        return content.len();
    }
    let known = comment(content).filter(|(said, after)| {
        let is_alone = after.starts_with(['\n', '\r']);
        is_alone && !said.contains('\n') && PLACEHOLDERS.iter().any(|it| said.contains(it))
    });
    known.map_or(0, |(_, after)| content.len() - after.len())
}

/// Whether the text would be read as a placeholder, or as one that was escaped.
fn has_placeholder(text: &str) -> bool {
    let bare = text.trim_start_matches('\\');
    let is_escaped = bare.len() < text.len();
    is_comment(bare) && (is_escaped || 0 < placeholder_length(text))
}

fn is_comment(text: &str) -> bool {
    text.trim_start_matches([' ', '\t']).starts_with(COMMENT.0)
}

/// Whether a line means something beyond what it says.
fn is_structure(line: &str) -> bool {
    line.starts_with("# ") || line.starts_with("## ") || markdown::is_fence(line)
}

/// Returns what the comment says with which a text begins, and what comes after it.
fn comment(text: &str) -> Option<(&str, &str)> {
    text.trim_start_matches(BLANKS).strip_prefix(COMMENT.0)?.split_once(COMMENT.1)
}
