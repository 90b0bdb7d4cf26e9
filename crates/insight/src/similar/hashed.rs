//! Vectors of words without a model: each word and each piece of a word has its dimensions by hash.
//!
//! The same text gives the same vector on every machine and in every release of the compiler.

use std::collections::BTreeMap;

use super::words::{Term, terms};

/// How many dimensions words have; the pieces of words have as many again.
const HALF: u16 = 1 << 15;
/// The share of a word in its vector. Squared it is about a half, over two dimensions: two words
/// that meet by chance in one of them are still less than 0.3 alike.
const WORD_WEIGHT: f32 = 0.53;
/// The share of all pieces of a word together.
const PIECES_WEIGHT: f32 = 0.66;
/// What a number, such as a date or a line, weighs beside a word.
const NUMBER_WEIGHT: f32 = 0.5;

/// Returns the vector of the words that occur, and of the pieces that words are made of: its numbers
/// by dimension, of length one together. A text without words has none.
///
/// Words are compared by their stems; the pieces make up for misspellings, compounds and the
/// endings of other languages. Their order does not matter.
pub(super) fn embed(text: &str) -> BTreeMap<u16, f32> {
    let mut counts = BTreeMap::<Term, u16>::new();
    for term in terms(text) {
        let count = counts.entry(term).or_default();
        *count = count.saturating_add(1);
    }
    let mut vector = BTreeMap::new();
    for (term, count) in counts {
        let weight = weight(&term) * (1.0 + f32::from(count).ln());
        let text = term.text();
        add(&mut vector, 0, hash(b'1', text), weight * WORD_WEIGHT);
        add(&mut vector, 0, hash(b'2', text), weight * WORD_WEIGHT);
        let parts = term.pieces();
        let share = weight * PIECES_WEIGHT / (parts.len() as f32).sqrt();
        for part in &parts {
            add(&mut vector, HALF, hash(b'3', part), share);
        }
    }
    // A piece that many words have, such as an ending, must not outweigh the words.
    for number in vector.range_mut(HALF..).map(|(_, it)| it) {
        *number = number.clamp(-PIECES_WEIGHT, PIECES_WEIGHT);
    }
    let length = vector.values().map(|it| it * it).sum::<f32>().sqrt();
    if 0.0 < length {
        vector.values_mut().for_each(|it| *it /= length);
    }
    vector
}

/// Adds to the dimension of its half that the hash names, or takes away: what meets by chance
/// cancels out.
fn add(vector: &mut BTreeMap<u16, f32>, half: u16, hash: u64, weight: f32) {
    let at = half + u16::try_from(hash % u64::from(HALF)).unwrap_or_default();
    *vector.entry(at).or_default() += if hash >> 63 == 0 { weight } else { -weight };
}

impl Term {
    fn text(&self) -> &str {
        let (Self::Stem(text) | Self::Characters(text)) = self;
        text
    }

    /// Returns the overlapping pieces of the term: short ones where letters say much.
    fn pieces(&self) -> Vec<String> {
        let (text, length) = match self {
            Self::Stem(stem) if stem.is_ascii() => (format!("^{stem}$"), 4),
            Self::Stem(stem) => (format!("^{stem}$"), 3),
            Self::Characters(characters) => (characters.clone(), 1),
        };
        let letters: Vec<char> = text.chars().collect();
        letters.windows(length.min(letters.len()).max(1)).map(|it| it.iter().collect()).collect()
    }
}

fn weight(term: &Term) -> f32 {
    let is_number = term.text().chars().all(char::is_numeric);
    if is_number { NUMBER_WEIGHT } else { 1.0 }
}

/// FNV-1a, and then a stirring of its bits: its own low bits are poor for short texts.
fn hash(kind: u8, text: &str) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325_u64;
    let fold = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = std::iter::once(kind).chain(text.bytes()).fold(start, fold);
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

#[cfg(test)]
mod tests {
    use super::{HALF, embed};

    const LOGIN: &str = "Sessions are lost after login: the cookie is not kept";

    #[test]
    fn vectors_are_of_length_one_and_the_same_every_time() {
        for text in [LOGIN, "word"] {
            let length: f32 = embed(text).values().map(|it| it * it).sum();
            assert!((length - 1.0).abs() < 1e-4);
        }
        assert!(embed("").is_empty());
        assert_eq!(embed(LOGIN), embed(LOGIN));
        // A word stays where it is, on every machine and in every release.
        let places: Vec<u16> = embed("word").range(..HALF).map(|(at, _)| *at).collect();
        assert_eq!(places, [7176, 12009]);
    }
}
