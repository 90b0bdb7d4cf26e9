//! Where things are found and made: projects, worktrees, databases that were named, databases that
//! cannot be used.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

#[path = "support/project.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod project;
#[path = "support/server.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod server;

use std::{fs, process::Output};

use serde_json::{Value, json};

use project::Project;
use server::{Era, Server};

/// Starts a run of a built-in workflow.
fn start(project: &Project, arguments: &[&str]) -> Value {
    let server = Server::start(&mut project.milepost(arguments), Era::Legacy);
    let started = server.call("start_workflow", json!({"workflow_name": "WORK", "key": "one"}));
    assert!(!started.is_error, "{started:?}");
    started.value
}

/// Returns what a command says on standard error, and its exit code.
fn told(output: &Output) -> (i32, String) {
    let talk = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code().unwrap(), talk)
}

fn keys(project: &Project, arguments: &[&str]) -> Vec<String> {
    let listed = project.ask(arguments);
    let runs = listed["runs"].as_array().unwrap();
    runs.iter().map(|it| it["key"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn the_first_client_makes_the_database_and_what_hides_it_from_git() {
    let project = Project::new();
    start(&project, &["mcp"]);
    let ignored = fs::read_to_string(project.path(".milepost/.gitignore")).unwrap();
    assert!(ignored.contains("\n*\n"), "{ignored}");
    let id = fs::read_to_string(project.path(".milepost/project.toml")).unwrap();
    assert!(id.contains("id = \"project_"), "{id}");
    assert_eq!(keys(&project, &["run", "list"]), ["one"]);
}

#[test]
fn a_worktree_shares_the_database_of_the_main_one_but_has_its_own_root() {
    let project = Project::new();
    // As git lays it out: a pointer in the worktree, and the way back in the repository.
    project.write("main/.git/worktrees/side/commondir", "../..\n");
    project.write("main/.git/HEAD", "ref: refs/heads/main\n");
    let own = project.path("main/.git/worktrees/side");
    project.write("side/.git", &format!("gitdir: {}\n", own.display()));
    let back = format!("{}\n", project.path("side/.git").display());
    project.write("main/.git/worktrees/side/gitdir", &back);
    project.write("side/deep/er/file.txt", "");
    let shown = project.ask(&["-C", "side/deep/er", "config", "show"]);
    let path = |name: &str| project.path(name).canonicalize().unwrap().display().to_string();
    assert_eq!(shown["project"], path("main"));
    assert_eq!(shown["root"], path("side"));
    // A copy of the pointer does not make a folder that worktree.
    project.write("copy/.git", &format!("gitdir: {}\n", own.display()));
    assert_eq!(project.ask(&["-C", "copy", "config", "show"])["project"], path("copy"));
    let started = start(&project, &["-C", "side/deep", "mcp"]);
    assert!(project.path("main/.milepost/milepost.db").exists());
    assert!(!project.path("side/.milepost").exists());
    let run = started["instance_id"].as_str().unwrap();
    let seen = project.ask(&["-C", "main", "run", "show", run]);
    assert_eq!(seen["run"]["root"], path("side"));
}

#[test]
fn a_submodule_is_a_project_of_its_own() {
    let project = Project::new();
    project.write("main/.git/modules/inner/HEAD", "ref: refs/heads/main\n");
    project.write("main/inner/.git", "gitdir: ../.git/modules/inner\n");
    let shown = project.ask(&["-C", "main/inner", "config", "show"]);
    let inner = project.path("main/inner").canonicalize().unwrap().display().to_string();
    assert_eq!(shown["project"], inner);
}

#[test]
fn a_named_database_leaves_the_folder_alone_and_is_shared() {
    let project = Project::new().with("WORKFLOW_DB_PATH", "../data/runs.sqlite");
    start(&project, &["mcp"]);
    assert!(!project.path(".milepost").exists());
    assert!(project.path("../data/runs.sqlite").exists());
    fs::create_dir(project.path("other")).unwrap();
    let database = project.path("../data/runs.sqlite").display().to_string();
    assert_eq!(keys(&project, &["-C", "other", "--db", &database, "run", "list"]), ["one"]);
}

#[test]
fn a_key_means_the_run_of_this_folder_and_never_that_of_another() {
    let project = Project::new();
    for folder in ["main", "side", "empty"] {
        fs::create_dir(project.path(folder)).unwrap();
    }
    let database = project.path("runs.sqlite").display().to_string();
    start(&project, &["-C", "main", "--db", &database, "mcp"]);
    let side = start(&project, &["-C", "side", "--db", &database, "mcp"])["instance_id"].clone();
    let cancel = |folder: &str, run: &str| {
        let arguments = ["-C", folder, "--db", &database, "run", "cancel", run];
        told(&project.milepost(&arguments).output().unwrap())
    };
    assert_eq!(cancel("main", "one").0, 0);
    // Once more: the run that it means is over, and the other one with its key goes on.
    let (code, talk) = cancel("main", "one");
    assert_eq!(code, 1, "{talk}");
    let (code, talk) = cancel("empty", "one");
    assert!(code == 1 && talk.contains("by its id"), "{talk}");
    let shown = project.ask(&["--db", &database, "run", "show", side.as_str().unwrap()]);
    assert_eq!(shown["run"]["status"], "running");
    assert_eq!(cancel("empty", side.as_str().unwrap()).0, 0);
}

#[test]
fn a_database_in_memory_works_and_is_gone_afterwards() {
    let project = Project::new().with("WORKFLOW_DB_PATH", ":memory:");
    start(&project, &["mcp"]);
    assert_eq!(fs::read_dir(project.path("")).unwrap().count(), 0);
    assert!(keys(&project, &["run", "list"]).is_empty());
}

#[test]
fn runs_are_found_again_when_the_name_of_the_project_was_lost() {
    let project = Project::new();
    start(&project, &["mcp"]);
    fs::remove_file(project.path(".milepost/project.toml")).unwrap();
    assert_eq!(keys(&project, &["run", "list"]), ["one"]);
}

#[test]
fn a_database_that_cannot_be_used_is_told_of_and_left_as_it_is() {
    let project = Project::new();
    start(&project, &["mcp"]);
    let path = project.path(".milepost/milepost.db");
    let mut newer = fs::read(&path).unwrap();
    // The version of the schema, in the head of the file.
    newer[60..64].copy_from_slice(&99_u32.to_be_bytes());
    let garbage = b"this is not a database, but somebody's letter\n".repeat(40);
    for (bytes, expected) in [(newer, "has schema 99"), (garbage, "is not a SQLite database")] {
        fs::write(&path, &bytes).unwrap();
        for arguments in [["run", "list"].as_slice(), &["mcp"], &["doctor"]] {
            let output = project.milepost(arguments).output().unwrap();
            let (code, talk) = told(&output);
            let said = talk + &String::from_utf8_lossy(&output.stdout);
            let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(code, 1, "{arguments:?}: {said}");
            assert!(said.contains(expected), "{arguments:?}: {said}");
        }
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }
}

#[test]
fn the_doctor_looks_at_everything_and_makes_nothing() {
    let project = Project::new();
    let found = project.ask(&["doctor"]);
    assert_eq!(found["is_fine"], true, "{found}");
    let what: Vec<&str> =
        found["findings"].as_array().unwrap().iter().filter_map(|it| it["what"].as_str()).collect();
    for wanted in ["version", "configuration", "database", "room", "disk", "workflows"] {
        assert!(what.contains(&wanted), "{wanted}: {what:?}");
    }
    assert_eq!(fs::read_dir(project.path("")).unwrap().count(), 0);
    project.write(".milepost/workflows/BAD/index.md", "nothing\n");
    let output = project.milepost(&["doctor"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("cannot be used: `BAD`"));
}

#[test]
fn without_git_a_folder_inside_of_a_project_belongs_to_it() {
    let project = Project::new();
    fs::create_dir_all(project.path("main/deep/er")).unwrap();
    start(&project, &["-C", "main", "mcp"]);
    assert_eq!(keys(&project, &["-C", "main/deep/er", "run", "list"]), ["one"]);
    assert!(!project.path("main/deep/.milepost").exists());
    let path = |name: &str| project.path(name).canonicalize().unwrap().display().to_string();
    assert_eq!(project.ask(&["-C", "main/deep", "config", "show"])["root"], path("main"));
    // A repository inside is a project of its own, and one in the home folder has no say.
    project.write("main/deep/.git/HEAD", "ref: refs/heads/main\n");
    assert_eq!(project.ask(&["-C", "main/deep", "config", "show"])["project"], path("main/deep"));
    start(&project, &["-C", "../home", "mcp"]);
    fs::create_dir(project.path("../home/other")).unwrap();
    let other = project.ask(&["-C", "../home/other", "config", "show"]);
    assert_eq!(other["project"], path("../home/other"));
}

#[cfg(unix)]
#[test]
fn a_folder_in_which_others_can_write_is_no_project_around() {
    use std::os::unix::fs::PermissionsExt as _;
    let project = Project::new();
    fs::create_dir_all(project.path("open/mine")).unwrap();
    start(&project, &["-C", "open", "mcp"]);
    fs::set_permissions(project.path("open"), fs::Permissions::from_mode(0o777)).unwrap();
    let shown = project.ask(&["-C", "open/mine", "config", "show"]);
    let mine = project.path("open/mine").canonicalize().unwrap().display().to_string();
    assert_eq!(shown["project"], mine);
}
