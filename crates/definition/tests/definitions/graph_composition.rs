//! Graphs that are made of others.

use definition::parse_graph;
use expect_test::expect;

use crate::{
    graphs::{check, read, tree},
    support::{files, listed},
};

fn two(first: &str, other: &str) -> String {
    format!("== demo.yaml\n{}== other.yaml\n{}", tree(first), tree(other))
}

#[test]
fn another_file_takes_the_place_of_a_node() {
    check(
        &two(
            "a: {goal: A, next_allowed_nodes: [b]}\nb: {workflow: ./other.yaml, next_allowed_nodes: [c, b]}\nc: {goal: C}",
            "a: {goal: X, next_allowed_nodes: [y, z]}\ny: {goal: Y}\nz: {goal: Z, next_allowed_nodes: [y]}",
        ),
        expect![[r#"
                a → b_a
                b_a → b_y, b_z
                b_y → c, b_a
                b_z → b_y
                c → FINISH
            "#]],
    );
}

#[test]
fn a_root_can_be_another_file() {
    check(
        &two(
            "a: {workflow: other.yaml, next_allowed_nodes: [b], needs_approval: true, next_allowed_workflows: [W]}\nb: {workflow: other.yaml}",
            "a: {goal: X, next_allowed_workflows: [V]}",
        ),
        expect![[r#"
                a_a → b_a or workflow V, W (asks)
                b_a → FINISH or workflow V
            "#]],
    );
}

#[test]
fn a_node_has_a_goal_or_a_file() {
    check(
        &two("a: {goal: A, workflow: other.yaml, acceptance_criteria: {c: C}}", "a: {goal: X}"),
        expect![[r#"
                error value_invalid ^4 demo.yaml:7:9: Node 'a' has both `workflow` and `goal` (the other file says what is to be done; remove one of them)
                error value_invalid ^19 demo.yaml:7:40: Node 'a' has both `workflow` and `acceptance_criteria` (the other file says what is to be done; remove one of them)
            "#]],
    );
    check(
        &two("a: {workflow: ''}", "a: {goal: X}"),
        expect![[r#"
            error value_invalid ^2 demo.yaml:7:19: `workflow` must not be empty
        "#]],
    );
}

#[test]
fn names_must_not_meet() {
    check(
        &two(
            "a: {workflow: other.yaml, next_allowed_nodes: [a_a]}\na_a: {goal: B}",
            "a: {goal: X}",
        ),
        expect![[r#"
                error step_duplicate ^3 demo.yaml:8:5: there is already a node 'a_a' in `other.yaml`
            "#]],
    );
}

#[test]
fn files_stay_inside_and_are_there() {
    check(
        &tree("a: {workflow: nope.yaml}"),
        expect![[r#"
            error file_missing ^9 demo.yaml:7:19: composed file `nope.yaml` does not exist
        "#]],
    );
    check(
        &tree("a: {workflow: ../x.yaml}"),
        expect![[r#"
            error path_outside ^9 demo.yaml:7:19: composed file `../x.yaml` leads out of the definitions folder
        "#]],
    );
    check(
        &tree("a: {workflow: /etc/passwd}"),
        expect![[r#"
            error path_outside ^11 demo.yaml:7:19: composed file `/etc/passwd` is an absolute path; paths are relative
        "#]],
    );
    check(
        &two("a: {workflow: other.yaml}", "a: {goal: X, next_allowed_nodes: [q]}"),
        expect![[r#"
                error step_unknown ^1 other.yaml:7:39: Node 'a' references non-existent node 'q' (known: `a`)
            "#]],
    );
    let nested = format!(
        "== s/demo.yaml\n{}== x.yaml\n{}",
        tree("a: {workflow: ../x.yaml}"),
        tree("a: {goal: X}")
    );
    let error = parse_graph(None, "s/demo.yaml", &files(&nested)).unwrap_err();
    expect![[r#"
            error path_outside ^9 s/demo.yaml:7:19: composed file `../x.yaml` leads out of the workflow's folder
        "#]].assert_eq(&listed(&error.diagnostics));
    let taken = format!(
        "== demo.yaml\n{}== graph.yaml\n{}",
        tree("a: {workflow: graph.yaml}"),
        tree("a: {goal: X}")
    );
    check(
        &taken,
        expect![[r#"
            error name_invalid ^1 graph.yaml: a file that a graph is made of must not be called `graph.yaml` (rename it)
        "#]],
    );
}

#[test]
fn circles_are_refused() {
    check(
        &tree("a: {workflow: demo.yaml}"),
        expect![[r#"
            error include_circular ^9 demo.yaml:7:19: files refer to each other in a circle: demo.yaml -> demo.yaml
        "#]],
    );
    check(
        &two("a: {workflow: other.yaml}", "a: {workflow: ./demo.yaml}"),
        expect![[r#"
            error include_circular ^11 other.yaml:7:19: files refer to each other in a circle: demo.yaml -> other.yaml -> demo.yaml
        "#]],
    );
}

/// `demo.yaml` refers to `f1.yaml`, and so on, so deep.
fn chain(depth: usize) -> String {
    let file = |at: usize| if at == 0 { "demo.yaml".to_owned() } else { format!("f{at}.yaml") };
    let inner = |at: usize| {
        let task =
            if at < depth { format!("workflow: {}", file(at + 1)) } else { "goal: X".to_owned() };
        format!("== {}\n{}", file(at), tree(&format!("a: {{{task}}}")))
    };
    (0..=depth).map(inner).collect()
}

#[test]
fn depth_is_bounded() {
    check(
        &chain(5),
        expect![[r#"
            a_a_a_a_a_a → FINISH
        "#]],
    );
    check(
        &chain(6),
        expect![[r#"
            error include_too_deep ^7 f5.yaml:7:19: files refer to others more than 5 deep
        "#]],
    );
    // The second way to a file is the deeper one.
    let text = chain(4).replacen(
        "    a: {workflow: f1.yaml}\n",
        "    a: {workflow: f1.yaml, next_allowed_nodes: [b]}\n    b: {workflow: g.yaml}\n",
        1,
    );
    let text = format!(
        "{text}== g.yaml\n{}== h.yaml\n{}",
        tree("a: {workflow: h.yaml}"),
        tree("a: {workflow: f1.yaml}")
    );
    check(
        &text,
        expect![[r#"
            error include_too_deep ^7 h.yaml:7:19: files refer to others more than 5 deep
        "#]],
    );
}

#[test]
fn files_cannot_multiply_each_other() {
    let row = |file: &str| {
        let node = |at: usize| {
            let next = if at < 40 {
                format!(", next_allowed_nodes: [n{}]", at + 1)
            } else {
                String::new()
            };
            format!("n{at}: {{workflow: {file}{next}}}\n")
        };
        let nodes: String = (1..=40).map(node).collect();
        tree(&format!("a: {{workflow: {file}, next_allowed_nodes: [n1]}}\n{nodes}"))
    };
    let text = format!(
        "== demo.yaml\n{}== b.yaml\n{}== c.yaml\n{}== d.yaml\n{}",
        row("b.yaml"),
        row("c.yaml"),
        row("d.yaml"),
        tree("a: {goal: X}")
    );
    check(
        &text,
        expect![[r#"
            error steps_too_many ^1 c.yaml:7:5: a graph has at most 500 nodes, and here are more
        "#]],
    );
}

#[test]
fn inputs_are_gathered() {
    let text = two("a: {workflow: other.yaml}", "a: {goal: '${{ inputs.n }} ${{ inputs.m }}'}");
    let text = text.replacen("workflow:\n", "inputs: {n: {type: integer}}\nworkflow:\n", 1);
    let at = text.rfind("workflow:\n").unwrap();
    let text = format!(
        "{}inputs: {{n: {{type: string}}, m: {{type: array}}}}\n{}",
        &text[..at],
        &text[at..]
    );
    let (workflow, warnings) = read(&text).unwrap();
    assert_eq!(warnings, []);
    let inputs: Vec<(&str, &str)> =
        workflow.inputs.iter().map(|it| (it.name.as_str(), it.kind.as_str())).collect();
    assert_eq!(inputs, [("n", "integer"), ("m", "array")]);
}
