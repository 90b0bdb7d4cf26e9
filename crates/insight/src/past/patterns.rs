//! `patterns.json`: what reviews find again and again.

use definition::Finding;
use serde::{Deserialize, Serialize};

mod distance;
mod stop_words;

pub(super) use distance::is_near;
use stop_words::STOP_WORDS;

/// How many patterns are kept.
pub const PATTERNS_MAX: usize = 200;
/// Two patterns that differ in a smaller part are one.
const DISTANCE_MAX: f64 = 0.3;
const SEPARATORS: [char; 10] = [' ', '\t', ',', '.', ':', ';', '!', '?', '"', '\''];

/// What is said of a pattern when one of its words is in it. The first that fits counts.
const CATEGORIES: &[(&str, &[&str])] = &[
    ("import_order", &["import order", "import cycle", "circular import", "unused import"]),
    ("test_coverage", &["missing test", "no test", "untested", "coverage", "test case"]),
    (
        "naming_convention",
        &["naming", "variable name", "function name", "misleading name", "rename"],
    ),
    ("type_safety", &["type assertion", "unsafe", "type safety", "type mismatch", "null check"]),
    (
        "security",
        &["security", "injection", "credential", "secret", "sanitiz", "sanitis", "traversal"],
    ),
    ("performance", &["performance", "memory", "allocat", "latency", "inefficient", "n+1"]),
    ("documentation", &["documentation", "godoc", "docstring", "undocumented", "readme"]),
    ("error_handling", &["error", "panic", "exception", "unhandled"]),
];

/// All patterns, in the order they were first seen; above the limit the gravest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Patterns {
    pub updated_at: String,
    pub total_reviews_analyzed: u64,
    pub patterns: Vec<Pattern>,
}

/// Something that reviews find.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Pattern {
    pub pattern: String,
    pub severity: String,
    pub frequency: u64,
    pub agent: String,
    pub first_seen: String,
    pub last_seen: String,
    pub category: String,
}

impl Patterns {
    /// Reads `patterns.json`. One that cannot be read is as good as none.
    pub fn parse(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }

    /// Takes the findings of one review in. A review without findings counts too.
    pub fn accumulate(&mut self, findings: &[Finding], agent: &str, now: &str) {
        for finding in findings {
            self.take(finding, agent, now);
        }
        self.total_reviews_analyzed += 1;
        now.clone_into(&mut self.updated_at);
        self.prune();
    }

    fn take(&mut self, finding: &Finding, agent: &str, now: &str) {
        let pattern = normalise(&finding.text);
        if pattern.is_empty() {
            return;
        }
        let category = category(&pattern);
        let is_same = |it: &&mut Pattern| {
            it.category == category
                && it.severity == finding.severity
                && is_near(&it.pattern, &pattern, DISTANCE_MAX)
        };
        if let Some(known) = self.patterns.iter_mut().find(is_same) {
            known.see(now);
            return;
        }
        self.patterns.push(Pattern {
            pattern,
            severity: finding.severity.clone(),
            frequency: 1,
            agent: agent.to_owned(),
            first_seen: now.to_owned(),
            last_seen: now.to_owned(),
            category: category.to_owned(),
        });
    }

    fn prune(&mut self) {
        if self.patterns.len() <= PATTERNS_MAX {
            return;
        }
        self.patterns.sort_by(|one, other| {
            let is_minor = |it: &Pattern| it.severity != "CRITICAL";
            is_minor(one)
                .cmp(&is_minor(other))
                .then(other.frequency.cmp(&one.frequency))
                .then_with(|| other.last_seen.cmp(&one.last_seen))
        });
        self.patterns.truncate(PATTERNS_MAX);
    }

    /// Returns the first patterns of an agent and of a severity; of any where that is empty.
    pub fn select(&self, agent: &str, severity: &str, max: usize) -> Vec<&Pattern> {
        let fits = |wanted: &str, it: &str| wanted.is_empty() || wanted == it;
        let all = self.patterns.iter();
        let fitting = all.filter(|it| fits(agent, &it.agent) && fits(severity, &it.severity));
        fitting.take(max).collect()
    }
}

impl Pattern {
    /// Times of one form compare as their texts do.
    fn see(&mut self, now: &str) {
        self.frequency += 1;
        if self.last_seen.as_str() < now {
            now.clone_into(&mut self.last_seen);
        }
        if now < self.first_seen.as_str() {
            now.clone_into(&mut self.first_seen);
        }
    }
}

/// Returns the words of a finding that matter, in small letters.
pub fn normalise(text: &str) -> String {
    let text = text.to_lowercase();
    let words = text.split(|it| SEPARATORS.contains(&it) || it == '\n' || it == '\r');
    let kept: Vec<&str> = words.filter(|it| !it.is_empty() && !STOP_WORDS.contains(it)).collect();
    kept.join(" ")
}

