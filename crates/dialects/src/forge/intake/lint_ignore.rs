//! `.markdownlintignore`: has the specs passed over by anyone who checks the project's Markdown.

use engine::LINT_IGNORE_TEXT;

/// The name of the specs' folder that the file is written for.
pub(super) const SPECS_NAME: &str = ".specs";

/// The line that is added.
pub(super) const LINE: &str = ".specs/";
/// Lines that say the same.
const SAME: [&str; 4] = [".specs", LINE, ".specs/**", "/.specs"];

/// Returns what the file is to say, given what it says now; `None` where that will do.
pub(super) fn amended(text: Option<&str>) -> Option<String> {
    let Some(text) = text else { return Some(LINT_IGNORE_TEXT.to_owned()) };
    if text.lines().any(|it| SAME.contains(&it.trim())) {
        return None;
    }
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    Some(format!("{text}{end}{LINE}\n"))
}

#[cfg(test)]
mod tests {
    use super::amended;

    #[test]
    fn the_specs_are_named_once() {
        let new = amended(None).unwrap();
        assert!(new.starts_with("# ") && new.ends_with("\n.specs/\n"), "{new}");
        assert_eq!(amended(Some(&new)), None);
        assert_eq!(amended(Some("a\nb")).as_deref(), Some("a\nb\n.specs/\n"));
        assert_eq!(amended(Some("a\n")).as_deref(), Some("a\n.specs/\n"));
        assert_eq!(amended(Some("")).as_deref(), Some(".specs/\n"));
        for same in [".specs", "a\n.specs/**\n", " /.specs \n"] {
            assert_eq!(amended(Some(same)), None, "{same}");
        }
    }
}
