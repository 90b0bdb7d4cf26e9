//! What the linter says, and what it leaves alone.

use std::fmt::Write as _;

use expect_test::{Expect, expect};

use crate::support::linted;

#[track_caller]
fn check(text: &str, expected: Expect) {
    expected.assert_eq(&linted(text));
}

/// A workflow of steps, each with its front matter and its guidance.
fn steps(index: &str, steps: &[(&str, &str, &str)]) -> String {
    let mut text = format!("== DEMO/index.md\n---\n{index}\n---\n");
    for (name, _, _) in steps {
        writeln!(text, "- [{name}](steps/{name}.md)").unwrap();
    }
    for (name, front, guidance) in steps {
        writeln!(text, "== DEMO/steps/{name}.md\n---\n{front}\n---\n# Orchestrator Guidance\n{guidance}\n# Client Instructions\nWork.").unwrap();
    }
    text
}

#[test]
fn a_sound_workflow_gives_nothing() {
    check(
        &steps(
            "decider: declared\nvars: {rounds: 0}",
            &[
                ("A", "produces: [a.md]\nneeds: [request.md]", "x"),
                (
                    "B",
                    "needs: [a.md, request.md]\nnext: [{to: A, when: 'vars.rounds < 3', set: {rounds: 'vars.rounds + 1'}}, C]",
                    "x",
                ),
                ("C", "", "x"),
            ],
        ),
        expect![[r#""#]],
    );
    check(
        &steps(
            "title: x",
            &[("A", "", "On success go to \"B\", else stay at \"A\"."), ("B", "", "Then FINISH.")],
        ),
        expect![[r#""#]],
    );
    check(&steps("title: x", &[("A", "", "Go on."), ("B", "", "Go on.")]), expect![[r#""#]]);
}

#[test]
fn steps_that_are_never_reached_are_told() {
    check(
        &steps(
            "decider: declared",
            &[
                ("A", "next: C", "x"),
                ("B", "", "x"),
                ("C", "next: FINISH", "x"),
                ("FINISH", "", "x"),
            ],
        ),
        expect![[r#""#]],
    );
    // By a review, a gate, spent attempts and spent reviews a step is reached too.
    check(
        &steps(
            "decider: declared",
            &[
                (
                    "A",
                    "next: FINISH\nattempts: {max: 2, then: {goto: B}}\ngate: {options: {ok: approve, no: {back: C}}}\nreview: {of: D, limits: [{after: 1, then: {goto: E}}]}",
                    "x",
                ),
                ("B", "next: FINISH", "x"),
                ("C", "next: FINISH", "x"),
                ("D", "next: FINISH", "x"),
                ("E", "next: FINISH", "x"),
            ],
        ),
        expect![[r#""#]],
    );
    check(
        &steps(
            "decider: ai",
            &[
                ("A", "", "Go to \"B\"."),
                ("B", "", "Then FINISH."),
                ("C", "", "Stay at \"C\" or FINISH."),
                ("FINISH", "", "x"),
            ],
        ),
        expect![[r#""#]],
    );
}

#[test]
fn steps_without_a_way_to_the_end_are_told() {
    check(
        &steps(
            "decider: declared",
            &[
                ("A", "next: [{to: B, when: 'context.x'}, FINISH]", "x"),
                ("B", "next: [{to: C, when: 'context.x'}, B]", "x"),
                ("C", "next: [{to: B, when: 'context.x'}]", "x"),
            ],
        ),
        expect![[r#""#]],
    );
    check(
        &steps("title: x", &[("A", "", "Go to \"B\"."), ("B", "", "Go to \"A\".")]),
        expect![[r#""#]],
    );
    // To fail is an end too.
    check(
        &steps("decider: declared", &[("A", "next: [{to: B, fails: true}]", "x"), ("B", "", "x")]),
        expect![[r#""#]],
    );
}

#[test]
fn rounds_without_a_condition_are_told_once() {
    check(
        &steps(
            "decider: declared",
            &[("A", "", "x"), ("B", "", "x"), ("C", "next: B", "x"), ("D", "", "x")],
        ),
        expect![[r#""#]],
    );
    check(&steps("decider: client", &[("A", "next: A", "x")]), expect![[r#""#]]);
    // A person at a gate can end it.
    check(
        &steps(
            "decider: declared",
            &[
                ("A", "gate: true", "x"),
                ("B", "next: [{to: A, when: 'context.again'}, FINISH]", "x"),
            ],
        ),
        expect![[r#""#]],
    );
}

#[test]
fn successors_after_a_certain_one_are_told() {
    check(
        &steps(
            "decider: declared",
            &[("A", "next: [{to: B, when: 'context.x'}, B, FINISH]", "x"), ("B", "", "x")],
        ),
        expect![[r#""#]],
    );
    check(
        &steps("decider: client", &[("A", "next: [B, FINISH]", "x"), ("B", "", "x")]),
        expect![[r#""#]],
    );
}

#[test]
fn names_in_guidance_that_are_nearly_right_are_told() {
    check(
        &steps(
            "title: x",
            &[
                (
                    "Run Unit Tests",
                    "",
                    "If \"success\": “analyse results” or \"Analyze Reslts\"; say \"Hello\". \"run_unit_tests\" again,\n\nelse \"Finish\" or \"FAILED\".\n```\n\"run unit tests\"\n```\n\"Analyze Results\"",
                ),
                ("Analyze Results", "", "x"),
            ],
        ),
        expect![[r#""#]],
    );
}

#[test]
fn a_name_in_an_included_guidance_is_told_where_it_is_written() {
    check(
        "== DEMO/index.md\n- [Alpha](steps/a.md)\n- [Beta](steps/b.md)\n== DEMO/steps/a.md\n# Orchestrator Guidance\n\n{{file:../shared.md}}\n# Client Instructions\nx\n\
         == DEMO/steps/b.md\n# Orchestrator Guidance\nFINISH\n# Client Instructions\nx\n== DEMO/shared.md\nfirst\n  é go to \"beta\" or \"Beta\".\n",
        expect![[r#""#]],
    );
}

#[test]
fn artifacts_that_nobody_produces_are_told() {
    check(
        &steps(
            "decider: declared",
            &[
                ("A", "needs: [request.md]\nproduces: [analysis.md, 'impl-{{ part.id }}.md']", "x"),
                (
                    "B",
                    "needs: [request.md, analysis.md, 'impl-{{ part.id }}.md', impl-3.md, anlysis.md, {path: gone.md, when: 'context.x'}]\ngate: {show: [plan.md]}",
                    "x",
                ),
                ("C", "each: {parts: t, from: tasks.md}", "x"),
                (
                    "D",
                    "each: {parts: u, from: tasks.md, otherwise: [x]}\nneeds: ['{{ context.path }}', 'other-{{ key }}.md']",
                    "x",
                ),
                ("E", "review: {of: A, read: review.md}\nneeds: [review.md]", "x"),
            ],
        ),
        expect![[r#""#]],
    );
}

#[test]
fn comparisons_of_unlike_types_are_errors() {
    let index = "decider: declared\nvars: {n: 0, ok: false, name: x, effort: {type: string, one_of: [S, M]}}\nsettings: {auto: true, max: 3}\nflows: {light: [B]}";
    let with = |front: &str| steps(index, &[("A", front, "x"), ("B", "", "x")]);
    let when = |condition: &str| with(&format!("skip_when: \"{condition}\""));
    check(&when("'3' < 4"), expect![[r#""#]]);
    check(&when("vars.n == '1'"), expect![[r#""#]]);
    check(&when("context.x and ('1' == vars.n or settings.auto == 1)"), expect![[r#""#]]);
    check(&when("vars.ok > true"), expect![[r#""#]]);
    check(
        &when("settings.max == 'three' and report.status == 1 and flow == true"),
        expect![[r#""#]],
    );
    check(&when("vars.n"), expect![[r#""#]]);
    check(
        &with("next: [{to: B, set: {n: \"'1'\", ok: \"true\", name: \"vars.n\"}}]"),
        expect![[r#""#]],
    );
    for fine in [
        "vars.n == 1",
        "vars.n|string == '1'",
        "vars.n + 1 == 2",
        "'1' == vars.name",
        "vars.name == none",
        "vars.ok == false",
        "vars.ok and settings.auto",
        "context.x == '1'",
        "vars.n == -1",
        "-1 < vars.n",
        "1 == '1'|int",
        "vars.n in [1, '1']",
        "report.details.x == 3 or 'a' < 'b'",
    ] {
        assert_eq!(linted(&when(fine)), "", "{fine}");
    }
}

#[test]
fn names_that_are_declared_nowhere_are_errors() {
    let index = "decider: declared\nvars: {rounds: 0, effort: {type: string, one_of: [S, M]}}\nsettings: {auto: true}\nflows: {light: [B]}";
    let with = |front: &str| steps(index, &[("A", front, "x"), ("B", "", "x")]);
    check(
        &with(
            "skip_when: \"vars.round == 1 or settings.aut or steps['C'].visits > 1 or steps.B.visits > 1\"",
        ),
        expect![[r#""#]],
    );
    check(
        &with("skip_when: \"vars.other is defined or vars.other|default(true)\""),
        expect![[r#""#]],
    );
    check(
        &with("needs: ['a-{{ vars.rouns }}.md']\ngate: {ask: \"For {{ settings.auot }}?\"}"),
        expect![[r#""#]],
    );
    check(
        &with("skip_when: \"vars.effort == 'L' or flow == 'ligth' or vars.effort != 'S'\""),
        expect![[r#""#]],
    );
    check(&with("next:\n  to: B\n  when: \"vars.x\"\nattempts: 3"), expect![[r#""#]]);
}