/// Returns what a normalised finding is about.
pub fn category(pattern: &str) -> &'static str {
    let fits = |words: &[&str]| words.iter().any(|it| pattern.contains(it));
    CATEGORIES.iter().find(|(_, words)| fits(words)).map_or("other", |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use definition::Finding;

    use super::{PATTERNS_MAX, Pattern, Patterns, category, normalise};

    fn finding(severity: &str, text: &str) -> Finding {
        Finding { number: None, severity: severity.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn only_words_that_matter_are_left() {
        assert_eq!(normalise("Missing error check in loop"), "missing error check loop");
        assert_eq!(normalise("The \"name\": is\tunclear!"), "name unclear");
        assert_eq!(normalise("it is, the"), "");
    }

    #[test]
    fn the_first_category_that_fits_counts() {
        let all = [
            ("import cycle error", "import_order"),
            ("missing test error path", "test_coverage"),
            ("variable name unclear", "naming_convention"),
            ("unsafe cast panics", "type_safety"),
            ("sql injection", "security"),
            ("allocates memory loop", "performance"),
            ("godoc absent", "documentation"),
            ("missing error check loop", "error_handling"),
            ("cache invalidation missing", "other"),
        ];
        for (text, expected) in all {
            assert_eq!(category(text), expected, "{text}");
        }
    }

    #[test]
    fn findings_that_are_nearly_the_same_are_one_pattern() {
        let mut patterns = Patterns::default();
        let first = [
            finding("CRITICAL", "Missing error check in loop"),
            finding("MINOR", "variable name unclear"),
            finding("MINOR", "the"),
        ];
        patterns.accumulate(&first, "design-reviewer", "2026-01-02T00:00:00Z");
        let second = [
            finding("CRITICAL", "missing error checks in loop"),
            finding("MINOR", "missing error check in loop"),
        ];
        patterns.accumulate(&second, "task-reviewer", "2026-01-03T00:00:00Z");
        patterns.accumulate(&[], "task-reviewer", "2026-01-04T00:00:00Z");
        let rows: Vec<String> = patterns.patterns.iter().map(row).collect();
        assert_eq!(
            rows,
            [
                "missing error check loop CRITICAL 2 design-reviewer 02-03 error_handling",
                "variable name unclear MINOR 1 design-reviewer 02-02 naming_convention",
                "missing error check loop MINOR 1 task-reviewer 03-03 error_handling",
            ]
        );
        assert_eq!(patterns.total_reviews_analyzed, 3);
        assert_eq!(patterns.select("task-reviewer", "", 9).len(), 1);
        assert_eq!(patterns.select("", "MINOR", 1).len(), 1);
        assert!(patterns.select("", "minor", 9).is_empty());
    }

    fn row(it: &Pattern) -> String {
        let day = |text: &str| text[8..10].to_owned();
        let (first, last) = (day(&it.first_seen), day(&it.last_seen));
        let (severity, agent, category) = (&it.severity, &it.agent, &it.category);
        format!("{} {severity} {} {agent} {first}-{last} {category}", it.pattern, it.frequency)
    }

    #[test]
    fn the_best_are_kept() {
        let mut patterns = Patterns::default();
        let pattern = |at: usize, severity: &str, frequency: u64| Pattern {
            pattern: format!("{at}"),
            severity: severity.to_owned(),
            frequency,
            last_seen: format!("2026-01-01T00:00:00.{at:04}Z"),
            ..Pattern::default()
        };
        patterns.patterns = (0..PATTERNS_MAX).map(|at| pattern(at, "MINOR", 2)).collect();
        patterns.patterns.push(pattern(500, "MINOR", 1));
        patterns.patterns.push(pattern(501, "CRITICAL", 1));
        patterns.accumulate(&[], "x", "2026-02-01T00:00:00Z");
        let kept: Vec<&str> = patterns.patterns.iter().map(|it| it.pattern.as_str()).collect();
        assert_eq!(kept.len(), PATTERNS_MAX);
        assert_eq!((kept[0], kept[1], kept[PATTERNS_MAX - 1]), ("501", "199", "1"));
    }

    #[test]
    fn a_file_that_cannot_be_read_is_none() {
        assert_eq!(Patterns::parse("{"), Patterns::default());
        let text = r#"{"updatedAt":"x","totalReviewsAnalyzed":2,"patterns":[{"pattern":"p"}]}"#;
        let patterns = Patterns::parse(text);
        assert_eq!((patterns.total_reviews_analyzed, patterns.patterns.len()), (2, 1));
    }
}
