//! `milepost import devworkflow`: what others left becomes this project's, from wherever it lies, and
//! is itself left as it was.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
};

use serde_json::{Value, json};

use crate::{
    file_text::{FileText, file_text},
    fixtures::{CONFIG, HELLO},
    project::Project,
    stage::Stage,
};

const JSON_STATE: &str = r#"{
  "metadata": {"client_id": "default", "created_at": null, "last_updated": "2025-05-29T11:00:00"},
  "state": {"phase": "ANALYZE", "status": "READY", "current_item": "Add: a door"},
  "plan": null,
  "items": [{"id": 7, "description": "Add: a door", "status": "pending"}],
  "log": null,
  "archive_log": ["[09:00:00] long ago"]
}"#;

/// Returns every file of a folder, with its bytes and without our own folder.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true if path.ends_with(".milepost") => {}
                true => folders.push(path),
                false => found.push((path.clone(), fs::read(&path).unwrap())),
            }
        }
    }
    found.sort();
    found
}

/// Imports, and returns what was answered and whether all was well.
fn import(project: &Project, from: &str) -> (Value, bool) {
    let mut command = project.milepost(&["import", "devworkflow", from, "--json"]);
    let output = command.stdin(Stdio::null()).output().unwrap();
    let said = serde_json::from_slice(&output.stdout);
    (said.unwrap_or_else(|_| panic!("{output:?}")), output.status.success())
}

/// A folder beside the project with files in it, as it is called from the project.
fn elsewhere(project: &Project, files: &[(&str, &str)]) -> &'static str {
    for (path, text) in files {
        project.write(&format!("../old/{path}"), text);
    }
    "../old"
}

fn count(said: &Value, key: &str) -> usize {
    said[key].as_array().map_or(0, Vec::len)
}

#[test]
fn files_of_the_project_itself_are_adopted_where_they_are() {
    for folder in ["", ".accordo/"] {
        for from in [".", folder] {
            let project = Project::new();
            let crlf = file_text("ANALYZE", "RUNNING").text().replace('\n', "\r\n");
            project.write(&format!("{folder}workflow_state.md"), &format!("\u{feff}{crlf}"));
            project.write(&format!("{folder}project_config.md"), CONFIG);
            let before = files(&project.path(""));
            let from = if from.is_empty() { "." } else { from };
            let (said, is_fine) = import(&project, from);
            assert!(is_fine, "{said:#}");
            assert_eq!(said["taken"], json!([format!("{folder}workflow_state.md")]));
            assert_eq!(said["already_there"], json!([format!("{folder}project_config.md")]));
            assert_eq!(said["doubts"], json!([]), "{said:#}");
            let runs = project.ask(&["run", "list"]);
            assert_eq!(count(&runs, "runs"), 1, "{runs:#}");
            let (again, is_fine) = import(&project, from);
            assert!(is_fine && count(&again, "taken") == 0, "{again:#}");
            assert_eq!(count(&again, "already_there"), 2, "{again:#}");
            assert_eq!(files(&project.path("")), before);
            assert_eq!(count(&project.ask(&["run", "list"]), "runs"), 1);
        }
    }
}

#[test]
fn files_from_elsewhere_are_copied_once_and_left_as_they_were() {
    for folder in ["", ".accordo/", ".workflow-commander/"] {
        let project = Project::new();
        let text = file_text("CONSTRUCT", "RUNNING").text();
        let from = elsewhere(
            &project,
            &[
                (&format!("{folder}workflow_state.md"), &text),
                (&format!("{folder}project_config.md"), CONFIG),
            ],
        );
        let before = files(&project.path("../old"));
        let (said, is_fine) = import(&project, from);
        assert!(is_fine && count(&said, "taken") == 2, "{said:#}");
        assert_eq!(files(&project.path("../old")), before);
        assert_eq!(fs::read_to_string(project.path("workflow_state.md")).unwrap(), text);
        assert_eq!(fs::read_to_string(project.path("project_config.md")).unwrap(), CONFIG);
        let stage = Stage::over(project);
        stage.update("CONSTRUCT", "READY", json!({}));
        let project = stage.end();
        // The work went on here since; the import is still the same one.
        let (again, is_fine) = import(&project, from);
        assert!(is_fine && count(&again, "already_there") == 2, "{again:#}");
        let now = fs::read_to_string(project.path("workflow_state.md")).unwrap();
        assert_eq!(FileText::read(&now).status, "READY");
    }
}

