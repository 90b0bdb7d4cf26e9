//! The skill's commands at the terminal, and folders of state files that are taken over.

use std::{
    fs,
    path::PathBuf,
    process::{Output, Stdio},
};

use serde_json::{Value, json};

use crate::{
    fixtures::{KEYS, STATUSES, TITLES, state},
    project::Project,
    stage::{Stage, place, pretty},
};

const SCENE: &str = "0204";

/// A project with state files and no server.
fn project(states: &[Value]) -> Project {
    let project = Project::new();
    for state in states {
        project.write(&place(state["scene_id"].as_str().unwrap()), &pretty(state));
    }
    project
}

fn run(project: &Project, arguments: &[&str]) -> Output {
    project.milepost(arguments).stdin(Stdio::null()).output().unwrap()
}

/// Runs a command that must work, and returns what it prints.
#[track_caller]
fn printed(project: &Project, arguments: &[&str]) -> String {
    let output = run(project, arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Runs a command that must not work, and returns its exit code and all that it says.
#[track_caller]
fn refused(project: &Project, arguments: &[&str]) -> (i32, String) {
    let output = run(project, arguments);
    assert!(!output.status.success(), "{arguments:?}: {output:?}");
    let said = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8(said).unwrap())
}

#[track_caller]
fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no `{part}` in:\n{text}");
    }
}

/// Nobody can call a tool at a terminal.
#[track_caller]
fn names_no_call(text: &str) {
    for tool in ["get_generation_status(", "resume_generation(", "cancel_generation("] {
        assert!(!text.contains(tool), "`{tool}` is in:\n{text}");
    }
    assert!(!text.contains("Use list_generations"), "{text}");
}

fn read(project: &Project) -> Value {
    serde_json::from_slice(&fs::read(project.path(&place(SCENE))).unwrap()).unwrap()
}

#[test]
fn a_status_is_printed_with_the_facts_of_the_tool() {
    for status in STATUSES {
        let project = project(&[state(SCENE, status)]);
        let text = printed(&project, &["generation", "status", SCENE]);
        let state = state(SCENE, status);
        let step = format!("{}/7", state["current_step"]);
        has(&text, &[status, &step, state["session_id"].as_str().unwrap()]);
        // It is the detailed one.
        has(&text, &TITLES);
        names_no_call(&text);
        let told = project.ask(&["generation", "status", SCENE]);
        assert_eq!(told["scene_id"], SCENE, "{told:#}");
        assert_eq!(told["workflow_status"], status, "{told:#}");
        assert_eq!(told["current_step"], state["current_step"], "{told:#}");
    }
}

#[test]
fn a_status_without_a_scene_lists_what_is_active() {
    let states: Vec<Value> =
        (1..).zip(STATUSES).map(|(n, it)| state(&format!("010{n}"), it)).collect();
    let project = project(&states);
    let text = printed(&project, &["generation", "status"]);
    has(&text, &["(3 total)", "0101", "0102", "0103"]);
    assert!(!text.contains("0104") && !text.contains("0105"), "{text}");
    has(&text, &["milepost generation status 0101", "milepost generation cancel 0101"]);
    has(&text, &["milepost generation resume 0103"]);
    names_no_call(&text);
    let count = |arguments: &[&str]| {
        let told = project.ask(arguments);
        let number = told["generations"].as_array().unwrap().len();
        assert_eq!(told["total"], number, "{told:#}");
        number
    };
    assert_eq!(count(&["generation", "status"]), 3);
    assert_eq!(count(&["generation", "list"]), 5);
    assert_eq!(count(&["generation", "list", "--active"]), 3);
    assert_eq!(count(&["generation", "list", "--completed"]), 1);
    assert_eq!(count(&["generation", "list", "--failed"]), 1);
    let failed = printed(&project, &["generation", "list", "--failed"]);
    has(&failed, &["(1 total)", "0103", "[Resume]"]);
}

#[test]
fn a_resume_without_a_yes_shows_the_plan_and_changes_nothing() {
    let project = project(&[state(SCENE, "FAILED")]);
    let bytes = fs::read(project.path(&place(SCENE))).unwrap();
    let output = run(&project, &["generation", "resume", SCENE]);
    let text = String::from_utf8(output.stdout).unwrap();
    has(&text, &["(RESUME - was at this step)", "~32s", "the place is wrong"]);
    names_no_call(&text);
    assert_eq!(fs::read(project.path(&place(SCENE))).unwrap(), bytes);
}

