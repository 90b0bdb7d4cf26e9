//! `friction.json`: what made work hard for agents, as their reports at the end of runs say.

use serde::{Deserialize, Serialize};

use super::cut::cut;

const DESCRIPTION_BYTES_MAX: usize = 200;
const REPORT_HEADING: &str = "improvement report";
const MITIGATION: &str = "mitigation:";

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

    /// Whether both say the same, whenever they were made.
    pub fn says_same(&self, other: &Self) -> bool {
        self.total_reports_analyzed == other.total_reports_analyzed
            && self.friction_points == other.friction_points
    }

    fn count(&mut self, point: FrictionPoint) {
        let is_same = |it: &&mut FrictionPoint| {
            it.category == point.category && it.description.eq_ignore_ascii_case(&point.description)
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
    for line in report.lines().filter(|it| !it.trim_start().starts_with('#')) {
        let text = bare(line);
        let said = cut(&text, DESCRIPTION_BYTES_MAX);
        if let Some(mitigation) = find_mitigation(&text) {
            if let Some(last) = points.last_mut().filter(|it| it.mitigation.is_empty()) {
                last.mitigation = cut(mitigation, DESCRIPTION_BYTES_MAX).to_owned();
            }
        } else if let Some(category) = category(&text) {
            points.push(FrictionPoint {
                category: category.to_owned(),
                description: said.to_owned(),
                frequency: 1,
                mitigation: String::new(),
            });
        }
    }
    points
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
