//! Whether what a phase wrote can be gone on with.
//!
//! What is wanted of a file is what the workflow says, checked and read by the functions that the
//! engine goes by too: what is valid here is what will count there.

use std::collections::BTreeMap;

use definition::{
    Beside, Check, Product, Review, Step, Template, Workflow, check_product, read_review,
};
use serde::Serialize;

/// The texts of files, by name.
pub type Files = BTreeMap<String, String>;

/// What was found out about a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Checked {
    pub valid: bool,
    pub file: String,
    /// Empty where there is none.
    pub verdict_found: String,
    pub findings_count: Counts,
    /// Nobody fills it; the contract has it.
    missing_sections: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// How many findings there are of each weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub struct Counts {
    pub critical: usize,
    pub minor: usize,
}

/// What is asked of a phase's files.
pub struct Rules<'a> {
    phase: &'a str,
    /// The step, if anything is asked of its files.
    step: Option<&'a Step>,
    /// The step that is judged, where that is what the step does.
    judged: Option<&'a Step>,
    /// The files of one name that any step leaves: they belong to no task.
    fixed: Vec<&'a str>,
    parts_max: usize,
}

impl<'a> Rules<'a> {
    /// Returns what the workflow asks of a phase.
    pub fn of(workflow: &'a Workflow, phase: &'a str, parts_max: usize) -> Self {
        let is_asked =
            |it: &&Step| it.review.is_some() || it.produces.iter().any(|it| !it.checks.is_empty());
        let step = workflow.steps.iter().find(|it| it.name.as_str() == phase).filter(is_asked);
        let judged = step.and_then(|it| workflow.find_step(&it.review.as_ref()?.of));
        let products = workflow.steps.iter().flat_map(|it| &it.produces);
        let fixed = products.map(|it| it.path.source()).filter(|it| !it.contains("{{")).collect();
        Self { phase, step, judged, fixed, parts_max }
    }

    /// Returns whether the file of this name counts.
    pub fn wants(&self, name: &str) -> bool {
        let Some(step) = self.step else { return false };
        let covered = step.produces.iter().flat_map(|it| &it.checks).filter_map(covered);
        let is_covered = covered.map(Template::source).any(|it| it == name);
        is_covered
            || self.is_left_by(step, name)
            || self.judged_parts().any(|it| self.is_left_by(it, name))
    }

    /// Checks what the phase wrote, given its files. There is always something to say.
    pub fn check(&self, files: &Files) -> Vec<Checked> {
        let Some(step) = self.step else {
            return vec![wrong("", format!("unknown phase: {}", self.phase))];
        };
        if step.each.is_some() {
            return self.check_parts(step, files);
        }
        let one = |it: &Product| {
            let file = it.path.source();
            let Some(text) = files.get(file) else {
                return wrong(file, format!("file not found: {file}"));
            };
            match &step.review {
                Some(review) => judge(file, text, review),
                None => self.check_text(it, file, text, files),
            }
        };
        step.produces.iter().map(one).collect()
    }

    fn check_text(&self, product: &Product, file: &str, text: &str, files: &Files) -> Checked {
        let listed = product.checks.iter().filter_map(covered).map(|it| {
            let name = it.source();
            files.get(name).map(|text| (name.to_owned(), text.clone()))
        });
        let listed: Vec<_> = listed.collect();
        let beside = Beside { listed: &listed, parts_max: self.parts_max };
        match check_product(&product.checks, Some(text), beside) {
            Some(problem) => wrong(file, format!("`{file}`: {problem}")),
            None => right(file),
        }
    }

    /// Checks the review of each task. What was built stands in where there is none.
    fn check_parts(&self, step: &Step, files: &Files) -> Vec<Checked> {
        let Some(review) = &step.review else { return Vec::new() };
        let of = |step: &Step| {
            let own = files.iter().filter(|(name, _)| self.is_left_by(step, name));
            own.map(|(name, text)| judge_part(name, text, review)).collect::<Vec<_>>()
        };
        let mut checked = of(step);
        if checked.is_empty() {
            checked = self.judged_parts().flat_map(of).collect();
        }
        if checked.is_empty() {
            let steps = [step].into_iter().chain(self.judged_parts());
            let paths = steps.flat_map(|it| &it.produces).filter_map(|it| ends(&it.path));
            let names: Vec<String> = paths.map(|(head, tail)| format!("`{head}*{tail}`")).collect();
            checked.push(wrong("", format!("neither {} was found", names.join(" nor "))));
        }
        checked
    }

