//! `friction.json`: what made work hard for agents, as their reports at the end of runs say.

use serde::{Deserialize, Serialize};

use super::{
    cut::cut,
    patterns::{is_near, normalise},
};

const DESCRIPTION_BYTES_MAX: usize = 200;
const REPORT_HEADING: &str = "improvement report";
const MITIGATION: &str = "mitigation:";
/// Two descriptions that differ in a smaller part are one.
const DISTANCE_MAX: f64 = 0.3;
/// How a line begins that says that there is nothing to say.
const NOTHING: [&str; 4] = ["none", "nothing", "n/a", "not applicable"];
/// What there was none of, where a line begins with `no`.
const TROUBLES: [&str; 7] =
    ["friction", "issue", "problem", "difficult", "blocker", "obstacle", "surprise"];

/// What a line is about when one of these words is in it. The first that fits counts.
const CATEGORIES: &[(&str, &[&str])] = &[
    ("documentation", &["document", "readme", "comment", "docstring", "outdated", "example"]),
    ("testing", &["test", "fixture", "mock", "coverage", "flaky"]),
    ("build_tooling", &["build", "compile", "lint", "makefile", "toolchain", "pipeline", "ci "]),
    ("environment", &["environment", "install", "permission", "sandbox", "credential", "version"]),
    ("code_structure", &["coupl", "duplicat", "large file", "monolith", "circular", "structure"]),
    ("naming", &["naming", "name", "inconsistent", "convention"]),
    ("requirements", &["requirement", "ambigu", "unclear", "specification", "scope", "assum"]),
    ("context", &["context", "token", "search", "hard to find", "discover", "locate"]),
];

/// What made work hard, the most frequent first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Friction {
    pub updated_at: String,
    pub total_reports_analyzed: u64,
    pub friction_points: Vec<FrictionPoint>,
}

/// Something that made work hard.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FrictionPoint {
    pub category: String,
    pub description: String,
    pub frequency: u64,
    pub mitigation: String,
}

impl Friction {
    /// Reads `friction.json`. One that cannot be read is as good as none.
    pub fn parse(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }

    /// Puts together what reports say.
    pub fn new<'a>(reports: impl IntoIterator<Item = &'a str>, now: &str) -> Self {
        let mut friction = Self { updated_at: now.to_owned(), ..Self::default() };
        for report in reports {
            friction.total_reports_analyzed += 1;
            points(report).into_iter().for_each(|it| friction.count(it));
        }
        friction.friction_points.sort_by(|one, other| {
            other
                .frequency
                .cmp(&one.frequency)
                .then_with(|| rank(one).cmp(&rank(other)))
                .then_with(|| one.description.cmp(&other.description))
        });
        friction
    }

    /// Whether both say the same, apart from the time.
    pub fn says_same(&self, other: &Self) -> bool {
        self.total_reports_analyzed == other.total_reports_analyzed
            && self.friction_points == other.friction_points
    }

    fn count(&mut self, point: FrictionPoint) {
        let said = normalise(&point.description);
        let is_same = |it: &&mut FrictionPoint| {
            it.category == point.category
                && is_near(&normalise(&it.description), &said, DISTANCE_MAX)
        };
        match self.friction_points.iter_mut().find(is_same) {
            Some(known) => {
                known.frequency += 1;
                if known.mitigation.is_empty() {
                    known.mitigation = point.mitigation;
                }
            }
            None => self.friction_points.push(point),
        }
    }
}

/// Returns what a run reports of what made work hard: `improvement.md`, else that part of
/// `summary.md`.
pub fn improvement_report<'a>(
    improvement: Option<&'a str>,
    summary: Option<&'a str>,
) -> Option<&'a str> {
    let improvement = improvement.filter(|it| !it.trim().is_empty());
    improvement.or_else(|| section(summary?))
}

/// Returns what stands below the heading of the report, until one of its rank.
fn section(summary: &str) -> Option<&str> {
    let mut begin = None;
    let mut at = 0;
    for line in summary.split_inclusive('\n') {
        let heading = line.strip_prefix("## ").map(|it| it.trim().to_lowercase());
        if let Some(begin) = begin.filter(|_| heading.is_some() || line.starts_with("# ")) {
            return summary.get(begin..at);
        }
        at += line.len();
        if heading.as_deref() == Some(REPORT_HEADING) {
            begin = Some(at);
        }
    }
    summary.get(begin?..)
}

fn points(report: &str) -> Vec<FrictionPoint> {
    let mut points: Vec<FrictionPoint> = Vec::new();
    for text in items(report) {
        if let Some(mitigation) = find_mitigation(&text) {
            if let Some(last) = points.last_mut().filter(|it| it.mitigation.is_empty()) {
                last.mitigation = cut(mitigation, DESCRIPTION_BYTES_MAX).to_owned();
            }
        } else if let Some(category) = category(&text).filter(|_| !says_nothing(&text)) {
            points.push(FrictionPoint {
                category: category.to_owned(),
                description: cut(&text, DESCRIPTION_BYTES_MAX).to_owned(),
                frequency: 1,
                mitigation: String::new(),
            });
        }
    }
    points
}

