//! Databases of the original orchestrator are read, whatever their age, and left as they are.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use rusqlite::{Connection, params};
use store::{OrchestratorFile, OriginalReport, StoreError};
use tempfile::TempDir;

const RUNS: &str = "CREATE TABLE workflow_instances (instance_id TEXT PRIMARY KEY,
    workflow_name TEXT NOT NULL, current_step_name TEXT NOT NULL, status TEXT NOT NULL,
    context TEXT, created_at DATETIME NOT NULL, updated_at DATETIME NOT NULL,
    completed_at DATETIME NULL);";
const OLD: &str = "CREATE TABLE workflow_history (history_entry_id INTEGER PRIMARY KEY,
    instance_id TEXT NOT NULL, timestamp DATETIME NOT NULL, step_name TEXT NOT NULL,
    user_report TEXT NULL, outcome_status TEXT NULL);";
const NEW: &str = "CREATE TABLE workflow_history (history_entry_id INTEGER PRIMARY KEY,
    instance_id TEXT NOT NULL, timestamp DATETIME NOT NULL, step_name TEXT NOT NULL,
    user_report TEXT NULL, outcome_status TEXT NULL, determined_next_step TEXT NULL,
    decider_status TEXT NULL, reasoning TEXT NULL, error TEXT NULL);";

/// A file with one run, made by `schema`, and the folder it lies in.
fn made(schema: &[&str]) -> (TempDir, PathBuf, Connection) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("what? 100%#.sqlite");
    let connection = Connection::open(&path).unwrap();
    for text in schema {
        connection.execute_batch(text).unwrap();
    }
    connection
        .execute(
            "INSERT INTO workflow_instances VALUES ('a', 'DEMO', 'Next', 'RUNNING', NULL,
             '2025-05-01T10:00:00.1', '2025-05-01 10:00:01', NULL)",
            [],
        )
        .unwrap();
    (folder, path, connection)
}

fn report(step: &str) -> OriginalReport {
    OriginalReport {
        at: Some("2025-05-01 10:00:01".to_owned()),
        step: step.to_owned(),
        report: Some("{}".to_owned()),
        outcome: Some("success".to_owned()),
        next: None,
        reasoning: None,
        error: None,
    }
}

/// Everything in a folder, by name.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
    entries.map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

#[test]
fn an_old_file_without_the_newer_columns_is_read_and_left_as_it_is() {
    let (folder, path, connection) = made(&[RUNS, OLD]);
    for step in ["Start", "Next"] {
        connection
            .execute(
                "INSERT INTO workflow_history VALUES (NULL, 'a', '2025-05-01 10:00:01', ?1, '{}',
                 'success')",
                params![step],
            )
            .unwrap();
    }
    drop(connection);
    let before = contents(folder.path());
    let file = OrchestratorFile::open(&path).unwrap();
    let runs = file.runs().unwrap();
    assert_eq!(runs.len(), 1);
    let run = runs.first().unwrap();
    assert_eq!((run.id.as_str(), run.workflow.as_str(), run.step.as_str()), ("a", "DEMO", "Next"));
    assert_eq!(run.context, None);
    assert_eq!(file.reports("a").unwrap(), [report("Start"), report("Next")]);
    assert_eq!(file.reports("nobody").unwrap(), []);
    drop(file);
    assert_eq!(contents(folder.path()), before);
}

#[test]
fn the_newer_columns_are_read_where_they_are() {
    let (_folder, path, connection) = made(&[RUNS, NEW]);
    connection
        .execute(
            "INSERT INTO workflow_history VALUES (NULL, 'a', '2025-05-01 10:00:01', 'Start', '{}',
             'success', 'Next', 'RUNNING', 'it was done', 'none')",
            [],
        )
        .unwrap();
    drop(connection);
    let expected = OriginalReport {
        next: Some("Next".to_owned()),
        reasoning: Some("it was done".to_owned()),
        error: Some("none".to_owned()),
        ..report("Start")
    };
    assert_eq!(OrchestratorFile::open(&path).unwrap().reports("a").unwrap(), [expected]);
}

#[test]
fn what_still_waits_in_the_log_beside_the_file_is_read_too() {
    let (_folder, path, connection) = made(&["PRAGMA journal_mode = WAL;", RUNS, NEW]);
    // The writer is still there, and has not put it into the file.
    let file = OrchestratorFile::open(&path).unwrap();
    assert_eq!(file.runs().unwrap().len(), 1);
    drop(connection);
}

#[test]
fn a_file_with_odd_values_and_without_history_is_read() {
    let (_folder, path, connection) = made(&[RUNS]);
    connection
        .execute(
            "INSERT INTO workflow_instances VALUES ('b', X'FF44', 7, 'RUNNING', 1.5, 0, '', NULL)",
            [],
        )
        .unwrap();
    drop(connection);
    let file = OrchestratorFile::open(&path).unwrap();
    let runs = file.runs().unwrap();
    let odd = runs.iter().find(|it| it.id == "b").unwrap();
    assert_eq!((odd.workflow.as_str(), odd.step.as_str()), ("\u{fffd}D", "7"));
    assert_eq!(odd.context.as_deref(), Some("1.5"));
    assert_eq!(file.reports("b").unwrap(), []);
}

#[test]
fn a_file_that_is_something_else_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    assert!(matches!(OrchestratorFile::open(&missing), Err(StoreError::Database(_))));
    assert!(!missing.exists());
    let letter = folder.path().join("letter");
    fs::write(&letter, "dear reader\n".repeat(100)).unwrap();
    assert!(matches!(OrchestratorFile::open(&letter), Err(StoreError::Damaged(_))));
    let other = folder.path().join("other");
    let batch = |text: &str| Connection::open(&other).unwrap().execute_batch(text).unwrap();
    let refused = || OrchestratorFile::open(&other).unwrap_err();
    batch("CREATE TABLE t (a)");
    assert!(refused().to_string().ends_with("it has no table `workflow_instances`"));
    assert_eq!(refused().code(), "database_foreign");
    batch("CREATE TABLE workflow_instances (id TEXT, workflow_name TEXT)");
    let lack = "table `workflow_instances` has no column `instance_id`";
    assert!(refused().to_string().ends_with(lack));
    assert_eq!(refused().code(), "database_foreign");
}
