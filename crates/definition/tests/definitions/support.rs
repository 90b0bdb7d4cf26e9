//! Definitions written as one text: `== PATH` begins a file. And what became of them, as text.

use std::{collections::BTreeMap, fmt::Write as _};

use definition::{
    Diagnostic, MemoryFiles, ParseError, Severity, Step, Workflow, WorkflowName, lint, parse,
};
use expect_test::Expect;

/// Cuts a text into files.
pub(crate) fn files(text: &str) -> MemoryFiles {
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    let mut current: Option<String> = None;
    for line in text.split_inclusive('\n') {
        if let Some(path) = line.strip_prefix("== ") {
            current = Some(path.trim().to_owned());
            files.insert(path.trim().to_owned(), String::new());
        } else if let Some(path) = &current {
            files.entry(path.clone()).or_default().push_str(line);
        }
    }
    MemoryFiles(files)
}

/// Reads the workflow `DEMO` of a text.
pub(crate) fn read(text: &str) -> Result<Workflow, ParseError> {
    parse(&WorkflowName::parse("DEMO").unwrap(), &files(text))
}

/// A workflow of one step with this front matter.
pub(crate) fn with_step(front: &str) -> String {
    let head = "---\nvars: {rounds: 0, done: false}\n---\n";
    with_index(head, &format!("---\n{front}\n---\n"))
}

/// A workflow of the steps `A` and `B`, with what stands before the text of the index and of `A`.
pub(crate) fn with_index(index: &str, step: &str) -> String {
    let sections = "# Orchestrator Guidance\nGo on.\n# Client Instructions\nWork.\n";
    format!(
        "== DEMO/index.md\n{index}# Demo\n1. [A](steps/a.md)\n2. [B](steps/b.md)\n\
         == DEMO/steps/a.md\n{step}{sections}\
         == DEMO/steps/b.md\n{sections}"
    )
}

/// What the parser says: `ok`, or each diagnostic with its code.
pub(crate) fn parsed(text: &str) -> String {
    match read(text) {
        Ok(_) => "ok\n".to_owned(),
        Err(error) => format!("{:?}\n{}", error.kind, listed(&error.diagnostics)),
    }
}

/// What the linter says of a text that parses.
pub(crate) fn linted(text: &str) -> String {
    match read(text) {
        Ok(workflow) => listed(&lint(&workflow)),
        Err(error) => format!("does not parse:\n{error}\n"),
    }
}

/// Each diagnostic with its code.
pub(crate) fn listed(diagnostics: &[Diagnostic]) -> String {
    let mut text = String::new();
    for it in diagnostics {
        let severity = if it.severity == Severity::Error { "error" } else { "warning" };
        writeln!(text, "{severity} {} ^{} {it}", it.code, it.label.width).unwrap();
    }
    text
}

/// Returns a step with this front matter.
pub(crate) fn good_step(front: &str) -> Step {
    read(&with_step(front)).unwrap().steps.into_iter().next().unwrap()
}

/// Compares what is told of this front matter of a step.
#[track_caller]
pub(crate) fn bad_step(front: &str, expected: Expect) {
    expected.assert_eq(&parsed(&with_step(front)));
}