/// Returns the paragraphs and the items of lists, each in one line however it is wrapped.
fn items(report: &str) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    // What a line is added to that begins nothing of its own.
    let mut open = Open::Nothing;
    for line in report.lines() {
        let is_item = line.trim_start().starts_with(['-', '*', '+', '>']);
        let is_indented = line.starts_with([' ', '\t']);
        if line.trim().is_empty() || line.trim_start().starts_with('#') {
            open = Open::Nothing;
            continue;
        }
        let goes_on = match open {
            Open::Nothing => false,
            Open::Paragraph => !is_item && find_mitigation(&bare(line)).is_none(),
            Open::Item => !is_item && is_indented && find_mitigation(&bare(line)).is_none(),
        };
        match items.last_mut().filter(|_| goes_on) {
            Some(last) => {
                last.push(' ');
                last.push_str(&bare(line));
            }
            None => {
                items.push(bare(line));
                open = if is_item { Open::Item } else { Open::Paragraph };
            }
        }
    }
    items
}

/// What the line before may go on as.
#[derive(Clone, Copy)]
enum Open {
    Nothing,
    Paragraph,
    Item,
}

/// Whether a text says that nothing was hard.
fn says_nothing(text: &str) -> bool {
    let text = text.to_lowercase();
    let begins = |it: &str| {
        let rest = text.strip_prefix(it);
        rest.is_some_and(|it| !it.starts_with(char::is_alphanumeric))
    };
    let is_none = text.starts_with("no ") && TROUBLES.iter().any(|it| text.contains(it));
    is_none || NOTHING.iter().any(|it| begins(it))
}

/// Returns a line without the marks of lists and emphasis.
fn bare(line: &str) -> String {
    let line = line.trim().trim_start_matches(['-', '*', '+', '>', ' ']);
    line.replace("**", "").trim().to_owned()
}

fn find_mitigation(text: &str) -> Option<&str> {
    let head = text.get(..MITIGATION.len())?;
    let rest = text.get(MITIGATION.len()..)?.trim();
    head.eq_ignore_ascii_case(MITIGATION).then_some(rest)
}

fn category(text: &str) -> Option<&'static str> {
    let text = text.to_lowercase();
    let fits = |words: &[&str]| words.iter().any(|it| text.contains(it));
    CATEGORIES.iter().find(|(_, words)| fits(words)).map(|(name, _)| *name)
}

fn rank(point: &FrictionPoint) -> usize {
    let at = CATEGORIES.iter().position(|(name, _)| *name == point.category);
    at.unwrap_or(CATEGORIES.len())
}

#[cfg(test)]
mod tests {
    use super::{Friction, improvement_report};

    #[test]
    fn a_report_is_a_file_of_its_own_or_a_part_of_the_summary() {
        let summary = "# S\n\n## Improvement Report\n\n- x\n### More\n- y\n\n## Next\n- z\n";
        assert_eq!(improvement_report(Some("own"), Some(summary)), Some("own"));
        let part = "\n- x\n### More\n- y\n\n";
        assert_eq!(improvement_report(None, Some(summary)), Some(part));
        assert_eq!(improvement_report(Some(" \n"), Some(summary)), Some(part));
        assert_eq!(improvement_report(None, Some("## Other\n")), None);
        assert_eq!(improvement_report(None, Some("## Improvement report")), Some(""));
        assert_eq!(improvement_report(None, None), None);
    }

    #[test]
    fn points_are_counted_over_reports() {
        let one = "# Report\n\n- **Tests** need a database fixture\n- Mitigation: start one\n\n\
                   - The README is outdated\nNothing else of note.\n";
        let other = "- tests need a database fixture\n- Names are inconsistent\n";
        let friction = Friction::new([one, other], "now");
        let rows: Vec<String> = friction
            .friction_points
            .iter()
            .map(|it| {
                format!("{} {} {:?} {:?}", it.frequency, it.category, it.description, it.mitigation)
            })
            .collect();
        assert_eq!(
            rows,
            [
                r#"2 testing "Tests need a database fixture" "start one""#,
                r#"1 documentation "The README is outdated" """#,
                r#"1 naming "Names are inconsistent" """#,
            ]
        );
        assert_eq!(friction.total_reports_analyzed, 2);
    }

    fn descriptions(reports: &[&str]) -> Vec<String> {
        let friction = Friction::new(reports.iter().copied(), "now");
        let told = friction.friction_points.iter();
        told.map(|it| format!("{} {}", it.frequency, it.description)).collect()
    }

    #[test]
    fn a_wrapped_line_is_one_point() {
        let report = "The tests of the store\nneed a running database\nwhich nobody mentions.\n\n\
                      - The README\n  is outdated\n- Names are\n  inconsistent\n";
        assert_eq!(
            descriptions(&[report]),
            [
                "1 The README is outdated",
                "1 The tests of the store need a running database which nobody mentions.",
                "1 Names are inconsistent",
            ]
        );
    }

    #[test]
    fn what_says_that_nothing_was_hard_is_left_out() {
        let report = "- No friction observed in the build.\n- None: the tests were clear.\n\
                      - Nothing unclear about the scope\n- N/A (documentation)\n\
                      - no significant issues with the toolchain\n- No test covers the parser\n";
        assert_eq!(descriptions(&[report]), ["1 No test covers the parser"]);
    }

    #[test]
    fn points_that_say_nearly_the_same_are_one() {
        let reports =
            ["- The tests need a database fixture\n", "- Tests need the database fixtures!\n"];
        assert_eq!(descriptions(&reports), ["2 The tests need a database fixture"]);
    }

    #[test]
    fn the_file_has_its_own_names() {
        let friction = Friction::new(["- flaky test\n"], "now");
        let text = serde_json::to_string(&friction).unwrap();
        assert_eq!(
            text,
            r#"{"updatedAt":"now","totalReportsAnalyzed":1,"frictionPoints":[{"category":"testing","description":"flaky test","frequency":1,"mitigation":""}]}"#
        );
        assert!(Friction::parse(&text).says_same(&friction));
        assert_eq!(Friction::parse("["), Friction::default());
    }
}
