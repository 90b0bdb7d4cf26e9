//! How far two short texts are from each other.

/// Whether two texts differ in a smaller part of the longer one than `part_max`, counted in
/// characters that have to be put in, taken out or replaced.
pub(in crate::past) fn is_near(one: &str, other: &str, part_max: f64) -> bool {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let longer = one.len().max(other.len()) as f64;
    let at_least = one.len().abs_diff(other.len()) as f64;
    let is_below = |count: f64| longer < 1.0 || count / longer < part_max;
    is_below(at_least) && is_below(distance(&one, &other) as f64)
}

fn distance(one: &[char], other: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, a) in one.iter().enumerate() {
        let mut diagonal = at;
        let mut left = at + 1;
        if let Some(first) = row.first_mut() {
            *first = left;
        }
        for (b, above) in other.iter().zip(row.iter_mut().skip(1)) {
            let replaced = diagonal + usize::from(a != b);
            diagonal = *above;
            left = replaced.min(diagonal + 1).min(left + 1);
            *above = left;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{distance, is_near};

    #[test]
    fn distances_are_the_fewest_changes() {
        let all = [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("kitten", "sitting", 3),
            ("flaw", "lawn", 2),
            ("año", "ano", 1),
        ];
        for (one, other, expected) in all {
            let chars = |text: &str| text.chars().collect::<Vec<char>>();
            assert_eq!(distance(&chars(one), &chars(other)), expected, "{one} {other}");
        }
    }

    #[test]
    fn near_is_less_than_the_part() {
        assert!(is_near("abcdefghij", "abcdefghZZ", 0.3));
        assert!(!is_near("abcdefghij", "abcdefgZZZ", 0.3));
        assert!(!is_near("ab", "abcdefghij", 0.3));
        assert!(is_near("", "", 0.3));
    }
}
