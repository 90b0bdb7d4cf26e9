//! Some words around what was found, with `[` and `]` about it.
//!
//! The index holds no texts, so each text is matched once more in a table of its own: there the
//! words are cut and compared as they are in the index.

use std::ops::Range;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::Query;

/// About how much is shown, in letters.
const LETTERS_MAX: usize = 160;
/// How much of it comes before the first thing found.
const LETTERS_BEFORE: usize = 48;

/// What marks a match. Texts have no control characters by then.
const OPEN: char = '\u{1}';
const CLOSE: char = '\u{2}';

/// Makes snippets for one query.
pub(super) struct Snippets {
    /// A private database that holds one text at a time.
    scratch: Connection,
    expression: String,
}

impl Snippets {
    pub(super) fn of(query: &Query) -> Result<Self, rusqlite::Error> {
        let scratch = Connection::open_in_memory()?;
        scratch.execute_batch(
            "CREATE VIRTUAL TABLE shown USING fts5 (text, tokenize = 'porter unicode61')",
        )?;
        Ok(Self { scratch, expression: query.expression(" OR ") })
    }

    /// Cuts a piece of one line out of `text` around the first thing that the query finds in it.
    pub(super) fn cut(&self, text: &str) -> Result<String, rusqlite::Error> {
        let text = text.replace(char::is_control, " ");
        let matches = self.find_matches(&text)?;
        let words = words(&text);
        let is_found = |word: &&Range<usize>| {
            matches.iter().any(|it| it.start < word.end && word.start < it.end)
        };
        let found: Vec<&Range<usize>> = words.iter().filter(is_found).collect();
        let first = found.first().map_or(0, |word| word.start);
        let (start, end) = window(&text, &words, first);
        let mut cut = String::with_capacity(end.saturating_sub(start) + 16);
        if 0 < start {
            cut.push('…');
        }
        let mut at = start;
        for word in found.iter().filter(|word| start <= word.start && word.end <= end) {
            cut.push_str(text.get(at..word.start).unwrap_or_default());
            cut.push('[');
            cut.push_str(text.get(word.start..word.end).unwrap_or_default());
            cut.push(']');
            at = word.end;
        }
        cut.push_str(text.get(at..end).unwrap_or_default());
        if end < text.len() {
            cut.push('…');
        }
        Ok(cut)
    }

    fn find_matches(&self, text: &str) -> Result<Vec<Range<usize>>, rusqlite::Error> {
        let mut insert =
            self.scratch.prepare_cached("REPLACE INTO shown (rowid, text) VALUES (1, ?1)")?;
        insert.execute(params![text])?;
        let mut select = self
            .scratch
            .prepare_cached("SELECT highlight(shown, 0, ?2, ?3) FROM shown WHERE shown MATCH ?1")?;
        let values = params![self.expression, OPEN.to_string(), CLOSE.to_string()];
        let marked: Option<String> = select.query_row(values, |row| row.get(0)).optional()?;
        let (mut matches, mut at) = (Vec::new(), 0);
        for piece in marked.unwrap_or_default().split_inclusive([OPEN, CLOSE]) {
            let start = at;
            at += piece.trim_end_matches([OPEN, CLOSE]).len();
            if piece.ends_with(CLOSE) {
                matches.push(start..at);
            }
        }
        Ok(matches)
    }
}

/// Returns the words of `text` in order: runs of letters and digits, with the accents behind them.
fn words(text: &str) -> Vec<Range<usize>> {
    let is_accent = |letter: char| ('\u{300}'..='\u{36f}').contains(&letter);
    let mut words = Vec::new();
    let mut start = None;
    // The space ends the last word.
    for (index, letter) in text.char_indices().chain([(text.len(), ' ')]) {
        match start {
            None if letter.is_alphanumeric() => start = Some(index),
            Some(begin) if !letter.is_alphanumeric() && !is_accent(letter) => {
                words.push(begin..index);
                start = None;
            }
            None | Some(_) => {}
        }
    }
    words
}

/// Returns from where to where to cut, at the edges of words where there are any near.
fn window(text: &str, words: &[Range<usize>], first: usize) -> (usize, usize) {
    let back = text.get(..first).unwrap_or_default().char_indices().rev();
    let earliest = back.take(LETTERS_BEFORE).last().map_or(0, |(index, _)| index);
    let start = if earliest == 0 {
        0
    } else {
        words.iter().map(|word| word.start).find(|it| earliest <= *it).unwrap_or(first).min(first)
    };
    let ahead = text.get(start..).unwrap_or_default().char_indices().nth(LETTERS_MAX);
    let Some(latest) = ahead.map(|(index, _)| start + index) else {
        return (start, text.len());
    };
    let ends = words.iter().map(|word| word.end);
    let end = ends.take_while(|it| *it <= latest).last().filter(|it| first < *it);
    (start, end.unwrap_or(latest))
}

#[cfg(test)]
mod tests {
    use super::{Query, Snippets};

    fn snippet(text: &str, query: &str) -> String {
        Snippets::of(&Query::parse(query)).unwrap().cut(text).unwrap()
    }

    #[test]
    fn what_was_found_is_marked() {
        let long =
            format!("{}the migrations failed: {}", "before ".repeat(30), "after ".repeat(60));
        for (text, query, expected) in [
            ("The disk was full", "DISK", "The [disk] was full".to_owned()),
            ("one\ntwo\tthree", "two", "one [two] three".to_owned()),
            ("disk full, disk is full", "\"disk full\"", "[disk] [full], disk is full".to_owned()),
            ("Größe und größe", "größe", "[Größe] und [größe]".to_owned()),
            ("nothing here", "absent", "nothing here".to_owned()),
            ("", "x", String::new()),
            (
                &long,
                "migration",
                format!(
                    "…{}the [migrations] failed: {}after…",
                    "before ".repeat(6),
                    "after ".repeat(15)
                ),
            ),
        ] {
            assert_eq!(snippet(text, query), expected);
        }
    }

    #[test]
    fn a_text_without_edges_is_cut_between_letters() {
        let text = "あ".repeat(1000);
        let cut = snippet(&text, "x");
        assert_eq!(cut.chars().count(), 161);
    }
}
