//! What every source file must be: introduced, documented, and in its place.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

use std::{fs, path::Path, process::Command};

/// A library, and the only places that may name it.
const KEPT_TO: &[(&str, &[&str])] = &[
    ("rmcp::", &["surfaces/mcp/src/server.rs", "surfaces/mcp/src/server/", "bench/"]),
    ("reqwest::", &["crates/world/src/model"]),
    ("rusqlite::", &["crates/store/"]),
    (
        "axum::",
        &[
            "surfaces/cli/src/commands/serve",
            "surfaces/mcp/src/server/http.rs",
            "surfaces/mcp/src/server/door.rs",
            "bench/",
        ],
    ),
    // What makes an answer a person's own: the doors, and the demo, which plays a person.
    (
        "How::Verified",
        &[
            "crates/engine/",
            "surfaces/cli/src/door.rs",
            "surfaces/mcp/src/server/door.rs",
            "surfaces/cli/src/commands/demo/play.rs",
        ],
    ),
    ("minijinja::", &["crates/definition/src/expression"]),
    ("jsonschema::", &["crates/definition/src/pattern.rs", "surfaces/mcp/tests/"]),
    ("serde_saphyr::", &["crates/definition/src/parse"]),
    ("tree_sitter::", &["crates/insight/src/code/"]),
    ("toml_edit::", &["surfaces/cli/src/commands/setup/"]),
];

#[test]
fn every_source_file_is_tidy() {
    let mut found = Vec::new();
    let files = source_files();
    assert!(10 < files.len(), "too few source files found: the listing is broken");
    for (path, text) in &files {
        found.extend(complaints(path, text));
    }
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn the_check_finds_each_kind_of_untidiness() {
    assert_eq!(
        complaints("crates/a/src/b.rs", "use std::fs;\n"),
        ["crates/a/src/b.rs: must begin with `//!` and say what it is for"]
    );
    assert_eq!(
        complaints("crates/engine/src/b.rs", "//! B.\nuse rusqlite::params;\n"),
        ["crates/engine/src/b.rs: must not name `rusqlite::`"]
    );
    assert_eq!(
        complaints(
            "crates/a/src/b.rs",
            "//! B.\n\n#[derive(Debug)]\npub struct B {\n    pub c: u8,\n}\n"
        ),
        ["crates/a/src/b.rs:4: `struct B {` has no `///`"]
    );
}

fn complaints(path: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    if !text.starts_with("//! ") {
        found.push(format!("{path}: must begin with `//!` and say what it is for"));
    }
    for (library, places) in KEPT_TO {
        let is_allowed =
            places.iter().any(|place| path.starts_with(place)) || path.starts_with("tidy/");
        if !is_allowed && text.contains(library) {
            found.push(format!("{path}: must not name `{library}`"));
        }
    }
    for (number, item) in undocumented(text) {
        found.push(format!("{path}:{number}: `{item}` has no `///`"));
    }
    found
}

/// Returns each public item without a doc comment. Fields and variants need none.
fn undocumented(text: &str) -> Vec<(usize, &str)> {
    const ITEMS: &[&str] =
        &["fn", "async fn", "const fn", "struct", "enum", "trait", "type", "const"];
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let Some(item) = line.trim_start().strip_prefix("pub ") else { continue };
        if !ITEMS.iter().any(|kind| item.starts_with(&format!("{kind} "))) {
            continue;
        }
        let above = lines[..index].iter().rev().map(|line| line.trim_start());
        let is_documented = above
            .take_while(|line| line.starts_with("///") || line.starts_with("#["))
            .any(|line| line.starts_with("///"));
        if !is_documented {
            found.push((index + 1, item));
        }
    }
    found
}

/// Returns the path and text of each Rust file that git knows of.
fn source_files() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let output = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard", "*.rs"])
        .current_dir(root)
        .output()
        .unwrap();
    let paths = String::from_utf8(output.stdout).unwrap();
    let read = |path: &str| (path.to_owned(), fs::read_to_string(root.join(path)).unwrap());
    // Git still lists a file that was deleted but not committed.
    paths.lines().filter(|path| root.join(path).exists()).map(read).collect()
}
