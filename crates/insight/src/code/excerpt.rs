//! What the languages share when they cut imports out of a text without parsing all of it.
//!
//! An excerpt may hold too much, such as an example in a comment between ordinary lines; what it
//! holds is parsed afterwards, and only a path that leads to a file counts.

/// How many lines an import may take.
pub(super) const LINES_MAX: usize = 500;

/// Returns the lines of a text that are not comments as C has them, each with where it begins.
pub(super) fn code_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_comment = false;
    let mut at = 0;
    text.split_inclusive('\n').filter_map(move |line| {
        let start = at;
        at += line.len();
        let trimmed = line.trim_start();
        if is_comment {
            is_comment = !line.contains("*/");
            return None;
        }
        if trimmed.starts_with("/*") {
            is_comment = !trimmed.contains("*/");
            return None;
        }
        (!trimmed.starts_with("//")).then_some((start, line))
    })
}

/// Returns whether a line begins with a word.
pub(super) fn begins_with(line: &str, word: &str) -> bool {
    line.strip_prefix(word).is_some_and(|rest| !rest.starts_with(is_of_name))
}

/// Returns whether a character can be in a name.
pub(super) fn is_of_name(character: char) -> bool {
    character.is_alphanumeric() || character == '_' || character == '$'
}

/// Returns the words and other marks around each place where a text has a name by itself.
pub(super) fn mentions<'t>(
    text: &'t str,
    name: &'t str,
) -> impl Iterator<Item = (&'t str, &'t str)> {
    text.match_indices(name).filter_map(move |(at, _)| {
        let before = text.get(..at)?;
        let after = text.get(at + name.len()..)?;
        let is_whole = !before.ends_with(is_of_name) && !after.starts_with(is_of_name);
        is_whole.then_some((before, after))
    })
}
