//! Readers of artifacts' text: headings, words, verdicts, findings and parts.
#![expect(clippy::needless_pass_by_value, reason = "`Expect` is written where it is passed")]

use definition::{
    Beside, Check, Finding, Pattern, Schema, check_product, find_findings, find_heading,
    find_verdict, parse_parts, read_review, word_count,
};
use expect_test::{Expect, expect};
use serde_json::json;

#[test]
fn headings_are_found_by_text_level_or_beginning() {
    let text = "# Plan\n\n## Task 1: Do it\n### Risks ###\n```\n# Code\n```\n##No\n    # Indented\n####### Seven\n##\n";
    let has = |wanted: &str| find_heading(text, wanted);
    assert!(has("Plan") && has("# Plan") && has("plan") && has("  # Plan"));
    assert!(!has("## Plan") && !has("Pla"));
    assert!(has("Risks") && has("### Risks") && !has("# Risks"));
    assert!(has("## ") && has("##") && has("#") && has("### ") && !has("#### "));
    assert!(has("## Task ") && has("Task ") && !has("## Tas ") && !has("## Task"));
    assert!(!has("Code") && !has("No") && !has("Indented") && !has("Seven"));
    assert!(find_heading("# A\r\n## B\r\n", "## B"));
    assert!(!find_heading("no heading", "#") && !find_heading("", "x"));
}

#[test]
fn words_have_a_letter_or_a_digit() {
    assert_eq!(word_count(""), 0);
    assert_eq!(word_count("one two\n\nthree - 4 — *** é"), 5);
    assert_eq!(word_count("- don't [x](y.md)"), 2);
}

#[track_caller]
fn check_verdict(text: &str, expected: Option<&str>) {
    let words = ["APPROVE", "APPROVE_WITH_NOTES", "REVISE", "PASS", "PASS_WITH_NOTES", "FAIL"];
    assert_eq!(find_verdict(text, &words).as_deref(), expected, "{text}");
}

#[test]
fn a_heading_verdict_wins_over_a_line() {
    check_verdict("## Verdict: REVISE\n", Some("REVISE"));
    check_verdict("#   Verdict:   PASS and more\n", Some("PASS"));
    check_verdict("Verdict: FAIL\n\n# Verdict: PASS\n", Some("PASS"));
    check_verdict("Verdict: FAIL\nVerdict: PASS", Some("FAIL"));
    check_verdict(
        "## Verdict: maybe\n## Verdict: APPROVE_WITH_NOTES\r\n",
        Some("APPROVE_WITH_NOTES"),
    );
    check_verdict("Verdict: UNSURE\nVerdict: PASS", Some("PASS"));
    check_verdict("The Verdict: PASS", None);
    check_verdict("## Verdict: approve", None);
    check_verdict("## Verdict: PASS/FAIL", None);
    check_verdict("## Verdict: [PASS", None);
    check_verdict("## Verdicts: PASS", None);
    check_verdict("", None);
    check_verdict(" FAIL\n", Some("FAIL"));
    check_verdict("FAIL indeed", None);
}

#[test]
fn a_line_with_the_verdict_may_be_bold() {
    check_verdict("**Verdict:** PASS", Some("PASS"));
    check_verdict("**Verdict**: FAIL because", Some("FAIL"));
    check_verdict("**Verdict: REVISE**", Some("REVISE"));
    check_verdict("**Verdict:** PASS\nVerdict: FAIL", Some("PASS"));
    check_verdict("**Verdict:** PASS\n# Verdict: FAIL", Some("FAIL"));
    check_verdict("say **Verdict:** PASS", None);
    check_verdict(
        "## Verdict: FAIL\n\nUnit tests PASS but the design does not hold.\n",
        Some("FAIL"),
    );
}

