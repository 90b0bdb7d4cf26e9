//! Vectors of which only what is not zero is kept, in three bytes a number, and their comparison.

use std::collections::BTreeMap;

use super::DIMENSIONS;

/// How many numbers a vector keeps: the heaviest, so that no text takes more memory than this.
const PARTS_MAX: usize = 1024;

/// The vectors of one text, side by side in memory: a search runs over very many of them.
#[derive(Debug, Default)]
pub(super) struct Vectors {
    dimensions: Vec<u16>,
    /// In step with the dimensions, and never zero.
    weights: Vec<i8>,
    /// Where each vector ends.
    ends: Vec<usize>,
}

/// The direction of a vector; its length is not kept.
#[derive(Clone, Copy, Default)]
pub(super) struct Vector<'a> {
    dimensions: &'a [u16],
    weights: &'a [i8],
}

impl Vectors {
    /// Takes of each vector what is heavy enough to matter.
    pub(super) fn of(whole: impl Iterator<Item = BTreeMap<u16, f32>>) -> Self {
        let mut vectors = Self::default();
        for whole in whole {
            let parts = heaviest(whole);
            let most = parts.iter().map(|(_, it)| it.abs()).fold(f32::MIN_POSITIVE, f32::max);
            let rounded = parts.into_iter().map(|(at, it)| (at, round_small(it / most)));
            for (dimension, weight) in rounded.filter(|(_, weight)| *weight != 0) {
                vectors.dimensions.push(dimension);
                vectors.weights.push(weight);
            }
            vectors.ends.push(vectors.dimensions.len());
        }
        vectors.dimensions.shrink_to_fit();
        vectors.weights.shrink_to_fit();
        vectors.ends.shrink_to_fit();
        vectors
    }

    /// Returns the first vector, or an empty one if there is none.
    pub(super) fn first(&self) -> Vector<'_> {
        self.iter().next().unwrap_or_default()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Vector<'_>> {
        let starts = std::iter::once(&0).chain(&self.ends);
        starts.zip(&self.ends).map(|(start, end)| Vector {
            dimensions: self.dimensions.get(*start..*end).unwrap_or_default(),
            weights: self.weights.get(*start..*end).unwrap_or_default(),
        })
    }

    /// Returns how much memory the vectors take.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>()
            + size_of_val(&*self.dimensions)
            + size_of_val(&*self.weights)
            + size_of_val(&*self.ends)
    }
}

impl Vector<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.dimensions.is_empty()
    }

    /// Returns the dimensions in which the vector is not zero.
    pub(super) fn dimensions(&self) -> impl Iterator<Item = usize> {
        self.dimensions.iter().map(|it| usize::from(*it))
    }
}

/// A vector laid out so that very many others can be compared with it quickly.
pub(super) struct Query {
    scales: Box<[Scale; DIMENSIONS]>,
    /// What a product must be multiplied by.
    unit: f32,
}

/// What a number in one dimension is compared with. Whole numbers are twice as fast.
#[derive(Clone, Copy, Default)]
struct Scale {
    /// The number of the query, times the square of how much the dimension says: that counts on
    /// both sides.
    query: i16,
    /// The square of how much the dimension says.
    rarity_squared: i16,
}

impl Query {
    /// Lays a vector out; `rarity` is how much each dimension says.
    pub(super) fn new(query: Vector<'_>, rarity: &[f32]) -> Self {
        let squares = rarity.iter().map(|it| it * it);
        let most = squares.clone().fold(f32::MIN_POSITIVE, f32::max);
        let mut scales = Box::new([Scale::default(); DIMENSIONS]);
        for (scale, square) in scales.iter_mut().zip(squares) {
            scale.rarity_squared = round(square / most);
        }
        let weighed = |(at, weight): (usize, &i8)| {
            let rarity = rarity.get(at).unwrap_or(&0.0);
            (at, f32::from(*weight) * rarity * rarity)
        };
        let weights: Vec<_> = query.dimensions().zip(query.weights).map(weighed).collect();
        let most = weights.iter().map(|(_, it)| it.abs()).fold(f32::MIN_POSITIVE, f32::max);
        for (at, weight) in weights {
            if let Some(scale) = scales.get_mut(at) {
                scale.query = round(weight / most);
            }
        }
        let mut laid_out = Self { scales, unit: 1.0 };
        let (product, length) = laid_out.compare(query);
        // With this unit a vector is wholly similar to itself, however its numbers were rounded.
        laid_out.unit = length / product;
        laid_out
    }

    /// Returns the cosine of the angle to a vector, or zero if it is not positive.
    pub(super) fn cosine(&self, vector: Vector<'_>) -> f32 {
        let (product, length) = self.compare(vector);
        if 0.0 < product { product * self.unit / length } else { 0.0 }
    }

    /// Returns the product with a vector, and the length of that vector.
    fn compare(&self, vector: Vector<'_>) -> (f32, f32) {
        let (mut product, mut square) = (0_i64, 0_i64);
        for (at, weight) in vector.dimensions().zip(vector.weights) {
            let scale = self.scales.get(at).copied().unwrap_or_default();
            let weight = i32::from(*weight);
            product += i64::from(i32::from(scale.query) * weight);
            square += i64::from(i32::from(scale.rarity_squared) * weight * weight);
        }
        (product as f32, (square as f32).sqrt())
    }
}

/// Returns the heaviest numbers and their dimensions, by dimension.
fn heaviest(whole: BTreeMap<u16, f32>) -> Vec<(u16, f32)> {
    let mut parts: Vec<(u16, f32)> = whole.into_iter().filter(|(_, it)| *it != 0.0).collect();
    if PARTS_MAX < parts.len() {
        parts.sort_by(|(_, a), (_, b)| b.abs().total_cmp(&a.abs()));
        parts.truncate(PARTS_MAX);
        parts.sort_by_key(|(dimension, _)| *dimension);
    }
    parts
}

/// Returns a share of at most one as a whole number, of which one is the largest.
#[expect(clippy::cast_possible_truncation, reason = "what is out of bounds is brought within")]
fn round(share: f32) -> i16 {
    (share * f32::from(i16::MAX)).round() as i16
}

#[expect(clippy::cast_possible_truncation, reason = "what is out of bounds is brought within")]
fn round_small(share: f32) -> i8 {
    (share * f32::from(i8::MAX)).round() as i8
}
