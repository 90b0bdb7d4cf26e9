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
        .map(|(folded, it)| (strsim::osa_distance(&wanted, &folded), it))
        .filter(|(letters, _)| *letters <= letters_max)
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
}
