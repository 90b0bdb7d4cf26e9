//! Shortens texts without breaking a character.

/// Returns the longest beginning of a text that has at most `bytes_max` bytes.
pub fn cut(text: &str, bytes_max: usize) -> &str {
    let end = (0..=bytes_max.min(text.len())).rev().find(|it| text.is_char_boundary(*it));
    text.get(..end.unwrap_or_default()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn no_character_is_broken() {
        assert_eq!((cut("año", 2), cut("año", 3), cut("año", 9)), ("a", "añ", "año"));
        assert_eq!(cut("ñ", 0), "");
    }
}
