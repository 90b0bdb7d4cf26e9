//! Whatever is in the files, the parser answers.

use definition::{Condition, Template, find_findings, find_heading, find_verdict, lint};
use definition::{MemoryFiles, WorkflowName, parse, parse_parts, word_count};
use proptest::prelude::*;
use serde_json::json;

/// Pieces that definitions are made of, in any order.
fn piece() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "---\n",
        "\n",
        "# Orchestrator Guidance\n",
        "# Client Instructions\n",
        "- [A](steps/a.md)\n",
        "1. [B](steps/b.md)\n",
        "```\n",
        "{{file:b.md}}",
        "{{file:../index.md}}",
        "next: [A, {to: B}]\n",
        "vars: {a: 1}\n",
        "gate: true\n",
        "when: \"context.x\"\n",
        "  - ",
        "[",
        "{",
        "}",
        "\"A\"",
        "é\u{feff}\r\n",
        "each: {parts: x, list: [a]}\n",
        "produces: [a.md]\n",
        "review: {of: A}\n",
        "flows: {x: [A]}\n",
        "\t",
        "&a *a\n",
    ]);
    prop_oneof![4 => known.prop_map(str::to_owned), 1 => ".{0,12}"]
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), 0..24).prop_map(|it| it.concat())
}

/// Front matter with keys of both languages, anywhere.
fn front() -> impl Strategy<Value = String> {
    let keys = "language name budget money moves do consent step when rules chores then set \
                on_failure push remote checkout branch from rename_branch to adopt take_item rotate \
                archive with insert path heading line enter drops each gate options back attempts \
                max goto next merge fails produces words min covers file pattern review of approve \
                revise limits after verdicts on call change while done remove complete else a b";
    let key = prop::sample::select(keys.split_whitespace().collect::<Vec<_>>());
    let text = prop::sample::select(vec!["A", "a", "true", "x.md", "ask", "findings", "{{ key }}"]);
    let leaf = prop_oneof![
        4 => text.prop_map(serde_json::Value::from),
        1 => (0_u64..5).prop_map(serde_json::Value::from),
        1 => any::<bool>().prop_map(serde_json::Value::from),
        1 => Just(serde_json::Value::Null),
    ];
    let tree = leaf.prop_recursive(5, 40, 5, move |inner| {
        prop_oneof![
            3 => prop::collection::btree_map(key.clone(), inner.clone(), 0..5)
                .prop_map(|it| it.into_iter().map(|(key, it)| (key.to_owned(), it)).collect()),
            1 => prop::collection::vec(inner, 0..4).prop_map(serde_json::Value::from),
        ]
    });
    tree.prop_map(|it| it.to_string())
}

/// Pieces that graphs are made of, in any order.
fn graph() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "name: A\n",
        "description: D\n",
        "workflow:\n",
        "  goal: G ${{ inputs.x }}\n",
        "  root: a\n",
        "  tree:\n",
        "    a:\n",
        "    b:\n",
        "      goal: A\n",
        "      workflow: b.yaml\n",
        "      workflow: ./graph.yaml\n",
        "      next_allowed_nodes: [a, b]\n",
        "      next_allowed_nodes: [b]\n",
        "      next_allowed_workflows: [W]\n",
        "      acceptance_criteria: {c: C, d: }\n",
        "      needs_approval: true\n",
        "inputs: {x: {type: integer, default: 1}}\n",
        "execution: {}\n",
        "&a ",
        "*a ",
        "<<: *a\n",
        "!!tag ",
        "- ",
        "{",
        "]",
        "\u{feff}",
        "\r\n",
    ]);
    let piece = prop_oneof![8 => known.prop_map(str::to_owned), 1 => ".{0,12}"];
    prop::collection::vec(piece, 0..24).prop_map(|it| it.concat())
}

/// A graph whose nodes lead anywhere.
fn tangle() -> impl Strategy<Value = String> {
    let names = || prop::collection::vec(prop::sample::select(vec!["a", "b", "c", "d"]), 0..3);
    let other = prop::sample::select(vec!["goal: G", "goal: G", "workflow: b.yaml"]);
    let nodes = prop::collection::vec((other, names(), any::<bool>()), 4);
    nodes.prop_map(|nodes| {
        let head = "name: A\ndescription: D\nworkflow:\n  goal: G\n  root: a\n  tree:\n";
        let node = |(name, (task, next, asks)): (&str, (&str, Vec<&str>, bool))| {
            let next = next.join(", ");
            format!(
                "    {name}: {{{task}, next_allowed_nodes: [{next}], needs_approval: {asks}}}\n"
            )
        };
        let nodes = ["a", "b", "c", "d"].into_iter().zip(nodes).map(node);
        format!("{head}{}", nodes.collect::<String>())
    })
}

