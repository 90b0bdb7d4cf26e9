//! What can be reached in a graph.

use std::collections::BTreeSet;

/// Returns some places, and all that can be reached from them.
pub(crate) fn reach<T: Copy + Ord, I: IntoIterator<Item = T>>(
    starts: impl IntoIterator<Item = T>,
    next: impl Fn(T) -> I,
) -> BTreeSet<T> {
    let mut reached: BTreeSet<T> = starts.into_iter().collect();
    let mut open: Vec<T> = reached.iter().copied().collect();
    while let Some(place) = open.pop() {
        open.extend(next(place).into_iter().filter(|it| reached.insert(*it)));
    }
    reached
}
