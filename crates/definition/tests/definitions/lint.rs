//! What the linter says, and what it leaves alone.

use std::fmt::Write as _;

use expect_test::{Expect, expect};

use crate::support::linted;

#[track_caller]
fn check(text: &str, expected: Expect) {
    expected.assert_eq(&linted(text));
}

/// A workflow of steps, each with its front matter and its guidance.
pub(crate) fn steps(index: &str, steps: &[(&str, &str, &str)]) -> String {
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
        expect![[r#"
            warning step_unreachable ^15 DEMO/index.md:5:3: step `B` is never reached (name it in the `next` of another step)
        "#]],
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
        expect![[r#"
            warning step_unreachable ^15 DEMO/index.md:6:3: step `C` is never reached (name it in double quotes in the guidance of another step)
        "#]],
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
        expect![[r#"
            warning context_unguarded ^9 DEMO/steps/A.md:2:23: without `x` in the context, this condition stops the run (write `context.x is defined and …`, or `context.x | default(…)`)
            warning context_unguarded ^9 DEMO/steps/B.md:2:23: without `x` in the context, this condition stops the run (write `context.x is defined and …`, or `context.x | default(…)`)
            warning next_open ^1 DEMO/steps/C.md:2:8: `next` does not say where the run goes if no condition is true (add a last entry without `when`; `- FINISH` is where the listed order leads)
            warning context_unguarded ^9 DEMO/steps/C.md:2:23: without `x` in the context, this condition stops the run (write `context.x is defined and …`, or `context.x | default(…)`)
        "#]],
    );
    check(
        &steps("title: x", &[("A", "", "Go to \"B\"."), ("B", "", "Go to \"A\".")]),
        expect![[r#"
            warning finish_unreachable ^15 DEMO/index.md:4:3: no way leads from step `A` to `FINISH` (say in its guidance, or in a later step's, when to `FINISH`)
            warning finish_unreachable ^15 DEMO/index.md:5:3: no way leads from step `B` to `FINISH` (say in its guidance, or in a later step's, when to `FINISH`)
        "#]],
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
        expect![[r#"
            warning step_unreachable ^15 DEMO/index.md:7:3: step `D` is never reached (name it in the `next` of another step)
            warning loop_endless ^1 DEMO/steps/C.md:2:7: `B` → `C` → `B` loops forever (give one of them a `next` with a `when`)
        "#]],
    );
    check(
        &steps("decider: client", &[("A", "next: A", "x")]),
        expect![[r#"
            warning loop_endless ^1 DEMO/steps/A.md:2:7: `A` → `A` loops forever (give one of them a `next` with a `when`)
        "#]],
    );
    // A person at a gate can end it, and a condition can.
    check(
        &steps("decider: declared", &[("A", "gate: true", "x"), ("B", "next: A", "x")]),
        expect![[r#"
            warning finish_unreachable ^15 DEMO/index.md:4:3: no way leads from step `A` to `FINISH` (let some step after it have `next: FINISH`)
            warning finish_unreachable ^15 DEMO/index.md:5:3: no way leads from step `B` to `FINISH` (let some step after it have `next: FINISH`)
        "#]],
    );
    check(
        &steps(
            "decider: declared",
            &[("A", "", "x"), ("B", "next: [{to: A, when: 'context.again'}, FINISH]", "x")],
        ),
        expect![[r#"
            warning context_unknown ^13 DEMO/steps/B.md:2:23: no step and no parameter says what `context.again` is (name `again` in the step that sets it, under `context_updates`)
        "#]],
    );
}

#[test]
fn successors_after_a_certain_one_are_told() {
    check(
        &steps(
            "decider: declared",
            &[("A", "next: [{to: B, when: 'context.x'}, B, FINISH]", "x"), ("B", "", "x")],
        ),
        expect![[r#"
            warning context_unguarded ^9 DEMO/steps/A.md:2:23: without `x` in the context, this condition stops the run (write `context.x is defined and …`, or `context.x | default(…)`)
            warning successor_unreachable ^6 DEMO/steps/A.md:2:39: `FINISH` is never chosen (`B` before it has no `when`)
        "#]],
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
        expect![[r#"
            warning step_misspelt ^15 DEMO/steps/Run Unit Tests.md:5:16: there is no step `analyse results` (did you mean `Analyze Results`?)
            warning step_misspelt ^14 DEMO/steps/Run Unit Tests.md:5:37: there is no step `Analyze Reslts` (did you mean `Analyze Results`?)
            warning step_misspelt ^14 DEMO/steps/Run Unit Tests.md:5:68: step `Run Unit Tests` is written `run_unit_tests` here (case, spaces, `_` and `-` matter in names)
        "#]],
    );
}

#[test]
fn a_name_in_an_included_guidance_is_told_where_it_is_written() {
    check(
        "== DEMO/index.md\n- [Alpha](steps/a.md)\n- [Beta](steps/b.md)\n== DEMO/steps/a.md\n# Orchestrator Guidance\n\n{{file:../shared.md}}\n# Client Instructions\nx\n\
         == DEMO/steps/b.md\n# Orchestrator Guidance\nFINISH\n# Client Instructions\nx\n== DEMO/shared.md\nfirst\n  é go to \"beta\" or \"Beta\".\n",
        expect![[r#"
            warning step_misspelt ^4 DEMO/shared.md:2:12: step `Beta` is written `beta` here (case, spaces, `_` and `-` matter in names)
        "#]],
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
        expect![[r#"
            warning artifact_unknown ^10 DEMO/steps/B.md:2:70: no step produces `anlysis.md` (did you mean `analysis.md`?)
            warning artifact_unknown ^7 DEMO/steps/B.md:2:89: no step produces `gone.md`
            warning context_unguarded ^9 DEMO/steps/B.md:2:105: without `x` in the context, this condition stops the run (write `context.x is defined and …`, or `context.x | default(…)`)
            warning artifact_unknown ^7 DEMO/steps/B.md:3:15: no step produces `plan.md`
            warning artifact_unknown ^8 DEMO/steps/C.md:2:24: no step produces `tasks.md`
            warning context_unknown ^12 DEMO/steps/D.md:3:13: no step and no parameter says what `context.path` is (name `path` in the step that sets it, under `context_updates`)
            warning artifact_unknown ^20 DEMO/steps/D.md:3:31: no step produces `other-{{ key }}.md`
        "#]],
    );
}

#[test]
fn comparisons_of_unlike_types_are_errors() {
    let index = "decider: declared\nvars: {n: 0, ok: false, name: x, effort: {type: string, one_of: [S, M]}}\nsettings: {auto: true, max: 3}\nflows: {light: [B]}";
    let with = |front: &str| steps(index, &[("A", front, "x"), ("B", "", "x")]);
    let when = |condition: &str| with(&format!("skip_when: \"{condition}\""));
    check(
        &when("'3' < 4"),
        expect![[r#"
        error types_unlike ^7 DEMO/steps/A.md:2:13: `'3'` is a text, and `4` is a number
    "#]],
    );
    check(
        &when("vars.n == '1'"),
        expect![[r#"
        error types_unlike ^13 DEMO/steps/A.md:2:13: `vars.n` is a number, and `'1'` is a text
    "#]],
    );
    check(
        &when("context.x and ('1' == vars.n or settings.auto == 1)"),
        expect![[r#"
            warning context_unguarded ^9 DEMO/steps/A.md:2:13: without `x` in the context, this condition stops the run (write `context.x is defined and …`, or `context.x | default(…)`)
            error types_unlike ^13 DEMO/steps/A.md:2:28: `'1'` is a text, and `vars.n` is a number
            error types_unlike ^18 DEMO/steps/A.md:2:45: `settings.auto` is true or false, and `1` is a number
        "#]],
    );
    check(
        &when("vars.ok > true"),
        expect![[r#"
        error types_unlike ^14 DEMO/steps/A.md:2:13: `vars.ok` is true or false, which `>` does not order
    "#]],
    );
    check(
        &when("settings.max == 'three' and report.status == 1 and flow == true"),
        expect![[r#"
            error types_unlike ^23 DEMO/steps/A.md:2:13: `settings.max` is a number, and `'three'` is a text
            error types_unlike ^18 DEMO/steps/A.md:2:41: `report.status` is a text, and `1` is a number
            error types_unlike ^12 DEMO/steps/A.md:2:64: `flow` is a text, and `true` is true or false
        "#]],
    );
    check(
        &when("vars.n"),
        expect![[r#"
        error types_unlike ^6 DEMO/steps/A.md:2:13: `vars.n` is a number, not true or false
    "#]],
    );
    check(
        &with("next: [{to: B, set: {n: \"'1'\", ok: \"true\", name: \"vars.n\"}}]"),
        expect![[r#"
            error types_unlike ^3 DEMO/steps/A.md:2:26: `vars.n` is a number, and `'1'` is a text
            error types_unlike ^6 DEMO/steps/A.md:2:51: `vars.name` is a text, and `vars.n` is a number
        "#]],
    );
    for fine in [
        "vars.n == 1",
        "vars.n|string == '1'",
        "vars.n + 1 == 2",
        "'1' == vars.name",
        "vars.name == none",
        "vars.ok == false",
        "vars.ok and settings.auto",
        "context.x is defined and context.x == '1'",
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
        expect![[r#"
            error var_unknown ^10 DEMO/steps/A.md:2:13: there is no variable `round` (did you mean `rounds`?)
            error setting_unknown ^12 DEMO/steps/A.md:2:32: there is no setting `aut` (did you mean `auto`?)
            error step_unknown ^17 DEMO/steps/A.md:2:48: there is no step `C` (known: `A`, `B`)
        "#]],
    );
    check(
        &with("skip_when: \"vars.other is defined or vars.other|default(true)\""),
        expect![[r#""#]],
    );
    check(
        &with("needs: ['a-{{ vars.rouns }}.md']\ngate: {ask: \"For {{ settings.auot }}?\"}"),
        expect![[r#"
            error var_unknown ^10 DEMO/steps/A.md:2:15: there is no variable `rouns` (did you mean `rounds`?)
            error setting_unknown ^13 DEMO/steps/A.md:3:21: there is no setting `auot` (did you mean `auto`?)
        "#]],
    );
    check(
        &with("skip_when: \"vars.effort == 'L' or flow == 'ligth' or vars.effort != 'S'\""),
        expect![[r#"
            warning value_unknown ^3 DEMO/steps/A.md:2:28: `vars.effort` is never `L` (known: `S`, `M`)
            warning value_unknown ^7 DEMO/steps/A.md:2:43: `flow` is never `ligth` (did you mean `light`?)
        "#]],
    );
    check(
        &with("next:\n  to: B\n  when: \"vars.x\"\nattempts: 3"),
        expect![[r#"
            warning next_open ^1 DEMO/steps/A.md:3:3: `next` does not say where the run goes if no condition is true (add a last entry without `when`; `- B` is where the listed order leads)
            error var_unknown ^6 DEMO/steps/A.md:4:10: there is no variable `x` (known: `effort`, `rounds`)
        "#]],
    );
}
