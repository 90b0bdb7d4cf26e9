//! What is kept of a session: its file, what is put away and when, what a restart finds, and what
//! several clients see.

use std::{fs, thread};

use serde_json::{Value, json};

use crate::{
    fixtures::{LOOP, TINY},
    project::Project,
    server::Era,
    stage::{Stage, project},
};

const KEYS: [&str; 21] = [
    "session_id",
    "client_id",
    "created_at",
    "workflow_name",
    "workflow_file",
    "session_filename",
    "last_updated",
    "current_node",
    "status",
    "execution_context",
    "inputs",
    "node_outputs",
    "current_item",
    "items",
    "log",
    "archive_log",
    "node_history",
    "version",
    "revision",
    "definition",
    "definition_sha256",
];

fn beta() -> Value {
    let evidence = json!({"c1": "ran it", "c2": "ran it again"});
    json!({"choose": "Beta", "user_approval": true, "criteria_evidence": evidence})
}

/// Changes the record of a session while no server runs.
fn rewrite(project: &Project, change: impl Fn(&mut Value)) {
    let folder = project.path(".accordo/sessions");
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let mut record: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        change(&mut record);
        fs::write(path, serde_json::to_string_pretty(&record).unwrap()).unwrap();
    }
}

#[test]
fn a_session_has_one_file_from_its_start_with_every_key() {
    let stage = Stage::graph(&[]);
    let id = stage.begin("workflow: Tiny");
    let names = stage.session_files();
    let [name] = names.as_slice() else { panic!("{names:?}") };
    let wanted = format!(r"^{id}_\d{{4}}-\d\d-\d\dT\d\d-\d\d-\d\d_\d{{3}}\.json$");
    assert!(regex::Regex::new(&wanted).unwrap().is_match(name), "{name}");
    let record = stage.session(&id);
    for key in KEYS {
        assert!(record.get(key).is_some(), "no {key} in {record:#}");
    }
    assert_eq!(record["session_filename"].as_str(), Some(name.as_str()));
    assert_eq!(record["definition"], TINY);
    let digest = record["definition_sha256"].as_str().unwrap();
    assert!(digest.len() == 64 && digest.chars().all(|it| it.is_ascii_hexdigit()), "{digest}");
    let path = stage.project.path(&format!(".accordo/sessions/{name}"));
    let text = fs::read_to_string(path).unwrap();
    assert!(text.starts_with("{\n  \""), "two spaces: {text}");
    // However often it changes, there is no second, and nothing left over from writing.
    let revision = record["revision"].as_u64().unwrap();
    stage.update_session(&id, &json!({"log_entry": "x"}));
    stage.go(&id, &beta());
    assert_eq!(stage.session_files(), names);
    assert!(revision < stage.session(&id)["revision"].as_u64().unwrap());
}

#[test]
fn a_text_for_people_is_written_beside_it_if_wanted() {
    let stage = Stage::graph(&[("session_format", "md")]);
    let id = stage.begin("workflow: Tiny");
    let names = stage.session_files();
    assert_eq!(names.len(), 2, "{names:?}");
    let stem = names[0].strip_suffix(".json").unwrap();
    assert_eq!(names[1], format!("{stem}.md"));
    let text = || fs::read_to_string(stage.project.path(&format!(".accordo/sessions/{stem}.md")));
    assert!(text().unwrap().contains("Alpha"));
    stage.go(&id, &beta());
    let text = text().unwrap();
    assert!(text.contains("Beta") && text.contains("ran it again"), "{text}");
    // Both are put away together, each with its own ending.
    stage.done("workflow_state", json!({"operation": "reset", "session_id": id}));
    let names = stage.session_files();
    assert!(names.iter().all(|it| it.starts_with(stem) && it.len() > stem.len() + 5), "{names:?}");
    assert_eq!(names.iter().filter(|it| it.ends_with(".md")).count(), 1, "{names:?}");
}

#[test]
fn the_file_of_a_deleted_session_begins_nothing() {
    let stage = Stage::graph(&[]);
    let id = stage.begin("workflow: Tiny");
    stage.project.ask(&["run", "cancel", &id]);
    let path = format!(".accordo/sessions/{}", stage.session_files()[0]);
    let deleted = stage.project.ask(&["run", "delete", &id, "--yes"]);
    assert_eq!(deleted["file"], json!({"path": path, "begins_run": false}));
    let get = json!({"operation": "get", "session_id": id});
    stage.refused("workflow_state", get.clone());
    let stage = stage.restart();
    stage.refused("workflow_state", get).has(&["was deleted"]);
    assert!(stage.project.path(&path).is_file());
    assert_eq!(stage.project.ask(&["run", "list"])["runs"], json!([]));
}

