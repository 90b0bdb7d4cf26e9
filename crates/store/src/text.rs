//! How words are told apart, asked for and shown: the same for every backend.
//!
//! A word is a run of letters and digits. Two words are the same if their stems are, whatever
//! their case and accents.

mod query;
mod snippet;
mod stem;

pub(crate) use query::{Query, Term};
pub(crate) use snippet::snippet;

/// A word of a text, by its place in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    /// The bytes from `start` up to `end`.
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) stem: String,
}

/// Returns the words of `text` in order.
pub(crate) fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut start = None;
    // The space ends the last word.
    for (index, letter) in text.char_indices().chain([(text.len(), ' ')]) {
        match start {
            None if letter.is_alphanumeric() => start = Some(index),
            Some(begin) if !letter.is_alphanumeric() && !is_accent(letter) => {
                let stem = stem::stem(&fold(text.get(begin..index).unwrap_or_default()));
                words.push(Word { start: begin, end: index, stem });
                start = None;
            }
            None | Some(_) => {}
        }
    }
    words
}

/// An accent that stands behind its letter.
fn is_accent(letter: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&letter)
}

fn fold(word: &str) -> String {
    let bare = word.chars().filter(|letter| !is_accent(*letter));
    bare.flat_map(char::to_lowercase).map(without_accent).collect()
}

fn without_accent(letter: char) -> char {
    match letter {
        'à'..='å' => 'a',
        'ç' => 'c',
        'è'..='ë' => 'e',
        'ì'..='ï' => 'i',
        'ñ' => 'n',
        'ò'..='ö' => 'o',
        'ù'..='ü' => 'u',
        'ý' | 'ÿ' => 'y',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::{Connection, params};

    use super::words;

    const TEXT: &str = "Caresses ponies ties cats feed agreed plastered motoring sing conflated \
        troubled sized hopping tanned falling hissing fizzed failing filing happy sky relational \
        conditional rational valenci hesitanci digitizer conformabli radicalli differentli vileli \
        analogousli vietnamization predication operator feudalism decisiveness hopefulness \
        callousness formaliti sensitiviti sensibiliti triplicate formative formalize electriciti \
        electrical hopeful goodness revival allowance inference airliner gyroscopic adjustable \
        defensible irritant replacement adjustment dependent adoption homologou communism activate \
        angulariti homologous effective bowdlerize probate rate cease controll roll migrations \
        databases running analyses its yes ss bees a I 0204 café naïve Ünïcode größe 日本語テスト \
        e\u{301}clair foo_bar-baz it's x86_64 sqlite3";

    #[test]
    fn words_are_the_ones_that_sqlite_finds() {
        let database = Connection::open_in_memory().unwrap();
        database
            .execute_batch(
                "CREATE VIRTUAL TABLE t USING fts5 (a, tokenize = 'porter unicode61');
                 CREATE VIRTUAL TABLE v USING fts5vocab ('t', 'instance');",
            )
            .unwrap();
        database.execute("INSERT INTO t VALUES (?1)", params![TEXT]).unwrap();
        let mut statement = database.prepare("SELECT term FROM v ORDER BY offset").unwrap();
        let theirs: Vec<String> =
            statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        let ours: Vec<String> = words(TEXT).into_iter().map(|word| word.stem).collect();
        assert_eq!(ours, theirs);
    }
}
