//! How large a graph may be, and what it may be written with: sizes, numbers, depth, aliases, tags.

use definition::{MemoryFiles, parse_graph};
use expect_test::expect;

use crate::graphs::{check, read, tree};

fn sized(bytes: usize) -> MemoryFiles {
    let mut text = tree("a: {goal: A}");
    text.push_str(&format!("#{}", "x".repeat(bytes - text.len() - 1)));
    MemoryFiles([("demo.yaml".to_owned(), text)].into())
}

#[test]
fn a_file_has_a_size() {
    assert!(parse_graph(None, "demo.yaml", &sized(256 * 1024)).is_ok());
    let error = parse_graph(None, "demo.yaml", &sized(256 * 1024 + 1)).unwrap_err();
    expect!["demo.yaml: a graph's file has at most 262144 bytes, and this one 262145"]
        .assert_eq(&error.to_string());
}

fn counted(nodes: usize) -> String {
    let node = |at: usize| {
        let next = if at + 1 < nodes {
            format!(", next_allowed_nodes: [n{}]", at + 1)
        } else {
            String::new()
        };
        format!("n{at}: {{goal: G{next}}}\n")
    };
    tree(&(0..nodes).map(node).collect::<String>()).replace("root: a", "root: n0")
}

#[test]
fn a_graph_has_so_many_nodes() {
    assert_eq!(read(&counted(500)).unwrap().0.steps.len(), 500);
    check(
        &counted(501),
        expect![[r#"
            error steps_too_many ^4 demo.yaml:507:5: a graph has at most 500 nodes, and here are more
        "#]],
    );
}

#[test]
fn nesting_is_bounded() {
    let deep = |levels: usize| {
        format!(
            "inputs: {{x: {{type: array, default: {}{}}}}}\n{}",
            "[".repeat(levels),
            "]".repeat(levels),
            tree("a: {goal: A}")
        )
    };
    assert!(read(&deep(29)).is_ok());
    check(
        &deep(30),
        expect![[r#"
                error yaml_invalid ^1 demo.yaml:1:65: a graph is one YAML document with at most 32 levels and 20000 values, with 2097152 bytes of text in all
            "#]],
    );
    check(
        &deep(10_000),
        expect![[r#"
                error yaml_invalid ^1 demo.yaml:1:289: a graph is one YAML document with at most 32 levels and 20000 values, with 2097152 bytes of text in all
            "#]],
    );
}

#[test]
fn values_may_be_repeated_a_little() {
    let text = "x-shared: &shared {c: It works.}\n".to_owned()
        + &tree(
            "a: {goal: A, acceptance_criteria: *shared, next_allowed_nodes: [b]}\nb:\n  goal: B\n  acceptance_criteria:\n    <<: *shared\n    d: More.",
        );
    let (workflow, _) = read(&text).unwrap();
    let last = workflow.steps.last().unwrap();
    let keys: Vec<&str> = last.criteria.iter().map(|it| it.key.as_str()).collect();
    assert_eq!(keys, ["d", "c"]);
}

#[test]
fn bombs_do_not_go_off() {
    let mut text = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n".to_owned();
    for at in 1..10 {
        let inner = vec![format!("*a{}", at - 1); 9].join(", ");
        text.push_str(&format!("a{at}: &a{at} [{inner}]\n"));
    }
    check(
        &(text + &tree("a: {goal: A}")),
        expect![[r#"
                error yaml_invalid ^1 demo.yaml:5:15: anchors and aliases make too much out of too little (write the repeated values out)
            "#]],
    );
    // One long text, again and again.
    let long = "x".repeat(200 * 1024);
    let many = vec!["*a"; 190].join(", ");
    let text = format!("a: &a {long}\nb: [{many}]\n{}", tree("a: {goal: A}"));
    check(
        &text,
        expect![[r#"
                error yaml_invalid ^1 demo.yaml:2:41: a graph is one YAML document with at most 32 levels and 20000 values, with 2097152 bytes of text in all
            "#]],
    );
    let text = format!(
        "a: &a {long}\nb: &b [*a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b]\nd: [*c, *c, *c, *c, *c]\n{}",
        tree("a: {goal: A}")
    );
    check(
        &text,
        expect![[r#"
                error yaml_invalid ^1 demo.yaml:3:8: a graph is one YAML document with at most 32 levels and 20000 values, with 2097152 bytes of text in all
            "#]],
    );
    let round = format!("a: &a [*a]\n{}", tree("a: {goal: A}"));
    check(
        &round,
        expect![[r#"
            error yaml_invalid ^1 demo.yaml:1:8: a value cannot be a part of itself
        "#]],
    );
}

#[test]
fn only_plain_data_is_read() {
    check(
        &tree("a: {goal: !!python/object:os.system A}"),
        expect![[r#"
            error yaml_invalid ^1 demo.yaml:7:41: a graph is plain data, without tags such as `!!python/object:os.system`
        "#]],
    );
    check(
        &tree("a: {goal: !mine A}"),
        expect![[r#"
            error yaml_invalid ^1 demo.yaml:7:21: a graph is plain data, without tags such as `!mine`
        "#]],
    );
    check(
        &(tree("a: {goal: A}") + "---\nname: second\n"),
        expect![[r#"
                error yaml_invalid ^1 demo.yaml:8:1: a graph is one YAML document with at most 32 levels and 20000 values, with 2097152 bytes of text in all
            "#]],
    );
    check(
        "name: [\n",
        expect![[r#"
            error yaml_invalid ^1 demo.yaml:1:7: a graph is not YAML: unclosed bracket '['
        "#]],
    );
    check(
        &tree("a: {goal: A}\na: {goal: B}"),
        expect![[r#"
            error yaml_invalid ^1 demo.yaml:8:5: key `a` is written twice
        "#]],
    );
}

#[test]
fn warnings_do_not_hide_an_error() {
    let keys: String = (0..150).map(|it| format!("k{it}: 1\n")).collect();
    let error = read(&(keys + &tree("a: {goal: A, next_allowed_nodes: [x]}"))).unwrap_err();
    assert!(error.to_string().contains("references non-existent node 'x'"), "{error}");
}
