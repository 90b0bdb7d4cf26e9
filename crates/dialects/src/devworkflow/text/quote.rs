//! Text that others wrote, shown so that it can be taken for nothing else: no line of it can end
//! the quotation it stands in, and none of it is unbounded.

use std::iter::repeat_n;

/// Returns the text with `> ` before each line, cut where it gets longer than `bytes_max`.
pub(super) fn quoted(text: &str, bytes_max: usize) -> String {
    let plain = plain(text.trim());
    if plain.is_empty() {
        return plain;
    }
    // A line break costs as much as the mark that follows it.
    let cost = |it: char| if it == '\n' { 3 } else { it.len_utf8() };
    let shown = head(&plain, bytes_max, cost);
    let mut lines: Vec<String> = shown
        .trim_end()
        .split('\n')
        .map(|line| format!("> {line}").trim_end().to_owned())
        .collect();
    let left = plain.chars().count() - shown.chars().count();
    if 0 < left {
        lines.push(format!("> … (cut here, {left} more characters)"));
    }
    lines.join("\n")
}

/// Returns the text in one line, cut where it gets longer than `bytes_max`.
pub(super) fn line(text: &str, bytes_max: usize) -> String {
    let mut flat = String::new();
    for word in text.split_whitespace() {
        if bytes_max < flat.len() {
            break;
        }
        let gap = if flat.is_empty() { "" } else { " " };
        flat.push_str(gap);
        flat.push_str(word);
    }
    let flat = plain(&flat);
    let shown = head(&flat, bytes_max, char::len_utf8);
    if shown.len() < flat.len() { format!("{}…", shown.trim_end()) } else { flat }
}

/// Returns a cell of a table.
pub(super) fn cell(text: &str, bytes_max: usize) -> String {
    line(text, bytes_max).replace('\\', "\\\\").replace('|', "\\|")
}

/// Returns the text as code inside a line.
pub(super) fn span(text: &str) -> String {
    let mark: String = repeat_n('`', ticks(text) + 1).collect();
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{mark}{pad}{}{pad}{mark}", text.replace(['\n', '\r'], " "))
}

/// Returns the text as a block of code.
pub(super) fn fenced(text: &str, language: &str) -> String {
    let mark: String = repeat_n('`', (ticks(text) + 1).max(3)).collect();
    format!("{mark}{language}\n{}\n{mark}", plain(text).trim_matches('\n'))
}

/// Returns the end of the text, from the start of a line, not longer than `bytes_max`.
pub(super) fn tail(text: &str, bytes_max: usize) -> &str {
    let text = text.trim();
    let from = text.len().saturating_sub(bytes_max);
    if from == 0 {
        return text;
    }
    let from = (from..text.len()).find(|it| text.is_char_boundary(*it)).unwrap_or(text.len());
    let (_, rest) = text.split_at(from);
    rest.split_once('\n').map_or(rest, |(_, lines)| lines)
}

/// Returns the longest run of backticks.
fn ticks(text: &str) -> usize {
    text.split(|it| it != '`').map(str::len).max().unwrap_or(0)
}

/// Returns the text with one kind of line break, and without other control characters.
fn plain(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace(['\r', '\u{2028}', '\u{2029}', '\u{85}'], "\n");
    text.replace(|it: char| it.is_control() && it != '\n' && it != '\t', " ")
}

fn head(text: &str, cost_max: usize, cost: impl Fn(char) -> usize) -> &str {
    let mut spent = 0;
    for (at, it) in text.char_indices() {
        spent += cost(it);
        if cost_max < spent {
            return text.split_at(at).0;
        }
    }
    text
}