#[test]
fn a_resume_with_a_yes_takes_the_scene_up_again() {
    let failed = project(&[state(SCENE, "FAILED")]);
    let text = printed(&failed, &["generation", "resume", SCENE, "--yes"]);
    has(&text, &["IN_PROGRESS", "~32s"]);
    let now = read(&failed);
    assert_eq!((&now["workflow_status"], &now["current_step"]), (&json!("IN_PROGRESS"), &json!(4)));
    assert_eq!(now["resume_history"][0]["forced"], false);
    // What waits for approval, or is damaged, needs force.
    let waiting = project(&[state(SCENE, "WAITING_USER_APPROVAL")]);
    let (code, said) = refused(&waiting, &["generation", "resume", SCENE, "--yes"]);
    assert_eq!(code, 1, "{said}");
    has(&said, &["waiting for user approval"]);
    names_no_call(&said);
    printed(&waiting, &["generation", "resume", SCENE, "--force", "--yes"]);
    assert_eq!(read(&waiting)["resume_history"][0]["forced"], true);
}

#[test]
fn a_scene_is_cancelled_with_or_without_a_reason() {
    let project = project(&[state(SCENE, "IN_PROGRESS")]);
    let reason = "Blueprint has error";
    let text = printed(&project, &["generation", "cancel", SCENE, "--reason", reason]);
    has(&text, &["IN_PROGRESS (Step 4/7)", "INTERRUPTED", reason]);
    has(&text, &["milepost generation resume 0204"]);
    names_no_call(&text);
    let now = read(&project);
    assert_eq!(now["workflow_status"], "CANCELLED");
    assert_eq!(now["cancellation_reason"], reason);
    assert_eq!(now["steps"][KEYS[3]]["status"], "PENDING");
    let (code, said) = refused(&project, &["generation", "cancel", SCENE]);
    assert_eq!(code, 1, "{said}");
    has(&said, &["already cancelled", reason]);
}

#[test]
fn the_terminal_and_the_server_see_one_scene() {
    let stage = Stage::new();
    stage.begin(SCENE);
    stage.work(SCENE, 1..=2);
    has(&printed(&stage.project, &["generation", "status", SCENE]), &["3/7", "IN_PROGRESS"]);
    let told = stage.project.ask(&["generation", "cancel", SCENE]);
    assert_eq!(told["workflow_status"], "CANCELLED", "{told:#}");
    let said = stage.read("get_generation_status", json!({"scene_id": SCENE}));
    assert_eq!(said.value["workflow_status"], "CANCELLED");
    assert_eq!(stage.state(SCENE)["cancellation_reason"], "User requested cancellation");
    let told = stage.project.ask(&["generation", "resume", SCENE, "--yes"]);
    assert_eq!(told["resume_step"], 3, "{told:#}");
    assert_eq!(told["time_saved_seconds"].as_f64(), Some(3.0), "{told:#}");
    stage.start(SCENE, 3);
}

#[test]
fn what_is_no_scene_id_is_refused_and_what_is_missing_is_named() {
    let project = project(&[]);
    for command in ["status", "resume", "cancel"] {
        for bad in ["204", "02a4", "12345", "../x", "०२०४"] {
            let (code, said) = refused(&project, &["generation", command, bad]);
            assert_eq!(code, 64, "{command} {bad}: {said}");
            has(&said, &["exactly 4 digits"]);
        }
        let (code, said) = refused(&project, &["generation", command, SCENE]);
        assert_eq!(code, 1, "{command}: {said}");
        has(&said, &[SCENE]);
        names_no_call(&said);
    }
    for command in ["resume", "cancel"] {
        refused(&project, &["generation", command]);
    }
    has(&printed(&project, &["generation", "list"]), &["(0 total)"]);
    assert!(!project.path(&place(SCENE)).exists());
}

/// Returns the files of a folder with their bytes.
fn contents(project: &Project, folder: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found: Vec<_> = fs::read_dir(project.path(folder))
        .unwrap()
        .map(|it| it.unwrap().path())
        .filter(|it| it.is_file())
        .map(|it| (it.clone(), fs::read(it).unwrap()))
        .collect();
    found.sort();
    found
}

