//! Language 2: what `on` refuses, and what follows from other steps.

use definition::{Check, Deed, Workflow};
use expect_test::{Expect, expect};

use crate::support::{linted, parsed, read, with_index};

const VARS: &str = "language: 2\nvars: {rounds: 0, done: false}\n";

fn text(index: &str, step: &str) -> String {
    with_index(&format!("---\n{VARS}{index}\n---\n"), &format!("---\n{step}\n---\n"))
}

fn good(index: &str, step: &str) -> Workflow {
    read(&text(index, step)).unwrap()
}

#[track_caller]
fn bad(index: &str, expected: Expect) {
    expected.assert_eq(&parsed(&text(index, "")));
}

#[track_caller]
fn bad_step(step: &str, expected: Expect) {
    expected.assert_eq(&parsed(&text("", step)));
}

#[test]
fn one_action_stands_for_a_list_and_for_do() {
    let it = good("on: {call: {a: {set: {rounds: '1'}}, b: {do: {note: x}}, c: [{note: x}]}}", "");
    assert!(it.moves.iter().all(|it| it.actions.len() == 1 && it.when.is_none()));
    // The condition is that of the move.
    let it = good("on: {call: {a: {when: vars.done, note: x}}}", "");
    assert!(it.moves[0].when.is_some() && it.moves[0].actions[0].when.is_none());
    let it = good("on: {change: {A: {when: vars.done, note: x}}}", "");
    assert_eq!(it.rules[0].actions.len(), 1);
}

