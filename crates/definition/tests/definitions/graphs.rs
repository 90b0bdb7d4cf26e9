//! Graphs in YAML: keys, checks and their texts, limits, composition, placeholders and inputs.
//! Section 7 of the dev-workflow specification, and its acceptance scenarios B15 and B23.

use definition::{
    Answers, Choices, Decider, Deed, Diagnostic, Effect, Evidence, FINISH, Form, MemoryFiles,
    ParseError, StepName, Target, Work, Workflow, WorkflowName, lint, parse, parse_graph,
};
use expect_test::{Expect, expect};
use serde_json::json;

use crate::support::{files, listed};

const TINY: &str = "\
name: Tiny
description: A small graph.
inputs:
  task_description: {type: string, description: What to do, required: true}
  n: {type: integer, description: A number, required: false}
  b: {type: boolean, description: A switch, required: false}
workflow:
  goal: Do ${{ inputs.task_description }}
  root: Alpha
  tree:
    Alpha:
      goal: Think about ${{ inputs.task_description }} with n=${{ inputs.n }}.
      instructions: Take your time.
      acceptance_criteria:
        c1: It was thought of.
        c2: It was written down.
      next_allowed_nodes: [Beta]
      next_allowed_workflows: [Other]
      needs_approval: true
    Beta:
      goal: Be done.
";

/// A graph of this tree, whose root is `a`.
pub(crate) fn tree(tree: &str) -> String {
    let tree: String = tree.lines().map(|it| format!("    {it}\n")).collect();
    format!("name: Demo\ndescription: D.\nworkflow:\n  goal: G.\n  root: a\n  tree:\n{tree}")
}

/// Reads `demo.yaml`, which is all of the text or one of its files.
pub(crate) fn read(text: &str) -> Result<(Workflow, Vec<Diagnostic>), ParseError> {
    let text =
        if text.starts_with("== ") { text.to_owned() } else { format!("== demo.yaml\n{text}") };
    parse_graph(None, "demo.yaml", &files(&text))
}

/// What the parser says: the ways of the graph and its warnings, or what is wrong.
fn told(text: &str) -> String {
    match read(text) {
        Ok((workflow, warnings)) => ways(&workflow) + &listed(&warnings),
        Err(error) => listed(&error.diagnostics),
    }
}

fn ways(workflow: &Workflow) -> String {
    let target = |it: &Target| match it {
        Target::Step(name) => name.to_string(),
        Target::Finish => FINISH.to_owned(),
    };
    let steps = workflow.steps.iter().map(|step| {
        let next: Vec<String> = step.next.iter().map(|it| target(&it.to)).collect();
        let gate = if step.gate.is_some() { " (asks)" } else { "" };
        let mut workflows = step.workflows.join(", ");
        if !workflows.is_empty() {
            workflows = format!(" or workflow {workflows}");
        }
        format!("{} → {}{workflows}{gate}\n", step.name, next.join(", "))
    });
    steps.collect()
}

/// Compares what the parser says.
#[track_caller]
pub(crate) fn check(text: &str, expected: Expect) {
    expected.assert_eq(&told(text));
}

fn name(text: &str) -> StepName {
    StepName::parse(text).unwrap()
}

