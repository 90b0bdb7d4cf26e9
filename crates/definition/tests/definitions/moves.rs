//! `moves`, `rules`, `adopt` and what belongs to them: each key, good and bad.

use definition::{Deed, Rotation, Workflow};
use expect_test::{Expect, expect};

use crate::support::{parsed, read, with_index};

const VARS: &str = "vars: {status: x, rounds: 0}\n";

fn good(front: &str) -> Workflow {
    read(&with_index(&format!("---\n{VARS}{front}\n---\n"), "")).unwrap()
}

#[track_caller]
fn bad(front: &str, expected: Expect) {
    expected.assert_eq(&parsed(&with_index(&format!("---\n{VARS}{front}\n---\n"), "")));
}

/// Checks a deed that is wrong, as a move has it.
#[track_caller]
fn bad_deed(deed: &str, expected: Expect) {
    bad(&format!("moves:\n  go:\n    do:\n      - {deed}"), expected);
}

fn deed(text: &str) -> Deed {
    let workflow = good(&format!("moves:\n  go:\n    do:\n      - {text}"));
    workflow.moves.into_iter().flat_map(|it| it.actions).next().unwrap().deed
}

#[test]
fn a_move_has_a_condition_another_in_its_place_a_consent_and_deeds() {
    let workflow = good(
        r#"moves:
  second: {needs: [task], when: "step == 'A'", else: first, consent: {step: B, when: "vars.rounds > 0"}, do: [{goto: A}]}
  first:
    do: [{note: one}, {note: two}]"#,
    );
    let names: Vec<&str> = workflow.moves.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["second", "first"], "in the order they are written");
    let second = &workflow.moves[0];
    assert_eq!(second.when.as_ref().unwrap().source(), "step == 'A'");
    assert_eq!(second.needs, ["task"]);
    assert_eq!(second.otherwise.as_deref(), Some("first"));
    let consent = second.consent.as_ref().unwrap();
    assert_eq!(consent.step.as_str(), "B");
    assert_eq!(consent.when.as_ref().unwrap().source(), "vars.rounds > 0");
    let first = &workflow.moves[1];
    assert!(first.when.is_none() && first.otherwise.is_none() && first.consent.is_none());
    assert_eq!(first.actions.len(), 2);
}

#[test]
fn every_deed_is_read() {
    let Deed::Set(set) = deed("set: {status: \"'y'\", rounds: vars.rounds + 1}") else { panic!() };
    assert_eq!(set.keys().collect::<Vec<_>>(), ["rounds", "status"]);
    let Deed::Goto(to) = deed("goto: B") else { panic!() };
    assert_eq!(to.source(), "B");
    let Deed::Goto(to) = deed("goto: '{{ args.to }}'") else { panic!() };
    assert!(!to.is_plain());
    let Deed::Note(text) = deed("note: \"x {{ args.task }}\"") else { panic!() };
    assert_eq!(text.source(), "x {{ args.task }}");
    assert!(matches!(deed("error: x"), Deed::Error(_)));
    assert!(matches!(deed("add_item: x"), Deed::AddItem(_)));
    let Deed::CloseItem(one) = deed("close_item: x") else { panic!() };
    let Deed::CloseItem(two) = deed("close_item: [x, y]") else { panic!() };
    assert_eq!((one.len(), two.len()), (1, 2));
    assert!(matches!(deed("find_item: x"), Deed::FindItem(_)));
    let Deed::Set(taken) = deed("take_item: status") else { panic!() };
    assert_eq!(taken.get("status").unwrap().source(), "items.next");
    assert!(matches!(deed("rotate: findings"), Deed::Rotate(Rotation::Findings, None)));
    assert!(matches!(deed("rotate: whole"), Deed::Rotate(Rotation::Whole, None)));
    let with = deed("rotate: {archive: whole, with: \"{{ vars.x }}\"}");
    assert!(matches!(with, Deed::Rotate(Rotation::Whole, Some(_))));
    let usual = deed("rotate: {with: \"x\"}");
    assert!(matches!(usual, Deed::Rotate(Rotation::Findings, Some(_))));
    let text = "insert: {path: a.md, heading: \"## X\", line: \"- {{ vars.status }}\"}";
    let Deed::Insert(insertion) = deed(text) else { panic!() };
    assert_eq!((insertion.path.source(), insertion.heading.as_str()), ("a.md", "## X"));
    assert_eq!(insertion.line.source(), "- {{ vars.status }}");
}

