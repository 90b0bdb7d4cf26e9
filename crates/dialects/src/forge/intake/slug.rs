//! Names of workspaces: a date and a slug, `20261115-fix-login`.
//!
//! Only eight digits and a hyphen are a date: `my-feature` is a name as it stands.

/// How long a slug may be.
const CHARS_MAX: usize = 60;
/// The slug of a request that has no letter or digit of ASCII.
const FALLBACK: &str = "task";
/// How many digits a date has.
const DATE_DIGITS: usize = 8;

/// Makes a slug of a text: lower-case letters and digits of ASCII, and single hyphens.
pub fn slugify(text: &str) -> String {
    let text = text.to_lowercase();
    let words = text.split(|it: char| !it.is_ascii_alphanumeric()).filter(|it| !it.is_empty());
    let slug: String = words.collect::<Vec<_>>().join("-").chars().take(CHARS_MAX).collect();
    slug.trim_end_matches('-').to_owned()
}

/// Returns the name of a new workspace, given the date (`2026-11-15`).
pub fn new_name(date: &str, text: &str) -> String {
    let slug = Some(slugify(text)).filter(|it| !it.is_empty());
    format!("{}-{}", date.replace('-', ""), slug.as_deref().unwrap_or(FALLBACK))
}

/// Returns the name of the spec in a workspace of this name: without its date.
pub fn spec_name(name: &str) -> &str {
    split_date(name).map_or(name, |it| it.1)
}

/// Puts another slug in the place of the one that a name has. Its date stays.
pub fn with_slug(name: &str, slug: &str) -> String {
    match split_date(name) {
        Some((date, _)) => format!("{date}-{slug}"),
        None => slug.to_owned(),
    }
}

/// Returns the date and what follows it.
fn split_date(name: &str) -> Option<(&str, &str)> {
    let (date, rest) = name.split_once('-')?;
    let is_date = date.len() == DATE_DIGITS && date.bytes().all(|it| it.is_ascii_digit());
    (is_date && !rest.is_empty()).then_some((date, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_are_plain() {
        assert_eq!(slugify("Fix: the  Login (again)!"), "fix-the-login-again");
        assert_eq!(slugify("ENG-7 Broken page!"), "eng-7-broken-page");
        assert_eq!(slugify("日本語"), "");
        assert_eq!(slugify(&"A".repeat(100)), "a".repeat(60));
        assert_eq!(slugify(&format!("{} b", "a".repeat(59))), "a".repeat(59));
    }

    #[test]
    fn new_workspaces_begin_with_their_date() {
        assert_eq!(new_name("2026-11-15", "fix login"), "20261115-fix-login");
        assert_eq!(new_name("2026-11-15", "日本語だよ"), "20261115-task");
    }

    #[test]
    fn only_a_date_is_taken_off() {
        assert_eq!(spec_name("20260101-x"), "x");
        assert_eq!(spec_name("20260101-fix-login"), "fix-login");
        for name in ["my-feature", "feature", "2026-x", "20260101", "20260101-", "-x"] {
            assert_eq!(spec_name(name), name);
        }
        assert_eq!(with_slug("20260101-x", "eng-7"), "20260101-eng-7");
        assert_eq!(with_slug("my-feature", "eng-7"), "eng-7");
    }
}
