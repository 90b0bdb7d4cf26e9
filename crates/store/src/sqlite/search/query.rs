//! What a search asks for: words, beginnings of words and phrases. Nothing else has a meaning.

/// The most that is read of a query, in bytes.
const TEXT_BYTES_MAX: usize = 4096;
/// Terms after these are left out.
const TERMS_MAX: usize = 32;

/// Endings that the stemmer takes off. `migratio*` means words whose stem is shorter than that, so
/// the endings that could follow are tried.
const ENDINGS: &[&str] = &[
    "able", "al", "ally", "ance", "ate", "ated", "ating", "ation", "ations", "ator", "ed", "ence",
    "er", "ers", "es", "ful", "ible", "ing", "ings", "ion", "ions", "ism", "ity", "ive", "ization",
    "ize", "ized", "izing", "ly", "ment", "ments", "ness", "ous",
];

/// A query that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Query {
    pub(super) terms: Vec<Term>,
}

/// A word or phrase, or the beginning of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Term {
    /// As it was written, without quotes and `*`.
    text: String,
    /// Whether the last word is only the beginning of one.
    is_prefix: bool,
    /// Whole words that begin as a prefix does, and may have a shorter stem.
    completions: Vec<String>,
}

impl Query {
    /// Reads what a caller typed. Punctuation alone gives a query without terms.
    pub(super) fn parse(text: &str) -> Self {
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

    /// Writes the query in the language of FTS5. Everything that came from outside is in quotes.
    pub(super) fn expression(&self, and_or: &str) -> String {
        let terms: Vec<String> = self.terms.iter().map(Term::expression).collect();
        format!("text : ({})", terms.join(and_or))
    }
}

impl Term {
    fn phrase(text: &str) -> Option<Self> {
        let has_words = text.contains(char::is_alphanumeric);
        has_words.then(|| Self { text: text.to_owned(), is_prefix: false, completions: Vec::new() })
    }

    fn word(text: &str) -> Option<Self> {
        let Some(beginning) = text.strip_suffix('*') else { return Self::phrase(text) };
        let term = Self::phrase(beginning)?;
        Some(Self { is_prefix: true, completions: completions(beginning), ..term })
    }

    fn expression(&self) -> String {
        let quote = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
        let star = if self.is_prefix { " *" } else { "" };
        let completions = self.completions.iter().map(|it| format!(" OR {}", quote(it)));
        format!("({}{star}{})", quote(&self.text), completions.collect::<String>())
    }
}

/// Returns words that begin with `beginning` and end with an ending that it has a part of.
fn completions(beginning: &str) -> Vec<String> {
    let folded = beginning.to_lowercase();
    let complete = |ending: &str| {
        // The longest part of the ending that is already written, but not all of it.
        let mut parts = (1..ending.len()).rev().filter_map(|it| ending.split_at_checked(it));
        let (_, rest) = parts.find(|(written, _)| folded.ends_with(written))?;
        Some(format!("{beginning}{rest}"))
    };
    let mut all: Vec<String> = ENDINGS.iter().filter_map(|it| complete(it)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::Query;

    #[test]
    fn words_phrases_and_beginnings_are_read() {
        for (text, expected) in [
            ("", ""),
            ("  ... * \"\" -- ", ""),
            ("Running AND jumping", "Running|AND|jumping"),
            ("\"disk is full\" now", "disk is full|now"),
            ("\"never closed", "never closed"),
            ("migrat* foo-bar", "migrat*|foo-bar"),
            ("a\"b c\"d", "a|b c|d"),
            ("(x) NEAR/2 {col}:y ^z", "(x)|NEAR/2|{col}:y|^z"),
            ("nul\0and\u{7}bell", "nul|and|bell"),
        ] {
            let terms = Query::parse(text).terms;
            let shown = terms
                .iter()
                .map(|term| format!("{}{}", term.text, if term.is_prefix { "*" } else { "" }));
            assert_eq!(shown.collect::<Vec<_>>().join("|"), expected, "{text:?}");
        }
    }

    #[test]
    fn a_beginning_is_completed_past_its_stem() {
        let query = Query::parse("migratio*");
        assert_eq!(query.terms[0].completions, ["migration", "migrations", "migratious"]);
        let text = Query::parse("Disk").expression(" AND ");
        assert_eq!(text, "text : ((\"Disk\"))");
    }
}