#[test]
fn a_folder_of_state_files_is_taken_over() {
    for folder in ["workspace", "old/workspace"] {
        let project = Project::new();
        let file = |scene: &str| format!("{folder}/generation-state-{scene}.json");
        for (number, status) in (1..).zip(STATUSES) {
            let scene = format!("010{number}");
            project.write(&file(&scene), &pretty(&state(&scene, status)));
        }
        project.write(&file("0106"), "{torn");
        project.write(&file("0107"), "[]");
        project.write(&format!("{folder}/notes.json"), "{}");
        let before = contents(&project, folder);
        let (code, said) = refused(&project, &["import", "generation", folder]);
        assert_eq!(code, 1, "{said}");
        has(&said, &["generation-state-0106.json", "generation-state-0107.json"]);
        assert!(!said.contains("notes.json"), "{said}");
        assert_eq!(contents(&project, folder), before, "{folder}");
        // Every scene is there, and a second import finds nothing new.
        for (number, status) in (1..).zip(STATUSES) {
            let told = project.ask(&["generation", "status", &format!("010{number}")]);
            assert_eq!(told["workflow_status"], status, "{told:#}");
        }
        let runs = project.ask(&["run", "list", "--limit", "100"]);
        assert_eq!(runs["runs"].as_array().unwrap().len(), 5, "{runs:#}");
        let again = run(&project, &["import", "generation", folder, "--json"]);
        let told: Value = serde_json::from_slice(&again.stdout).unwrap();
        let count = |name: &str| told[name].as_array().map(Vec::len);
        assert_eq!(count("taken"), Some(0), "{told:#}");
        assert_eq!(count("already_there"), Some(5), "{told:#}");
        assert_eq!(count("not_taken"), Some(2), "{told:#}");
        assert_eq!(contents(&project, folder), before, "{folder}");
        assert_eq!(project.ask(&["run", "list", "--limit", "100"]), runs);
    }
}

/// Many files are written at once, and none of them waits for ever for another one's lock.
#[test]
fn many_files_are_taken_over_and_written_again() {
    let project = Project::new();
    for number in 0..300 {
        let scene = format!("{number:04}");
        let file = format!("old/generation-state-{scene}.json");
        project.write(&file, &pretty(&state(&scene, STATUSES[number % STATUSES.len()])));
    }
    let told = project.ask(&["import", "generation", "old"]);
    assert_eq!(told["taken"].as_array().unwrap().len(), 300, "{told:#}");
    // What was adopted is written as it was, and what is gone is written again.
    let bytes = |folder: &str| -> Vec<Vec<u8>> {
        contents(&project, folder).into_iter().map(|it| it.1).collect()
    };
    assert!(bytes("workspace") == bytes("old"), "they are not the same");
    fs::remove_dir_all(project.path("workspace")).unwrap();
    let told = project.ask(&["generation", "list"]);
    assert_eq!(told["total"], 300);
    assert!(bytes("workspace") == bytes("old"), "they are not the same");
}

#[test]
fn a_session_is_taken_over_with_its_workspace() {
    let project = Project::new();
    project.write("old/generation-state-0204.json", &pretty(&state(SCENE, "FAILED")));
    let own = "sessions/exp-1/generation-state-0204.json";
    project.write(&format!("old/{own}"), &pretty(&state(SCENE, "COMPLETED")));
    let told = project.ask(&["import", "generation", "old"]);
    assert_eq!(told["taken"], json!(["0204", "0204@exp-1"]), "{told:#}");
    let status = || project.ask(&["generation", "status", SCENE])["workflow_status"].clone();
    assert_eq!(status(), "FAILED");
    project.write("workspace/session.lock", r#"{"active": "exp-1"}"#);
    assert_eq!(status(), "COMPLETED");
    let old = fs::read(project.path(&format!("old/{own}"))).unwrap();
    assert_eq!(fs::read(project.path(&format!("workspace/{own}"))).unwrap(), old);
}

#[test]
fn a_folder_that_can_be_read_whole_is_taken_over_without_complaint() {
    let project = Project::new();
    project.write("old/generation-state-0204.json", &pretty(&state(SCENE, "FAILED")));
    let told = project.ask(&["import", "generation", "old"]);
    assert_eq!(told["taken"].as_array().unwrap().len(), 1, "{told:#}");
    assert_eq!(told["not_taken"], json!([]), "{told:#}");
    let text = printed(&project, &["generation", "resume", SCENE, "--yes"]);
    has(&text, &["~32s"]);
    let (code, said) = refused(&project, &["import", "generation", "nowhere"]);
    assert_eq!(code, 1, "{said}");
    has(&said, &["nowhere"]);
}
