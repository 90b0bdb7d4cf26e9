//! Vectors of words without a model: each word and each piece of a word has its dimensions by hash.
//!
//! The same text gives the same vector on every machine and in every release of the compiler.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Embedder,
    words::{Term, terms},
};

/// How many dimensions words have; the pieces of words have as many again.
const HALF: usize = 1 << 15;
/// The share of a word in its vector. Squared it is about a half, over two dimensions: two words
/// that meet by chance in one of them are still less than 0.3 alike.
const WORD_WEIGHT: f32 = 0.53;
/// The share of all pieces of a word together.
const PIECES_WEIGHT: f32 = 0.66;
/// What a number, such as a date or a line, weighs beside a word.
const NUMBER_WEIGHT: f32 = 0.5;

/// Makes vectors of the words that occur, and of the pieces that words are made of.
///
/// Words are compared by their stems; the pieces make up for misspellings, compounds and the
/// endings of other languages. Their order does not matter.
#[derive(Debug, Clone, Copy, Default)]
pub struct HashedEmbedder;

impl Embedder for HashedEmbedder {
    fn dimensions(&self) -> usize {
        2 * HALF
    }

    fn embed(&self, texts: &[&str]) -> Vec<Vec<f32>> {
        texts.iter().map(|it| embed(it)).collect()
    }

    fn counts_words(&self) -> bool {
        true
    }
}

fn embed(text: &str) -> Vec<f32> {
    let mut counts = BTreeMap::<Term, u16>::new();
    for term in terms(text) {
        let count = counts.entry(term).or_default();
        *count = count.saturating_add(1);
    }
    let mut vector = Vector::empty();
    for (term, count) in counts {
        let weight = weight(&term) * (1.0 + f32::from(count).ln());
        let text = term.text();
        vector.add(0, hash(b'1', text), weight * WORD_WEIGHT);
        vector.add(0, hash(b'2', text), weight * WORD_WEIGHT);
        let parts = term.pieces();
        let share = weight * PIECES_WEIGHT / (parts.len() as f32).sqrt();
        for part in &parts {
            vector.add(HALF, hash(b'3', part), share);
        }
    }
    vector.finish()
}

/// A vector in the making. Few of its numbers are ever touched, and only they are looked at again.
struct Vector {
    numbers: Vec<f32>,
    touched: BTreeSet<usize>,
}

impl Vector {
    fn empty() -> Self {
        Self { numbers: vec![0.0; 2 * HALF], touched: BTreeSet::new() }
    }

    /// Adds to the dimension of its half that the hash names, or takes away: what meets by chance
    /// cancels out.
    fn add(&mut self, half: usize, hash: u64, weight: f32) {
        let at = half + usize::try_from(hash % HALF as u64).unwrap_or_default();
        if let Some(number) = self.numbers.get_mut(at) {
            *number += if hash >> 63 == 0 { weight } else { -weight };
            self.touched.insert(at);
        }
    }

    /// Returns the numbers, brought to length one.
    fn finish(mut self) -> Vec<f32> {
        // A piece that many words have, such as an ending, must not outweigh the words.
        for at in self.touched.range(HALF..) {
            if let Some(number) = self.numbers.get_mut(*at) {
                *number = number.clamp(-PIECES_WEIGHT, PIECES_WEIGHT);
            }
        }
        let touched = self.touched.iter().filter_map(|at| self.numbers.get(*at));
        let length = touched.map(|it| it * it).sum::<f32>().sqrt();
        for at in &self.touched {
            if let Some(number) = self.numbers.get_mut(*at).filter(|_| 0.0 < length) {
                *number /= length;
            }
        }
        self.numbers
    }
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
