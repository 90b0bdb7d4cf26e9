//! Some words around what was found, with `[` and `]` about it.

use super::{Query, Word, words};

/// About how much is shown, in letters.
const LETTERS_MAX: usize = 160;
/// How much of it comes before the first thing found.
const LETTERS_BEFORE: usize = 48;

/// Cuts a piece of one line out of `text` around the first thing that `query` finds in it.
pub(crate) fn snippet(text: &str, query: &Query) -> String {
    let words = words(text);
    let mut found = vec![false; words.len()];
    for range in query.terms.iter().flat_map(|term| term.find(&words)) {
        found.get_mut(range).unwrap_or_default().fill(true);
    }
    let found: Vec<&Word> =
        words.iter().zip(found).filter_map(|(word, is_found)| is_found.then_some(word)).collect();
    let first = found.first().map_or(0, |word| word.start);
    let (start, end) = window(text, &words, first);
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
    cut.replace(char::is_control, " ")
}

/// Returns from where to where to cut, at the edges of words where there are any near.
fn window(text: &str, words: &[Word], first: usize) -> (usize, usize) {
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
    use super::{Query, snippet};

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
            assert_eq!(snippet(text, &Query::parse(query)), expected);
        }
    }

    #[test]
    fn a_text_without_edges_is_cut_between_letters() {
        let text = "あ".repeat(1000);
        let cut = snippet(&text, &Query::parse("x"));
        assert_eq!(cut.chars().count(), 161);
    }
}
