//! What every source file must be: introduced, documented, and in its place.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

use std::{fs, path::Path, process::Command};

/// A library, and the only places that may name it.
const KEPT_TO: &[(&str, &[&str])] = &[
    ("rmcp::", &["surfaces/mcp/src/server.rs", "surfaces/mcp/src/server/", "bench/"]),
    ("reqwest::", &["crates/world/src/model"]),
    // Tests hold the lock of the database, as another program would, damage it, read it, and note in it
    // what an earlier release left.
    (
        "rusqlite::",
        &[
            "crates/store/",
            "surfaces/cli/tests/attacks/",
            "surfaces/cli/tests/generation/files.rs",
            "surfaces/cli/tests/tool_gates/",
        ],
    ),
    (
        "axum::",
        &[
            "surfaces/cli/src/commands/serve",
            "surfaces/mcp/src/server/http.rs",
            "surfaces/mcp/src/server/http/",
            "surfaces/mcp/src/server/door.rs",
            "bench/",
        ],
    ),
    // What makes an answer a person's own: the doors; the demo, a trial and three tests play a person.
    (
        "How::Verified",
        &[
            "crates/engine/",
            // It tells of answers, and gives none.
            "crates/dialects/src/kit/brief/sections.rs",
            "surfaces/cli/src/door.rs",
            "surfaces/mcp/src/server/door.rs",
            "surfaces/cli/src/commands/demo/play.rs",
            "surfaces/cli/src/commands/workflow/trial.rs",
            "crates/dialects/src/forge/files/tests/",
            "crates/dialects/src/devworkflow/classic/tests/",
            "crates/dialects/src/generation/files/tests/",
            "surfaces/mcp/tests/support/walk.rs",
        ],
    ),
    ("minijinja::", &["crates/definition/src/expression"]),
    (
        "jsonschema::",
        &[
            "crates/definition/src/pattern.rs",
            "crates/definition/src/parse/keys/tests/schema.rs",
            "surfaces/mcp/tests/",
        ],
    ),
    ("serde_saphyr::", &["crates/definition/src/parse"]),
    ("tree_sitter::", &["crates/insight/src/code/"]),
    ("toml_edit::", &["surfaces/cli/src/commands/setup/", "surfaces/cli/src/commands/config/"]),
    // The one place that appends to logs, and the one that notes what was written outside of them.
    // Tests and measurements fill a store without a runtime.
    (
        "store.append(",
        &[
            "crates/runtime/src/commit.rs",
            "crates/store/",
            "surfaces/cli/tests/attacks/bounds.rs",
            "bench/",
        ],
    ),
    ("Touch::Files", &["crates/runtime/src/outbox.rs", "crates/store/"]),
];

/// Ways to a file that no root keeps from leading anywhere.
const OPENING: &[&str] = &[
    "std::fs",
    "fs::",
    "cap_std",
    "File::open",
    "File::create",
    "File::options",
    "OpenOptions",
    "DirBuilder",
    "read_dir(",
];

/// The only files of the product that may use them, and why. All others go by
/// `crates/world/src/beneath.rs`.
const OPENERS: &[(&str, &str)] = &[
    ("crates/world/src/beneath", "it is the module that all others go by"),
    ("crates/world/src/file_system.rs", "names the type of a lock that is held"),
    ("crates/world/src/files.rs", "names the type of a file that was opened beneath"),
    ("crates/world/src/news.rs", "has the system tell what happens in an open folder"),
    ("crates/world/src/chores", "git's own files, beside its index"),
    ("crates/world/src/clock.rs", "what the system says of the boot and its clock"),
    ("crates/store/", "the database, where the settings say"),
    ("surfaces/cli/src/join.rs", "the folder of a database, where the settings say"),
    ("surfaces/cli/src/secret.rs", "secrets beside the database, and files that a person names"),
    ("surfaces/cli/src/kept.rs", "the user's own folder of what they allowed"),
    ("surfaces/cli/src/log.rs", "the log, where a person says"),
    ("surfaces/cli/src/config/sources.rs", "who the person is, by the system's own list"),
    ("surfaces/cli/src/background.rs", "the processes that there are"),
    ("surfaces/cli/src/commands/backup.rs", "a backup, where a person says"),
    ("surfaces/cli/src/commands/restore.rs", "a copy of a backup, where a person says"),
    ("surfaces/cli/src/commands/doctor/", "tries the disk out, and asks what is mounted"),
    ("surfaces/cli/src/commands/scratch.rs", "a folder of its own, which it makes and removes"),
    ("surfaces/cli/src/commands/demo/", "the workflow in that folder"),
    ("surfaces/cli/src/commands/setup/", "files of other programs, through a person's own links"),
];

