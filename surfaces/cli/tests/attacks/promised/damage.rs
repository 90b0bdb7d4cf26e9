//! Every dialect's file, damaged in every way: nothing is healed or dropped silently.

use std::{fs, path::PathBuf};

use serde_json::{Value, json};

use super::{Told, call, done, files_in, serve, work};
use crate::{project::Project, server::Server};

const GRAPH: &str = "\
name: Tiny
description: Two steps.
workflow:
  goal: Show how it goes.
  root: Alpha
  tree:
    Alpha:
      goal: First
      next_allowed_nodes: [Beta]
    Beta:
      goal: Second
      next_allowed_nodes: [Gamma]
    Gamma:
      goal: Third
";

/// A run with its file, and a file of another run of the same kind.
struct Begun {
    project: Project,
    server: Server,
    /// The run, as a command line names it.
    key: String,
    file: String,
    backups: &'static str,
    /// What the file said before.
    older: String,
    other: String,
    /// A word for how the run stands, and one that nobody knows.
    status: (&'static str, &'static str),
    /// A call that only looks.
    look: (&'static str, Value),
}

impl Begun {
    fn path(&self) -> PathBuf {
        self.project.path(&self.file)
    }

    fn bytes(&self) -> Vec<u8> {
        fs::read(self.path()).unwrap()
    }