#[test]
fn a_restart_finds_everything() {
    let stage = Stage::graph(&[]);
    let id = stage.begin(LOOP);
    stage.update_session(&id, &json!({"add_item": "one", "log_entry": "a note"}));
    stage.go(&id, &json!({"choose": "check", "criteria_evidence": {"text": "wrote it"}}));
    let before = stage.session(&id);
    let stage = stage.restart();
    assert_eq!(stage.session(&id), before);
    stage.guide(json!({"session_id": id})).has(&["Check it."]);
    assert_eq!(stage.session(&id), before);
    // From the file alone too.
    let stage = stage.restart_without_database();
    stage.guide(json!({"session_id": id})).has(&["Check it."]);
    stage.go(&id, &json!({"choose": "write"}));
    let after = stage.session(&id);
    for key in ["inputs", "items", "node_outputs", "definition", "created_at", "session_filename"] {
        assert_eq!(after[key].is_null(), before[key].is_null(), "{key}");
        if key != "node_outputs" {
            assert_eq!(after[key], before[key], "{key}");
        }
    }
    assert_eq!(after["node_history"], json!(["write", "check"]));
    assert!(after["log"].to_string().contains("a note"), "{after:#}");
}

/// A session as the original wrote it: without the definition, and with times without a zone.
fn original(id: &str, workflow: &str) -> (String, String) {
    let record = json!({
        "session_id": id, "client_id": "default", "created_at": "2025-06-20T10:00:00",
        "workflow_name": workflow, "workflow_file": null, "session_filename": null,
        "last_updated": "2025-06-20T10:05:00", "current_node": "Alpha", "status": "RUNNING",
        "execution_context": {}, "inputs": {"task_description": "Add: old", "n": 3, "b": true},
        "node_outputs": {}, "current_item": "Add: old", "items": [],
        "log": ["[10:00:00] began"], "archive_log": [], "node_history": [], "plan": "",
    });
    let name = format!(".accordo/sessions/{id}_2025-06-20T10-00-00_001.json");
    (name, serde_json::to_string_pretty(&record).unwrap())
}

#[test]
fn a_session_file_of_the_original_is_taken_in() {
    let project = project(&[]);
    project.write_all(crate::fixtures::TINY_FILES);
    let id = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
    let (name, text) = original(id, "Tiny");
    project.write(&name, &text);
    let stage = Stage::over(project);
    let said = stage.guide(json!({"session_id": id}));
    said.has(&["Do Add: old with n=3 b=true"]);
    stage.go(id, &beta());
    stage.is_at(id, "Beta", "COMPLETED");
}

#[test]
fn a_session_without_its_definition_anywhere_is_said_to_miss_it() {
    let project = project(&[]);
    let id = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
    let (name, text) = original(id, "Vanished");
    project.write(&name, &text);
    let stage = Stage::over(project);
    let said = stage.ask(json!({"session_id": id}));
    assert!(said.is_error, "{}", said.text);
    said.has(&["❌ **Missing Workflow Definition**"]);
    // Once the definition is there, it goes on.
    stage.project.write(".accordo/workflows/v.yaml", &TINY.replace("name: Tiny", "name: Vanished"));
    stage.guide(json!({"session_id": id})).has(&["Do Add: old with n=3"]);
}

#[test]
fn a_session_file_that_is_gone_or_torn_is_written_again() {
    let stage = Stage::graph(&[]);
    let id = stage.begin(LOOP);
    stage.update_session(&id, &json!({"log_entry": "a note"}));
    let before = stage.session(&id);
    let path = stage.project.path(&format!(".accordo/sessions/{}", stage.session_files()[0]));
    for torn in [None, Some(""), Some("{\"session_id\": \"")] {
        match torn {
            None => fs::remove_file(&path).unwrap(),
            Some(text) => fs::write(&path, text).unwrap(),
        }
        stage.guide(json!({"session_id": id})).has(&["Write it."]);
        assert_eq!(stage.session(&id), before, "{torn:?}");
    }
}

#[test]
fn b30_what_is_over_is_put_away_after_its_time() {
    let stage = Stage::graph(&[("session_retention_hours", "1")]);
    let (over, open) = (stage.begin("workflow: Tiny"), stage.begin(LOOP));
    stage.go(&over, &beta());
    let project = stage.end();
    // Two hours ago, as far as the files know, and nobody else.
    rewrite(&project, |it| it["last_updated"] = json!("2025-06-20T10:05:00Z"));
    fs::remove_dir_all(project.path(".milepost")).unwrap();
    let stage = Stage::over(project);
    stage.guide(json!({"session_id": open}));
    let names = stage.session_files();
    let put_away = regex::Regex::new(r"_COMPLETED_\d{8}_\d{6}\.json$").unwrap();
    let gone: Vec<&String> = names.iter().filter(|it| put_away.is_match(it)).collect();
    assert_eq!(gone.len(), 1, "{names:?}");
    assert!(gone[0].starts_with(&over), "{names:?}");
    assert_eq!(stage.session(&open)["status"], "READY");
    let listed = stage.done("workflow_cache_management", json!({"operation": "list"}));
    listed.has(&[&open]).lacks(&[&over]);
}

