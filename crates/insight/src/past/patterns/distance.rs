//! How far two short texts are from each other.

/// Whether two texts differ in a smaller part of the longer one than `part_max`, counted in
/// characters that have to be put in, taken out or replaced.
pub(in crate::past) fn is_near(one: &str, other: &str, part_max: f64) -> bool {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let longer = one.len().max(other.len()) as f64;
    let at_least = one.len().abs_diff(other.len()) as f64;
    let is_below = |count: f64| longer < 1.0 || count / longer < part_max;
    is_below(at_least) && is_below(strsim::generic_levenshtein(&one, &other) as f64)
}

#[cfg(test)]
mod tests {
    use super::is_near;

    #[test]
    fn near_is_less_than_the_part() {
        assert!(is_near("abcdefghij", "abcdefghZZ", 0.3));
        assert!(!is_near("abcdefghij", "abcdefgZZZ", 0.3));
        assert!(!is_near("ab", "abcdefghij", 0.3));
        assert!(is_near("", "", 0.3));
        assert!(is_near("señora", "senora", 0.3));
    }
}