    fn look(&self) -> Told {
        call(&self.server, self.look.0, self.look.1.clone())
    }
}

fn read(project: &Project, file: &str) -> String {
    fs::read_to_string(project.path(file)).unwrap()
}

fn generation() -> Begun {
    let project = Project::new();
    let server = serve(&project, "", "generation");
    for scene in ["0204", "0205"] {
        done(&server, "start_generation", json!({"scene_id": scene, "blueprint_path": "b.md"}));
    }
    let (file, other) =
        ("workspace/generation-state-0204.json", "workspace/generation-state-0205.json");
    work(&server, "0204", 1..=1);
    let (older, other) = (read(&project, file), read(&project, other));
    work(&server, "0204", 2..=2);
    Begun {
        key: "0204".to_owned(),
        file: file.to_owned(),
        backups: "workspace/backups",
        older,
        other,
        status: ("\"workflow_status\": \"IN_PROGRESS\"", "\"workflow_status\": \"DOZING\""),
        look: ("get_generation_status", json!({"scene_id": "0204"})),
        project,
        server,
    }
}

fn devworkflow() -> Begun {
    let project = Project::new();
    let server = serve(&project, "", "devworkflow");
    let (file, task) = ("workflow_state.md", "Add: a door");
    done(&server, "init_workflow_guidance", json!({"task_description": task}));
    done(&server, "analyze_phase_guidance", json!({"task_description": task}));
    let older = read(&project, file);
    let update = json!({"phase": "ANALYZE", "status": "RUNNING", "log_entry": "it is a door"});
    done(&server, "update_workflow_state_guidance", update);
    Begun {
        key: file.to_owned(),
        file: file.to_owned(),
        backups: ".accordo/backups",
        other: older.replace(task, "Add: a roof"),
        older,
        status: ("Status: RUNNING", "Status: DOZING"),
        look: ("validate_workflow_files_guidance", json!({})),
        project,
        server,
    }
}

fn forge() -> Begun {
    let project = Project::new();
    let specs = project.path(".specs").to_str().unwrap().to_owned();
    let project = project.with("FORGE_SPECS_DIR", &specs);
    let server = serve(&project, "", "forge");
    for name in ["one", "two"] {
        fs::create_dir_all(project.path(&format!(".specs/{name}"))).unwrap();
        let workspace = format!("{specs}/{name}");
        done(
            &server,
            "init",
            json!({"workspace": workspace, "spec_name": name, "validated": true}),
        );
    }
    let (file, other) = (".specs/one/state.json", ".specs/two/state.json");
    let (older, other) = (read(&project, file), read(&project, other));
    let workspace = format!("{specs}/one");
    done(&server, "phase_start", json!({"workspace": workspace, "phase": "phase-1"}));
    Begun {
        key: ".specs/one".to_owned(),
        file: file.to_owned(),
        backups: ".specs/one/backups",
        older,
        other,
        status: ("\"currentPhaseStatus\": \"in_progress\"", "\"currentPhaseStatus\": \"dozing\""),
        look: ("get", json!({"workspace": workspace, "field": "currentPhase"})),
        project,
        server,
    }
}

fn session() -> Begun {
    let project = Project::new();
    project.write(".accordo/workflows/tiny.yaml", GRAPH);
    let server = serve(&project, "", "devworkflow");
    let mut ids = Vec::new();
    for _ in 0..2 {
        let start =
            json!({"task_description": "Add: x", "action": "start", "context": "workflow: Tiny"});
        let told = done(&server, "workflow_guidance", start);
        ids.push(told.0["structuredContent"]["session_id"].as_str().unwrap().to_owned());
    }
    let file_of = |id: &str| {
        let entries = fs::read_dir(project.path(".accordo/sessions")).unwrap();
        let names = entries.map(|it| it.unwrap().file_name().into_string().unwrap());
        let mut own = names.filter(|it| it.starts_with(id) && it.ends_with(".json"));
        format!(".accordo/sessions/{}", own.next().unwrap())
    };
    let (file, other) = (file_of(&ids[0]), file_of(&ids[1]));
    let (older, other) = (read(&project, &file), read(&project, &other));
    let on = json!({"session_id": ids[0], "task_description": "Add: x", "context": "choose: Beta"});
    done(&server, "workflow_guidance", on);
    Begun {
        key: ids[0].clone(),
        file,
        backups: ".accordo/backups",
        older,
        other,
        status: ("\"status\": \"RUNNING\"", "\"status\": \"DOZING\""),
        look: ("workflow_state", json!({"operation": "get", "session_id": ids[0]})),
        project,
        server,
    }
}

/// What is done to a file, by name. `None`: it is taken away.
fn damages(begun: &Begun) -> Vec<(String, Option<Vec<u8>>)> {
    let whole = begun.bytes();
    let text = String::from_utf8(whole.clone()).unwrap();
    let cut = |quarter: usize| whole[..whole.len() * quarter / 4].to_vec();
    let mut damages = vec![
        ("deleted".to_owned(), None),
        ("emptied".to_owned(), Some(Vec::new())),
        ("torn, with zeros at the end".to_owned(), Some([cut(2), vec![0; 64]].concat())),
        ("torn, with another end".to_owned(), Some([cut(2), b"\0half\n".to_vec()].concat())),
        ("zeros".to_owned(), Some(vec![0; 64])),
        ("not text".to_owned(), Some(b"\xff\xfe\x00".to_vec())),
        ("another run's".to_owned(), Some(begun.other.clone().into_bytes())),
        ("an older copy".to_owned(), Some(begun.older.clone().into_bytes())),
    ];
    for quarter in 1..4 {
        damages.push((format!("cut after {quarter} quarters"), Some(cut(quarter))));
    }
    let older = begun.older.as_bytes();
    for left in [older.len() / 2, older.len() - 10] {
        damages
            .push((format!("an older copy, cut after {left} bytes"), Some(older[..left].into())));
    }
    let (known, unknown) = begun.status;
    let odd = text.replacen(known, unknown, 1);
    assert_ne!(odd, text, "{text}");
    damages.push(("an unknown status".to_owned(), Some(odd.into_bytes())));
    damages
}

/// Damages the file of a run that begins again for each damage, and looks.
fn check_all(begin: impl Fn() -> Begun) {
    let count = damages(&begin()).len();
    for at in 0..count {
        let begun = begin();
        let before = begun.bytes();
        let (name, damaged) = damages(&begun).swap_remove(at);
        match &damaged {
            Some(bytes) => fs::write(begun.path(), bytes).unwrap(),
            None => fs::remove_file(begun.path()).unwrap(),
        }
        let told = begun.look();
        assert!(!told.is_error(), "{name}: {:#}", told.0);
        let now = begun.bytes();
        if damaged.as_ref() == Some(&now) {
            // It was taken in as an edit, and stays until something else happens.
            assert_eq!(begun.bytes(), now, "{name}");
            continue;
        }
        assert_eq!(now, before, "{name}: the file is neither what the log says nor the edit");
        check_told(&begun, &told, (&name, damaged));
        // It is told once.
        begun.look().lacks(&["was not taken in", "was gone"]);
    }
}

#[track_caller]
fn check_told(begun: &Begun, told: &Told, (name, damaged): (&str, Option<Vec<u8>>)) {
    let Some(damaged) = damaged else {
        told.says(&["was gone, and was written from the log again"]);
        return;
    };
    told.says(&[&begun.file, "was not taken in", "replaced from the log"]);
    let kept = files_in(&begun.project, begun.backups);
    if damaged.is_empty() {
        told.says(&["it was empty", "nothing in it to keep"]);
        assert!(kept.is_empty(), "{name}");
    } else {
        told.says(&[begun.backups]);
        assert_eq!(kept, [damaged], "{name}: what was found is not kept");
    }
    let history = begun.project.ask(&["run", "history", &begun.key]).to_string();
    assert!(history.contains("was not taken in"), "{name}: {history}");
}

#[test]
fn a_scenes_file_is_not_healed_silently() {
    check_all(generation);
}

#[test]
fn a_workflow_state_file_is_not_healed_silently() {
    check_all(devworkflow);
}

#[test]
fn a_pipelines_file_is_not_healed_silently() {
    check_all(forge);
}

#[test]
fn a_sessions_file_is_not_healed_silently() {
    check_all(session);
}

#[test]
fn a_workflow_state_file_whose_archive_log_was_deleted_is_kept_and_told_of() {
    let begun = devworkflow();
    let text = String::from_utf8(begun.bytes()).unwrap();
    let cut = &text[..text.find("## ArchiveLog").unwrap()];
    fs::write(begun.path(), cut).unwrap();
    begun.look().says(&["was not taken in: its end is missing", ".accordo/backups/"]);
    assert_eq!(begun.bytes(), text.as_bytes());
    assert_eq!(files_in(&begun.project, begun.backups), [cut.as_bytes()]);
}

#[test]
fn what_is_noticed_while_nobody_asks_is_told_with_the_next_answer_a_refusal_too() {
    let Begun { project, server, file, backups, .. } = generation();
    drop(server);
    fs::write(project.path(&file), "{torn").unwrap();
    let server = serve(&project, "", "core");
    let told = call(&server, "answer_gate", json!({"instance_id": "0204", "answer": "approve"}));
    assert!(told.is_error(), "{:#}", told.0);
    assert_eq!(files_in(&project, backups), [b"{torn"], "{:#}", told.0);
    told.says(&[&file, backups]);
}

#[test]
fn a_file_with_a_markdown_copy_beside_it_keeps_what_was_written_into_the_copy() {
    let begun = session_with_copy();
    let copy = begun.file.replace(".json", ".md");
    fs::write(begun.project.path(&copy), "mine\n").unwrap();
    let on = json!({"session_id": begun.key, "task_description": "Add: x",
                    "context": "choose: Beta"});
    done(&begun.server, "workflow_guidance", on).says(&[".accordo/backups/", &copy]);
    assert!(read(&begun.project, &copy).contains("Beta"));
    assert_eq!(files_in(&begun.project, begun.backups), [b"mine\n"]);
}

fn session_with_copy() -> Begun {
    let project = Project::new().with("MILEPOST_DEVWORKFLOW_SESSION_FORMAT", "md");
    project.write(".accordo/workflows/tiny.yaml", GRAPH);
    let server = serve(&project, "", "devworkflow");
    let start =
        json!({"task_description": "Add: x", "action": "start", "context": "workflow: Tiny"});
    let told = done(&server, "workflow_guidance", start);
    let key = told.0["structuredContent"]["session_id"].as_str().unwrap().to_owned();
    let entries = fs::read_dir(project.path(".accordo/sessions")).unwrap();
    let names = entries.map(|it| it.unwrap().file_name().into_string().unwrap());
    let name = names.into_iter().find(|it| it.ends_with(".json")).unwrap();
    let file = format!(".accordo/sessions/{name}");
    Begun {
        key,
        file,
        backups: ".accordo/backups",
        older: String::new(),
        other: String::new(),
        status: ("", ""),
        look: ("workflow_state", json!({"operation": "get"})),
        project,
        server,
    }
}

/// Changes members of a JSON file, and checks that this is refused for a reason that has `parts`,
/// that the text is kept, and that the run is as it was.
#[track_caller]
fn check_refused(begun: &Begun, change: impl FnOnce(&mut Value), parts: &[&str]) {
    let before = begun.bytes();
    let mut state: Value = serde_json::from_slice(&before).unwrap();
    change(&mut state);
    let text = serde_json::to_string_pretty(&state).unwrap();
    fs::write(begun.path(), &text).unwrap();
    begun.look().says(&["was not taken in", begun.backups]).says(parts);
    assert_eq!(begun.bytes(), before);
    assert!(files_in(&begun.project, begun.backups).contains(&text.into_bytes()));
}

#[test]
fn a_scene_that_says_completed_with_open_steps_is_refused() {
    let begun = generation();
    let complete = |state: &mut Value| state["workflow_status"] = json!("COMPLETED");
    check_refused(&begun, complete, &["step_3_verification_plan", "is not done"]);
    // The run goes on as if nothing had happened.
    work(&begun.server, "0204", 3..=4);
}

#[test]
fn a_step_that_is_done_after_one_that_is_not_is_refused() {
    let begun = generation();
    let jump = |state: &mut Value| {
        state["steps"]["step_4_generation"] = json!({"status": "COMPLETED"});
    };
    check_refused(&begun, jump, &["step_4_generation", "step_3_verification_plan", "correct"]);
    work(&begun.server, "0204", 3..=4);
}

#[test]
fn a_pipeline_at_a_phase_that_there_is_not_is_refused_and_goes_on() {
    let begun = forge();
    let astray = |state: &mut Value| state["currentPhase"] = json!("phase-99");
    check_refused(&begun, astray, &["phase-99", "must be one of phase-1"]);
    let workspace = begun.look.1["workspace"].clone();
    done(&begun.server, "phase_fail", json!({"workspace": workspace, "phase": "phase-1"}));
}

#[test]
fn a_new_pipeline_at_a_phase_that_there_is_not_is_not_begun() {
    let begun = forge();
    let text = begun.older.replace("\"phase-1\"", "\"phase-99\"");
    begun.project.write(".specs/three/state.json", &text);
    let workspace = begun.project.path(".specs/three");
    let get = json!({"workspace": workspace.to_str().unwrap(), "field": "currentPhase"});
    let told = call(&begun.server, "get", get);
    assert!(told.is_error(), "{:#}", told.0);
    told.says(&["phase-99"]);
    assert_eq!(read(&begun.project, ".specs/three/state.json"), text);
}
