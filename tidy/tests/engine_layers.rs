//! The layers inside the engine's `decide/`: each file uses only files that are listed before it.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// The files of `decide/`, from the bottom up. A file may name only those before it.
const ORDER: &[&str] = &[
    "mode",
    "then",
    "scope",
    // What can be read off a run.
    "left_out",
    "due",
    "verdict",
    // What is kept.
    "change_context",
    "record_entry",
    "lease",
    "files",
    "react",
    // A person is asked.
    "gate",
    "waive_gate",
    // The parts of a step, and what judges it.
    "open_parts",
    "part_rules",
    "part_list",
    "parts",
    "review",
    "rulebook",
    "budget",
    // Where a run goes from a step.
    "stretch",
    "route",
    "ask_model",
    "flow",
    // A person answers.
    "answer_gate",
    // What is said of a step.
    "start_step",
    "fail_step",
    "complete_step",
    "complete_found_parts",
    "report_step",
    "claim_step",
    "expire_step",
    "approve_step",
    // What a run does by itself.
    "rules",
    // What is said of a run.
    "report_chore",
    "start_run",
    "end_run",
    "resume_run",
    "make_move",
    "place_run",
    "contradiction",
    "take_file",
    "settle_run",
    "advance",
];

#[test]
fn files_of_decide_use_only_what_lies_below() {
    let found = violations(&files());
    assert!(found.is_empty(), "a file uses what lies above it: {found:#?}");
}

#[test]
fn every_file_of_decide_has_a_place() {
    let there: BTreeSet<String> = files().into_iter().map(|it| it.0).collect();
    let listed: BTreeSet<String> = ORDER.iter().map(|it| (*it).to_owned()).collect();
    assert_eq!(there, listed);
}

#[test]
fn the_check_reads_every_way_to_name_a_file() {
    let text = "use super::{\n    Draft, enter,\n    review::{Judged, judge},\n};\nuse crate::decide::{flow, rules::fire};\nfn f() { super::route::go(crate::decide::budget::left()) }";
    let all = BTreeSet::from(["Draft", "budget", "enter", "flow", "review", "route", "rules"]);
    assert_eq!(named(text), all);
}

#[test]
fn the_check_finds_a_file_that_uses_what_lies_above_it() {
    let files = |path: &str, text: &str| violations(&[(path.to_owned(), text.to_owned())]);
    let found = BTreeSet::from(["gate uses flow".to_owned()]);
    assert_eq!(files("gate", "use super::flow::run;"), found);
    assert_eq!(files("gate", "use crate::decide::{mode::Mode, flow};"), found);
    // A file in a folder belongs to the file beside that, and may also name it.
    assert_eq!(files("gate", "use super::super::flow;"), found);
    assert_eq!(files("gate", "use super::{super::{flow, mode}, Asked};"), found);
    assert_eq!(files("flow", "use super::gate::ask;"), BTreeSet::new());
}

#[test]
fn the_check_reads_the_files_in_folders() {
    let below = files().into_iter().filter(|it| it.0 == "ask_model").count();
    assert!(1 < below, "`decide/ask_model/` was not read");
}

/// The text of each file, and the name of the file of `decide/` that it is or belongs to.
fn files() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found = Vec::new();
    for path in list(&root.join("crates/engine/src/decide")) {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let mut below = vec![path];
        while let Some(path) = below.pop() {
            if path.is_dir() {
                below.extend(list(&path));
            } else if !path.ends_with("tests.rs") {
                found.push((name.clone(), fs::read_to_string(path).unwrap()));
            }
        }
    }
    found
}

fn list(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect()
}

fn violations(files: &[(String, String)]) -> BTreeSet<String> {
    let place = |name: &str| ORDER.iter().position(|it| *it == name);
    let mut found = BTreeSet::new();
    for (name, text) in files {
        for used in named(text) {
            let is_above = place(used).is_some_and(|used| place(name) < Some(used));
            if is_above {
                found.insert(format!("{name} uses {used}"));
            }
        }
    }
    found
}

/// Returns what a file names of the folder it is in, or of `decide/`.
fn named(text: &str) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    for way in ["super::", "crate::decide::"] {
        for (at, _) in text.match_indices(way) {
            let rest = text.get(at + way.len()..).unwrap_or_default();
            match rest.strip_prefix('{') {
                Some(list) => found.extend(items(list)),
                None => found.extend(first_word(rest)),
            }
        }
    }
    found
}

/// Returns the first word of each item of a list in braces.
fn items(list: &str) -> Vec<&str> {
    let mut depth = 0;
    let mut is_start = true;
    let mut found = Vec::new();
    for (at, letter) in list.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => is_start = true,
            _ if is_start && !letter.is_whitespace() => {
                found.extend(list.get(at..).and_then(first_word));
                is_start = false;
            }
            _ => {}
        }
    }
    found
}

fn first_word(text: &str) -> Option<&str> {
    let end = text.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(text.len());
    text.get(..end).filter(|it| !it.is_empty() && *it != "self" && *it != "super")
}
