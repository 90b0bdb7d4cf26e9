//! Whether the text of an artifact is as its step promises.
//!
//! The one copy of these rules: the engine's guards, the tools that validate a file and the hooks
//! all use it.

use std::fmt;

use crate::{Check, Pattern, Scope, find_heading, mentions, text, word_count};

/// What a check needs to know beside the artifact itself.
#[derive(Debug, Clone, Copy)]
pub struct Beside<'a> {
    /// For each `covers`, in order: the path and the text of the file that lists what must be
    /// covered. `None`: the file is not there, so nothing is listed.
    pub listed: &'a [Option<(String, String)>],
    /// How many parts a plan may have.
    pub parts_max: usize,
}

/// Returns what is wrong with an artifact, if anything. Its text is `None` where none can be read.
pub fn check_product(checks: &[Check], text: Option<&str>, beside: Beside<'_>) -> Option<String> {
    if checks.is_empty() {
        return None;
    }
    let Some(text) = text else {
        return Some("it is not text, or too large to be checked".to_owned());
    };
    let mut covers = checks.iter().filter_map(Check::covers).zip(beside.listed);
    checks
        .iter()
        .find_map(|check| problem_with(check, text, beside.parts_max))
        .or_else(|| covers.find_map(|(pattern, listed)| find_uncovered(pattern, text, listed)))
}

impl fmt::Display for Check {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotEmpty => write!(out, "not empty"),
            Self::Heading(heading) => write!(out, "heading `{heading}`"),
            Self::Matches(_, Some(words)) => write!(out, "{words}"),
            Self::Matches(pattern, None) => write!(out, "a match of `{}`", pattern.source()),
            Self::Schema(_) => write!(out, "JSON that fits the schema"),
            Self::Words { min, max } => match (min, max) {
                (Some(min), Some(max)) => write!(out, "{min} to {max} words"),
                (Some(min), None) => write!(out, "at least {min} words"),
                (None, Some(max)) => write!(out, "at most {max} words"),
                (None, None) => write!(out, "any number of words"),
            },
            Self::Covers { file, .. } => write!(out, "everything that `{}` lists", file.source()),
            Self::Rejects(verdicts) => write!(out, "a verdict other than {}", verdicts.join(", ")),
            Self::Parts => write!(out, "a section for each part, such as `## Task 1: title`"),
        }
    }
}

impl Check {
    /// Says what is wanted, with the path of a file that it names as it is in a run.
    pub fn describe(&self, scope: &dyn Scope) -> String {
        let Self::Covers { file, .. } = self else { return self.to_string() };
        let path = file.render(scope);
        path.map_or_else(|_| self.to_string(), |path| format!("everything that `{path}` lists"))
    }

    /// Returns the pattern that finds in another file what must be covered, if that is the check.
    fn covers(&self) -> Option<&Pattern> {
        if let Self::Covers { pattern, .. } = self { Some(pattern) } else { None }
    }
}

fn problem_with(check: &Check, text: &str, parts_max: usize) -> Option<String> {
    match check {
        Check::NotEmpty => text.trim().is_empty().then(|| "it is empty".to_owned()),
        Check::Heading(heading) => {
            (!find_heading(text, heading)).then(|| format!("it has no heading `{heading}`"))
        }
        Check::Matches(pattern, words) => (!pattern.is_match(text)).then(|| match words {
            Some(words) => format!("it lacks {words}"),
            None => format!("nothing in it fits `{}`", pattern.source()),
        }),
        Check::Schema(schema) => match serde_json::from_str(text) {
            Ok(value) => schema.check(&value).err().map(|problems| problems.join("; ")),
            Err(error) => Some(format!("it is not JSON: {error}")),
        },
        Check::Words { min, max } => {
            let words = word_count(text);
            if min.is_some_and(|min| words < min) {
                return min.map(|min| format!("it has {words} words, and needs {min}"));
            }
            let max = (*max)?;
            (max < words).then(|| format!("it has {words} words, and may have {max}"))
        }
        Check::Rejects(verdicts) => {
            let verdicts: Vec<&str> = verdicts.iter().map(String::as_str).collect();
            let verdict = text::find_verdict(text, &verdicts)?;
            Some(format!("its verdict is {verdict}: fix what failed, then check it again"))
        }
        Check::Parts => text::find_flaw(text, parts_max),
        // It needs another file; see `find_uncovered`.
        Check::Covers { .. } => None,
    }
}

/// Says which of the things that another file lists are not in the text.
fn find_uncovered(
    pattern: &Pattern,
    text: &str,
    listed: &Option<(String, String)>,
) -> Option<String> {
    let (path, other) = listed.as_ref()?;
    let all = pattern.find_all(other).into_iter();
    let missing: Vec<&str> = all.filter(|it| !mentions(text, it)).collect();
    let names = missing.join("`, `");
    (!missing.is_empty()).then(|| format!("it says nothing of `{names}`, which `{path}` lists"))
}
