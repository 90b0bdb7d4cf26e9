//! "Did you mean": the known word that is nearest to a mistyped one.

/// Returns the candidate that `wanted` was most likely meant to be: the same but for case, spaces,
/// `_` and `-`, or else a few letters away.
pub(crate) fn nearest<'a>(
    wanted: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let wanted = fold(wanted);
    let length = wanted.chars().count();
    // One letter of two or three may be wrong, but not the only one.
    let letters_max = if length <= LETTERS_MAX { (length + 1) / 3 } else { 0 };
    candidates
        .into_iter()
        .map(|it| (fold(it), it))
        .filter(|(folded, _)| folded.chars().count().abs_diff(length) <= letters_max)
        .filter_map(|(folded, it)| Some((distance(&wanted, &folded, letters_max)?, it)))
        .min_by_key(|(letters, _)| *letters)
        .map(|(_, it)| it)
}

/// Returns a help text that names the nearest candidate, or else all of them.
pub(crate) fn help<'a>(
    wanted: &str,
    candidates: impl IntoIterator<Item = &'a str> + Clone,
) -> Option<String> {
    if let Some(it) = nearest(wanted, candidates.clone()) {
        return Some(format!("did you mean `{it}`?"));
    }
    let all: Vec<String> = candidates.into_iter().map(|it| format!("`{it}`")).collect();
    match all.len() {
        0 => None,
        1..=LISTED_MAX => Some(format!("known: {}", all.join(", "))),
        more => {
            let listed = all.into_iter().take(LISTED_MAX).collect::<Vec<_>>().join(", ");
            Some(format!("known: {listed} and {} more", more - LISTED_MAX))
        }
    }
}

/// How long a word may be for its letters to be compared one by one.
const LETTERS_MAX: usize = 64;
/// How many names a help text lists.
const LISTED_MAX: usize = 24;

/// Returns a name without what people vary when they write it from memory.
pub(crate) fn fold(text: &str) -> String {
    text.chars().filter(|it| !matches!(it, ' ' | '_' | '-')).flat_map(char::to_lowercase).collect()
}

/// How many letters must be added, dropped, changed or swapped with their neighbour; `None` if
/// more than `max`.
fn distance(one: &str, two: &str, max: usize) -> Option<usize> {
    let two: Vec<char> = two.chars().collect();
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=two.len()).collect();
    let mut letter_before = None;
    for (row, letter) in one.chars().enumerate() {
        let mut current = vec![row + 1];
        for (column, other) in two.iter().enumerate() {
            let at = |row: &[usize], column: usize| row.get(column).copied().unwrap_or(usize::MAX);
            let mut cost = (at(&last, column) + usize::from(letter != *other))
                .min(at(&last, column + 1) + 1)
                .min(at(&current, column) + 1);
            let other_before = column.checked_sub(1).and_then(|it| two.get(it));
            let is_swap = letter_before == Some(*other) && other_before == Some(&letter);
            if is_swap && let Some(column) = column.checked_sub(1) {
                cost = cost.min(at(&before_last, column).saturating_add(1));
            }
            current.push(cost);
        }
        if current.iter().chain(&last).all(|it| *it > max) {
            return None;
        }
        letter_before = Some(letter);
        before_last = std::mem::replace(&mut last, current);
    }
    last.last().copied().filter(|it| *it <= max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_found_and_a_far_one_is_not() {
        let known = ["produces", "needs", "gate", "Run Unit Tests"];
        assert_eq!(nearest("produce", known), Some("produces"));
        assert_eq!(nearest("gaet", known), Some("gate"));
        assert_eq!(nearest("run_unit-tests", known), Some("Run Unit Tests"));
        assert_eq!(nearest("xyzzy", known), None);
        assert_eq!(nearest("", known), None);
    }

    #[test]
    fn letters_are_counted() {
        assert_eq!(distance("", "abc", 9), Some(3));
        assert_eq!(distance("abc", "", 9), Some(3));
        assert_eq!(distance("kitten", "sitting", 3), Some(3));
        assert_eq!(distance("kitten", "sitting", 2), None);
        assert_eq!(distance("ab", "ba", 1), Some(1));
        assert_eq!(distance("same", "same", 0), Some(0));
    }
}