fn check_graph(first: String, other: String) -> Result<(), TestCaseError> {
    let paths = ["DEMO/graph.yaml", "DEMO/b.yaml"];
    let files = paths.map(str::to_owned).into_iter().zip([first, other]).collect();
    match parse(&WorkflowName::parse("DEMO").unwrap(), &MemoryFiles(files)) {
        Ok(workflow) => {
            let again = parse(&workflow.name, &MemoryFiles(workflow.source.files.clone()));
            prop_assert_eq!(&again.unwrap().digest, &workflow.digest);
            lint(&workflow);
            // Anyone who goes on long enough comes to an end: each step leads somewhere.
            prop_assert!(workflow.steps.iter().all(|it| !it.next.is_empty()));
        }
        Err(error) => prop_assert!(!error.diagnostics.is_empty()),
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    #[test]
    fn any_text_is_parsed_or_refused(index in text(), a in text(), b in text()) {
        let paths = ["DEMO/index.md", "DEMO/steps/a.md", "DEMO/steps/b.md"];
        let files = paths.map(str::to_owned).into_iter().zip([index, a, b]).collect();
        match parse(&WorkflowName::parse("DEMO").unwrap(), &MemoryFiles(files)) {
            Ok(workflow) => {
                let again = parse(&workflow.name, &MemoryFiles(workflow.source.files.clone()));
                prop_assert_eq!(&again.unwrap().digest, &workflow.digest);
                lint(&workflow);
            }
            Err(error) => {
                prop_assert!(!error.diagnostics.is_empty());
                prop_assert!(!error.to_string().is_empty());
            }
        }
    }

    #[test]
    fn any_graph_is_parsed_or_refused(first in graph(), other in graph()) {
        check_graph(first, other)?;
    }

    #[test]
    fn any_tangle_is_parsed_or_refused(first in tangle(), other in tangle()) {
        check_graph(first, other)?;
    }

    #[test]
    fn a_sound_folder_takes_any_front_matter(index in text(), a in text()) {
        let step = "# Orchestrator Guidance\nx\n# Client Instructions\ny\n";
        let files = [
            ("DEMO/index.md", format!("---\n{index}\n---\n- [A](steps/a.md)\n")),
            ("DEMO/steps/a.md", format!("---\n{a}\n---\n{step}")),
        ];
        let files = files.map(|(path, text)| (path.to_owned(), text)).into_iter().collect();
        if let Ok(workflow) = parse(&WorkflowName::parse("DEMO").unwrap(), &MemoryFiles(files)) {
            lint(&workflow);
        }
    }

    #[test]
    fn front_matter_of_either_language_is_read_or_refused(index in front(), a in front()) {
        let step = "# Orchestrator Guidance\nx\n# Client Instructions\ny\n";
        let files = [
            ("DEMO/index.md", format!("---\n{index}\n---\n- [A](steps/a.md)\n")),
            ("DEMO/steps/a.md", format!("---\n{a}\n---\n{step}")),
        ];
        let files = files.map(|(path, text)| (path.to_owned(), text)).into_iter().collect();
        if let Ok(workflow) = parse(&WorkflowName::parse("DEMO").unwrap(), &MemoryFiles(files)) {
            lint(&workflow);
        }
    }

    #[test]
    fn any_expression_is_evaluated_or_refused(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "context", ".x", "['y']", "[0]", " == ", " < ", " and ", " or ", "not ", "'a'", "1", "(", ")",
            "|default(1)", "|length", " is defined", " in ", " * ", "vars.n", "-", "{", "}", "}}", "{{", "é", ".", "|",
        ]), 0..12)
    ) {
        let source = pieces.concat();
        let scope = json!({"context": {"x": [1, {"y": "a"}]}, "vars": {"n": 3}});
        match Condition::parse(&source) {
            Ok(it) => drop(it.evaluate(&scope)),
            Err(error) => prop_assert!(source.get(error.start..error.start + error.width).is_some()),
        }
        match Template::parse(&source) {
            Ok(it) => drop(it.render(&scope)),
            Err(error) => prop_assert!(source.get(error.start..error.start + error.width).is_some()),
        }
    }

    #[test]
    fn any_artifact_is_read(text in "(?s).{0,200}", wanted in ".{0,12}") {
        find_heading(&text, &wanted);
        find_verdict(&text, &[&wanted]);
        find_findings(&text);
        word_count(&text);
        drop(parse_parts(&text));
    }
}
