//! What gates guard, and routes that lead around them.

use crate::{lint::steps, support::linted};
use expect_test::{Expect, expect};

/// Prints each gate with what it guards.
#[track_caller]
fn check(text: &str, expected: Expect) {
    let workflow = crate::support::read(text).unwrap();
    let line = |it: &definition::Guarded| {
        let steps: Vec<&str> = it.steps.iter().map(|it| it.as_str()).collect();
        format!("{}: {}{}\n", it.gate, steps.join(", "), if it.end { ", the end" } else { "" })
    };
    let guarded: String = workflow.guards().all().iter().map(line).collect();
    expected.assert_eq(&guarded);
}

#[test]
fn a_gate_guards_what_is_reached_only_through_it() {
    check(
        &steps(
            "decider: declared",
            &[
                ("Start", "next: [{to: Quick, when: context.quick}, Plan]", "x"),
                ("Plan", "gate: true\nnext: Build", "x"),
                ("Build", "gate: true\nnext: Ship", "x"),
                ("Quick", "next: Ship", "x"),
                ("Ship", "", "x"),
            ],
        ),
        expect![[r#"
            Plan: Build
            Build: 
        "#]],
    );
}

#[test]
fn a_gate_in_listed_order_guards_all_that_follows() {
    check(
        &steps("title: x", &[("A", "", "x"), ("B", "gate: true", "x"), ("C", "", "x")]),
        expect![[r#"
            B: C, the end
        "#]],
    );
}

#[test]
fn a_gate_whose_answers_all_lead_on_guards_nothing() {
    check(
        &steps(
            "title: x",
            &[("A", "gate: {options: {post: approve, leave: skip}}", "x"), ("B", "", "x")],
        ),
        expect![[""]],
    );
}

#[test]
fn a_step_for_failures_is_not_behind_the_gate() {
    let text = steps(
        "decider: declared",
        &[
            ("Plan", "gate: true", "x"),
            ("Ship", "next: FINISH", "x"),
            ("Handle Failure", "next: FINISH", "x"),
        ],
    );
    check(
        &text,
        expect![[r#"
            Plan: Ship, the end
        "#]],
    );
    expect![[r#"
        warning step_unreachable ^41 DEMO/index.md:6:3: step `Handle Failure` is never reached (name it in the `next` of another step)
    "#]].assert_eq(&linted(&text));
}

#[test]
fn a_route_for_failure_that_leads_behind_a_gate_is_an_error() {
    let linked = steps(
        "decider: declared",
        &[
            ("Plan", "gate: true\nnext: Ship", "x"),
            ("Handle Failure", "next: Ship", "x"),
            ("Ship", "next: FINISH", "x"),
        ],
    );
    expect![[r#"
        warning step_unreachable ^41 DEMO/index.md:5:3: step `Handle Failure` is never reached (name it in the `next` of another step)
        error gate_bypassed ^4 DEMO/steps/Plan.md:3:7: a failure of `Plan` leads to `Ship` without the gate of `Plan` (lead failures to a step before the gate of `Plan`, to `FINISH`, or to a step of their own)
    "#]].assert_eq(&linted(&linked));
    let direct = steps(
        "decider: declared",
        &[
            ("Draft", "attempts: {max: 2, then: {goto: Ship}}", "x"),
            ("Plan", "gate: true", "x"),
            ("Ship", "", "x"),
        ],
    );
    expect![[r#"
        error gate_bypassed ^1 DEMO/steps/Draft.md: a failure of `Draft` leads to `Ship` without the gate of `Plan` (lead failures to a step before the gate of `Plan`, to `FINISH`, or to a step of their own)
    "#]].assert_eq(&linted(&direct));
}

#[test]
fn an_answer_that_sends_work_back_behind_its_own_gate_is_an_error() {
    let text = steps(
        "decider: declared",
        &[("Plan", "gate: {options: {yes: approve, later: {back: Ship}}}", "x"), ("Ship", "", "x")],
    );
    expect![[r#"
        error gate_bypassed ^1 DEMO/steps/Plan.md: an answer at the gate of `Plan` sends the run to `Ship`, which the gate guards (lead failures to a step before the gate of `Plan`, to `FINISH`, or to a step of their own)
    "#]].assert_eq(&linted(&text));
}
