//! The workspace is the working directory's, and not silently that of the repository's root.

use std::fs;

use serde_json::json;

use super::{call, done, serve, work};
use crate::{project::Project, server::Server};

const NAME: &str = "generation-state-0204.json";

/// A repository with a book in it.
fn repository() -> Project {
    let project = Project::new();
    project.write(".git/HEAD", "ref: refs/heads/main\n");
    project.write("book/part/readme.md", "");
    project
}

fn start(server: &Server) -> super::Told {
    done(server, "start_generation", json!({"scene_id": "0204", "blueprint_path": "b.md"}))
}

#[test]
fn a_scene_in_the_workspace_of_the_working_directory_is_found() {
    let project = repository();
    let elsewhere = serve(&project, "book", "generation");
    start(&elsewhere);
    work(&elsewhere, "0204", 1..=2);
    drop(elsewhere);
    // The file alone, as a fresh clone has it.
    fs::remove_dir_all(project.path(".milepost")).unwrap();
    for folder in ["book", "book/part"] {
        let server = serve(&project, folder, "generation");
        let told = done(&server, "get_generation_status", json!({"scene_id": "0204"}));
        told.says(&["IN_PROGRESS"]);
        done(&server, "list_generations", json!({})).says(&["0204"]);
    }
    assert!(!project.path("workspace").exists());
}

#[test]
fn a_new_scene_is_where_the_answer_says() {
    let project = repository();
    let server = serve(&project, "book", "generation");
    start(&server).says(&[&format!("workspace/{NAME}")]);
    assert!(project.path(&format!("book/workspace/{NAME}")).is_file());
    assert!(!project.path("workspace").exists());
    // The database is the project's all the same.
    assert!(project.path(".milepost/milepost.db").is_file());
    assert!(!project.path("book/.milepost").exists());
}

#[test]
fn a_workspace_further_up_is_used_before_a_new_one_is_made() {
    let project = repository();
    fs::create_dir_all(project.path("workspace")).unwrap();
    let server = serve(&project, "book/part", "generation");
    start(&server);
    assert!(project.path(&format!("workspace/{NAME}")).is_file());
    assert!(!project.path("book/part/workspace").exists());
}

#[test]
fn two_workspaces_of_one_repository_have_scenes_of_the_same_number() {
    let project = repository();
    for folder in ["book/workspace", "play/workspace"] {
        fs::create_dir_all(project.path(folder)).unwrap();
    }
    let book = serve(&project, "book", "generation");
    let play = serve(&project, "play", "generation");
    start(&book);
    work(&book, "0204", 1..=2);
    call(&play, "get_generation_status", json!({"scene_id": "0204"})).says(&["No state found"]);
    done(&play, "list_generations", json!({})).lacks(&["0204"]);
    start(&play);
    let read =
        |folder: &str| fs::read(project.path(&format!("{folder}/workspace/{NAME}"))).unwrap();
    let (one, two) = (read("book"), read("play"));
    assert_ne!(one, two);
    for server in [&book, &play] {
        done(server, "list_generations", json!({})).says(&["0204"]);
    }
    assert_eq!((read("book"), read("play")), (one, two));
}

#[test]
fn an_explicit_workspace_wins() {
    let project = repository().with("WORKSPACE_PATH", "states");
    fs::create_dir_all(project.path("book/workspace")).unwrap();
    let server = serve(&project, "book", "generation");
    start(&server);
    assert!(project.path(&format!("book/states/{NAME}")).is_file());
}