#[test]
fn files_are_opened_beneath_a_root() {
    let mut found = Vec::new();
    for (path, text) in source_files() {
        found.extend(openings(&path, &text));
    }
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn the_check_finds_a_file_that_is_opened_elsewhere() {
    let text = "//! B.\n\nfn b() {\n    fs::read(\"x\");\n}\n\n#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n";
    let found = ["crates/a/src/b.rs:4: `fs::` opens files past `crates/world/src/beneath.rs`"];
    assert_eq!(openings("crates/a/src/b.rs", text), found);
    assert_eq!(openings("crates/store/src/b.rs", text), Vec::<String>::new());
    assert_eq!(openings("crates/a/tests/b.rs", text), Vec::<String>::new());
}

/// Returns the lines of the product that open files where none may be opened.
fn openings(path: &str, text: &str) -> Vec<String> {
    let Some(product) = product(path, text) else { return Vec::new() };
    if OPENERS.iter().any(|(place, _)| path.starts_with(place)) {
        return Vec::new();
    }
    let code = product.lines().enumerate().filter(|(_, it)| !it.trim_start().starts_with("//"));
    let opening = |line: &str| OPENING.iter().find(|it| has_word(line, it));
    code.filter_map(|(at, line)| {
        let it = opening(line)?;
        Some(format!("{path}:{}: `{it}` opens files past `crates/world/src/beneath.rs`", at + 1))
    })
    .collect()
}

/// Returns what of a file is part of the product: not its tests.
fn product<'a>(path: &str, text: &'a str) -> Option<&'a str> {
    let is_product = (path.starts_with("crates/") || path.starts_with("surfaces/"))
        && path.contains("/src/")
        && !path.contains("/tests");
    text.split("#[cfg(test)]\nmod tests").next().filter(|_| is_product)
}

/// The most lines that a function of the product has. Clippy's `too_many_lines` does not count the
/// body of an async function, and reads tests too, where a table may be long.
const FUNCTION_LINES_MAX: usize = 80;

#[test]
fn functions_are_short() {
    let files = source_files();
    let long: Vec<String> = files.iter().flat_map(|(path, text)| long(path, text)).collect();
    assert_eq!(long, Vec::<String>::new());
}

#[test]
fn the_check_finds_a_long_function() {
    let body = "        b();\n".repeat(FUNCTION_LINES_MAX - 1);
    let fits = "    fn c(&self) -> u8 {\n        0\n    }\n\n    fn d(&self);\n";
    let text = format!("//! B.\n\nimpl B {{\n{fits}    async fn e(\n    ) {{\n{body}    }}\n}}\n");
    let found = ["crates/a/src/b.rs:9: `async fn e(` has 82 lines"];
    assert_eq!(long("crates/a/src/b.rs", &text), found);
    assert_eq!(long("crates/a/tests/b.rs", &text), Vec::<String>::new());
}

/// Returns the functions of the product that are too long, from their first word to the last brace.
fn long(path: &str, text: &str) -> Vec<String> {
    let Some(product) = product(path, text) else { return Vec::new() };
    let lines: Vec<&str> = product.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        if code.starts_with("//") || !has_word(code, "fn ") {
            continue;
        }
        let rest = &lines[at..];
        let opening = rest.iter().position(|it| it.ends_with(['{', ';', '}']));
        if opening.is_none_or(|it| !rest[it].ends_with('{')) {
            continue;
        }
        let end = format!("{}}}", &line[..line.len() - code.len()]);
        let length = rest.iter().position(|it| **it == end).unwrap_or_default() + 1;
        if FUNCTION_LINES_MAX < length {
            found.push(format!("{path}:{}: `{code}` has {length} lines", at + 1));
        }
    }
    found
}

/// Whether a line has a word that is not the end of a longer one.
fn has_word(line: &str, word: &str) -> bool {
    let is_part = |it: char| it.is_alphanumeric() || it == '_';
    line.match_indices(word).any(|(at, _)| !line[..at].ends_with(is_part))
}

/// What a dialect has no use for, since it is a function: files, clocks, other tasks, the system.
const IMPURE: &[&str] =
    &["std::fs", "std::time", "std::env", "std::net", "std::process", "std::thread", "async"];

#[test]
fn dialects_are_functions() {
    let files = source_files();
    let found: Vec<String> = files.iter().flat_map(|(path, text)| impurities(path, text)).collect();
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn the_check_finds_a_dialect_that_is_no_function() {
    let text = "//! An async one.\nuse std::{fs, time::Instant};\nasync fn b() {}\n\n#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n";
    let found = [
        "crates/dialects/src/b.rs:2: `std::fs`",
        "crates/dialects/src/b.rs:2: `std::time`",
        "crates/dialects/src/b.rs:3: `async`",
    ];
    assert_eq!(impurities("crates/dialects/src/b.rs", text), found);
    assert_eq!(impurities("crates/runtime/src/b.rs", text), Vec::<String>::new());
}

/// Returns the lines of a dialect that do more than a function can.
fn impurities(path: &str, text: &str) -> Vec<String> {
    if !path.starts_with("crates/dialects/src/") || path.contains("/tests") {
        return Vec::new();
    }
    let product = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let mut found = Vec::new();
    for (at, line) in product.lines().enumerate() {
        if line.trim_start().starts_with("//") {
            continue;
        }
        let is_named = |it: &&&str| match it.strip_prefix("std::") {
            Some(module) => has_word(line, it) || line.contains("std::{") && has_word(line, module),
            None => has_word(line, &format!("{it} ")),
        };
        found.extend(IMPURE.iter().filter(is_named).map(|it| format!("{path}:{}: `{it}`", at + 1)));
    }
    found
}

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
