//! Which texts have most to do with a few words, by BM25.
//!
//! Texts come and go one by one: what a search needs is counted as they do, and a search looks only
//! at texts that have one of its words.

use std::collections::BTreeMap;

/// How soon a word that is repeated says no more.
const K1: f64 = 1.5;
/// How much a long text counts for less.
const B: f64 = 0.75;
/// Shorter words are left out, in bytes.
const WORD_BYTES_MIN: usize = 4;

/// Texts by key, ready to be searched. Keys also say which of equals comes first.
#[derive(Debug, Clone)]
pub struct Ranking<K> {
    slots: BTreeMap<K, usize>,
    texts: Vec<Counted<K>>,
    free: Vec<usize>,
    /// The number of each word that a text has or had.
    numbers: BTreeMap<String, usize>,
    /// By the number of a word: which slots have it, and how often.
    having: Vec<Vec<(usize, u32)>>,
    words_total: usize,
}

/// A text as it is kept. One that was removed leaves its place to the next.
#[derive(Debug, Clone)]
struct Counted<K> {
    key: K,
    length: usize,
    /// The numbers of its words.
    words: Vec<usize>,
}

impl<K: Ord + Clone> Ranking<K> {
    /// Makes an empty ranking.
    pub fn new() -> Self {
        Self {
            slots: BTreeMap::new(),
            texts: Vec::new(),
            free: Vec::new(),
            numbers: BTreeMap::new(),
            having: Vec::new(),
            words_total: 0,
        }
    }

    /// Returns how many texts there are.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there is not text.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Takes a text in, in place of the one that had this key.
    pub fn put(&mut self, key: K, text: &str) {
        self.remove(&key);
        let slot = self.free.pop().unwrap_or(self.texts.len());
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        let mut length = 0;
        for word in words(text) {
            *counts.entry(word).or_default() += 1;
            length += 1;
        }
        let mut words = Vec::with_capacity(counts.len());
        for (word, count) in counts {
            let number = *self.numbers.entry(word).or_insert(self.having.len());
            if self.having.len() <= number {
                self.having.push(Vec::new());
            }
            if let Some(slots) = self.having.get_mut(number) {
                slots.push((slot, count));
            }
            words.push(number);
        }
        self.words_total += length;
        self.slots.insert(key.clone(), slot);
        let counted = Counted { key, length, words };
        match self.texts.get_mut(slot) {
            Some(place) => *place = counted,
            None => self.texts.push(counted),
        }
    }

    /// Drops a text, if it is there.
    pub fn remove(&mut self, key: &K) {
        let Some(slot) = self.slots.remove(key) else { return };
        let Some(text) = self.texts.get_mut(slot) else { return };
        self.words_total -= std::mem::take(&mut text.length);
        for word in std::mem::take(&mut text.words) {
            if let Some(slots) = self.having.get_mut(word) {
                slots.retain(|(it, _)| *it != slot);
            }
        }
        self.free.push(slot);
    }

    /// Returns the keys of the texts that have a word of the query with their scores, the best
    /// first and of equals the one with the lower key.
    pub fn search(&self, query: &str, max_results: usize) -> Vec<(K, f64)> {
        let mut scores = vec![0.0_f64; self.texts.len()];
        let average = self.words_total as f64 / self.slots.len().max(1) as f64;
        for word in words(query) {
            let number = self.numbers.get(&word);
            let Some(having) = number.and_then(|it| self.having.get(*it)) else { continue };
            let (all, with) = (self.slots.len() as f64, having.len() as f64);
            let rarity = ((all - with + 0.5) / (with + 0.5)).ln_1p();
            for (slot, count) in having {
                let length = self.texts.get(*slot).map_or(0, |it| it.length) as f64;
                let count = f64::from(*count);
                let damping = K1 * (1.0 - B + B * length / average);
                if let Some(score) = scores.get_mut(*slot) {
                    *score += rarity * count * (K1 + 1.0) / (count + damping);
                }
            }
        }
        let scored = scores.into_iter().zip(&self.texts).filter(|(score, _)| 0.0 < *score);
        let mut found: Vec<(f64, &K)> = scored.map(|(score, it)| (score, &it.key)).collect();
        found.sort_by(|(a, one), (b, other)| b.total_cmp(a).then_with(|| one.cmp(other)));
        found.truncate(max_results);
        found.into_iter().map(|(score, key)| (key.clone(), score)).collect()
    }
}

impl<K: Ord + Clone> Default for Ranking<K> {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns the words of a text that are long enough to say something, in small letters.
pub(crate) fn words(text: &str) -> impl Iterator<Item = String> {
    let text = text.to_lowercase();
    let words = text.split(|it: char| !it.is_alphanumeric());
    let long = words.filter(|it| WORD_BYTES_MIN <= it.len()).map(ToOwned::to_owned);
    long.collect::<Vec<String>>().into_iter()
}

#[cfg(test)]
mod tests {
    use super::{Ranking, words};

    fn ranking(texts: &[&str]) -> Ranking<usize> {
        let mut ranking = Ranking::new();
        for (at, text) in texts.iter().enumerate() {
            ranking.put(at, text);
        }
        ranking
    }

    fn keys(ranking: &Ranking<usize>, query: &str) -> Vec<usize> {
        ranking.search(query, 10).into_iter().map(|(key, _)| key).collect()
    }

    #[test]
    fn words_are_long_enough_in_bytes() {
        let all: Vec<String> = words("Fix AUTH-timeout, für näh 日本 x42y").collect();
        assert_eq!(all, ["auth", "timeout", "für", "näh", "日本", "x42y"]);
    }

    #[test]
    fn a_score_is_that_of_the_formula() {
        let ranking = ranking(&["Fix auth timeout auth timeout body text here"]);
        let (_, score) = ranking.search("auth timeout", 1).remove(0);
        assert!((score - 0.82195).abs() < 1e-4, "{score}");
        let (_, twice) = ranking.search("auth timeout auth", 1).remove(0);
        assert!((twice - 0.82195 * 1.5).abs() < 1e-4, "{twice}");
    }

    #[test]
    fn nothing_is_found_by_nothing() {
        assert!(ranking(&[]).search("auth", 3).is_empty());
        assert!(ranking(&["auth here"]).search("", 3).is_empty());
        assert!(ranking(&["auth here"]).search("zzzz", 3).is_empty());
        assert!(ranking(&["", "the"]).search("the", 3).is_empty());
    }

    #[test]
    fn of_equals_the_first_comes_first() {
        let ranking = ranking(&["other", "same words", "same words", "same words"]);
        assert_eq!(keys(&ranking, "words"), [1, 2, 3]);
    }

    #[test]
    fn a_text_that_was_replaced_or_removed_is_as_if_it_had_never_been() {
        let mut changed = ranking(&["auth timeout", "cache search", "login page"]);
        changed.put(0, "search again");
        changed.remove(&2);
        changed.remove(&7);
        let fresh = ranking(&["search again", "cache search"]);
        assert_eq!(changed.search("search cache auth", 9), fresh.search("search cache auth", 9));
        changed.put(2, "timeout");
        assert_eq!((changed.len(), changed.is_empty()), (3, false));
        assert_eq!(keys(&changed, "timeout login"), [2]);
    }
}
