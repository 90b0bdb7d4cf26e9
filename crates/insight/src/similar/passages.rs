//! A text cut into passages of like length, at white space where there is some.

/// How much of a text is read, in bytes.
const TEXT_BYTES_MAX: usize = 64 << 10;
/// How long a passage is, in bytes: a few sentences. A long text has longer ones.
const PASSAGE_BYTES: usize = 320;
/// How many passages a text is cut into at most.
const PASSAGES_MAX: usize = 16;
/// How far the next white space may be from where a passage should end.
const SLACK_BYTES: usize = 40;

/// Returns the part of a text that is read.
pub(super) fn readable(text: &str) -> &str {
    text.split_at(text.floor_char_boundary(TEXT_BYTES_MAX)).0
}

/// Returns the whole text, and then its passages, if it is long enough to have several.
pub(super) fn passages(text: &str) -> Vec<&str> {
    let text = readable(text);
    let mut found = vec![text];
    let count = (text.len() / PASSAGE_BYTES).min(PASSAGES_MAX);
    if count < 2 {
        return found;
    }
    let mut rest = text;
    for left in (2..=count).rev() {
        let (passage, after) = rest.split_at(find_end(rest, rest.len() / left));
        found.push(passage);
        rest = after;
    }
    found.push(rest);
    found
}

/// Returns where to cut: at the first white space from `bytes` on, or there if none is near.
fn find_end(text: &str, bytes: usize) -> usize {
    let end = text.floor_char_boundary(bytes);
    let slack = text.floor_char_boundary(end + SLACK_BYTES);
    let near = text.get(end..slack).unwrap_or_default();
    near.find(char::is_whitespace).map_or(end, |it| end + it)
}
