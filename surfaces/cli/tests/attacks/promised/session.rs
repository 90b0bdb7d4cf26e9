//! A session's file is put in the place of the scene's: the work of the session is committed.

use std::fs;

use serde_json::{Value, json};

use super::{call, done, files_in, serve, work};
use crate::{project::Project, server::Server};

const SCENE: &str = "0301";
const COMMON: &str = "workspace/generation-state-0301.json";
const OWN: &str = "workspace/sessions/exp-1/generation-state-0301.json";
const LOCK: &str = "workspace/session.lock";

/// A scene at step 1, and a session of it in which steps 2 and 3 are done.
fn begun() -> (Project, Server) {
    let project = Project::new();
    let server = serve(&project, "", "generation");
    done(&server, "start_generation", json!({"scene_id": SCENE, "blueprint_path": "b.md"}));
    work(&server, SCENE, 1..=1);
    lock(&project);
    work(&server, SCENE, 2..=3);
    (project, server)
}

fn lock(project: &Project) {
    project.write(LOCK, "{\"active\": \"exp-1\"}");
}

fn unlock(project: &Project) {
    fs::remove_file(project.path(LOCK)).unwrap();
}

fn copy(project: &Project) {
    fs::copy(project.path(OWN), project.path(COMMON)).unwrap();
}

fn state(project: &Project) -> Value {
    serde_json::from_slice(&fs::read(project.path(COMMON)).unwrap()).unwrap()
}

/// Checks that the scene has what was done in the session, and goes on from there.
#[track_caller]
fn check_committed(project: &Project, server: &Server) {
    let told = done(server, "get_generation_status", json!({"scene_id": SCENE, "detailed": true}));
    told.lacks(&["was not taken in", "older state"]);
    let now = state(project);
    assert_eq!(now["steps"]["step_3_verification_plan"]["status"], "COMPLETED", "{now:#}");
    work(server, SCENE, 4..=4);
    assert_eq!(state(project)["steps"]["step_4_generation"]["status"], "COMPLETED");
}

#[test]
fn a_sessions_file_in_the_place_of_the_scenes_is_taken_in() {
    let (project, server) = begun();
    copy(&project);
    unlock(&project);
    check_committed(&project, &server);
}

#[test]
fn a_sessions_file_is_taken_in_once_the_session_is_over() {
    for order in 0..4 {
        let (project, server) = begun();
        match order {
            // The lock goes first, and someone looks in between.
            0 => {
                unlock(&project);
                done(&server, "get_generation_status", json!({"scene_id": SCENE}));
                copy(&project);
            }
            // The session goes on after the copy, and is copied again.
            1 => {
                copy(&project);
                let log = json!({"scene_id": SCENE, "question": "q", "answer": "a"});
                done(&server, "log_question_answer", log);
                unlock(&project);
                done(&server, "get_generation_status", json!({"scene_id": SCENE}));
                copy(&project);
            }
            // The file is moved, and the session's folder is removed.
            2 => {
                fs::rename(project.path(OWN), project.path(COMMON)).unwrap();
                fs::remove_dir_all(project.path("workspace/sessions")).unwrap();
                unlock(&project);
            }
            // Nobody is there meanwhile.
            _ => {
                drop(server);
                copy(&project);
                unlock(&project);
                let server = serve(&project, "", "generation");
                check_committed(&project, &server);
                continue;
            }
        }
        check_committed(&project, &server);
    }
}

#[test]
fn a_scene_that_is_only_in_the_session_begins_with_its_file() {
    let project = Project::new();
    lock(&project);
    let server = serve(&project, "", "generation");
    done(&server, "start_generation", json!({"scene_id": SCENE, "blueprint_path": "b.md"}));
    work(&server, SCENE, 1..=3);
    copy(&project);
    unlock(&project);
    check_committed(&project, &server);
}

#[test]
fn a_newer_state_that_was_made_elsewhere_is_taken_in_and_the_last_one_is_kept() {
    let (project, server) = begun();
    let before = fs::read(project.path(COMMON)).unwrap();
    let text = fs::read_to_string(project.path(OWN)).unwrap();
    // Nobody here has ever written this.
    project.write(COMMON, &text.replacen('{', "{\"from\": \"another machine\", ", 1));
    unlock(&project);
    let told = done(&server, "get_generation_status", json!({"scene_id": SCENE}));
    told.says(&["went on elsewhere", "workspace/backups/"]);
    assert_eq!(files_in(&project, "workspace/backups"), [before]);
    check_committed(&project, &server);
}

#[test]
fn a_sessions_file_that_lacks_what_was_done_since_is_refused_with_the_reason_and_a_way_out() {
    let (project, server) = begun();
    unlock(&project);
    let log = json!({"scene_id": SCENE, "question": "q", "answer": "a"});
    done(&server, "log_question_answer", log);
    let before = fs::read(project.path(COMMON)).unwrap();
    copy(&project);
    let told = call(&server, "get_generation_status", json!({"scene_id": SCENE}));
    let revision = state(&project)["revision"].as_u64().unwrap();
    told.says(&[OWN, "lacks what was done here since", "workspace/backups/"]);
    told.says(&[&format!("set `revision` to {revision} in it")]).lacks(&["older state"]);
    assert_eq!(fs::read(project.path(COMMON)).unwrap(), before);
    // The way out works.
    let mut wanted: Value = serde_json::from_slice(&fs::read(project.path(OWN)).unwrap()).unwrap();
    wanted["revision"] = json!(revision);
    project.write(COMMON, &wanted.to_string());
    check_committed(&project, &server);
}