#[test]
fn the_time_counts_from_the_last_change_and_putting_away_is_a_setting() {
    let stage = Stage::graph(&[("session_retention_hours", "1")]);
    let id = stage.begin("workflow: Tiny");
    stage.go(&id, &beta());
    let project = stage.end();
    rewrite(&project, |it| it["created_at"] = json!("2025-06-20T10:05:00Z"));
    fs::remove_dir_all(project.path(".milepost")).unwrap();
    let stage = Stage::over(project);
    stage.guide(json!({"session_id": id}));
    stage.is_at(&id, "Beta", "COMPLETED");
    // Without an archive it is removed all the same.
    let stage = Stage::graph(&[("session_retention_hours", "1"), ("session_archiving", "false")]);
    let id = stage.begin("workflow: Tiny");
    stage.go(&id, &beta());
    let project = stage.end();
    rewrite(&project, |it| it["last_updated"] = json!("2025-06-20T10:05:00Z"));
    fs::remove_dir_all(project.path(".milepost")).unwrap();
    let stage = Stage::over(project);
    let listed = stage.done("workflow_cache_management", json!({"operation": "list"}));
    listed.lacks(&[&id]);
    let put_away = regex::Regex::new(r"_COMPLETED_\d{8}_\d{6}\.json$").unwrap();
    assert!(!stage.session_files().iter().any(|it| put_away.is_match(it)));
}

#[test]
fn b38_a_session_goes_on_with_the_definition_it_began_with() {
    let stage = Stage::graph(&[]);
    let id = stage.begin("workflow: Tiny");
    let changed = TINY.replace("Rest after", "Jump after").replace("Beta", "Gamma");
    stage.project.write(".accordo/workflows/tiny.yaml", &changed);
    let said = stage.guide(json!({"session_id": id}));
    said.has(&["Rest after Add: login", "Beta", "changed"]).lacks(&["Gamma"]);
    let stage = stage.restart();
    stage.guide(json!({"session_id": id})).has(&["changed"]).lacks(&["Gamma"]);
    stage.go(&id, &beta()).has(&["✅ **Transitioned to:** BETA"]);
    // A new one begins with the new.
    let said = stage.guide(json!({"action": "start", "context": "workflow: Tiny"}));
    said.has(&["Jump after Add: login"]).lacks(&["changed"]);
    // And with the file gone altogether it still goes on.
    let id = said.session();
    fs::remove_file(stage.project.path(".accordo/workflows/tiny.yaml")).unwrap();
    stage.guide(json!({"session_id": id})).has(&["Jump after"]);
}

#[test]
fn several_clients_see_the_same_sessions() {
    let stage = Stage::graph(&[]);
    let other = Stage::serve(&stage.project, Era::Modern);
    let id = stage.begin(LOOP);
    let ask = |context: &Value| {
        let arguments =
            json!({"task_description": "x", "session_id": id, "context": context.to_string()});
        Stage::try_call(&other, "workflow_guidance", arguments).ok().unwrap()
    };
    let said = ask(&json!({"choose": "check", "criteria_evidence": {"text": "by the other"}}));
    said.has(&["✅ **Transitioned to:** CHECK"]);
    stage.go(&id, &json!({"choose": "write"}));
    ask(&json!({"choose": "check", "criteria_evidence": {"text": "once more"}}));
    assert_eq!(stage.session(&id)["node_history"], json!(["write", "check", "write"]));
}

#[test]
fn notes_of_several_servers_at_once_are_all_there_once() {
    let stage = Stage::graph(&[("log_chars_max", "1000000")]);
    let id = stage.begin(LOOP);
    thread::scope(|scope| {
        for server in 0..3 {
            let (project, id) = (&stage.project, id.as_str());
            scope.spawn(move || {
                let own = Stage::serve(project, Era::Modern);
                for number in 0..10 {
                    let updates = json!({"log_entry": format!("<{server} {number}>")}).to_string();
                    let arguments =
                        json!({"operation": "update", "session_id": id, "updates": updates});
                    let said = Stage::try_call(&own, "workflow_state", arguments).ok().unwrap();
                    assert!(!said.is_error, "{}", said.text);
                }
            });
        }
    });
    let log = stage.session(&id)["log"].to_string();
    for (server, number) in (0..3).flat_map(|it| (0..10).map(move |number| (it, number))) {
        assert_eq!(log.matches(&format!("<{server} {number}>")).count(), 1, "{log}");
    }
}

#[test]
fn the_classic_work_and_the_sessions_do_not_get_in_each_others_way() {
    let stage = Stage::new();
    stage.init("Add: login");
    let id = stage.begin(LOOP);
    stage.analyze("Add: login");
    assert_eq!(stage.guide(json!({"action": "next"})).session(), id);
    stage.go(&id, &json!({"choose": "check", "criteria_evidence": {"text": "x"}}));
    stage.stands("ANALYZE", "RUNNING");
}
