//! How much work a request looks like, and which flow of the workflow goes with that.

use serde::Serialize;

/// Words that a large piece of work is told by. They are looked for first.
const LARGE: [&str; 7] =
    ["migration", "new service", "new api", "new endpoint", "redesign", "architecture", "rewrite"];

/// Words that a small piece of work is told by.
const SMALL: [&str; 14] = [
    "validation",
    "required",
    "optional",
    "rename",
    "typo",
    "label",
    "message",
    "toggle",
    "flag",
    "visibility",
    "hide",
    "show",
    "enable",
    "disable",
];

/// Up to how many story points work is small.
const SMALL_POINTS_MAX: f64 = 4.0;
/// Up to how many it is of medium size.
const MEDIUM_POINTS_MAX: f64 = 12.0;

/// What is said of an effort that is none.
pub const EFFORTS: &str = "S, M, L";

/// How much work a pipeline is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Effort {
    S,
    M,
    L,
}

impl Effort {
    pub const ALL: [Self; 3] = [Self::S, Self::M, Self::L];

    /// Reads an effort, if it is one.
    pub fn find(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == word)
    }

    /// Returns the letter.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::S => "S",
            Self::M => "M",
            Self::L => "L",
        }
    }

    /// Returns the flow of the workflow.
    pub fn flow(self) -> &'static str {
        match self {
            Self::S => "light",
            Self::M => "standard",
            Self::L => "full",
        }
    }

    /// Guesses the effort: what a person said, else story points, else words in the text.
    pub fn detect(said: Option<Self>, points: Option<f64>, text: &str) -> Self {
        if let Some(said) = said {
            return said;
        }
        if let Some(points) = points.filter(|it| 1.0 <= *it) {
            return Self::of_points(points);
        }
        let text = text.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|it| text.contains(it));
        match (has(&LARGE), has(&SMALL)) {
            (true, _) => Self::L,
            (false, true) => Self::S,
            (false, false) => Self::M,
        }
    }

    fn of_points(points: f64) -> Self {
        if points <= SMALL_POINTS_MAX {
            Self::S
        } else if points <= MEDIUM_POINTS_MAX {
            Self::M
        } else {
            Self::L
        }
    }
}

/// Says that a word is not an effort.
pub fn wrong_effort(word: &str) -> String {
    if word.is_empty() {
        return format!("no effort is given: use one of {EFFORTS}");
    }
    format!("effort `{word}` is not supported: use one of {EFFORTS}")
}

#[cfg(test)]
mod tests {
    use super::Effort;

    #[track_caller]
    fn check(points: Option<f64>, text: &str, expected: Effort) {
        assert_eq!(Effort::detect(None, points, text), expected, "{points:?} {text}");
    }

    #[test]
    fn words_tell_the_effort_and_large_ones_go_first() {
        check(None, "add a new endpoint with validation", Effort::L);
        check(None, "Rename the button label", Effort::S);
        check(None, "refactor", Effort::M);
        check(None, "", Effort::M);
    }

    #[test]
    fn story_points_go_before_words_and_a_person_before_both() {
        for (points, effort) in
            [(1.0, Effort::S), (4.0, Effort::S), (5.0, Effort::M), (12.0, Effort::M)]
        {
            check(Some(points), "architecture", effort);
        }
        check(Some(13.0), "typo", Effort::L);
        check(Some(0.0), "architecture", Effort::L);
        assert_eq!(Effort::detect(Some(Effort::S), Some(40.0), "rewrite"), Effort::S);
    }

    #[test]
    fn only_three_letters_are_efforts() {
        assert_eq!(Effort::find("L"), Some(Effort::L));
        for word in ["XS", "s", "XL", "", " M"] {
            assert_eq!(Effort::find(word), None, "{word}");
        }
    }
}