#[test]
fn an_entry_has_the_keys_of_its_kind() {
    bad(
        "on: {call: {a: {do: [{note: x}], note: y}}}",
        expect![[r#"
        Invalid
        error value_invalid ^1 DEMO/index.md:4:16: `on.call.a` has both `do` and `note`
    "#]],
    );
    bad(
        "on: {change: {A: {when: vars.done, else: b, needs: [x], note: y}}}",
        expect![[r#"
        Invalid
        error key_unknown ^4 DEMO/index.md:4:36: `on.change.A` has no key `else`
        error key_unknown ^5 DEMO/index.md:4:45: `on.change.A` has no key `needs`
    "#]],
    );
    bad(
        "on: {while: {a: {when: vars.done, consent: A, do: [{push: o}, {complete: true}]}}}",
        expect![[r#"
            Invalid
            error key_unknown ^7 DEMO/index.md:4:35: `on.while.a` has no key `consent`
        "#]],
    );
    bad(
        "on: {call: [x], later: {}}",
        expect![[r#"
        Invalid
        error value_invalid ^1 DEMO/index.md:4:12: `on.call` must be a map, not a list
        error key_unknown ^5 DEMO/index.md:4:17: `on` has no key `later` (known: `call`, `change`, `while`, `adopt`)
    "#]],
    );
}

#[test]
fn each_moment_has_its_actions() {
    bad(
        "on: {call: {a: {push: origin}}}",
        expect![[r#"
        Invalid
        error value_invalid ^1 DEMO/index.md:4:16: `on.call.a` must say one action (each has just one of set, merge, note, error, add_item, close_item, find_item, rotate, insert, remove, goto)
    "#]],
    );
    bad(
        "on: {while: {a: {when: vars.done, do: [{note: x}, {set: {done: 'false'}}]}}}",
        expect![[r#"
            Invalid
            error value_invalid ^1 DEMO/index.md:4:40: `on.while.a` must say one action (each has just one of rename_branch, commit, push, publish, checkout)
        "#]],
    );
    bad(
        "on: {while: {a: {when: vars.done, do: [{when: 'true', push: o}, {complete: false}]}}}",
        expect![[r#"
            Invalid
            error value_invalid ^6 DEMO/index.md:4:47: the `when` of `on.while.a` counts for this action
            error value_invalid ^1 DEMO/index.md:4:65: `on.while.a.complete` must be true
        "#]],
    );
    bad(
        "on: {while: {a: {when: vars.done, push: origin}}}",
        expect![[r#"
        Invalid
        error chore_endless ^1 DEMO/index.md:4:17: a chore after which nothing changes stays due forever (set a variable that its `when` looks at, or write `complete: true`)
    "#]],
    );
    bad_step(
        "on: {enter: {goto: B}, done: {complete: true}, left: {note: x}}",
        expect![[r#"
        Invalid
        error value_invalid ^1 DEMO/steps/a.md:2:13: `on.enter` must say one action (each has just one of set, merge, note, error, add_item, close_item, find_item, rotate, insert, remove)
        error value_invalid ^1 DEMO/steps/a.md:2:30: `on.done` must say one action (each has just one of set, merge, note, error, add_item, close_item, find_item, rotate, insert, remove)
        error key_unknown ^4 DEMO/steps/a.md:2:48: `on` has no key `left` (known: `enter`, `done`, `back`)
    "#]],
    );
    bad_step(
        "next: {to: B, do: {goto: A}}",
        expect![[r#"
        Invalid
        error value_invalid ^1 DEMO/steps/a.md:2:19: `next.do` must say one action (each has just one of set, merge, note, error, add_item, close_item, find_item, rotate, insert, remove)
    "#]],
    );
}

#[test]
fn maps_of_one_entry_have_one() {
    bad(
        "on: {call: {a: {insert: {a.md: x}, when: vars.done}}}",
        expect![[r#"
        Invalid
        error value_invalid ^1 DEMO/index.md:4:32: `on.call.a.insert` must be a map of one entry (write `{PATH: {HEADING: line}}`)
    "#]],
    );
    bad(
        "on: {call: {a: {consent: {A: vars.done, B: vars.done}, note: x}}}",
        expect![[r#"
        Invalid
        error value_invalid ^1 DEMO/index.md:4:26: `on.call.a.consent` must be a map of one entry (write `{STEP: condition}`)
    "#]],
    );
    bad_step(
        "attempts: {3: ask, 4: fail}",
        expect![[r#"
        Invalid
        error value_invalid ^1 DEMO/steps/a.md:2:11: `attempts` must be a map of one entry (write `{3: ask}`)
    "#]],
    );
    bad_step(
        "attempts: {3: goto C}",
        expect![[r#"
        Invalid
        error step_unknown ^6 DEMO/steps/a.md:2:15: there is no step `C` (known: `A`, `B`)
    "#]],
    );
    bad_step(
        "gate: {options: {no: back C}}",
        expect![[r#"
        Invalid
        error step_unknown ^6 DEMO/steps/a.md:2:22: there is no step `C` (known: `A`, `B`)
    "#]],
    );
}

#[test]
fn mistakes_are_shown_where_they_stand() {
    let index = "on:\n  call:\n    a: {when: vars.dnoe, set: {rounds: \"'x'\"}}\n    b:\n      do:\n        \
                 - {when: vars.dnoe, note: \"{{ vars.x }}\"}";
    let step = "on: {enter: {set: {done: vars.rounds}}, done: [{remove: \"{{ vars.y }}\"}]}\n\
                next: {to: B, do: {merge: \"{'a': vars.z}\"}}";
    expect![[r#"
        error var_unknown ^9 DEMO/index.md:6:15: there is no variable `dnoe` (did you mean `done`?)
        error types_unlike ^3 DEMO/index.md:6:41: `vars.rounds` is a number, and `'x'` is a text
        error var_unknown ^9 DEMO/index.md:9:18: there is no variable `dnoe` (did you mean `done`?)
        error var_unknown ^6 DEMO/index.md:9:39: there is no variable `x` (known: `done`, `rounds`)
        error types_unlike ^11 DEMO/steps/a.md:2:26: `vars.done` is true or false, and `vars.rounds` is a number
        error var_unknown ^6 DEMO/steps/a.md:2:61: there is no variable `y` (known: `done`, `rounds`)
        error var_unknown ^6 DEMO/steps/a.md:3:34: there is no variable `z` (known: `done`, `rounds`)
    "#]].assert_eq(&linted(&text(index, step)));
}

#[test]
fn language_1_does_not_have_what_language_2_has_in_its_place() {
    let old = |index: &str, step: &str| parsed(&text(index, step).replace("language: 2\n", ""));
    expect![[r#"
        Invalid
        error key_unknown ^1 DEMO/index.md:3:5: `on` is a key of language 2 (write `language: 2` in `index.md`)
    "#]].assert_eq(&old("on: {call: {a: {note: x}}}", ""));
    expect![[r#"
        Invalid
        error value_invalid ^1 DEMO/steps/a.md:2:20: `do` is said twice
    "#]]
    .assert_eq(&old("", "next: {to: B, set: {rounds: '1'}, do: {note: x}}"));
    expect![[r#"
        Invalid
        error value_invalid ^6 DEMO/index.md:4:10: `tokens` is said twice
    "#]]
    .assert_eq(&old("limits: {tokens: '1'}\nbudget: {tokens: '2'}", ""));
}

#[test]
fn a_run_without_a_flow_takes_the_one_called_default() {
    assert_eq!(good("flows: {light: [B], default: []}", "").flow.as_deref(), Some("default"));
    assert_eq!(good("flows: {light: [B]}", "").flow, None);
}

#[test]
fn a_workflow_that_rotates_has_a_journal() {
    let rule = "on: {change: {A: {when: vars.done, rotate: findings}}}";
    assert!(good(rule, "").journal);
    assert!(good("", "next: {to: B, do: {rotate: whole}}").journal);
    assert!(!good("on: {change: {A: {when: vars.done, note: x}}}", "").journal);
}

#[test]
fn a_variable_is_its_first_value() {
    let it = good("settings: {}", "");
    assert_eq!(it.vars["rounds"].default, 0);
    let text = text("", "").replace("done: false", "done: {one_of: [b, a]}, n: {type: number}");
    let it = read(&text).unwrap();
    assert_eq!((&it.vars["done"].default, &it.vars["n"].default), (&"b".into(), &0.into()));
    // The key `type` is no longer on the page, but stored texts have it.
    let written = read(&text.replace("{type: number}", "0.0")).unwrap();
    assert_eq!(written.vars["n"].kind, it.vars["n"].kind);
}

/// A workflow of `A`, which is judged by `B`.
fn reviewed(a: &str, b: &str) -> String {
    let whole = text("", a);
    let (before, after) = whole.split_once("== DEMO/steps/b.md\n").unwrap();
    format!("{before}== DEMO/steps/b.md\n---\n{b}\n---\n{after}")
}

#[test]
fn a_review_reads_its_own_file_and_judges_that_of_the_step() {
    let review = "produces: [review.md]\nreview: {of: A, limits: {4: ask}, rules: rules.md}\n\
                  gate: {unless: vars.done, options: {yes: approve, no: back A}}";
    let it = read(&reviewed("produces: [{path: plan.md}]", review)).unwrap();
    let judge = &it.steps[1];
    let found = judge.review.as_ref().unwrap();
    assert_eq!(found.read.as_ref().unwrap().source(), "review.md");
    assert_eq!(found.judges.as_ref().unwrap().source(), "plan.md");
    assert_eq!(judge.gate.as_ref().unwrap().reviewed.as_ref().unwrap().as_str(), "B");
    let rules = it.steps[0].rules.as_ref().unwrap();
    let said = (rules.beside.as_str(), rules.parts.source(), rules.note.source(), rules.after);
    assert_eq!(said, ("rules.md", "plan.md", "review.md", 4));
    // Parts are judged one by one, by files of their own.
    let review = "produces: [review.md]\neach: {parts: t, list: [x]}\nreview: {of: A}";
    let it = read(&reviewed("produces: [plan.md]", review)).unwrap();
    assert!(it.steps[1].review.as_ref().unwrap().judges.is_none());
    let review = "review: {of: A, rules: rules.md}";
    expect![[r#"
        Invalid
        error value_invalid ^8 DEMO/steps/b.md:2:24: `review.rules` needs a file on both sides, and a limit (both steps have `produces`, and the review `limits: {4: ask}`)
    "#]].assert_eq(&parsed(&reviewed("produces: [plan.md]", review)));
}

#[test]
fn a_file_that_parts_come_from_must_be_a_plan() {
    let it = read(&reviewed("produces: [plan.md]", "each: {parts: t, from: plan.md}")).unwrap();
    assert!(matches!(it.steps[0].produces[0].checks.as_slice(), [Check::Parts]));
    assert!(it.steps[1].each.as_ref().unwrap().keeps);
}

#[test]
fn limits_have_actions() {
    let review = "review: {of: A, limits: {2: [approve, {set: {done: 'true'}}], 4: ask}}";
    let it = read(&reviewed("", review)).unwrap();
    let limits = &it.steps[1].review.as_ref().unwrap().limits;
    assert!(matches!(limits[0].actions[0].deed, Deed::Set(_)) && limits[1].actions.is_empty());
}

#[test]
fn a_star_among_verdicts_is_any_other_word() {
    let review = |verdicts: &str| {
        let step = format!("produces: [a.md]\nreview: {{of: B, {verdicts}}}");
        let review = good("", &step).steps[0].review.clone().unwrap();
        (review.approve, review.revise, review.unknown)
    };
    let words = "verdicts: {GOOD: approve, BAD: revise";
    assert_eq!(
        review(&format!("{words}, '*': ask}}")),
        review(&format!("{words}}}, unknown: ask"))
    );
    assert_eq!(review("verdicts: {'*': ask}"), review("unknown: ask"));
    assert_eq!(review(&format!("{words}, '*': refuse}}")), review(&format!("{words}}}")));
    // As a word it means what it meant before.
    assert_eq!(review("verdicts: {'*': approve, BAD: revise}").0, ["*"]);
}