    /// Returns the step whose tasks are judged one by one, if that is what the phase does.
    fn judged_parts(&self) -> impl Iterator<Item = &'a Step> {
        self.judged.into_iter().filter(|_| self.step.is_some_and(|it| it.each.is_some()))
    }

    fn is_left_by(&self, step: &Step, name: &str) -> bool {
        step.produces.iter().any(|it| match ends(&it.path) {
            Some((head, tail)) => {
                let inner = name.strip_prefix(head).and_then(|it| it.strip_suffix(tail));
                inner.is_some() && !self.fixed.contains(&name)
            }
            None => it.path.source() == name,
        })
    }
}

/// Returns what is before and after the id in the path of a task's file.
fn ends(path: &Template) -> Option<(&str, &str)> {
    let (head, rest) = path.source().split_once("{{")?;
    Some((head, rest.split_once("}}")?.1))
}

/// Returns the file whose list a check wants covered.
fn covered(check: &Check) -> Option<&Template> {
    if let Check::Covers { file, .. } = check { Some(file) } else { None }
}

/// A review that wants something changed is a good file.
fn judge(file: &str, text: &str, review: &Review) -> Checked {
    // A tag counts wherever it stands, be it in a list or a sentence.
    let findings_count = Counts {
        critical: text.matches("[CRITICAL]").count(),
        minor: text.matches("[MINOR]").count(),
    };
    let words = review.words();
    let checked = match read_review(text, &words) {
        Some(reviewed) => Checked { verdict_found: reviewed.verdict, ..right(file) },
        None => no_verdict(file, &words),
    };
    Checked { findings_count, ..checked }
}

/// A task that is found wanting cannot be gone on with.
fn judge_part(file: &str, text: &str, review: &Review) -> Checked {
    let checked = judge(file, text, review);
    let valid = checked.valid && !review.revise.contains(&checked.verdict_found);
    Checked { valid, ..checked }
}

fn no_verdict(file: &str, words: &[&str]) -> Checked {
    let words = words.join(", ");
    let error = format!(
        "no verdict keyword in `{file}`: write a line `## Verdict: WORD` with one of {words}"
    );
    wrong(file, error)
}

fn right(file: &str) -> Checked {
    Checked {
        valid: true,
        file: file.to_owned(),
        verdict_found: String::new(),
        findings_count: Counts::default(),
        missing_sections: Vec::new(),
        error: None,
    }
}

