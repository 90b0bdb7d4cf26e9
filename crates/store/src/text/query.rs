//! What a search asks for: words, beginnings of words and phrases. Nothing else has a meaning.

use super::{Word, words};

/// The most that is read of a query, in bytes.
const TEXT_BYTES_MAX: usize = 4096;
/// Terms after these are left out.
const TERMS_MAX: usize = 32;

/// Endings that the stemmer takes off. Someone who looks for `migratio*` means words whose stem
/// is shorter than that, so the endings that could follow are tried.
const ENDINGS: &[&str] = &[
    "able", "al", "ally", "ance", "ate", "ated", "ating", "ation", "ations", "ator", "ed", "ence",
    "er", "ers", "es", "ful", "ible", "ing", "ings", "ion", "ions", "ism", "ity", "ive", "ization",
    "ize", "ized", "izing", "ly", "ment", "ments", "ness", "ous",
];

/// A query that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Query {
    pub(crate) terms: Vec<Term>,
}

/// A word or phrase, or the beginning of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Term {
    /// As it was written, without quotes and `*`.
    pub(crate) text: String,
    /// The stems that must follow each other.
    pub(crate) stems: Vec<String>,
    /// Whether the last stem is only the beginning of one.
    pub(crate) is_prefix: bool,
    /// Whole words that begin as a prefix does, and have a shorter stem.
    pub(crate) completions: Vec<Completion>,
}

/// A word that a prefix may stand for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Completion {
    pub(crate) text: String,
    pub(crate) stem: String,
}

impl Query {
    /// Reads what a caller typed. Punctuation alone gives a query without terms.
    pub(crate) fn parse(text: &str) -> Self {
        let end = text.floor_char_boundary(TEXT_BYTES_MAX);
        let text = text.get(..end).unwrap_or_default().replace(char::is_control, " ");
        let mut terms = Vec::new();
        // Every second piece between quotes is a phrase. A quote without a partner ends nothing.
        for (index, piece) in text.split('"').enumerate() {
            if index % 2 == 1 {
                terms.extend(Term::phrase(piece));
            } else {
                terms.extend(piece.split_whitespace().filter_map(Term::word));
            }
        }
        terms.truncate(TERMS_MAX);
        Self { terms }
    }
}

impl Term {
    fn phrase(text: &str) -> Option<Self> {
        let stems: Vec<String> = words(text).into_iter().map(|word| word.stem).collect();
        let text = text.to_owned();
        (!stems.is_empty()).then_some(Self {
            text,
            stems,
            is_prefix: false,
            completions: Vec::new(),
        })
    }

    fn word(text: &str) -> Option<Self> {
        let Some(beginning) = text.strip_suffix('*') else {
            return Self::phrase(text);
        };
        let term = Self::phrase(beginning)?;
        let completions = match term.stems.as_slice() {
            [stem] => completions(beginning, stem),
            _ => Vec::new(),
        };
        Some(Self { is_prefix: true, completions, ..term })
    }

    /// Returns which of `words` this term fits, as ranges of their indexes.
    pub(crate) fn find(&self, words: &[Word]) -> Vec<std::ops::Range<usize>> {
        let length = self.stems.len();
        let starts = words.windows(length).enumerate();
        let found = starts.filter(|(_, words)| self.fits(words));
        found.map(|(start, _)| start..start + length).collect()
    }

    fn fits(&self, words: &[Word]) -> bool {
        let (Some((last_word, words)), Some((last, stems))) =
            (words.split_last(), self.stems.split_last())
        else {
            return false;
        };
        let is_last = last_word.stem == *last
            || (self.is_prefix && last_word.stem.starts_with(last.as_str()))
            || self.completions.iter().any(|it| it.stem == last_word.stem);
        is_last && words.iter().zip(stems).all(|(word, stem)| word.stem == *stem)
    }
}

/// Returns words that begin with `beginning`, and whose stems do not begin with `prefix`, its stem.
fn completions(beginning: &str, prefix: &str) -> Vec<Completion> {
    let mut all: Vec<Completion> = Vec::new();
    for ending in ENDINGS {
        // The longest part of the ending that is already written, but not all of it.
        let written = (1..ending.len()).rev().find(|it| {
            ending.get(..*it).is_some_and(|written| beginning.to_lowercase().ends_with(written))
        });
        let Some(rest) = written.and_then(|it| ending.get(it..)) else {
            continue;
        };
        let text = format!("{beginning}{rest}");
        let stem = words(&text).pop().map(|word| word.stem).unwrap_or_default();
        // What begins with the prefix is found by it already.
        if !stem.starts_with(prefix) && !all.iter().any(|it| it.stem == stem) {
            all.push(Completion { text, stem });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::Query;

    fn stems(text: &str) -> String {
        let terms = Query::parse(text).terms;
        let shown = terms.iter().map(|term| {
            format!("{}{}", term.stems.join("+"), if term.is_prefix { "*" } else { "" })
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn words_phrases_and_beginnings_are_read() {
        for (text, expected) in [
            ("", ""),
            ("  ... * \"\" -- ", ""),
            ("Running AND jumping", "run and jump"),
            ("\"disk is full\" now", "disk+is+full now"),
            ("\"never closed", "never+close"),
            ("migrat* foo-bar", "migrat* foo+bar"),
            ("a\"b c\"d", "a b+c d"),
            ("(x) NEAR/2 {col}:y ^z", "x near+2 col+y z"),
            ("nul\0and\u{7}bell", "nul and bell"),
        ] {
            assert_eq!(stems(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_beginning_is_completed_past_its_stem() {
        let query = Query::parse("migratio*");
        let stems: Vec<&str> =
            query.terms[0].completions.iter().map(|it| it.stem.as_str()).collect();
        assert!(stems.contains(&"migrat"), "{stems:?}");
    }
}
