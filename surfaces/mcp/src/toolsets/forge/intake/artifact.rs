//! Whether what a phase wrote can be gone on with.
//!
//! A verdict is read by the one reader that the engine goes by too, so that what is valid here is
//! what will count there.

use std::collections::BTreeMap;

use definition::{find_heading, read_review};
use serde::Serialize;

/// The verdicts on a design or on tasks.
pub(in crate::toolsets::forge) const APPROVALS: [&str; 3] =
    ["APPROVE_WITH_NOTES", "APPROVE", "REVISE"];
/// The verdicts on what was built.
pub(in crate::toolsets::forge) const PASSES: [&str; 3] = ["PASS_WITH_NOTES", "PASS", "FAIL"];

/// The verdict that is no mistake of the file, and still not good.
const FAIL: &str = "FAIL";

/// The texts of files, by name.
pub(in crate::toolsets::forge) type Files = BTreeMap<String, String>;

/// What was found out about a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(in crate::toolsets::forge) struct Checked {
    pub(in crate::toolsets::forge) valid: bool,
    pub(in crate::toolsets::forge) file: String,
    /// Empty where there is none.
    pub(in crate::toolsets::forge) verdict_found: String,
    pub(in crate::toolsets::forge) findings_count: Option<Counts>,
    /// Nobody fills it; the contract has it.
    missing_sections: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::toolsets::forge) error: Option<String>,
}

/// How many findings there are of each weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub(in crate::toolsets::forge) struct Counts {
    pub(in crate::toolsets::forge) critical: usize,
    pub(in crate::toolsets::forge) minor: usize,
}

