//! `chores`: each key, good and bad, and what the linter says of them.

use definition::{Chore, ChoreDeed, OnFailure};
use expect_test::{Expect, expect};

use crate::{
    lint::steps,
    support::{linted, parsed, read, with_index},
};

const VARS: &str = "vars: {branch: x, is_pushed: false, batch: []}\n";

fn with_chores(chores: &str) -> String {
    with_index(&format!("---\n{VARS}chores:\n{chores}\n---\n"), "")
}

fn good(chores: &str) -> Vec<Chore> {
    read(&with_chores(chores)).unwrap().chores
}

#[track_caller]
fn bad(chores: &str, expected: Expect) {
    expected.assert_eq(&parsed(&with_chores(chores)));
}

#[test]
fn every_deed_is_read() {
    let chores = good(
        r#"  - {name: r, when: "step == 'A'", rename_branch: {from: "{{ vars.branch }}", to: y}, set: {branch: "'y'"}}
  - {name: c, when: "vars.batch|length > 0", commit: {paths: vars.batch, message: m, else: changed}, set: {batch: "[]"}, on_failure: warn}
  - {name: p, when: "not vars.is_pushed", push: {remote: origin}, set: {is_pushed: "true"}, on_failure: refuse}
  - {name: l, when: "step == 'B'", publish: {files: [a.md, "b-{{ key }}.md"], body: a.md, closes: "{{ vars.branch }}"}, then: complete}
  - {name: o, when: "step == 'B'", checkout: {branch: x}, then: complete}"#,
    );
    let names: Vec<&str> = chores.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["r", "c", "p", "l", "o"], "in the order they are written");
    let completes: Vec<bool> = chores.iter().map(|it| it.completes).collect();
    assert_eq!(completes, [false, false, false, true, true]);
    let mut warned = chores.iter().filter(|it| it.on_failure == OnFailure::Warn);
    assert_eq!(warned.next().unwrap().name, "c");
    assert!(warned.next().is_none());
    let mut deeds = chores.into_iter().map(|it| it.deed);
    let Some(ChoreDeed::RenameBranch { from, to }) = deeds.next() else { panic!() };
    assert_eq!((from.source(), to.source()), ("{{ vars.branch }}", "y"));
    let Some(ChoreDeed::Commit { paths, or_changed: true, .. }) = deeds.next() else { panic!() };
    assert_eq!(paths.source(), "vars.batch");
    let Some(ChoreDeed::Push { remote }) = deeds.next() else { panic!() };
    assert_eq!(remote.source(), "origin");
    let Some(ChoreDeed::Publish(it)) = deeds.next() else { panic!() };
    assert_eq!((it.files.len(), it.body.is_some(), it.closes.is_some()), (2, true, true));
    let Some(ChoreDeed::Checkout { .. }) = deeds.next() else { panic!() };
}

