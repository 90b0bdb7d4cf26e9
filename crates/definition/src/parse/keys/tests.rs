//! The reference page and the readers know the same keys, and each example works.

mod schema;

use std::collections::BTreeMap;

use super::*;
use crate::{MemoryFiles, Severity, WorkflowName, lint, parse};

const PAGE: &str = include_str!("../../../../../docs/reference/workflow-keys.md");

/// The maps of the language, as the page calls them, and whether they are in the index.
const MAPS: [(&str, Keys, bool); 18] = [
    ("`index.md`", INDEX, true),
    ("`vars`", VAR, true),
    ("`limits`", LIMITS, true),
    ("`ends`", ENDS, true),
    ("`on` of `index.md`", ON_INDEX, true),
    ("Entries of `on`", REACTION, true),
    ("Actions", ACTION, true),
    ("`commit`", COMMIT, true),
    ("`publish`", PUBLISH, true),
    ("A step", STEP, false),
    ("`on` of a step", ON_STEP, false),
    ("`needs`", NEED, false),
    ("`produces`", PRODUCT, false),
    ("`gate`", GATE, false),
    ("`review`", REVIEW, false),
    ("`next`", NEXT, false),
    ("`each`", EACH, false),
    ("Parts of `each.list`", PART, false),
];

/// A row of the page: a key, its example, and the section that it is in.
struct Row {
    section: &'static str,
    key: &'static str,
    value: String,
    meaning: String,
    example: String,
}

fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    let mut section = "";
    for line in PAGE.lines() {
        section = line.strip_prefix("## ").unwrap_or(section);
        let Some(key) = line.strip_prefix("| `").and_then(|it| it.split('`').next()) else {
            continue;
        };
        let line = line.replace("\\|", "\u{1}");
        let cells: Vec<String> =
            line.split(" | ").map(|it| it.trim_end_matches(" |").replace('\u{1}', "|")).collect();
        let [_, value, meaning, example] = cells.as_slice() else { panic!("{line}") };
        let (value, meaning) = (value.clone(), meaning.clone());
        let example = example.trim_matches('`').to_owned();
        rows.push(Row { section, key, value, meaning, example });
    }
    rows
}

fn workflow(index: &str, step: &str) -> MemoryFiles {
    let sections = "# Orchestrator Guidance\nGo on.\n# Client Instructions\nWork.\n";
    let fixed = [
        ("language", "3"),
        ("decider", "declared"),
        ("vars", "{rounds: 0, done: false, plan: '', batch: []}"),
    ];
    // What the example says itself is not said twice.
    let said = |key: &str| index.starts_with(&format!("{key}:"));
    let fixed: Vec<String> = fixed
        .into_iter()
        .filter(|(key, _)| !said(key))
        .map(|(key, value)| format!("{key}: {value}\n"))
        .collect();
    let links = "1. [Design](steps/a.md)\n2. [Review](steps/b.md)\n3. [Build](steps/c.md)\n";
    let files = [
        ("DEMO/index.md", format!("---\n{}{index}\n---\n# Goal\nDemo.\n{links}", fixed.concat())),
        ("DEMO/steps/a.md", format!("---\nproduces: [design.md]\n---\n{sections}")),
        ("DEMO/steps/b.md", sections.to_owned()),
        ("DEMO/steps/c.md", format!("---\n{step}\n---\n{sections}")),
    ];
    let files = files.map(|(path, text)| (path.to_owned(), text));
    MemoryFiles(BTreeMap::from(files))
}

#[test]
fn the_page_has_the_keys_of_the_readers() {
    let rows = rows();
    for (section, keys, _) in &MAPS {
        let listed: Vec<&str> =
            rows.iter().filter(|it| it.section == *section).map(|it| it.key).collect();
        assert_eq!(listed, keys.known, "{section}");
    }
    let known: usize = MAPS.iter().map(|(_, keys, _)| keys.known.len()).sum();
    assert_eq!(rows.len(), known, "a section of the page is not in the list");
    // The keys of `on` name moments.
    let moments = ON_INDEX.known.len() + ON_STEP.known.len();
    assert!(known - moments <= 111, "the language has {} keys", known - moments);
}

#[test]
fn every_example_works() {
    for Row { section, key, example, .. } in rows() {
        let is_index = MAPS.iter().any(|(it, _, is_index)| *it == section && *is_index);
        assert!(example.contains(&format!("{key}:")), "{section}: {key}: {example}");
        let files = if is_index { workflow(&example, "") } else { workflow("", &example) };
        let name = WorkflowName::parse("DEMO").unwrap();
        let read = parse(&name, &files).unwrap_or_else(|it| panic!("{section}: {key}: {it}"));
        assert_eq!(read.language, 3);
        let wrong: Vec<String> = lint(&read)
            .iter()
            .filter(|it| it.severity == Severity::Error)
            .map(ToString::to_string)
            .collect();
        assert!(wrong.is_empty(), "{section}: {key}: {wrong:#?}");
    }
}

#[test]
fn a_key_of_language_1_is_refused_in_language_2_with_what_is_written_instead() {
    let name = WorkflowName::parse("DEMO").unwrap();
    let told = |index: &str, step: &str| match parse(&name, &workflow(index, step)) {
        Ok(_) => panic!("it was read"),
        Err(error) => error.to_string(),
    };
    for (key, instead) in INDEX.retired {
        let told = told(&format!("{key}: x"), "");
        assert!(told.contains(&format!("there is no key `{key}` ({instead})")), "{told}");
    }
    for (key, instead) in STEP.retired {
        let told = told("", &format!("{key}: x"));
        assert!(told.contains(&format!("there is no key `{key}` ({instead})")), "{told}");
    }
    for (map, keys) in [("gate", GATE), ("review", REVIEW), ("next", NEXT), ("each", EACH)] {
        for (key, instead) in keys.retired {
            let told = told("", &format!("{map}: {{{key}: x}}"));
            assert!(told.contains(&format!("`{map}` has no key `{key}` ({instead})")), "{told}");
        }
    }
}

#[test]
fn a_language_that_nobody_knows_is_refused() {
    let name = WorkflowName::parse("DEMO").unwrap();
    let error = parse(&name, &workflow("language: 4", "")).unwrap_err();
    assert_eq!(error.diagnostics.first().unwrap().code, "language_unknown");
}