/// What is asked of a phase's file.
enum Rule {
    /// A heading that begins so.
    Heading(&'static str, &'static str),
    /// A verdict on a design or on tasks.
    Approval(&'static str),
    /// Something at all.
    Text(&'static str),
    /// A verdict in each review of a task.
    Reviews,
}

/// Returns whether the file of this name counts for a phase.
pub(in crate::toolsets::forge) fn is_wanted(phase: &str, name: &str) -> bool {
    match rule(phase) {
        Some(Rule::Heading(file, _) | Rule::Approval(file) | Rule::Text(file)) => name == file,
        Some(Rule::Reviews) => is_review(name) || is_build(name),
        None => false,
    }
}

/// Checks what a phase wrote, given the files of its workspace. There is always something to say.
pub(in crate::toolsets::forge) fn check(phase: &str, files: &Files) -> Vec<Checked> {
    let one = |file: &str, check: &dyn Fn(&str) -> Checked| {
        let found = files.get(file);
        vec![found.map_or_else(|| wrong(file, format!("file not found: {file}")), |it| check(it))]
    };
    match rule(phase) {
        None => vec![wrong("", format!("unknown phase: {phase}"))],
        Some(Rule::Heading(file, heading)) => one(file, &|text| check_heading(file, text, heading)),
        Some(Rule::Approval(file)) => one(file, &|text| check_approval(file, text)),
        Some(Rule::Text(file)) => one(file, &|text| check_text(file, text)),
        Some(Rule::Reviews) => check_reviews(files),
    }
}

fn rule(phase: &str) -> Option<Rule> {
    match phase {
        "phase-3" => Some(Rule::Heading("design.md", "## ")),
        "phase-3b" => Some(Rule::Approval("review-design.md")),
        "phase-4" => Some(Rule::Heading("tasks.md", "## Task ")),
        "phase-4b" => Some(Rule::Approval("review-tasks.md")),
        "phase-6" => Some(Rule::Reviews),
        "phase-7" => Some(Rule::Text("comprehensive-review.md")),
        "final-verification" => Some(Rule::Text("final-verification.md")),
        "final-summary" => Some(Rule::Text("summary.md")),
        _ => None,
    }
}

fn is_review(name: &str) -> bool {
    let is_other = matches!(name, "review-design.md" | "review-tasks.md");
    name.starts_with("review-") && name.ends_with(".md") && !is_other
}

fn is_build(name: &str) -> bool {
    name.starts_with("impl-") && name.ends_with(".md")
}

fn check_heading(file: &str, text: &str, heading: &str) -> Checked {
    if find_heading(text, heading) {
        return right(file);
    }
    wrong(file, format!("`{file}` has no heading that begins with `{heading}`"))
}

fn check_approval(file: &str, text: &str) -> Checked {
    // A tag counts wherever it stands, be it in a list or a sentence.
    let counts = Counts {
        critical: text.matches("[CRITICAL]").count(),
        minor: text.matches("[MINOR]").count(),
    };
    let checked = match read_review(text, &APPROVALS) {
        Some(reviewed) => Checked { verdict_found: reviewed.verdict, ..right(file) },
        None => no_verdict(file, &APPROVALS),
    };
    Checked { findings_count: Some(counts), ..checked }
}

fn check_text(file: &str, text: &str) -> Checked {
    if text.trim().is_empty() { wrong(file, format!("`{file}` is empty")) } else { right(file) }
}

fn check_reviews(files: &Files) -> Vec<Checked> {
    let of = |is_wanted: fn(&str) -> bool| {
        let wanted = files.iter().filter(move |(name, _)| is_wanted(name));
        wanted.map(|(name, text)| check_pass(name, text)).collect::<Vec<_>>()
    };
    let mut checked = of(is_review);
    if checked.is_empty() {
        checked = of(is_build);
    }
    if checked.is_empty() {
        checked.push(wrong("", "neither `review-*.md` nor `impl-*.md` was found".to_owned()));
    }
    checked
}

fn check_pass(file: &str, text: &str) -> Checked {
    let Some(reviewed) = read_review(text, &PASSES) else { return no_verdict(file, &PASSES) };
    Checked { valid: reviewed.verdict != FAIL, verdict_found: reviewed.verdict, ..right(file) }
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
        findings_count: None,
        missing_sections: None,
        error: None,
    }
}

fn wrong(file: &str, error: String) -> Checked {
    Checked { valid: false, error: Some(error), ..right(file) }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::{Files, check, is_wanted};

    /// Shows what is found out about files, a line each: name, verdict, what is wrong.
    fn checked(phase: &str, files: &[(&str, &str)]) -> String {
        let own = |(name, text): &(&str, &str)| ((*name).to_owned(), (*text).to_owned());
        let files: Files = files.iter().map(own).filter(|it| is_wanted(phase, &it.0)).collect();
        let mut shown = String::new();
        for it in check(phase, &files) {
            let counts = it.findings_count.map(|it| format!(" {}/{}", it.critical, it.minor));
            let (valid, counts) = (if it.valid { "ok" } else { "no" }, counts.unwrap_or_default());
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
        assert!(lines[3].contains("PASS_WITH_NOTES, PASS, FAIL"), "{shown}");
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
        assert_eq!(checked("phase-6", &[("review-1.md", pass)]), "ok review-1.md PASS\n");
    }

    #[test]
    fn each_phase_has_its_own_file_and_rule() {
        assert_eq!(checked("phase-3", &[]), "no design.md : file not found: design.md\n");
        assert_eq!(checked("phase-3", &[("design.md", "# D\n\n## A\n")]), "ok design.md \n");
        assert!(
            checked("phase-3", &[("design.md", "# D\n")]).contains("`design.md` has no heading")
        );
        assert_eq!(checked("phase-4", &[("tasks.md", "## Task 1: x\n")]), "ok tasks.md \n");
        assert!(checked("phase-4", &[("tasks.md", "## Tasks\n")]).starts_with("no"));
        assert!(checked("phase-7", &[("comprehensive-review.md", " \n")]).contains("empty"));
        assert_eq!(checked("final-summary", &[("summary.md", "x")]), "ok summary.md \n");
        assert!(
            checked("phase-4b", &[("review-tasks.md", "PASS")])
                .starts_with("no review-tasks.md  0/0: no verdict")
        );
        for phase in ["phase-1", "phase-2", "phase-5", "checkpoint-a", ""] {
            assert_eq!(checked(phase, &[]), format!("no  : unknown phase: {phase}\n"));
        }
    }
}
