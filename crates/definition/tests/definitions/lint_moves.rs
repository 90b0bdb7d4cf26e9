//! What the linter says of moves, rules and what belongs to them.

use expect_test::{Expect, expect};

use crate::{lint::steps, support::linted};

#[track_caller]
fn check(text: &str, expected: Expect) {
    expected.assert_eq(&linted(text));
}

/// A workflow of the steps `A` and `B` that has a journal, and more in its index.
fn moving(index: &str, step: &str) -> String {
    let head = "decider: declared\njournal: true\nvars: {rounds: 0, status: x, done: false}";
    steps(&format!("{head}\n{index}"), &[("A", step, "x"), ("B", "", "x")])
}

#[test]
fn sound_moves_and_rules_give_nothing() {
    check(
        &moving(
            r#"args: {task: 100}
settings: {most: 3}
moves:
  begin:
    when: "step in ['A', 'B'] and vars.status != '' and gate == ''"
    consent: {step: A, when: "step == 'B'"}
    do:
      - add_item: "{{ args.task }}"
      - {when: "items.open > 0", goto: B}
      - set: {rounds: "vars.rounds + 1", status: "args.status"}
      - close_item: ["{{ args.task }}", "{{ vars.status }}"]
      - insert: {path: "{{ args.path }}", heading: '## Done', line: "{{ args.task|sha256 }}"}
  jump:
    do:
      - goto: "{{ args.step }}"
rules:
  - name: LONG
    when: "journal.chars > settings.most"
    do: [{rotate: whole}]
adopt:
  - {when: "step == 'B'", set: {done: "true"}}"#,
            "enter: {rounds: '0'}\ngate: {ask: x, during: \"vars.status == 'asked'\"}",
        ),
        expect![[r#""#]],
    );
}

#[test]
fn names_in_moves_and_rules_are_checked_where_they_stand() {
    check(
        &moving(
            r#"settings: {most: 3}
moves:
  begin:
    when: "vars.statu == 'x'"
    consent: {step: A, when: "steps.C.visits > 0"}
    do:
      - set: {rounds: "settings.mots"}
      - note: "began with {{ vars.round }} and {{ items.opne }}"
      - {when: "journal.lines > 1", error: "{{ run.name }}"}
      - close_item: ["{{ args.task }}", "{{ vars.tsk }}"]
      - insert: {path: "{{ vars.where }}", heading: '## X', line: "{{ vars.line }}"}
      - goto: "{{ vars.to }}"
      - add_item: "{{ vars.added }}"
      - find_item: "{{ vars.found }}"
rules:
  - name: FIRST
    when: "vars.done"
    do: [{rotate: findings}]
  - name: SECOND
    when: "items.left == 0"
    do:
      - set: {status: "vars.stauts"}
adopt:
  - {when: "vars.dnoe", set: {done: "vars.donee"}}"#,
            "enter: {rounds: 'vars.runds'}\ngate: {ask: x, during: 'vars.asked'}",
        ),
        expect![[r#"
            error var_unknown ^10 DEMO/index.md:8:12: there is no variable `statu` (did you mean `status`?)
            error step_unknown ^14 DEMO/index.md:9:31: there is no step `C` (known: `A`, `B`)
            error setting_unknown ^13 DEMO/index.md:11:24: there is no setting `mots` (did you mean `most`?)
            error var_unknown ^10 DEMO/index.md:12:30: there is no variable `round` (did you mean `rounds`?)
            error name_unknown ^10 DEMO/index.md:12:51: `items` has no `opne` (did you mean `open`?)
            error name_unknown ^13 DEMO/index.md:13:17: `journal` has no `lines` (known: `chars`)
            error name_unknown ^8 DEMO/index.md:13:48: `run` has no `name` (known: `id`)
            error var_unknown ^8 DEMO/index.md:14:45: there is no variable `tsk` (known: `done`, `rounds`, `status`)
            error var_unknown ^18 DEMO/index.md:15:24: there is no variable `where` (known: `done`, `rounds`, `status`)
            error var_unknown ^9 DEMO/index.md:15:71: there is no variable `line` (known: `done`, `rounds`, `status`)
            error var_unknown ^7 DEMO/index.md:16:19: there is no variable `to` (known: `done`, `rounds`, `status`)
            error var_unknown ^10 DEMO/index.md:17:23: there is no variable `added` (known: `done`, `rounds`, `status`)
            error var_unknown ^10 DEMO/index.md:18:24: there is no variable `found` (did you mean `rounds`?)
            error name_unknown ^10 DEMO/index.md:24:12: `items` has no `left` (known: `total`, `done`, `open`, `next`, `texts`)
            error var_unknown ^11 DEMO/index.md:26:24: there is no variable `stauts` (did you mean `status`?)
            error var_unknown ^9 DEMO/index.md:28:13: there is no variable `dnoe` (did you mean `done`?)
            error var_unknown ^10 DEMO/index.md:28:38: there is no variable `donee` (did you mean `done`?)
            error var_unknown ^10 DEMO/steps/A.md:2:18: there is no variable `runds` (did you mean `rounds`?)
            error var_unknown ^10 DEMO/steps/A.md:3:25: there is no variable `asked` (known: `done`, `rounds`, `status`)
        "#]],
    );
}

#[test]
fn types_and_words_in_moves_and_rules_are_checked() {
    check(
        &moving(
            r#"moves:
  begin:
    when: "step == 'C' or step in ['A', 'D'] or step not in ['E']"
    do:
      - set: {rounds: "'many'", done: "1"}
      - {when: "items.open == 'none'", goto: B}
rules:
  - name: FIRST
    when: "journal.chars > 'long'"
    do: [{when: "gate == 'F'", rotate: findings}]
  - name: SECOND
    when: "vars.rounds"
    do: [{rotate: findings}]
adopt:
  - {when: "step > 3", set: {status: "true"}}"#,
            "enter: {done: '0'}\ngate: {ask: x, during: \"vars.rounds == 'one'\"}",
        ),
        expect![[r#"
            warning value_unknown ^3 DEMO/index.md:7:20: `step` is never `C` (known: `A`, `B`)
            warning value_unknown ^3 DEMO/index.md:7:41: `step` is never `D` (known: `A`, `B`)
            warning value_unknown ^3 DEMO/index.md:7:62: `step` is never `E` (known: `A`, `B`)
            error types_unlike ^6 DEMO/index.md:9:24: `vars.rounds` is a number, and `'many'` is a text
            error types_unlike ^1 DEMO/index.md:9:40: `vars.done` is true or false, and `1` is a number
            error types_unlike ^20 DEMO/index.md:10:17: `items.open` is a number, and `'none'` is a text
            error types_unlike ^22 DEMO/index.md:13:12: `journal.chars` is a number, and `'long'` is a text
            warning value_unknown ^3 DEMO/index.md:14:26: `gate` is never `F` (known: `A`, `B`)
            error types_unlike ^11 DEMO/index.md:16:12: `vars.rounds` is a number, not true or false
            error types_unlike ^8 DEMO/index.md:19:13: `step` is a text, and `3` is a number
            error types_unlike ^4 DEMO/index.md:19:39: `vars.status` is a text, and `true` is true or false
            error types_unlike ^1 DEMO/steps/A.md:2:16: `vars.done` is true or false, and `0` is a number
            error types_unlike ^20 DEMO/steps/A.md:3:25: `vars.rounds` is a number, and `'one'` is a text
        "#]],
    );
}

#[test]
fn a_step_that_only_a_move_or_a_rule_goes_to_is_reached() {
    let lone = |index: &str| {
        let fronts = [("A", "next: FINISH", "x"), ("B", "next: FINISH", "x")];
        steps(&format!("decider: declared\n{index}"), &fronts)
    };
    check(&lone("moves: {x: {do: [{goto: B}]}}"), expect![[r#""#]]);
    check(&lone("rules: [{name: X, when: 'true', do: [{goto: B}]}]"), expect![[r#""#]]);
    check(&lone("moves: {x: {do: [{goto: '{{ args.to }}'}]}}"), expect![[r#""#]]);
    check(
        &lone("moves: {x: {do: [{goto: A}]}}"),
        expect![[r#"
        warning step_unreachable ^15 DEMO/index.md:6:3: step `B` is never reached (name it in the `next` of another step)
    "#]],
    );
}
