//! Which characters of a text a reader can see. Every rule that asks this asks here.

use std::{borrow::Cow, sync::LazyLock};

use regex::Regex;

/// Returns whether a reader sees nothing in a text: white space, controls, and characters that are
/// drawn as nothing or only beside others.
pub fn is_blank(text: &str) -> bool {
    !SEEN.is_match(text)
}

/// Returns a text without the characters that no reader sees. White space stays.
pub fn visible(text: &str) -> Cow<'_, str> {
    UNSEEN.replace_all(text, "")
}

/// Blank by their picture, though Unicode counts them as symbols.
const BLANK: &str = r"\x{2800}\x{FFFC}\x{1D159}";
static SEEN: LazyLock<Regex> =
    LazyLock::new(|| pattern(&format!(r"[^\s\p{{Cc}}\p{{Cf}}\p{{DI}}\p{{M}}{BLANK}]")));
static UNSEEN: LazyLock<Regex> =
    LazyLock::new(|| pattern(&format!(r"[\p{{Cc}}\p{{Cf}}\p{{DI}}{BLANK}--\s]+")));

fn pattern(source: &str) -> Regex {
    Regex::new(source).expect("the pattern is fixed, and a test compiles it")
}