#[test]
fn a_verdict_is_read_as_people_write_it() {
    for text in [
        "### Verdict: PASS",
        "###### Verdict: PASS",
        "## Verdict: **PASS**",
        "## **Verdict: PASS**",
        "## **Verdict:** PASS",
        "## Verdict: `PASS`",
        "## Verdict: _PASS_",
        "## Verdict: PASS.",
        "## Verdict: PASS, with a smile",
        "## Verdict:PASS",
        "## Verdict - PASS",
        "## Verdict — PASS",
        "## verdict: PASS",
        "## VERDICT: PASS",
        "**Verdict:**PASS",
        "- Verdict: PASS",
        "> **Verdict**: PASS",
        "## Verdict\n\nPASS",
        "## Verdict\nPASS\n",
        "## Verdict:\r\n\r\n**PASS**\r\n",
        "### Verdict\n\n`PASS`.\n\nAll is well.",
        "## Verdict\n\nPASS - all is well",
        "## Verdict\n\n- PASS: all is well",
    ] {
        check_verdict(text, Some("PASS"));
    }
    for text in [
        "## Verdict: **PASS_WITH_NOTES**.",
        "## Verdict: PASS WITH NOTES",
        "## Verdict: **PASS with notes**, see below",
        "Verdict: PASS, with notes",
        "## Verdict\n\nPASS WITH NOTES\n\nSee below.",
        "## Verdict\n\n- **PASS with notes**\n",
        "PASS WITH NOTES\n",
    ] {
        check_verdict(text, Some("PASS_WITH_NOTES"));
    }
    check_verdict("## Verdict: PASS_MAYBE", None);
    check_verdict("## Verdict\n\nPASS WITH NOTES THAT MATTER", None);
    check_verdict("PASS or not", None);
    check_verdict("## Verdict\n\nFAIL\n\nVerdict: PASS", Some("FAIL"));
    check_verdict("## Verdict\n\nPASS would be too kind", None);
    check_verdict("## Verdict\n\nHard to say.\n\nPASS", None);
    check_verdict("Verdict\n\nPASS", None);
}

#[test]
fn findings_count_only_with_a_verdict() {
    let words = ["REVISE"];
    let text = "Verdict: REVISE\n**[MINOR] Typo**\n";
    let reviewed = read_review(text, &words).unwrap();
    assert_eq!((reviewed.verdict.as_str(), reviewed.findings.len()), ("REVISE", 1));
    assert_eq!(read_review("**[MINOR] Typo**\n", &words), None);
}

#[test]
fn findings_are_bold_and_tagged() {
    let text = "- **1. [CRITICAL] No rollback ** see **[MINOR] twice**\n**[MINOR] Typo**\n**[MAJOR] no**\n[MINOR] plain\n**12. [MINOR]  spaced **";
    let finding = |number: Option<&str>, severity: &str, text: &str| Finding {
        number: number.map(ToOwned::to_owned),
        severity: severity.to_owned(),
        text: text.to_owned(),
    };
    assert_eq!(
        find_findings(text),
        [
            finding(Some("1"), "CRITICAL", "No rollback"),
            finding(None, "MINOR", "Typo"),
            finding(Some("12"), "MINOR", "spaced"),
        ]
    );
}

#[track_caller]
fn check_parts(text: &str, expected: Expect) {
    let shown = match parse_parts(text) {
        Err(error) => error,
        Ok(parts) => parts
            .iter()
            .map(|it| {
                format!(
                    "{} {:?} {} {:?} {:?}\n",
                    it.id,
                    it.title,
                    it.mode,
                    it.files,
                    it.after.iter().map(|it| it.as_str()).collect::<Vec<_>>()
                )
            })
            .collect(),
    };
    expected.assert_eq(&shown);
}

