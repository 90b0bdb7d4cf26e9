//! What every document must be: each fenced block says what it holds, and commands that can be run are
//! in blocks that `tests/clients/documents.py` runs.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{fs, path::Path, process::Command};

/// Where commands are run by a test: a new project, page by page.
const RUN: &[&str] = &["README.md", "docs/guide/"];
/// Blocks of other programs, and of ours, that are shown and not run.
const SHOWN: &[&str] = &["text", "sh", "bash", "shell"];
/// Stands before each command.
const PROMPT: &str = "$ ";

#[test]
fn fenced_blocks_say_what_they_hold() {
    let documents = documents();
    assert!(20 < documents.len(), "too few documents found: the listing is broken");
    let found: Vec<String> =
        documents.iter().flat_map(|(path, text)| complaints(path, text)).collect();
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn the_check_finds_each_kind_of_block_that_is_not_run() {
    let document = |info: &str, text: &str| format!("# A\n\n```{info}\n{text}\n```\n");
    let check = |info: &str, text: &str| complaints("docs/guide/a.md", &document(info, text));
    let plain = ["docs/guide/a.md:3: the block does not say what it holds"];
    assert_eq!(check("", "a"), plain);
    let bare = ["docs/guide/a.md:4: `milepost serve` does not begin with `$ `"];
    assert_eq!(check("console", "milepost serve"), bare);
    let hidden = ["docs/guide/a.md:3: `milepost serve` can be run: make it a `console` block"];
    assert_eq!(check("text", "milepost serve"), hidden);
    assert_eq!(check("sh", "$ cd a\n$ milepost serve"), hidden);
    let unrun = [
        "docs/design/a.md:3: a `console` block is run by a test, and this document's commands are not",
    ];
    assert_eq!(complaints("docs/design/a.md", &document("console", "$ ls")), unrun);
    for (info, text) in [
        ("console", "$ milepost serve"),
        ("console instead", "$ milepost serve"),
        ("text", "milepost run show RUN"),
        ("text", "$ milepost run list\nrun_01m7ts07gj  build"),
        ("json", "milepost"),
    ] {
        assert_eq!(check(info, text), Vec::<String>::new());
    }
}

/// Returns what is wrong with the fenced blocks of a document.
fn complaints(path: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let is_run = RUN.iter().any(|it| path.starts_with(it));
    for Block { line, info, lines } in blocks(text) {
        match info.split_whitespace().next() {
            None => found.push(format!("{path}:{line}: the block does not say what it holds")),
            Some("console") if !is_run => found.push(format!(
                "{path}:{line}: a `console` block is run by a test, and this document's commands are \
                 not"
            )),
            Some("console") => found.extend(
                lines.iter().enumerate().filter(|it| !it.1.starts_with(PROMPT)).map(|(at, it)| {
                    format!("{path}:{}: `{it}` does not begin with `$ `", line + 1 + at)
                }),
            ),
            Some(kind) if is_run && SHOWN.contains(&kind) => {
                found.extend(runnable(&lines).map(|it| {
                    format!("{path}:{line}: `{it}` can be run: make it a `console` block")
                }));
            }
            Some(_) => {}
        }
    }
    found
}

/// Returns a command of ours, unless the block shows output too, or has words to be replaced.
fn runnable<'a>(lines: &[&'a str]) -> Option<&'a str> {
    let is_typed = |it: &&str| it.starts_with(PROMPT);
    let is_session = lines.iter().any(is_typed) && !lines.iter().all(is_typed);
    let is_open = lines.iter().any(|it| it.split_whitespace().any(is_placeholder));
    let commands = lines.iter().map(|it| it.strip_prefix(PROMPT).unwrap_or(it));
    let mut ours = commands.filter(|it| it.starts_with("milepost "));
    ours.next().filter(|_| !is_session && !is_open)
}

/// Whether a word stands for another one.
fn is_placeholder(word: &str) -> bool {
    2 < word.len() && word.chars().all(|it| it.is_ascii_uppercase())
}

/// A fenced block.
struct Block<'a> {
    /// The line of the document that opens it.
    line: usize,
    info: &'a str,
    lines: Vec<&'a str>,
}

fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut open: Option<(&str, Block<'_>)> = None;
    for (at, line) in text.lines().enumerate() {
        let bare = line.trim_start();
        let ticks = bare.len() - bare.trim_start_matches('`').len();
        open = match open {
            Some((fence, block)) if bare.trim_end() == fence => {
                blocks.push(block);
                None
            }
            Some((fence, mut block)) => {
                block.lines.push(bare);
                Some((fence, block))
            }
            None if 3 <= ticks => {
                let (fence, info) = bare.split_at(ticks);
                Some((fence, Block { line: at + 1, info, lines: Vec::new() }))
            }
            None => None,
        };
    }
    assert!(open.is_none(), "a block is not closed");
    blocks
}

/// Returns the path and text of each document that people read.
fn documents() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let output = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        // Neither what agents read, nor what tests do.
        .args(["*.md", ":!workflows", ":!plugin/*/*", ":!crates", ":!surfaces"])
        .current_dir(root)
        .output()
        .unwrap();
    let paths = String::from_utf8(output.stdout).unwrap();
    let read = |path: &str| (path.to_owned(), fs::read_to_string(root.join(path)).unwrap());
    paths.lines().filter(|path| root.join(path).exists()).map(read).collect()
}