#[test]
fn a_deed_may_have_a_condition_of_its_own() {
    let workflow = good("moves: {go: {do: [{when: 'items.open > 0', goto: B}]}}");
    let action = &workflow.moves[0].actions[0];
    assert_eq!(action.when.as_ref().unwrap().source(), "items.open > 0");
}

#[test]
fn rules_keep_their_order_and_adopt_is_a_list_of_deeds() {
    let workflow = good(
        r#"journal: true
args: {task: 10, plan: 20}
rules:
  - {name: SECOND, when: "vars.rounds > 1", do: [{rotate: whole}]}
  - {name: FIRST, when: "true", do: [{note: x}]}
adopt:
  - {when: "step == 'B'", set: {status: "'y'"}}"#,
    );
    let names: Vec<&str> = workflow.rules.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["SECOND", "FIRST"]);
    assert_eq!(workflow.adopt.len(), 1);
    assert!(workflow.journal);
    assert_eq!(workflow.args.get("plan"), Some(&20));
    let plain = good("");
    assert!(plain.moves.is_empty() && plain.rules.is_empty() && plain.adopt.is_empty());
    assert!(!plain.journal && plain.args.is_empty());
}

#[test]
fn mistakes_in_moves_have_places() {
    bad(
        "moves: [x]",
        expect![[r#"
            Invalid
            error value_invalid ^1 DEMO/index.md:3:8: `on.call` must be a map, not a list
        "#]],
    );
    bad(
        "moves: {go: {doo: [{note: x}]}}",
        expect![[r#"
            Invalid
            error value_invalid ^1 DEMO/index.md:3:13: `on.call.go` must say one action (each has just one of set, merge, note, error, add_item, close_item, find_item, rotate, insert, remove, goto)
            error key_unknown ^3 DEMO/index.md:3:14: `on.call.go` has no key `doo` (did you mean `do`?)
        "#]],
    );
    bad(
        "moves: {go: {when: 'true'}}",
        expect![[r#"
            Invalid
            error value_invalid ^1 DEMO/index.md:3:13: `on.call.go` must say one action (each has just one of set, merge, note, error, add_item, close_item, find_item, rotate, insert, remove, goto)
        "#]],
    );
    bad(
        "moves: {go: {when: 'vars.', do: [{note: x}]}}",
        expect![[r#"
            Invalid
            error expression_invalid ^5 DEMO/index.md:3:21: `on.call.go.when`: it is not an expression: unexpected end of input, expected identifier or integer
        "#]],
    );
    bad(
        "moves: {go: {when: 'stepp == 1', do: [{note: x}]}}",
        expect![[r#"
            Invalid
            error expression_invalid ^5 DEMO/index.md:3:21: `on.call.go.when`: there is no name `stepp` (did you mean `steps`?)
        "#]],
    );
    bad(
        "moves: {go: {else: gone, do: [{note: x}]}, gon: {do: [{note: x}]}}",
        expect![[r#"
            Invalid
            error value_invalid ^4 DEMO/index.md:3:20: there is no move `gone` (did you mean `gon`?)
        "#]],
    );
    bad(
        "moves: {a: {else: b, do: [{note: x}]}, b: {else: a, do: [{note: x}]}}",
        expect![[r#"
            Invalid
            error value_invalid ^1 DEMO/index.md:3:19: move `b` has an `else` of its own (name a move that is made as it is)
            error value_invalid ^1 DEMO/index.md:3:50: move `a` has an `else` of its own (name a move that is made as it is)
        "#]],
    );
    bad(
        "moves: {go: {consent: {}, do: [{note: x}]}}",
        expect![[r#"
            Invalid
            error value_invalid ^1 DEMO/index.md:3:23: `on.call.go.consent` must be a map of one entry (write `{STEP: condition}`)
        "#]],
    );
    bad(
        "moves: {go: {consent: {step: C}, do: [{note: x}]}}",
        expect![[r#"
        Invalid
        error step_unknown ^1 DEMO/index.md:3:30: there is no step `C` (known: `A`, `B`)
    "#]],
    );
    bad(
        "moves: {go: {do: {note: x, goto: B}}}",
        expect![[r#"
            Invalid
            error value_invalid ^1 DEMO/index.md:3:18: `on.call.go.do` must say one action (each has just one of set, merge, note, error, add_item, close_item, find_item, rotate, insert, remove, goto)
        "#]],
    );
}

#[test]
fn what_a_move_needs_is_a_list_of_names() {
    bad(
        "moves: {go: {needs: {a: b}, do: [{note: x}]}}",
        expect![[r#"
            Invalid
            error value_invalid ^1 DEMO/index.md:3:21: `on.call.go.needs` must be a list, not a map
        "#]],
    );
}

#[test]
fn mistakes_in_deeds_have_places() {
    bad_deed(
        "{}",
        expect![[r#"
            Invalid
            error value_invalid ^1 DEMO/index.md:6:9: `on.call.go.do` must say one action (each has just one of set, merge, note, error, add_item, close_item, find_item, rotate, insert, remove, goto)
        "#]],
    );
    bad_deed(
        "{note: x, goto: B}",
        expect![[r#"
            Invalid
            error value_invalid ^1 DEMO/index.md:6:9: `on.call.go.do` must say one action (each has just one of set, merge, note, error, add_item, close_item, find_item, rotate, insert, remove, goto)
        "#]],
    );
    bad_deed(
        "{when: 'true'}",
        expect![[r#"
            Invalid
            error value_invalid ^1 DEMO/index.md:6:9: `on.call.go.do` must say one action (each has just one of set, merge, note, error, add_item, close_item, find_item, rotate, insert, remove, goto)
        "#]],
    );
    bad_deed(
        "goto: C",
        expect![[r#"
        Invalid
        error step_unknown ^1 DEMO/index.md:6:15: there is no step `C` (known: `A`, `B`)
    "#]],
    );
    bad_deed(
        "gotoo: B",
        expect![[r#"
            Invalid
            error key_unknown ^5 DEMO/index.md:6:9: `on.call.go.do` has no key `gotoo` (did you mean `goto`?)
            error value_invalid ^1 DEMO/index.md:6:9: `on.call.go.do` must say one action (each has just one of set, merge, note, error, add_item, close_item, find_item, rotate, insert, remove, goto)
        "#]],
    );
    bad_deed(
        "set: {statu: \"'y'\"}",
        expect![[r#"
        Invalid
        error var_unknown ^5 DEMO/index.md:6:15: there is no variable `statu` (did you mean `status`?)
    "#]],
    );
    bad_deed(
        "set: {status: 'y +'}",
        expect![[r#"
            Invalid
            error expression_invalid ^3 DEMO/index.md:6:24: `on.call.go.do.set.status`: it is not an expression: unexpected end of input, expected expression
        "#]],
    );
    bad_deed(
        "note: '{{ args.task'",
        expect![[r#"
            Invalid
            error expression_invalid ^2 DEMO/index.md:6:16: `on.call.go.do.note`: `{{` without `}}`
        "#]],
    );
    bad_deed(
        "take_item: statu",
        expect![[r#"
        Invalid
        error var_unknown ^5 DEMO/index.md:6:20: there is no variable `statu` (did you mean `status`?)
    "#]],
    );
    bad_deed(
        "rotate: all",
        expect![[r#"
            Invalid
            error value_invalid ^3 DEMO/index.md:6:17: `on.call.go.do.rotate` cannot be `all` (known: `findings`, `whole`)
        "#]],
    );
    bad_deed(
        "insert: {path: a.md, line: x}",
        expect![[r#"
            Invalid
            error value_invalid ^1 DEMO/index.md:6:17: `on.call.go.do.insert` must be a map of one entry (write `{PATH: {HEADING: line}}`)
        "#]],
    );
    bad_deed(
        "insert: {path: ../a.md, heading: '## X', line: x}",
        expect![[r#"
        Invalid
        error path_outside ^7 DEMO/index.md:6:24: `../a.md` leads out of the run's root
    "#]],
    );
    bad_deed(
        "insert: a.md",
        expect![[r#"
            Invalid
            error value_invalid ^4 DEMO/index.md:6:17: `on.call.go.do.insert` must be a map of one entry (write `{PATH: {HEADING: line}}`)
        "#]],
    );
    bad_deed(
        "close_item: {a: b}",
        expect![[r#"
            Invalid
            error value_invalid ^1 DEMO/index.md:6:21: `on.call.go.do.close_item` must be a text, not a map
        "#]],
    );
}

#[test]
fn mistakes_in_rules_and_beside_them_have_places() {
    bad(
        "rules: {a: b}",
        expect![[r#"
            Invalid
            error value_invalid ^1 DEMO/index.md:3:12: `on.change.a` must be a map, not a text
        "#]],
    );
    bad(
        "rules: [{when: 'true', do: [{note: x}]}]",
        expect![[r#"
            Invalid
            error value_invalid ^1 DEMO/index.md:3:9: an entry of `on.change` has no name
        "#]],
    );
    bad(
        "rules: [{name: X, do: [{note: x}]}]",
        expect![[r#"
            Invalid
            error key_missing ^1 DEMO/index.md:3:16: `on.change.X` lacks `when`
        "#]],
    );
    bad(
        "rules: [{name: X, when: 'true'}]",
        expect![[r#"
            Invalid
            error value_invalid ^1 DEMO/index.md:3:9: `on.change.X` must say one action (each has just one of set, merge, note, error, add_item, close_item, find_item, rotate, insert, remove, goto)
        "#]],
    );
    bad(
        "rules: [{name: X, when: 'true', else: y, do: [{note: x}]}]",
        expect![[r#"
            Invalid
            error key_unknown ^4 DEMO/index.md:3:33: `on.change.X` has no key `else`
        "#]],
    );
    bad(
        "rules: [{name: X, when: 'true', do: [{note: x}]}, {name: X, when: 'true', do: [{note: x}]}]",
        expect![[r#"
            Invalid
            error value_invalid ^1 DEMO/index.md:3:58: `on.change` has two entries `X`
        "#]],
    );
    bad(
        "adopt: [{goto: C}]",
        expect![[r#"
        Invalid
        error step_unknown ^1 DEMO/index.md:3:16: there is no step `C` (known: `A`, `B`)
    "#]],
    );
    bad(
        "adopt: x",
        expect![[r#"
            Invalid
            error value_invalid ^1 DEMO/index.md:3:8: `on.adopt` must be a map, not a text
        "#]],
    );
    bad(
        "journal: maybe",
        expect![[r#"
        Invalid
        error value_invalid ^5 DEMO/index.md:3:10: `journal` must be true or false, not a text
    "#]],
    );
    bad(
        "args: {task: long}",
        expect![[r#"
        Invalid
        error value_invalid ^4 DEMO/index.md:3:14: `args.task` must be a whole number, not a text
    "#]],
    );
    bad(
        "args: [task]",
        expect![[r#"
        Invalid
        error value_invalid ^1 DEMO/index.md:3:7: `args` must be a map, not a list
    "#]],
    );
}