#[test]
fn parts_are_sections() {
    check_parts(
        "# Tasks\nignored\nmode: parallel\n## Task 10: Last [parallel]\nMode: PARALLEL\nfiles:\n- a.rs\n  - b.rs\n\n- c.rs\n* no\n- not any more\n\
         ## Open questions: none\n##   Task   2:\nmode: human_gate\ndepends_on: [1, x, 10]\nFILES:\n    - deep\n\
         ## Task 1: First\n  mode: quick\ndepends_on: 2,3\n### Task 2 in detail\n## Task five: Named\ndepends_on: [2, five]\n",
        expect![[r#"
            1 "First" sequential [] ["2", "3"]
            2 "" human_gate [] ["1", "10"]
            10 "Last [parallel]" parallel ["a.rs", "b.rs", "c.rs"] []
            five "Named" sequential [] ["2", "five"]
        "#]],
    );
    check_parts(
        "## Task 1: a\n## Task 1: b\n",
        expect![[r#"
        1 "b" sequential [] []
    "#]],
    );
    check_parts(
        "## Validator lint: Lint\ndepends_on: none\n## Validator tests: Tests\ndepends_on: [lint]\n",
        expect![[r#"
            lint "Lint" sequential [] ["none"]
            tests "Tests" sequential [] ["lint"]
        "#]],
    );
    check_parts(
        "# Plan\n## Task: no id\n## Task 1 no colon\n",
        expect!["there is no section such as `## Task 1: title`"],
    );
    check_parts(
        "## Task 1 - First\n## Task 2 – Second\n## Task 3. Third\n## Task 4) Fourth\n## Task 5\n## Task 6: Sixth - last\n",
        expect![[r#"
            1 "First" sequential [] []
            2 "Second" sequential [] []
            3 "Third" sequential [] []
            4 "Fourth" sequential [] []
            5 "" sequential [] []
            6 "Sixth - last" sequential [] []
        "#]],
    );
    check_parts(
        "## Task a/b: x\n",
        expect![
            "part `a/b`: a name must not contain a path separator, `..` or a control character"
        ],
    );
    check_parts(
        "## Task 1: Windows\r\nmode: parallel\r\nfiles:\r\n- a.rs\r\n",
        expect![[r#"
        1 "Windows" parallel ["a.rs"] []
    "#]],
    );
}

#[test]
fn a_part_for_a_person_stays_theirs_however_it_is_written() {
    for line in [
        "mode: human_gate",
        "mode: `human_gate`",
        "mode: \"human_gate\"",
        "**mode:** human_gate",
        "* mode: human_gate",
        "- **Mode**: Human-Gate",
        "mode: human gate (a person)",
        "mode: human_gate\n\n```\nmode: sequential\n```",
        "mode: human_gate\n## Task 1: again\nmode: parallel",
    ] {
        let parts = parse_parts(&format!("## Task 1: a\n{line}\n")).unwrap();
        assert_eq!(parts[0].mode, "human_gate", "{line}");
    }
    for line in ["mode: human", "the mode: human_gate is for people", "model: human_gate"] {
        let parts = parse_parts(&format!("## Task 1: a\n{line}\n")).unwrap();
        assert_eq!(parts[0].mode, "sequential", "{line}");
    }
}

#[test]
fn lists_of_a_part_may_stand_in_one_line() {
    let text = "## Task 1: a\n## Task 2: b\nfiles: [a.rs, `b.rs`]\ndepends_on: Task 1\n";
    check_parts(
        text,
        expect![[r#"
            1 "a" sequential [] []
            2 "b" sequential ["a.rs", "b.rs"] ["1"]
        "#]],
    );
}

#[track_caller]
fn check_plan(text: &str, expected: Option<&str>) {
    let product = [Check::Parts];
    let beside = Beside { listed: &[], parts_max: 3 };
    assert_eq!(check_product(&product, Some(text), beside).as_deref(), expected, "{text}");
}

#[test]
fn a_plan_is_checked_as_a_whole() {
    check_plan("## Task 1: a\n## Task 2: b\ndepends_on: [1, 9]\n", None);
    check_plan("# Nothing\n", Some("there is no section such as `## Task 1: title`"));
    check_plan(
        "## Task 1: a\ndepends_on: [2]\n## Task 2: b\ndepends_on: [1]\n",
        Some("`1` depends on itself, by a cycle of dependencies"),
    );
    check_plan(
        "## Task 1: a\n## Task 1: b\n",
        Some("there are two sections `Task 1`; give each an id of its own"),
    );
    check_plan(
        "## Task 1: a\n## Task 2: b\n## Task 3: c\n## Task 4: d\n",
        Some("there are 4, and at most 3 are taken"),
    );
}

#[test]
fn a_heading_that_is_meant_as_a_part_is_read_or_refused() {
    for heading in [
        "## Task 2 b",
        "### Task 2: b",
        "# Task 2: b",
        " ## Task 2: b",
        "\t## Task 2: b",
        "##Task 2: b",
        "##\u{a0}Task 2: b",
        "## **Task 2**",
        "## TASK 2: b",
        "## Task #2: b\n### Task 2 b",
        "## Task-2: b",
        "## [Task 2: b](#b)",
        "## Step 2: b",
        "> ## Task 2: b",
        "- ### Task 2: b",
        "1. **Task 2: b**",
        "**Task 2: b**",
        "**Task 2**: b",
        "**Task 2**",
        "__Task 2 – b__",
        "Task 2: b\n=========",
        "Task 2\r\n---",
        "<h2>Task 2: b</h2>",
        "<b>Task 2</b>",
        "```\n## Task 3: c\n```\n### Task 2: b",
        "```\n### Task 2: b",
        "mode: parallel\u{2028}### Task 2: b",
    ] {
        let refused = parse_parts(&format!("## Task 1: a\n{heading}\n")).unwrap_err();
        let (_, advised) = refused.split_once(" is not read as a part; write `").unwrap();
        let (advised, _) = advised.split_once('`').unwrap();
        assert_eq!(advised, "## Task 2: title", "{heading}");
    }
    for (text, expected) in [
        ("## Task a: a\n### Task b: b\n", "## Task b: title"),
        ("## Task a: a\n## Task b - b\n", "## Task b: title"),
        ("## Task 1: a\n## Task: b\n", "## Task ID: title"),
        ("## Task 1: a\n### Task 2b: b\n", "## Task 2b: title"),
        ("## Phase 1: a\n### Task 1: b\n", "## Task 1: title"),
        ("## Phase 1: a\n## Phase 2 b\n", "## Phase 2: title"),
    ] {
        let refused = parse_parts(text).unwrap_err();
        assert!(refused.contains(&format!("write `{expected}`")), "{text}: {refused}");
    }
    for text in [
        "### Task 1 in detail",
        "### Task 1: in detail",
        "### Task 1.2: in detail",
        "**Task 1** comes first",
        "**Task 9** comes later",
        "### Task notes: all of them",
        "# Task breakdown: all of them",
        "```\n### Task 2: b\n```",
        "## Tasks 3 x",
        "## Phase 1: all of them",
        "## Open questions: 2",
        "### Step 2: within the first",
        "Task 2: is in the next plan",
        "- [ ] Task 2 is in the next plan",
        "\u{feff}",
    ] {
        let parts = parse_parts(&format!("{text}\n## Task 1: a\n{text}\n")).unwrap();
        assert_eq!(parts.len(), 1, "{text}");
    }
}

#[test]
fn what_cannot_be_seen_does_not_hide_a_heading() {
    let text =
        "\u{feff}## Task 1: a\r## Task 2\u{200b}: b\n#\u{2060}# Task 3: c\n## Task 4: d\u{200d}e";
    check_parts(
        text,
        expect![[r#"
            1 "a" sequential [] []
            2 "b" sequential [] []
            3 "c" sequential [] []
            4 "d\u{200d}e" sequential [] []
        "#]],
    );
}

#[test]
fn patterns_search_or_fit_the_whole() {
    let pattern = Pattern::parse("a|bc").unwrap();
    assert!(pattern.is_match("xbcx") && !pattern.is_full_match("xbcx"));
    assert!(
        pattern.is_full_match("a") && pattern.is_full_match("bc") && !pattern.is_full_match("abc")
    );
    assert!(Pattern::parse("(?m)^x$").unwrap().is_match("a\nx\nb"));
    // A flag or a comment cannot break out of the whole.
    assert!(Pattern::parse("(?x) a # b").unwrap().is_full_match("a"));
    assert!(!Pattern::parse("(?x) a # b").unwrap().is_full_match("ab"));
    assert!(Pattern::parse("a)|(b").is_err());
    assert!(Pattern::parse("(a").is_err());
    assert!(Pattern::parse("\\w{999}{999}").is_err());
}

#[test]
fn schemas_say_where_and_why() {
    let schema = Schema::parse(json!({"type": "object", "properties": {"a": {"items": {"type": "integer"}}}, "required": ["b"]})).unwrap();
    let told = schema.check(&json!({"a": [1, "x"]})).unwrap_err();
    expect![[r#"
        "b" is a required property
        /a/1: "x" is not of type "integer""#]]
    .assert_eq(&told.join("\n"));
    let many = json!({"a": vec!["x"; 50], "b": 1});
    assert_eq!(schema.check(&many).unwrap_err().len(), 10);
    assert!(Schema::parse(json!({"$ref": "http://example.com/x"})).is_err());
    assert!(Schema::parse(json!(true)).is_ok());
}
