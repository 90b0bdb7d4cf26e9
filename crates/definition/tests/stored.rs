//! Definitions as runs have stored them: each is still read, to the same digest and the same
//! workflow.
//!
//! The files in `stored/` are never edited. `NAME.json` is what a store keeps; `NAME.txt` is what
//! it was read as. A new field of [`Workflow`] shows in every `NAME.txt`: rewrite those with
//! `UPDATE_EXPECT=1`, and make sure that nothing but the new field differs.

use std::{fs, path::Path};

use definition::{MemoryFiles, Source, Workflow, WorkflowName, parse};
use serde::Deserialize;

#[derive(Deserialize)]
struct Stored {
    name: String,
    digest: String,
    source: Source,
}

#[test]
fn every_stored_definition_is_read_as_it_was() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stored");
    let mut count = 0;
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|it| it != "json") {
            continue;
        }
        let stored: Stored = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let name = WorkflowName::parse(&stored.name).unwrap();
        let workflow = parse(&name, &MemoryFiles(stored.source.files.clone()))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(workflow.digest.as_str(), stored.digest, "{name}");
        assert_eq!(workflow.source, stored.source, "{name}");
        expect_test::expect_file![path.with_extension("txt")].assert_eq(&dump(workflow));
        count += 1;
    }
    assert!(5 < count, "stored definitions are missing");
}

/// Returns everything that was read. The source is left out: the other file has it.
fn dump(mut workflow: Workflow) -> String {
    workflow.source = Source::default();
    format!("{workflow:#?}\n")
}
