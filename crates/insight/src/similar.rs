//! Which texts are most like a query, by the angle between their vectors.
//!
//! The [`Index`] makes vectors of texts, keeps and compares them. A text is kept as a whole and in
//! passages, and its best counts: a few words asked for would drown in a long text.

mod hashed;
mod passages;
mod sparse;
mod words;

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicU64, Ordering},
};

use hashed::embed;
use passages::{passages, readable};
use sparse::{Query, Vectors};

/// How many dimensions a vector has.
const DIMENSIONS: usize = 1 << 16;

/// A text that is like the query.
#[derive(Debug, Clone, PartialEq)]
pub struct Similar {
    pub id: String,
    /// The cosine of the angle to the query, from 0 (nothing in common) to 1 (the same).
    pub similarity: f32,
}

/// Texts by id, ready to be searched. It holds vectors, not texts, and can be made again at any time.
#[derive(Debug)]
pub struct Index {
    entries_max: usize,
    entries: BTreeMap<String, Entry>,
    /// How many texts have each dimension.
    having: Vec<u32>,
    /// Counts uses, to tell which entry was used least recently.
    uses: AtomicU64,
}

#[derive(Debug)]
struct Entry {
    version: u64,
    /// The whole text first, then its passages.
    vectors: Vectors,
    used: AtomicU64,
}

impl Index {
    /// Makes an empty index of at most `entries_max` texts.
    pub fn new(entries_max: usize) -> Self {
        Self {
            entries_max,
            entries: BTreeMap::new(),
            having: vec![0; DIMENSIONS],
            uses: AtomicU64::new(0),
        }
    }

    /// Returns which version of the text is held, if any is.
    pub fn version(&self, id: &str) -> Option<u64> {
        self.entries.get(id).map(|it| it.version)
    }

    /// Returns how many texts are held.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether no text is held.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns how much memory the vectors take, roughly.
    pub fn bytes(&self) -> usize {
        let of_entry = |(id, entry): (&String, &Entry)| {
            size_of::<(String, Entry)>() + id.len() + entry.vectors.bytes()
        };
        self.entries.iter().map(of_entry).sum()
    }

    /// Takes a text in, in place of the one that had this id.
    ///
    /// If there are too many then, the one that was put or found least recently is dropped.
    pub fn put(&mut self, id: &str, version: u64, text: &str) {
        self.remove(id);
        let vectors = Vectors::of(passages(text).into_iter().map(embed));
        let entry = Entry { version, vectors, used: AtomicU64::new(self.next_use()) };
        for at in entry.vectors.first().dimensions() {
            if let Some(count) = self.having.get_mut(at) {
                *count += 1;
            }
        }
        self.entries.insert(id.to_owned(), entry);
        if self.entries_max < self.entries.len() {
            self.drop_least_recently_used();
        }
    }

    /// Drops a text, if it is held.
    pub fn remove(&mut self, id: &str) {
        let Some(entry) = self.entries.remove(id) else { return };
        for at in entry.vectors.first().dimensions() {
            if let Some(count) = self.having.get_mut(at) {
                *count -= 1;
            }
        }
    }

    /// Drops all texts.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.having.fill(0);
    }

    /// Returns the texts most like the query, the best first and of equals the higher version.
    ///
    /// A query without a word finds nothing.
    pub fn search(&self, query: &str, max_results: usize, min_similarity: f32) -> Vec<Similar> {
        let query = Vectors::of([embed(readable(query))].into_iter());
        if query.first().is_empty() {
            return Vec::new();
        }
        let rarity: Vec<f32> = self.having.iter().map(|it| self.rarity(*it)).collect();
        let query = Query::new(query.first(), &rarity);
        let mut found = Vec::new();
        for (id, entry) in &self.entries {
            let cosines = entry.vectors.iter().map(|it| query.cosine(it));
            let similarity = cosines.fold(0.0, f32::max).min(1.0);
            if min_similarity <= similarity {
                found.push((similarity, entry, id));
            }
        }
        found.sort_by(|(a, one, _), (b, other, _)| {
            b.total_cmp(a).then(other.version.cmp(&one.version))
        });
        found.truncate(max_results);
        for (_, entry, _) in found.iter().rev() {
            entry.used.store(self.next_use(), Ordering::Relaxed);
        }
        found
            .into_iter()
            .map(|(similarity, _, id)| Similar { id: id.clone(), similarity })
            .collect()
    }

    fn next_use(&self) -> u64 {
        self.uses.fetch_add(1, Ordering::Relaxed)
    }

    fn drop_least_recently_used(&mut self) {
        let oldest = self.entries.iter().min_by_key(|(_, it)| it.used.load(Ordering::Relaxed));
        if let Some(id) = oldest.map(|(id, _)| id.clone()) {
            self.remove(&id);
        }
    }

    /// Returns how much a dimension says: the more, the fewer texts have it.
    ///
    /// One that no text has counts like one that a single text has: in a small collection a query
    /// would otherwise be judged by its unknown words alone.
    fn rarity(&self, having: u32) -> f32 {
        (1.0 + self.entries.len() as f32 / having.max(1) as f32).ln()
    }
}