#[test]
fn a_state_goes_where_a_new_one_would_and_never_over_another() {
    let project = Project::new();
    fs::create_dir(project.path(".accordo")).unwrap();
    let text = file_text("ANALYZE", "READY").text();
    let from = elsewhere(&project, &[("workflow_state.md", &text), ("project_config.md", CONFIG)]);
    assert!(import(&project, from).1);
    assert_eq!(fs::read_to_string(project.path(".accordo/workflow_state.md")).unwrap(), text);
    elsewhere(
        &project,
        &[
            ("workflow_state.md", &file_text("VALIDATE", "RUNNING").text()),
            ("project_config.md", "another\n"),
        ],
    );
    let (said, is_fine) = import(&project, from);
    assert!(!is_fine && count(&said, "not_taken") == 2, "{said:#}");
    let reason = said["not_taken"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("`.accordo/workflow_state.md`"), "{reason}");
    assert_eq!(fs::read_to_string(project.path(".accordo/workflow_state.md")).unwrap(), text);
    assert_eq!(fs::read_to_string(project.path(".accordo/project_config.md")).unwrap(), CONFIG);
}

#[test]
fn the_json_form_becomes_a_state_file_and_markdown_goes_before_it() {
    let project = Project::new();
    let from = elsewhere(&project, &[("workflow_state.json", JSON_STATE)]);
    let (said, is_fine) = import(&project, from);
    assert!(is_fine && count(&said, "taken") == 1, "{said:#}");
    let state = FileText::read(&fs::read_to_string(project.path("workflow_state.md")).unwrap());
    assert_eq!((state.phase.as_str(), state.item.as_deref()), ("ANALYZE", Some("Add: a door")));
    assert_eq!(state.archive, "[09:00:00] long ago");
    let exported = project.milepost(&["devworkflow", "export", "--format", "json"]).output();
    let exported: Value = serde_json::from_slice(&exported.unwrap().stdout).unwrap();
    let wanted: Value = serde_json::from_str(JSON_STATE).unwrap();
    for part in ["state", "plan", "items", "log", "archive_log"] {
        assert_eq!(exported[part], wanted[part], "{part}");
    }
    assert!(import(&project, from).1);
    elsewhere(&project, &[("workflow_state.md", &file_text("INIT", "READY").text())]);
    let (said, _) = import(&project, from);
    assert!(said["left"][0]["path"].as_str().unwrap().ends_with("workflow_state.json"), "{said:#}");
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_is_taken() {
    for (name, text, why) in [
        ("workflow_state.json", "[]", "expected an object"),
        ("workflow_state.json", "{\"items\": 3}", "items"),
        ("workflow_state.md", "\0\0\0", "not text"),
    ] {
        let project = Project::new();
        let from = elsewhere(&project, &[(name, text), ("project_config.md", CONFIG)]);
        let (said, is_fine) = import(&project, from);
        assert!(!is_fine, "{said:#}");
        let (path, reason) = (&said["not_taken"][0]["path"], &said["not_taken"][0]["reason"]);
        assert!(path.as_str().unwrap().ends_with(name), "{said:#}");
        assert!(reason.as_str().unwrap().contains(why) || why == "items", "{said:#}");
        assert_eq!(count(&said, "taken"), 1, "{said:#}");
        assert!(!project.path("workflow_state.md").exists());
    }
    let project = Project::new();
    fs::create_dir_all(project.path("../old")).unwrap();
    fs::write(project.path("../old/workflow_state.md"), [0xff, 0xfe, b'x']).unwrap();
    let (said, is_fine) = import(&project, "../old");
    assert!(!is_fine && said["not_taken"][0]["reason"] == "it is not UTF-8 text", "{said:#}");
    let (said, is_fine) = import(&project, "../none");
    assert!(!is_fine && said["error"]["code"] == "folder_missing", "{said:#}");
}

#[test]
fn what_is_odd_in_files_is_told_and_they_are_taken_all_the_same() {
    let project = Project::new();
    let odd = file_text("CONSTRUCT", "RUNNING").text().replace("Phase: CONSTRUCT", "Phase: BANANA");
    let from = elsewhere(&project, &[("workflow_state.md", &odd), ("project_config.md", "# P\n")]);
    let (said, is_fine) = import(&project, from);
    assert!(is_fine && count(&said, "taken") == 2, "{said:#}");
    let doubts = said["doubts"].to_string();
    for issue in ["BANANA", "Missing required section: ## Changelog"] {
        assert!(doubts.contains(issue), "{said:#}");
    }
    assert_eq!(fs::read_to_string(project.path("workflow_state.md")).unwrap(), odd);
    Stage::over(project).read(HELLO, json!({}));
}

/// An older project with the graphs `Tiny` and `Other`, and a session that stands at a node.
fn with_session() -> (Project, String) {
    let stage = Stage::graph(&[]);
    let id = stage.begin("workflow: Tiny");
    let project = stage.end();
    (project, id)
}

#[test]
fn sessions_come_with_their_graphs_and_go_on() {
    for inside in ["", ".accordo"] {
        let (old, id) = with_session();
        let before = files(&old.path(""));
        let project = Project::new();
        let from = old.path(inside).to_string_lossy().into_owned();
        let (said, is_fine) = import(&project, &from);
        assert!(is_fine, "{said:#}");
        let is_session = |it: &&Value| it.as_str().unwrap_or_default().contains(&id);
        let taken = said["taken"].as_array().unwrap();
        assert_eq!(taken.iter().filter(is_session).count(), 1, "{said:#}");
        assert_eq!(files(&old.path("")), before);
        let (again, is_fine) = import(&project, &from);
        assert!(is_fine && count(&again, "taken") == 0, "{again:#}");
        let stage = Stage::over(project);
        let file = stage.session(&id);
        assert_eq!(
            (&file["workflow_name"], &file["current_node"]),
            (&json!("Tiny"), &json!("Alpha"))
        );
        stage.is_at(&id, "Alpha", "READY");
        let choice = json!({
            "choose": "Beta", "user_approval": true,
            "criteria_evidence": {"c1": "seen", "c2": "seen too"},
        });
        stage.go(&id, &choice);
        stage.is_at(&id, "Beta", "COMPLETED");
        assert_eq!(files(&old.path("")), before);
    }
}

#[test]
fn of_several_files_of_a_session_the_newest_counts_and_one_without_a_graph_is_told() {
    let (old, id) = with_session();
    let folder = old.path(".accordo/sessions");
    let (path, bytes) = files(&folder).remove(0);
    let mut later: Value = serde_json::from_slice(&bytes).unwrap();
    later["last_updated"] = json!("2099-01-01T00:00:00Z");
    let later = serde_json::to_string(&later).unwrap();
    fs::write(folder.join(format!("{id}_20990101_000000_001.json")), &later).unwrap();
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    fs::write(folder.join(name.replace("_001.", "_001_COMPLETED_20990101_000000.")), "{}").unwrap();
    fs::write(folder.join(format!("{id}_broken_001.json")), "{").unwrap();
    let from = old.path("").to_string_lossy().into_owned();
    let project = Project::new();
    let (said, is_fine) = import(&project, &from);
    assert!(!is_fine && count(&said, "not_taken") == 1, "{said:#}");
    assert!(said["not_taken"][0]["path"].as_str().unwrap().contains("broken"), "{said:#}");
    assert_eq!(count(&said, "left"), 2, "{said:#}");
    assert!(said["taken"].to_string().contains("20990101_000000_001"), "{said:#}");
    // A server of another make writes no definition into its files.
    let mut bare: Value = serde_json::from_slice(&bytes).unwrap();
    bare.as_object_mut().unwrap().retain(|key, _| !key.contains("definition"));
    let project = Project::new();
    project.write(".accordo/sessions/x.json", "{}");
    project.write(&format!(".accordo/sessions/{name}"), &bare.to_string());
    let (said, is_fine) = import(&project, ".");
    assert!(!is_fine, "{said:#}");
    let reason = said["not_taken"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("`Tiny`") && reason.contains(".accordo/workflows"), "{said:#}");
}