fn wrong(file: &str, error: String) -> Checked {
    Checked { valid: false, error: Some(error), ..right(file) }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::{Files, Rules};
    use crate::forge::files::tests::workflow;

    /// Shows what is found out about files, a line each: name, verdict, what is wrong.
    fn checked(phase: &str, files: &[(&str, &str)]) -> String {
        let own = |(name, text): &(&str, &str)| ((*name).to_owned(), (*text).to_owned());
        let workflow = workflow();
        let rules = Rules::of(&workflow, phase, 10);
        let files: Files = files.iter().map(own).filter(|it| rules.wants(&it.0)).collect();
        let mut shown = String::new();
        for it in rules.check(&files) {
            let counts = format!("{}/{}", it.findings_count.critical, it.findings_count.minor);
            let counts = if counts == "0/0" { String::new() } else { format!(" {counts}") };
            let valid = if it.valid { "ok" } else { "no" };
            let error = it.error.map(|it| format!(": {it}")).unwrap_or_default();
            writeln!(shown, "{valid} {} {}{counts}{error}", it.file, it.verdict_found).unwrap();
        }
        shown
    }

    #[test]
    fn reviews_of_tasks_are_checked_one_by_one() {
        let files = [
            ("review-1.md", "## Verdict: PASS\n"),
            ("review-2.md", "FAIL"),
            ("review-3.md", "hmm"),
            ("review-4.md", "it PASSED"),
            ("review-5.md", "## Verdict: FAIL\n\nUnit tests PASS.\n"),
            ("review-design.md", "## Verdict: APPROVE\n"),
            ("impl-1.md", "## Verdict: PASS\n"),
        ];
        let shown = checked("phase-6", &files);
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines[..2], ["ok review-1.md PASS", "no review-2.md FAIL"]);
        assert!(lines[2].starts_with("no review-3.md : no verdict keyword in `review-3.md`"));
        assert!(lines[3].contains("PASS, PASS_WITH_NOTES, FAIL"), "{shown}");
        assert_eq!(lines[4..], ["no review-5.md FAIL"]);
    }

    #[test]
    fn what_was_built_stands_in_for_reviews() {
        assert_eq!(checked("phase-6", &[("impl-1.md", "Verdict: PASS")]), "ok impl-1.md PASS\n");
        let none = checked("phase-6", &[("review-tasks.md", "Verdict: PASS")]);
        assert!(none.contains("review-*.md") && none.contains("impl-*.md"), "{none}");
    }

    #[test]
    fn findings_are_counted_by_their_tags_wherever_these_stand() {
        let review = "**Verdict:** REVISE\n**1. [CRITICAL] a**\n**[MINOR] b**\n- [MINOR] c\n";
        assert_eq!(
            checked("phase-3b", &[("review-design.md", review)]),
            "ok review-design.md REVISE 1/2\n"
        );
        let unclear = "no verdict: [CRITICAL] here and [CRITICAL] there, [minor] nowhere";
        let shown = checked("phase-4b", &[("review-tasks.md", unclear)]);
        assert!(shown.starts_with("no review-tasks.md  2/0: no verdict"), "{shown}");
        let pass = "## Verdict: PASS\n- [MINOR] x\n";
        assert_eq!(checked("phase-6", &[("review-1.md", pass)]), "ok review-1.md PASS 0/1\n");
    }

    #[test]
    fn what_is_empty_is_an_empty_container() {
        let workflow = workflow();
        let checked = Rules::of(&workflow, "phase-3", 10).check(&Files::new());
        let shown = serde_json::to_value(&checked).unwrap();
        assert_eq!(shown[0]["findings_count"], serde_json::json!({"CRITICAL": 0, "MINOR": 0}));
        assert_eq!(shown[0]["missing_sections"], serde_json::json!([]));
    }

    #[test]
    fn each_phase_has_its_own_file_and_rule() {
        assert_eq!(checked("phase-3", &[]), "no design.md : file not found: design.md\n");
        assert_eq!(checked("phase-3", &[("design.md", "# D\n\n## A\n")]), "ok design.md \n");
        assert!(
            checked("phase-3", &[("design.md", "# D\n")])
                .contains("`design.md`: it has no heading")
        );
        assert_eq!(checked("phase-4", &[("tasks.md", "## Task 1: x\n")]), "ok tasks.md \n");
        assert!(checked("phase-4", &[("tasks.md", "## Tasks\n")]).starts_with("no"));
        let circle = "## Task 1: a\ndepends_on: [2]\n## Task 2: b\ndepends_on: [1]\n";
        assert!(checked("phase-4", &[("tasks.md", circle)]).contains("cycle"));
        let (request, verified) = ("- [ ] AC-1: fast\n", "All is well.");
        let files = [("request.md", request), ("final-verification.md", verified)];
        assert!(checked("final-verification", &files).contains("`AC-1`"));
        assert!(checked("phase-7", &[("comprehensive-review.md", " \n")]).contains("empty"));
        assert_eq!(checked("final-summary", &[("summary.md", "x")]), "ok summary.md \n");
        assert!(
            checked("phase-4b", &[("review-tasks.md", "PASS")])
                .starts_with("no review-tasks.md : no verdict")
        );
        for phase in ["phase-1", "phase-2", "phase-5", "checkpoint-a", ""] {
            assert_eq!(checked(phase, &[]), format!("no  : unknown phase: {phase}\n"));
        }
    }
}
