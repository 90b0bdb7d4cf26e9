//! `milepost import forge`: workspaces of another server become runs of ours, and what they were
//! read from is left as it was.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
};

use serde_json::{Value, json};

use crate::{
    fixtures::{Past, leave},
    project::Project,
    stage::{Stage, world},
};

const DONE: Past =
    Past { folder: "20260101-done", name: "done", effort: "M", tokens: 10, duration_ms: 10 };

/// Imports, and returns what was answered.
#[track_caller]
fn import(project: &Project, from: &str) -> Value {
    let mut command = project.milepost(&["import", "forge", from, "--json"]);
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
}

fn count(said: &Value, key: &str) -> usize {
    said[key].as_array().map_or(0, Vec::len)
}

/// Leaves a run that ended and one that is in the midst of its work.
fn leave_two(project: &Project, above: &str) {
    let mut open = DONE.state();
    open["specName"] = json!("open");
    open["version"] = json!(1);
    open["currentPhase"] = json!("phase-3");
    open["currentPhaseStatus"] = json!("in_progress");
    open["completedPhases"] = json!(["setup", "phase-1", "phase-2"]);
    leave(project, &format!("{above}{}", DONE.folder), &DONE.state(), "A thing that is done");
    leave(project, &format!("{above}20260102-open"), &open, "A thing that is open");
}

fn texts(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for run in fs::read_dir(folder).unwrap() {
        for file in fs::read_dir(run.unwrap().path()).into_iter().flatten() {
            let path = file.unwrap().path();
            let text = fs::read_to_string(&path).unwrap();
            found.push((path, text));
        }
    }
    found.sort();
    found
}

#[test]
fn workspaces_are_taken_over_where_they_are_and_only_once() {
    let project = world(&[]);
    leave_two(&project, "");
    let said = import(&project, ".specs");
    assert_eq!(count(&said, "taken"), 2, "{said:#}");
    assert_eq!(count(&project.ask(&["run", "list"]), "runs"), 2);
    let again = import(&project, ".specs");
    assert_eq!((count(&again, "taken"), count(&again, "already_there")), (0, 2), "{again:#}");
    assert_eq!(count(&project.ask(&["run", "list"]), "runs"), 2);
    let stage = Stage::over(project);
    let open = json!({"workspace": stage.specs("20260102-open")});
    let action = stage.done("pipeline_next_action", open).json();
    assert_eq!(action["agent"], "architect", "{action:#}");
    let done = json!({"workspace": stage.specs(DONE.folder)});
    assert_eq!(stage.done("pipeline_next_action", done).json()["type"], "done");
}

#[test]
fn what_is_taken_from_elsewhere_is_left_there_as_it_was() {
    let project = world(&[]);
    leave_two(&project, "../../old/.specs/");
    let old = project.path("../old/.specs");
    let before = texts(&old);
    assert_eq!(before.len(), 4);
    let said = import(&project, "../old/.specs");
    assert_eq!(count(&said, "taken"), 2, "{said:#}");
    assert_eq!(texts(&old), before);
    assert_eq!(count(&project.ask(&["run", "list"]), "runs"), 2);
}

#[test]
fn what_is_taken_from_elsewhere_lies_among_the_specs_and_is_known_from_then_on() {
    let project = world(&[]);
    leave_two(&project, "../../old/.specs/");
    import(&project, "../old");
    let state = fs::read(project.path(".specs/20260102-open/state.json")).unwrap();
    let state: Value = serde_json::from_slice(&state).unwrap();
    let here = project.path(".specs/20260102-open");
    assert_eq!(state["workspace"], here.to_str().unwrap());
    assert_eq!(state["currentPhase"], "phase-3");
    assert!(here.join("request.md").is_file());
    let again = import(&project, "../old");
    assert_eq!((count(&again, "taken"), count(&again, "already_there")), (0, 2), "{again:#}");
}

#[test]
fn nothing_of_this_project_makes_room_for_what_is_taken() {
    let project = world(&[]);
    leave_two(&project, "../../old/.specs/");
    let own = Past { tokens: 99, ..DONE };
    leave(&project, DONE.folder, &own.state(), "Something else");
    project.write(".specs/20260102-open/request.md", "Mine\n");
    let before = texts(&project.path(".specs"));
    let mut command = project.milepost(&["import", "forge", "../old", "--json"]);
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((count(&said, "taken"), count(&said, "not_taken")), (0, 2), "{said:#}");
    assert_eq!(texts(&project.path(".specs")), before);
}
