//! What an agent names: a language, and where files are.

use insight::code::Language;

use crate::toolsets::forge::answer::Failure;

/// Returns the language that is named.
pub(super) fn language(name: &str) -> Result<Language, Failure> {
    Language::parse(name).map_err(|error| {
        Failure::new("language_unknown", error.to_string(), "name one of these as `language`")
    })
}

/// Returns the language that is named, or else the one that the ending of a file tells.
pub(super) fn language_of(path: &str, name: Option<&str>) -> Result<Language, Failure> {
    if let Some(name) = name.filter(|it| !it.trim().is_empty()) {
        return language(name);
    }
    Language::of_path(path).ok_or_else(|| {
        let names = Language::ALL.map(Language::name).join(", ");
        let message = format!("the ending of `{path}` tells no language that can be read");
        Failure::new("language_unknown", message, format!("name it as `language`: {names}"))
    })
}

/// Returns a text that must be there.
pub(super) fn filled<'a>(parameter: &str, text: &'a str) -> Result<&'a str, Failure> {
    let text = text.trim();
    if text.is_empty() {
        let message = format!("argument `{parameter}` is empty");
        return Err(Failure::new("argument_invalid", message, ""));
    }
    Ok(text)
}

/// Returns whether a folder may hold code of the project: not what was fetched, made or hidden.
pub(super) fn is_own_folder(name: &str) -> bool {
    const OTHERS: [&str; 9] = [
        "__pycache__",
        "bower_components",
        "dist",
        "node_modules",
        "site-packages",
        "target",
        "third_party",
        "vendor",
        "venv",
    ];
    !name.starts_with('.') && !OTHERS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::{is_own_folder, language_of};

    #[test]
    fn what_was_fetched_made_or_hidden_is_not_the_projects_own() {
        for name in ["vendor", "node_modules", ".git", ".venv", "target", "__pycache__"] {
            assert!(!is_own_folder(name), "{name}");
        }
        for name in ["src", "_internal", "build", "vendors"] {
            assert!(is_own_folder(name), "{name}");
        }
    }

    #[test]
    fn a_language_that_is_named_counts_more_than_an_ending() {
        assert_eq!(language_of("a.txt", Some("python")).unwrap().name(), "python");
        assert_eq!(language_of("a.sh", Some(" ")).unwrap().name(), "bash");
        let failure = language_of("a.rb", None).unwrap_err();
        assert_eq!(
            dialects::kit::Answer::text(&failure),
            Some(
                "the ending of `a.rb` tells no language that can be read; name it as `language`: \
                 go, typescript, python, bash, rust"
            )
        );
        assert!(language_of("a.rb", Some("ruby")).is_err());
    }
}
