//! Every tool that changes something, called twice with the same request id: in one process, over
//! two, and after the process died right after a commit. The second answer is the first, and nothing
//! is written for it. A new tool without a row in `repeats/calls.txt` fails here.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

#[path = "support/project.rs"]
mod project;
#[path = "repeats/row.rs"]
mod row;
#[path = "support/server.rs"]
#[expect(dead_code, reason = "calls are read as they come here")]
mod server;
#[path = "repeats/stage.rs"]
mod stage;

use std::collections::BTreeSet;

use row::Row;
use stage::{Said, Stage};

/// More commits than any call makes.
const COMMITS_MAX: u32 = 12;

const TOOLSETS: [&str; 4] = ["core", "generation", "devworkflow", "forge"];

#[test]
fn every_tool_that_changes_something_has_a_row() {
    for toolset in TOOLSETS {
        let rows: BTreeSet<String> = row::all(toolset).into_iter().map(|it| it.tool).collect();
        let tools = Stage::new(toolset).serve().list_changing();
        assert_eq!(rows, tools, "the rows and the tools of `{toolset}` differ");
    }
}

#[test]
fn a_call_of_core_is_made_once() {
    all("core");
}

#[test]
fn a_call_of_generation_is_made_once() {
    all("generation");
}

#[test]
fn a_call_of_devworkflow_is_made_once() {
    all("devworkflow");
}

#[test]
fn a_call_of_forge_is_made_once() {
    all("forge");
}

#[test]
fn the_same_id_for_another_call_is_refused() {
    for toolset in TOOLSETS {
        let rows = row::all(toolset);
        let row = &rows[0];
        let stage = Stage::new(toolset);
        let server = stage.prepare(row);
        assert!(!server.send(row, "r").is_error);
        let before = stage.picture();
        let (start, end) = row.arguments.rsplit_once("\": \"").unwrap();
        let other = Row { arguments: format!("{start}\": \"x{end}"), ..row.clone() };
        let said = server.send(&other, "r");
        assert_eq!(said.value["refusal"]["code"], "request_conflict", "{toolset}: {said:#?}");
        assert_eq!(stage.picture(), before, "{toolset}");
    }
}

/// Makes each call of a toolset again in each way, and names all that went wrong.
#[track_caller]
fn all(toolset: &str) {
    let mut wrong = Vec::new();
    for row in row::all(toolset) {
        for check in [in_one_process, over_two_processes, after_a_crash] {
            wrong.extend(check(toolset, &row).err());
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

fn in_one_process(toolset: &str, row: &Row) -> Result<(), String> {
    let stage = Stage::new(toolset);
    let server = stage.prepare(row);
    let first = server.send(row, "r");
    let before = stage.picture();
    let second = server.send(row, "r");
    same(row, "in one process", &first, &second)?;
    unchanged(row, "in one process", &before, &stage.picture())
}

fn over_two_processes(toolset: &str, row: &Row) -> Result<(), String> {
    let stage = Stage::new(toolset);
    let first = stage.prepare(row).send(row, "r");
    let before = stage.picture();
    let second = stage.serve().send(row, "r");
    same(row, "over two processes", &first, &second)?;
    unchanged(row, "over two processes", &before, &stage.picture())
}

/// The process dies after the first commit of the call, then after the second, and so on.
fn after_a_crash(toolset: &str, row: &Row) -> Result<(), String> {
    let stage = Stage::new(toolset);
    let expected = stage.prepare(row).send(row, "r");
    let whole = stage.gist();
    for commits in 1..COMMITS_MAX {
        let stage = Stage::new(toolset);
        drop(stage.prepare(row));
        if stage.serve_until(commits).try_send(row, "r").is_some() {
            return Ok(());
        }
        let how = format!("after a crash behind commit {commits}");
        let server = stage.serve();
        let first = server.send(row, "r");
        if first.is_error != expected.is_error {
            return Err(format!("{} {how}: {first:#?}\nbut without: {expected:#?}", row.tool));
        }
        unchanged(row, &how, &whole, &stage.gist())?;
        let before = stage.picture();
        let second = server.send(row, "r");
        same(row, &how, &first, &second)?;
        unchanged(row, &how, &before, &stage.picture())?;
    }
    Err(format!("{} makes more than {COMMITS_MAX} commits", row.tool))
}

fn same(row: &Row, how: &str, first: &Said, second: &Said) -> Result<(), String> {
    if first == second {
        return Ok(());
    }
    Err(format!("{} {how}:\nfirst {first:#?}\nsecond {second:#?}", row.tool))
}

fn unchanged(row: &Row, how: &str, before: &[String], after: &[String]) -> Result<(), String> {
    if before == after {
        return Ok(());
    }
    let only = |one: &[String], two: &[String]| {
        let lines: Vec<&String> = one.iter().filter(|it| !two.contains(it)).collect();
        format!("{lines:#?}")
    };
    let (gone, new) = (only(before, after), only(after, before));
    Err(format!("{} {how}: was {gone}\nis {new}", row.tool))
}
