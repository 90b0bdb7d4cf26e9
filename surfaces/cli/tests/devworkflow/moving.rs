//! `milepost devworkflow`: the state at a terminal, and how files move from the root into our folder.

use std::{fs, process::Stdio, thread};

use serde_json::{Value, json};

use crate::{
    calls::updating,
    file_text::file_text,
    fixtures::{CONFIG, HELLO, UPDATE},
    project::Project,
    stage::{Stage, project},
};

const TASK: &str = "Add: a door";

fn at(project: &Project, path: &str) -> String {
    fs::read_to_string(project.path(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn statuses(project: &Project) -> Vec<(String, String)> {
    let runs = project.ask(&["run", "list"]);
    let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
    let runs = runs["runs"].as_array().unwrap_or_else(|| panic!("{runs:#}")).iter();
    let mut found: Vec<_> = runs.map(|it| (text(&it["key"]), text(&it["status"]))).collect();
    found.sort();
    found
}

#[test]
fn the_run_of_a_moved_file_is_over_and_the_work_goes_on_from_the_new_place() {
    let stage = Stage::new();
    stage.init(TASK);
    stage.analyze(TASK);
    let project = stage.end();
    let text = at(&project, "workflow_state.md");
    let plan = project.ask(&["devworkflow", "migrate", "--dry-run"]);
    assert_eq!(plan["moved"][1]["to"], ".accordo/workflow_state.md", "{plan:#}");
    assert_eq!(at(&project, "workflow_state.md"), text);
    let said = project.ask(&["devworkflow", "migrate"]);
    assert_eq!(said["moved"].as_array().unwrap().len(), 2, "{said:#}");
    assert_eq!(said["moved"][1]["ended_runs"].as_array().unwrap().len(), 1, "{said:#}");
    assert_eq!(at(&project, ".accordo/workflow_state.md"), text);
    assert_eq!(at(&project, ".accordo/project_config.md"), CONFIG);
    let stage = Stage::over(project);
    let said = stage.done(HELLO, json!({}));
    assert_eq!(said.value["file"], ".accordo/workflow_state.md");
    assert_eq!(said.stands(), ("ANALYZE", "RUNNING"));
    stage.blueprint(TASK);
    let project = stage.end();
    assert!(!project.path("workflow_state.md").exists());
    let own = |key: &str, status: &str| (key.to_owned(), status.to_owned());
    let wanted =
        [own(".accordo/workflow_state.md", "running"), own("workflow_state.md", "cancelled")];
    assert_eq!(statuses(&project), wanted);
    let said = project.ask(&["devworkflow", "migrate"]);
    assert_eq!(said["moved"], json!([]), "{said:#}");
}

#[test]
fn a_server_that_goes_on_meanwhile_finds_the_file_at_its_new_place() {
    let stage = Stage::new();
    stage.init(TASK);
    stage.project.ask(&["devworkflow", "migrate"]);
    stage.analyze(TASK);
    assert!(stage.text().contains("Phase: ANALYZE"), "{}", stage.text());
    assert!(!stage.project.path("workflow_state.md").exists());
    assert!(stage.project.path(".accordo/workflow_state.md").exists());
}

#[test]
fn what_a_server_is_told_while_files_are_moved_is_in_the_file_at_its_new_place() {
    let stage = Stage::new();
    stage.init(TASK);
    stage.analyze(TASK);
    let kept: Vec<String> = thread::scope(|scope| {
        let working = scope.spawn(|| {
            let entries = (0..40).map(|it| format!("entry {it} of many"));
            let is_kept = |entry: &String| {
                let arguments = updating("ANALYZE", "RUNNING", json!({"log_entry": entry}));
                !stage.call(UPDATE, arguments).is_error
            };
            entries.filter(is_kept).collect()
        });
        stage.project.ask(&["devworkflow", "migrate"]);
        working.join().unwrap()
    });
    let text = at(&stage.project, ".accordo/workflow_state.md");
    for entry in &kept {
        assert!(text.contains(entry), "`{entry}` is lost:\n{text}");
    }
    assert!(20 < kept.len(), "{kept:?}");
    assert!(!stage.project.path("workflow_state.md").exists());
}

#[test]
fn the_file_of_the_root_takes_the_place_of_one_that_a_run_had() {
    let project = project(&[]);
    project.write(".accordo/workflow_state.md", &file_text("VALIDATE", "RUNNING").text());
    let stage = Stage::over(project);
    stage.update("VALIDATE", "READY", json!({}));
    let project = stage.end();
    let older = at(&project, ".accordo/workflow_state.md");
    let newer = file_text("ANALYZE", "RUNNING").text();
    project.write("workflow_state.md", &newer);
    project.write(".accordo/workflow_state.md.backup", "first\n");
    let said = project.ask(&["devworkflow", "migrate"]);
    assert_eq!(said["moved"][1]["backup"], ".accordo/workflow_state.md.backup.1", "{said:#}");
    assert_eq!(at(&project, ".accordo/workflow_state.md.backup"), "first\n");
    assert_eq!(at(&project, ".accordo/workflow_state.md.backup.1"), older);
    let stage = Stage::over(project);
    assert_eq!(stage.read(HELLO, json!({})).stands(), ("ANALYZE", "RUNNING"));
    assert_eq!(stage.text(), newer);
}

#[test]
fn what_settings_place_elsewhere_is_not_moved_and_no_folder_outside_is_moved_into() {
    let set = project(&[("state_file", "workflow_state.md")]);
    set.write("workflow_state.md", &file_text("INIT", "READY").text());
    let said = set.ask(&["devworkflow", "migrate"]);
    assert_eq!(said["left"][0]["path"], "workflow_state.md", "{said:#}");
    assert!(set.path("workflow_state.md").exists());
    for directory in ["../out", ".", "/tmp"] {
        let project = project(&[("directory", directory)]);
        let mut command = project.milepost(&["devworkflow", "migrate", "--json"]);
        let output = command.stdin(Stdio::null()).output().unwrap();
        let said: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(said["error"]["code"], "directory_invalid", "{directory}: {said:#}");
        assert_eq!(at(&project, "project_config.md"), CONFIG);
    }
}

#[test]
fn the_state_is_shown_and_printed_to_the_byte() {
    let project = Project::new();
    let said = project.ask(&["devworkflow", "status"]);
    assert_eq!((&said["file"], &said["items"]), (&Value::Null, &json!([])));
    let text = file_text("ANALYZE", "RUNNING").text().replace('\n', "\r\n");
    project.write("workflow_state.md", &text);
    let said = project.ask(&["devworkflow", "status"]);
    assert_eq!((&said["phase"], &said["status"]), (&json!("ANALYZE"), &json!("RUNNING")));
    assert_eq!(said["file"], "workflow_state.md");
    let printed = project.milepost(&["devworkflow", "export"]).output().unwrap();
    assert_eq!(String::from_utf8(printed.stdout).unwrap(), text);
    // Anyone who only looks makes no database.
    assert!(!project.path(".milepost/milepost.db").exists());
    assert_eq!(at(&project, "workflow_state.md"), text);
}