#[test]
fn a_chore_says_one_deed_and_when() {
    bad(
        "  - {name: a, set: {is_pushed: 'true'}}",
        expect![[r#"
            Invalid
            error key_missing ^1 DEMO/index.md:4:12: `on.while.a` lacks `when`
            error value_invalid ^1 DEMO/index.md:4:20: `on.while.a` must say one action (each has just one of rename_branch, commit, push, publish, checkout)
        "#]],
    );
    bad(
        "  - {name: a, when: 'true', push: {remote: o}, checkout: {branch: b}, then: complete}",
        expect![[r#"
            Invalid
            error value_invalid ^1 DEMO/index.md:4:67: `on.while.a` must say one action (each has just one of set, merge, note, error, add_item, close_item, find_item, rotate, insert, remove)
        "#]],
    );
    bad(
        "  - {when: 'true', shell: ls, then: complete}",
        expect![[r#"
            Invalid
            error value_invalid ^1 DEMO/index.md:4:5: an entry of `on.while` has no name
            error key_unknown ^5 DEMO/index.md:4:20: `on.while.` has no key `shell` (known: `when`, `do`, `else`, `needs`, `consent`, `set`, `merge`, `goto`, `note`, `error`, `add_item`, `close_item`, `find_item`, `rotate`, `insert`, `remove`, `complete`, `rename_branch`, `commit`, `push`, `publish`, `checkout`)
            error value_invalid ^8 DEMO/index.md:4:37: `on.while.` must say one action (each has just one of rename_branch, commit, push, publish, checkout)
        "#]],
    );
}

#[test]
fn a_chore_that_nothing_ends_is_refused() {
    bad(
        "  - {name: a, when: \"step == 'A'\", push: {remote: o}}",
        expect![[r#"
            Invalid
            error chore_endless ^1 DEMO/index.md:4:5: a chore after which nothing changes stays due forever (set a variable that its `when` looks at, or write `complete: true`)
        "#]],
    );
}

#[test]
fn two_chores_have_two_names() {
    let one = "  - {name: a, when: 'true', push: {remote: o}, then: complete}\n";
    bad(
        &format!("{one}{one}"),
        expect![[r#"
            Invalid
            error value_invalid ^1 DEMO/index.md:5:12: `on.while` has two entries `a`
        "#]],
    );
}

#[test]
fn wrong_values_are_told() {
    bad(
        "  - {name: a, when: 'true', rename_branch: {from: x}, set: {none: '1'}, then: leave}",
        expect![[r#"
            Invalid
            error value_invalid ^1 DEMO/index.md:4:44: `on.while.a.rename_branch` must be a map of one entry (write `{FROM: TO}`)
            error var_unknown ^4 DEMO/index.md:4:61: there is no variable `none` (known: `batch`, `branch`, `is_pushed`)
            error value_invalid ^5 DEMO/index.md:4:79: `on.while.a.complete` must be true or false, not a text
        "#]],
    );
    bad(
        "  - {name: a, when: 'true', commit: {paths: x, else: all}, on_failure: stop, then: complete}",
        expect![[r#"
            Invalid
            error key_missing ^1 DEMO/index.md:4:37: `on.while.a.commit` lacks `message`
            error expression_invalid ^1 DEMO/index.md:4:45: `on.while.a.commit.paths`: there is no name `x` (known: `context`, `settings`, `vars`, `flow`, `key`, `report`, `artifacts`, `steps`, `part`, `parts`, `verdict`, `run`, `args`, `step`, `items`, `journal`, `gate`, `usage`)
            error value_invalid ^3 DEMO/index.md:4:54: `on.while.a.commit.else` cannot be `all` (known: `changed`)
            error value_invalid ^4 DEMO/index.md:4:72: `on.while.a.else` cannot be `stop` (known: `refuse`, `warn`)
        "#]],
    );
    bad(
        "  - {name: a, when: 'true', publish: {files: [../x, /y]}, then: complete}",
        expect![[r#"
            Invalid
            error path_outside ^4 DEMO/index.md:4:47: `../x` leads out of the run's root
            error path_outside ^2 DEMO/index.md:4:53: `/y` is an absolute path; artifacts are relative to the run's root
        "#]],
    );
}

#[test]
fn names_in_chores_are_checked_where_they_stand() {
    let text = steps(
        r#"decider: declared
vars: {branch: x, is_pushed: false, batch: []}
chores:
  - {name: r, when: "step == 'C'", rename_branch: {from: "{{ vars.brnch }}", to: "{{ vars.kind }}"}, set: {branch: "1"}}
  - {name: c, when: "vars.batch", commit: {paths: "parts.tsks|files(vars.batch)", message: "{{ vars.m }}"}, set: {batch: "[]"}}
  - {name: l, when: "step == 'B'", publish: {files: ["{{ vars.f }}"], body: "{{ vars.b }}", closes: "{{ vars.c }}"}, then: complete}
  - {name: o, when: "step == 'B'", checkout: {branch: "{{ vars.o }}"}, then: complete}
  - {name: p, when: "step == 'B'", push: {remote: "{{ vars.p }}"}, then: complete}"#,
        &[("A", "each: {parts: tasks, list: [x]}", "x"), ("B", "", "x")],
    );
    expect![[r#"
        warning value_unknown ^3 DEMO/index.md:5:30: `step` is never `C` (known: `A`, `B`)
        error var_unknown ^18 DEMO/index.md:5:58: there is no variable `brnch` (did you mean `branch`?)
        error var_unknown ^9 DEMO/index.md:5:86: there is no variable `kind` (known: `batch`, `branch`, `is_pushed`)
        error types_unlike ^1 DEMO/index.md:5:117: `vars.branch` is a text, and `1` is a number
        error types_unlike ^10 DEMO/index.md:6:22: `vars.batch` is a list, not true or false
        error parts_unknown ^10 DEMO/index.md:6:52: there is no set of parts `tsks` (did you mean `tasks`?)
        error var_unknown ^6 DEMO/index.md:6:96: there is no variable `m` (known: `batch`, `branch`, `is_pushed`)
        error var_unknown ^6 DEMO/index.md:7:58: there is no variable `f` (known: `batch`, `branch`, `is_pushed`)
        error var_unknown ^6 DEMO/index.md:7:81: there is no variable `b` (known: `batch`, `branch`, `is_pushed`)
        error var_unknown ^6 DEMO/index.md:7:105: there is no variable `c` (known: `batch`, `branch`, `is_pushed`)
        error var_unknown ^6 DEMO/index.md:8:59: there is no variable `o` (known: `batch`, `branch`, `is_pushed`)
        error var_unknown ^6 DEMO/index.md:9:55: there is no variable `p` (known: `batch`, `branch`, `is_pushed`)
    "#]].assert_eq(&linted(&text));
}
