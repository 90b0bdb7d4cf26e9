//! `milepost setup`, through the real binary: other programs' files are changed in one place only,
//! and what was there can be had back.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

#[path = "setup/clients.rs"]
mod clients;
#[path = "setup/found.rs"]
mod found;
#[path = "setup/kept.rs"]
mod kept;
#[path = "support/project.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod project;
#[path = "setup/rules.rs"]
mod rules;
#[path = "setup/undo.rs"]
mod undo;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
};

use serde_json::Value;

use project::Project;

/// What a call came to.
struct Told {
    code: i32,
    out: String,
    talk: String,
}

/// Runs `milepost setup` with the words of a line.
fn setup(project: &Project, line: &str) -> Told {
    let words: Vec<&str> = ["setup"].into_iter().chain(line.split_whitespace()).collect();
    let output = project.milepost(&words).stdin(Stdio::null()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let code = output.status.code().unwrap();
    Told { code, out: text(output.stdout), talk: text(output.stderr) }
}

/// Runs it, and it must work.
fn done(project: &Project, line: &str) -> String {
    let told = setup(project, line);
    assert_eq!(told.code, 0, "{line}: {}\n{}", told.out, told.talk);
    told.out
}

/// Runs it, and it must be refused with this code; returns what is said.
fn refused(project: &Project, line: &str, code: &str) -> String {
    let told = setup(project, &format!("{line} --json"));
    assert_eq!(told.code, 1, "{line}: {}\n{}", told.out, told.talk);
    let answer: Value = serde_json::from_str(&told.out).unwrap();
    assert_eq!(answer["error"]["code"], code, "{answer}");
    answer["error"]["message"].as_str().unwrap().to_owned()
}

/// Runs it with `--json`, and it must work.
fn answered(project: &Project, line: &str) -> Value {
    serde_json::from_str(&done(project, &format!("{line} --json"))).unwrap()
}

fn read(project: &Project, relative: &str) -> String {
    fs::read_to_string(project.path(relative)).unwrap()
}

/// Returns the names of everything in a folder.
fn names(project: &Project, relative: &str) -> Vec<String> {
    let Ok(entries) = fs::read_dir(project.path(relative)) else { return Vec::new() };
    let mut names: Vec<String> =
        entries.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Returns the copies of the file at `path`, the oldest first.
fn copies(project: &Project, path: &Path) -> Vec<PathBuf> {
    let folder = project.path("../home/.local/state/milepost/setup");
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let name = format!("{}.", path.file_name().unwrap().to_str().unwrap());
    let paths = entries.map(|it| it.unwrap().path());
    let is_copy = |it: &PathBuf| it.file_name().unwrap().to_str().unwrap().starts_with(&name);
    let mut copies: Vec<PathBuf> = paths.filter(is_copy).collect();
    copies.sort();
    copies
}