#[test]
fn a_graph_is_a_workflow() {
    let (workflow, warnings) = read(TINY).unwrap();
    assert_eq!(warnings, []);
    assert_eq!(workflow.name.as_str(), "Tiny");
    assert_eq!(workflow.title, "Tiny");
    assert_eq!(workflow.goal, "Do ${{ inputs.task_description }}");
    assert!(workflow.index.starts_with("A small graph.\n"));
    assert_eq!(workflow.form, Form::Graph);
    assert_eq!(workflow.choices, Choices::Listed);
    assert_eq!(workflow.decider, Some(Decider::Client));
    assert_eq!(workflow.answers, Answers::Relayed);
    assert!(workflow.journal && workflow.ends.early);
    assert_eq!(workflow.ends.keep_key.len(), 3);
    assert_eq!(workflow.vars.get("status").unwrap().default, json!("READY"));
    assert_eq!(workflow.rules.first().unwrap().name, "LOG_ROTATE");
    let inputs: Vec<&str> = workflow.inputs.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(inputs, ["task_description", "n", "b"]);
    expect![[r#"
        Alpha → Beta or workflow Other (asks)
        Beta → FINISH
    "#]]
    .assert_eq(&ways(&workflow));
}

#[test]
fn a_node_is_a_step() {
    let (workflow, _) = read(TINY).unwrap();
    let alpha = workflow.find_step(&name("Alpha")).unwrap();
    assert_eq!(alpha.goal, "Think about ${{ inputs.task_description }} with n=${{ inputs.n }}.");
    assert_eq!(alpha.instructions, "Take your time.");
    assert_eq!(alpha.text, format!("{}\n\nTake your time.", alpha.goal));
    assert_eq!(alpha.evidence, Evidence::Warn);
    assert_eq!(alpha.work, Work::Agent);
    let criteria: Vec<(&str, &str)> =
        alpha.criteria.iter().map(|it| (it.key.as_str(), it.text.as_str())).collect();
    assert_eq!(criteria, [("c1", "It was thought of."), ("c2", "It was written down.")]);
    let Deed::Set(set) = &alpha.next[0].actions[0].deed else { panic!() };
    assert_eq!(set.get("status").unwrap().source(), "'RUNNING'");
    let gate = alpha.gate.as_ref().unwrap();
    assert_eq!(gate.ask.source(), "Approve leaving `Alpha`?");
    let effects: Vec<&Effect> = gate.options.iter().map(|it| &it.effect).collect();
    assert_eq!(effects, [&Effect::Approve, &Effect::Back(name("Alpha"))]);
    // The last node has no work of its own, so that nobody has to report it.
    assert_eq!(workflow.find_step(&name("Beta")).unwrap().work, Work::None);
}

#[test]
fn a_question_quotes_a_goal_without_holes() {
    let ask = |goal: &str| {
        let text = tree(&format!(
            "a:\n  goal: {goal}\n  needs_approval: true\n  next_allowed_nodes: [b]\nb: {{goal: B}}"
        ));
        let (workflow, _) = read(&text).unwrap();
        workflow.first_step().unwrap().gate.as_ref().unwrap().ask.source().to_owned()
    };
    assert_eq!(ask("Plan it."), "Approve leaving `a`? Its goal: Plan it.");
    assert_eq!(ask("'Plan ${{ inputs.task_description }}.'"), "Approve leaving `a`?");
    assert_eq!(ask("'Plan {{ 1 }} {% x %}.'"), "Approve leaving `a`?");
    assert_eq!(ask(&"x".repeat(300)).chars().count(), 31 + 200);
}

#[test]
fn the_last_node_asks_nobody() {
    check(
        &tree("a: {goal: A, needs_approval: true, acceptance_criteria: {c: C}}"),
        expect![[r#"
            a → FINISH
        "#]],
    );
}

#[test]
fn the_root_is_first_whatever_the_order_is() {
    check(
        &tree(
            "c: {goal: C}\nb: {goal: B, next_allowed_nodes: [c]}\na: {goal: A, next_allowed_nodes: [b, c]}",
        ),
        expect![[r#"
            a → b, c
            c → FINISH
            b → c
        "#]],
    );
}

#[test]
fn what_is_missing_is_told() {
    check(
        "",
        expect![[r#"
        error yaml_invalid ^1 demo.yaml: there is nothing in this file (a graph has `name`, `description` and `workflow`)
    "#]],
    );
    check(
        "- a\n- b\n",
        expect![[r#"
        error value_invalid ^1 demo.yaml:1:1: a graph must be a map, not a list
    "#]],
    );
    check(
        "workflow: {goal: G, root: a, tree: {a: {goal: A}}}\n",
        expect![[r#"
        error key_missing ^1 demo.yaml: Workflow description is required
        error key_missing ^1 demo.yaml: Workflow name is required
    "#]],
    );
    check(
        "name: ' '\ndescription:\n",
        expect![[r#"
        error key_missing ^3 demo.yaml:1:7: Workflow name is required
        error key_missing ^11 demo.yaml:2:1: Workflow description is required
        error key_missing ^1 demo.yaml: Workflow structure is required (write `workflow:` with `goal`, `root` and `tree`)
    "#]],
    );
    check(
        "name: A\ndescription: D\nworkflow: {}\n",
        expect![[r#"
        error key_missing ^8 demo.yaml:3:1: Workflow goal is required
        error key_missing ^8 demo.yaml:3:1: Workflow must have a root node defined
        error key_missing ^8 demo.yaml:3:1: Workflow must have tree nodes defined
    "#]],
    );
    check(
        "name: A\ndescription: D\nworkflow: {goal: G, root: a, tree: {}}\n",
        expect![[r#"
        error key_missing ^4 demo.yaml:3:30: Workflow tree cannot be empty
    "#]],
    );
    check(
        "name: A\ndescription: D\nworkflow: {goal: G, root: b, tree: {a: {goal: A}}}\n",
        expect![[r#"
            error step_unknown ^1 demo.yaml:3:27: Root node 'b' not found in workflow tree (known: `a`)
        "#]],
    );
    check(
        "name: A\ndescription: D\nworkflow: [1]\n",
        expect![[r#"
        error value_invalid ^1 demo.yaml:3:11: `workflow` must be a map, not a list
    "#]],
    );
    check(
        &tree("a: {goal: ''}\nb:\nc: {next_allowed_nodes: [a]}\nd: D"),
        expect![[r#"
        error key_missing ^4 demo.yaml:7:9: Node 'a' must have a goal (write `goal`, or `workflow` with the path of another file)
        error key_missing ^1 demo.yaml:8:5: Node 'b' must have a goal
        error key_missing ^1 demo.yaml:9:5: Node 'c' must have a goal (write `goal`, or `workflow` with the path of another file)
        error value_invalid ^1 demo.yaml:10:8: `tree.d` must be a map, not a text
    "#]],
    );
}

#[test]
fn a_node_that_points_nowhere_is_named() {
    check(
        &tree("a: {goal: A, next_allowed_nodes: [bb, c]}\nb: {goal: B}"),
        expect![[r#"
        error step_unknown ^2 demo.yaml:7:39: Node 'a' references non-existent node 'bb' (did you mean `b`?)
        error step_unknown ^1 demo.yaml:7:43: Node 'a' references non-existent node 'c' (known: `a`, `b`)
    "#]],
    );
}

#[test]
fn wrong_types_are_told() {
    check(
        &tree(
            "a:\n  goal: [A]\n  needs_approval: 'yes'\n  next_allowed_nodes: a\n  next_allowed_workflows: {x: 1}\n  acceptance_criteria: [c]",
        ),
        expect![[r#"
            error value_invalid ^1 demo.yaml:8:13: `goal` must be a text, not a list
            error value_invalid ^5 demo.yaml:9:23: `needs_approval` must be true or false, not a text
            error value_invalid ^1 demo.yaml:10:27: `next_allowed_nodes` must be a list, not a text
            error value_invalid ^1 demo.yaml:11:31: `next_allowed_workflows` must be a list, not a map
        "#]],
    );
    check(
        "name: A\ndescription: D\ninputs: {x: 1, y: {type: [a], required: 1}}\nworkflow: {goal: G, root: a, tree: {a: {goal: A}}}\n",
        expect![[r#"
            error value_invalid ^1 demo.yaml:3:13: `inputs.x` must be a map, not a number
            error value_invalid ^1 demo.yaml:3:26: `inputs.y.type` must be a text, not a list
            error value_invalid ^1 demo.yaml:3:41: `inputs.y.required` must be true or false, not a number
        "#]],
    );
}

#[test]
fn unknown_keys_are_doubtful_and_execution_is_not() {
    let text =
        tree("a:\n  goal: A\n  children: [b]\n  need_approval: true\n  auto_transition: true");
    check(
        &format!("execution: {{max_depth: 5}}\nauthor: me\n{text}"),
        expect![[r#"
        a → FINISH
        warning key_unknown ^6 demo.yaml:2:1: key `author` is unknown and has no effect (known: `name`, `description`, `inputs`, `workflow`, `execution`)
        warning key_unknown ^8 demo.yaml:11:7: `tree.a` has no key `children`: it has no effect (known: `goal`, `instructions`, `acceptance_criteria`, `next_allowed_nodes`, `next_allowed_workflows`, `needs_approval`, `workflow`)
        warning key_unknown ^13 demo.yaml:12:7: `tree.a` has no key `need_approval`: it has no effect (did you mean `needs_approval`?)
        warning key_unknown ^15 demo.yaml:13:7: `tree.a` has no key `auto_transition`: it has no effect (known: `goal`, `instructions`, `acceptance_criteria`, `next_allowed_nodes`, `next_allowed_workflows`, `needs_approval`, `workflow`)
    "#]],
    );
}

#[test]
fn doubtful_things_are_warned_of() {
    check(
        &format!(
            "inputs: {{n: {{type: integer, default: x}}, 'a b': {{type: string}}}}\n{}",
            tree(
                "a:\n  goal: A ${{inputs.nn}} ${{ inputs.task_description }}\n  acceptance_criteria: {c: '', d:, e: '${{ inputs.q }}'}\n  next_allowed_nodes: [b, b]\nb: {goal: B}"
            )
        ),
        expect![[r#"
            a → b
            b → FINISH
            warning input_mismatched ^1 demo.yaml:1:38: `inputs.n` is of type `integer`, and its default is not
            warning input_unnameable ^5 demo.yaml:1:42: no placeholder can name input `a b` (use letters, digits and `_`)
            warning input_unknown ^47 demo.yaml:9:13: there is no input `nn`: its placeholder stays as it is (did you mean `n`?)
            warning criterion_empty ^1 demo.yaml:10:29: criterion `c` says nothing (write what must be shown to be true)
            warning criterion_empty ^1 demo.yaml:10:36: criterion `d` says nothing (write what must be shown to be true)
            warning input_unknown ^17 demo.yaml:10:43: there is no input `q`: its placeholder stays as it is (known: `n`, `a b`)
            warning successor_duplicate ^1 demo.yaml:11:31: Node 'a' lists 'b' twice
        "#]],
    );
}

#[test]
fn unreachable_nodes_are_refused() {
    check(
        &tree("a: {goal: A}\nb: {goal: B, next_allowed_nodes: [a]}\nc: {goal: C}"),
        expect![[r#"
            error step_unreachable ^1 demo.yaml:8:5: Node 'b' cannot be reached from 'a', where a run begins (name it in the `next_allowed_nodes` of a node that is reached, or remove it)
            error step_unreachable ^1 demo.yaml:9:5: Node 'c' cannot be reached from 'a', where a run begins (name it in the `next_allowed_nodes` of a node that is reached, or remove it)
        "#]],
    );
}

#[test]
fn rounds_without_a_way_out_are_refused() {
    check(
        &tree("a: {goal: A, next_allowed_nodes: [a]}"),
        expect![[r#"
        error loop_endless ^1 demo.yaml:7:5: 'a' → 'a' goes round without a way out (let one of them lead to a node without `next_allowed_nodes`)
    "#]],
    );
    check(
        &tree(
            "a: {goal: A, next_allowed_nodes: [b, d]}\nb: {goal: B, next_allowed_nodes: [c]}\nc: {goal: C, needs_approval: true, next_allowed_nodes: [b]}\nd: {goal: D}",
        ),
        expect![[r#"
            error loop_endless ^1 demo.yaml:9:5: 'b' → 'c' → 'b' goes round without a way out (let one of them lead to a node without `next_allowed_nodes`)
        "#]],
    );
    // Two rounds, of which one leads into the other.
    check(
        &tree(
            "a: {goal: A, next_allowed_nodes: [b]}\nb: {goal: B, next_allowed_nodes: [a, c]}\nc: {goal: C, next_allowed_nodes: [c]}",
        ),
        expect![[r#"
            error loop_endless ^1 demo.yaml:8:5: 'a' → 'b' → 'a' goes round without a way out (let one of them lead to a node without `next_allowed_nodes`)
            error loop_endless ^1 demo.yaml:9:5: 'c' → 'c' goes round without a way out (let one of them lead to a node without `next_allowed_nodes`)
        "#]],
    );
}

#[test]
fn rounds_with_a_way_out_are_fine() {
    check(
        &tree(
            "a: {goal: A, next_allowed_nodes: [b]}\nb: {goal: B, next_allowed_nodes: [a, c]}\nc: {goal: C, next_allowed_workflows: [X]}",
        ),
        expect![[r#"
            a → b
            b → a, c
            c → FINISH or workflow X
        "#]],
    );
}

#[test]
fn names_that_mean_something_else_are_refused() {
    check(
        &tree(
            "a: {goal: A, next_allowed_nodes: [FINISH]}\nFINISH: {goal: B, next_allowed_nodes: [FAILED]}\nFAILED: {goal: C}",
        ),
        expect![[r#"
            error step_reserved ^6 demo.yaml:8:5: a node must not be called `FINISH`
            error step_reserved ^6 demo.yaml:9:5: a node must not be called `FAILED`
        "#]],
    );
    let long = "x".repeat(129);
    check(
        &tree(&format!("a: {{goal: A, next_allowed_nodes: [{long}]}}\n{long}: {{goal: B}}")),
        expect![[r#"
            error step_name_invalid ^129 demo.yaml:8:5: `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx` cannot name a node: a name has at most 128 bytes
        "#]],
    );
    let named = |name: &str| tree("a: {goal: A}").replace("name: Demo", &format!("name: {name}"));
    check(
        &named("../x"),
        expect![[r#"
        error name_invalid ^4 demo.yaml:1:7: `../x` cannot name a workflow: a name must not contain a path separator, `..` or a control character
    "#]],
    );
    check(
        &named("a/b"),
        expect![[r#"
        error name_invalid ^3 demo.yaml:1:7: `a/b` cannot name a workflow: a name must not contain a path separator, `..` or a control character
    "#]],
    );
    check(
        &named(&long),
        expect![[r#"
        error name_invalid ^129 demo.yaml:1:7: `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx` cannot name a workflow: a name has at most 128 bytes
    "#]],
    );
    assert!(parse_graph(Some("a..b"), "demo.yaml", &files("== demo.yaml\nname: X\n")).is_err());
}

#[test]
fn a_given_name_goes_before_the_graphs_own() {
    let text = format!("== demo.yaml\n{}", tree("a: {goal: A}"));
    let (workflow, _) = parse_graph(Some("Inline"), "demo.yaml", &files(&text)).unwrap();
    assert_eq!(workflow.name.as_str(), "Inline");
    let nameless = files(&text.replace("name: Demo\n", ""));
    assert!(parse_graph(Some("Inline"), "demo.yaml", &nameless).is_ok());
    let error = parse_graph(None, "demo.yaml", &nameless).unwrap_err();
    assert_eq!(error.to_string(), "demo.yaml: Workflow name is required");
}

#[test]
fn what_was_stored_is_read_again() {
    let text = format!(
        "== sub/demo.yaml\n{}== sub/other.yaml\n{}",
        tree("a: {workflow: ./other.yaml}"),
        tree("a: {goal: X, extra: 1}")
    );
    let (workflow, warnings) = parse_graph(None, "sub/demo.yaml", &files(&text)).unwrap();
    let stored: Vec<&str> = workflow.source.files.keys().map(String::as_str).collect();
    assert_eq!(stored, ["Demo/graph.yaml", "Demo/other.yaml"]);
    let again = parse(&workflow.name, &MemoryFiles(workflow.source.files.clone())).unwrap();
    assert_eq!(again.digest, workflow.digest);
    assert_eq!(again.source, workflow.source);
    assert_eq!(ways(&again), ways(&workflow));
    assert_eq!(warnings.len(), 1);
    let linted = lint(&workflow);
    assert_eq!(linted.len(), 1);
    assert_eq!(linted.first().unwrap().label.file, "Demo/other.yaml");
}

#[test]
fn a_folder_with_an_index_is_no_graph() {
    let text = format!("== DEMO/graph.yaml\n{}", tree("a: {goal: A}"));
    let demo = WorkflowName::parse("DEMO").unwrap();
    assert_eq!(parse(&demo, &files(&text)).unwrap().form, Form::Graph);
    let both = files(&format!(
        "{text}== DEMO/index.md\n- [A](steps/a.md)\n== DEMO/steps/a.md\n# Orchestrator Guidance\nx\n# Client Instructions\ny\n"
    ));
    assert_eq!(parse(&demo, &both).unwrap().form, Form::Folder);
}

#[test]
fn line_ends_and_marks_do_not_matter() {
    let crlf = format!("\u{feff}{}", TINY.replace('\n', "\r\n"));
    let (workflow, _) = parse_graph(
        None,
        "demo.yaml",
        &MemoryFiles([("demo.yaml".to_owned(), crlf.clone())].into()),
    )
    .unwrap();
    assert_eq!(workflow.steps.len(), 2);
    // It is stored as it was.
    assert_eq!(workflow.source.files.get("Tiny/graph.yaml"), Some(&crlf));
}

#[test]
fn the_examples_of_the_guide_are_right() {
    let guide = include_str!("../../../../docs/guide/writing-workflows.md");
    let examples = guide.split("```yaml\n").skip(1).filter_map(|it| it.split("```").next());
    let graphs: Vec<&str> = examples.filter(|it| it.starts_with("name:")).collect();
    assert!(!graphs.is_empty(), "the guide shows a graph");
    for graph in graphs {
        assert_eq!(read(graph).unwrap().1, []);
    }
}
