//! Files outside of a root, and files that are not regular files.
#![cfg(target_os = "linux")]

use std::{
    fs,
    os::unix::fs::symlink,
    path::Path,
    process::Stdio,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread,
};

use rustix::fs::{CWD, FileType, Mode, RenameFlags, mknodat, renameat_with};
use serde_json::{Value, json};

use crate::http::HttpServer;
use crate::{
    project::Project,
    server::{Era, Server},
};

/// What nobody may read, in a file beside the project.
const SECRET: &str = "pub fn outside_secret() -> Quince { Quince }\n";

/// How often a resource is read while its file is swapped: the attack got through once in a hundred.
const READS: u64 = 20_000;
/// How many read at once.
const READERS: u64 = 4;

const WORKFLOW: &str = "\
== .milepost/workflows/PLAN/index.md
# Goal

Plan, then work.

1. [plan](steps/plan.md)
2. [work](steps/work.md)
== .milepost/workflows/PLAN/steps/plan.md
---
produces: [plan.md]
gate: {ask: Is it good?}
---
# Orchestrator Guidance
Go on.
# Client Instructions
Write `plan.md`.
== .milepost/workflows/PLAN/steps/work.md
# Orchestrator Guidance
Go on.
# Client Instructions
Work.
";

/// A project with a secret beside it, and links that lead there.
fn project() -> Project {
    let project = Project::new();
    project.write("../outside/secret.rs", SECRET);
    project.write("../outside/.specs/x/state.json", "{\"specName\": \"Quince\"}");
    project.write("../outside/.specs/x/analysis.md", "Quince");
    project.write("src/own.rs", "pub fn own() -> u32 { 1 }\n");
    project.write("src/plain.md", "text\n");
    let at = |path: &str| project.path(path);
    symlink("../outside/secret.rs", at("link.rs")).unwrap();
    symlink(at("../outside/secret.rs").canonicalize().unwrap(), at("absolute.rs")).unwrap();
    symlink("../outside", at("way")).unwrap();
    symlink("src/own.rs", at("near.rs")).unwrap();
    symlink(at("src/own.rs").canonicalize().unwrap(), at("near-absolute.rs")).unwrap();
    project
}

fn start(project: &Project, toolset: &str) -> Server {
    Server::inside(project, &["--toolset", toolset], Era::Legacy)
}

/// Calls a tool, and returns whether it refused and all that it said.
fn ask(server: &Server, tool: &str, arguments: &Value) -> (bool, String) {
    let params = json!({"name": tool, "arguments": arguments});
    let answer = server.request("tools/call", params).unwrap();
    (answer["result"]["isError"] == true, answer.to_string())
}

fn fifo(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

/// Every call of a tool that takes a path, with one that leads out.
fn calls_that_lead_out(project: &Project) -> Vec<(&'static str, Value)> {
    let whole = |path: &str| project.path(path).to_str().unwrap().to_owned();
    let mut calls = Vec::new();
    let sources = [
        "../outside/secret.rs".to_owned(),
        "src/../../outside/secret.rs".to_owned(),
        "link.rs".to_owned(),
        "absolute.rs".to_owned(),
        "way/secret.rs".to_owned(),
        whole("../outside/secret.rs"),
        whole("link.rs"),
    ];
    for path in sources {
        calls.push(("ast_summary", json!({"file_path": path})));
        let arguments = json!({"file_path": path, "symbol": "outside_secret"});
        calls.push(("ast_find_definition", arguments));
    }
    for path in ["../outside".to_owned(), "way".to_owned(), whole("../outside")] {
        calls.push(("dependency_graph", json!({"root_path": path, "language": "rust"})));
        let arguments = json!({
            "root_path": path, "file_path": "secret.rs", "symbol_name": "outside_secret",
            "language": "rust",
        });
        calls.push(("impact_scope", arguments));
    }
    let workspaces =
        ["../outside/.specs/x".to_owned(), "way/.specs/x".to_owned(), whole("../outside/.specs/x")];
    for path in workspaces {
        calls.push(("validate_artifact", json!({"workspace": path, "phase": "phase-1"})));
        calls.push(("analytics_pipeline_summary", json!({"workspace": path})));
        calls.push(("phase_stats", json!({"workspace": path})));
        calls.push(("refresh_index", json!({"workspace": path})));
    }
    calls
}

#[test]
fn the_tools_of_forge_read_nothing_outside_of_the_project() {
    let project = project();
    let server = start(&project, "forge");
    for (tool, arguments) in calls_that_lead_out(&project) {
        let (is_refused, said) = ask(&server, tool, &arguments);
        assert!(is_refused, "{tool} {arguments}: {said}");
        assert!(!said.contains("Quince"), "{tool} {arguments}: {said}");
    }
    assert!(!project.path("../outside/.specs/index.json").exists());
}

#[test]
fn the_tools_of_forge_read_nothing_outside_of_the_project_over_http() {
    let project = project().with("MILEPOST_TOOLSETS", "forge");
    let arguments = ["serve", "--address", "127.0.0.1:0"];
    let server = HttpServer::start(&mut project.milepost(&arguments));
    for (tool, arguments) in calls_that_lead_out(&project) {
        let params = json!({"name": tool, "arguments": arguments});
        let answer = server.ask("tools/call", params).json();
        assert_eq!(answer["result"]["isError"], true, "{tool} {arguments}: {answer}");
        assert!(!answer.to_string().contains("Quince"), "{tool} {arguments}: {answer}");
    }
}

#[test]
fn source_files_of_the_project_are_read_by_any_path_and_by_links_that_stay_in_it() {
    let project = project();
    let server = start(&project, "forge");
    let whole = project.path("src/own.rs");
    let real = whole.canonicalize().unwrap();
    let paths = [whole.to_str().unwrap(), real.to_str().unwrap(), "src/../src/own.rs"];
    for path in [&paths[..], &["src/own.rs", "near.rs", "near-absolute.rs"]].concat() {
        let (is_refused, said) = ask(&server, "ast_summary", &json!({"file_path": path}));
        assert!(!is_refused && said.contains("own"), "{path}: {said}");
    }
}

#[test]
fn a_refusal_names_the_link_that_leads_out() {
    let project = project();
    let server = start(&project, "forge");
    let (_, said) = ask(&server, "ast_summary", &json!({"file_path": "way/secret.rs"}));
    assert!(said.contains("leads outside of the project through the link `way`"), "{said}");
    let (_, said) = ask(&server, "ast_summary", &json!({"file_path": "../outside/secret.rs"}));
    assert!(said.contains("is outside of the project"), "{said}");
}

#[test]
fn a_fifo_in_the_place_of_a_file_keeps_no_call_waiting() {
    let init = |project: &Project| {
        let server = start(project, "devworkflow");
        let arguments = json!({"task_description": "Add: login"});
        ask(&server, "init_workflow_guidance", &arguments)
        // The server must end when its input does.
    };
    let project = Project::new();
    fifo(&project.path("workflow_state.md"));
    let (is_refused, said) = init(&project);
    assert!(is_refused && said.contains("is a FIFO, not a regular file"), "{said}");

    let project = Project::new();
    fifo(&project.path("project_config.md"));
    let (_, said) = init(&project);
    assert!(!said.is_empty());
    let server = start(&project, "devworkflow");
    let arguments = json!({"task_description": "Add: login"});
    let (_, said) = ask(&server, "check_project_config_guidance", &arguments);
    assert!(said.contains("is a FIFO, not a regular file"), "{said}");
}

#[test]
fn a_fifo_in_the_place_of_a_setting_keeps_no_start_waiting() {
    for (path, command) in [
        (".milepost/config.toml", ["workflow", "list"]),
        (".milepost/project.toml", ["run", "list"]),
        (".milepost/workflows/x.yaml", ["workflow", "check"]),
    ] {
        let project = Project::new();
        fs::create_dir_all(project.path(".milepost/workflows")).unwrap();
        fifo(&project.path(path));
        let mut command = project.milepost(&command);
        let output = command.stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned()
            + &String::from_utf8_lossy(&output.stdout);
        assert!(said.contains("FIFO"), "{path}: {said}");
    }
}

#[test]
fn nothing_is_written_through_a_link_that_leads_out() {
    let tasks = json!({"task_description": "Add: login"});
    for (link, target) in [
        ("workflow_state.md", "../outside/file.md"),
        (".milepost/locks", "../../outside"),
        ("workflow_state.md", "/dev/null"),
    ] {
        let project = Project::new();
        project.write("../outside/file.md", "mine\n");
        fs::create_dir_all(project.path(link).parent().unwrap()).unwrap();
        symlink(target, project.path(link)).unwrap();
        let server = start(&project, "devworkflow");
        let (_, said) = ask(&server, "init_workflow_guidance", &tasks);
        assert!(said.contains("leads outside of"), "{link}: {said}");
        let outside = project.path("../outside");
        assert_eq!(fs::read_to_string(outside.join("file.md")).unwrap(), "mine\n");
        assert_eq!(fs::read_dir(outside).unwrap().count(), 1, "{link}");
        assert!(fs::symlink_metadata(project.path(link)).unwrap().is_symlink());
    }
}

#[test]
fn a_workspace_that_is_a_link_out_is_not_entered() {
    let project = Project::new();
    fs::create_dir(project.path("../outside")).unwrap();
    symlink("../outside", project.path("workspace")).unwrap();
    let server = start(&project, "generation");
    let (is_refused, said) =
        ask(&server, "start_generation", &json!({"scene_id": "0204", "blueprint_path": "a.md"}));
    assert!(is_refused && said.contains("leads outside of"), "{said}");
    assert_eq!(fs::read_dir(project.path("../outside")).unwrap().count(), 0);
}

/// Exchanges a file with a link to the secret, until it is told to stop.
fn swap(project: &Project, secret: &Path, stop: &AtomicBool) -> u64 {
    let (plan, link) = (project.path("plan.md"), project.path("link.md"));
    symlink(secret, &link).unwrap();
    let mut swaps = 0;
    while !stop.load(Ordering::Relaxed) {
        renameat_with(CWD, &plan, CWD, &link, RenameFlags::EXCHANGE).unwrap();
        swaps += 1;
    }
    swaps
}

#[test]
fn an_artifact_that_is_swapped_with_a_link_leaks_nothing() {
    let project = Project::new();
    project.write_all(WORKFLOW);
    project.write("../outside/secret.rs", SECRET);
    project.write("plan.md", "The plan.\n");
    let server = Server::inside(&project, &[], Era::Legacy);
    let begun = server.call("start_workflow", json!({"workflow_name": "PLAN"})).value;
    let run = begun["instance_id"].as_str().unwrap();
    let report = json!({"step_id": "plan", "status": "success"});
    server.call("advance_workflow", json!({"instance_id": run, "report": report}));
    let uri = format!("milepost://runs/{run}/artifacts/plan.md");
    let secret = project.path("../outside/secret.rs").canonicalize().unwrap();
    let (stop, whole) = (AtomicBool::new(false), AtomicU64::new(0));
    let swaps = thread::scope(|scope| {
        let swapping = scope.spawn(|| swap(&project, &secret, &stop));
        let read = || {
            for _ in 0..READS / READERS {
                let said =
                    server.request("resources/read", json!({"uri": uri})).unwrap().to_string();
                assert!(!said.contains("Quince"), "{said}");
                whole.fetch_add(u64::from(said.contains("The plan.")), Ordering::Relaxed);
            }
        };
        let show = || {
            for _ in 0..100 {
                let mut command = project.milepost(&["gate", "show", run]);
                let output = command.stdin(Stdio::null()).output().unwrap();
                let said = String::from_utf8_lossy(&output.stdout).into_owned();
                assert!(!said.contains("Quince"), "{said}");
            }
        };
        let readers: Vec<_> = (0..READERS).map(|_| scope.spawn(read)).collect();
        let shown = scope.spawn(show).join();
        let done: Vec<_> = readers.into_iter().map(|it| it.join()).collect();
        stop.store(true, Ordering::Relaxed);
        let swaps = swapping.join().unwrap();
        assert!(shown.is_ok() && done.iter().all(Result::is_ok), "the secret was read");
        swaps
    });
    // It was swapped while it was read, and read while it was the file.
    assert!(READS < swaps && READS / 100 < whole.load(Ordering::Relaxed), "{swaps} {whole:?}");
}

#[test]
fn a_project_file_that_a_crash_left_empty_is_written_again() {
    for torn in ["", "\0\0\0\0\0\0\0\0"] {
        let project = Project::new();
        project.write_all(WORKFLOW);
        let server = Server::inside(&project, &[], Era::Legacy);
        server.call("start_workflow", json!({"workflow_name": "PLAN"}));
        drop(server);
        let path = project.path(".milepost/project.toml");
        let before = fs::read_to_string(&path).unwrap();
        fs::write(&path, torn).unwrap();
        let mut command = project.milepost(&["run", "list", "--json"]);
        let output = command.stdin(Stdio::null()).output().unwrap();
        let (out, talk) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success() && out.contains("PLAN"), "{out}\n{talk}");
        assert!(talk.contains("project.toml` was empty"), "{talk}");
        assert_eq!(fs::read_to_string(&path).unwrap(), before);
    }
    // Where nothing was stored yet, too.
    let project = Project::new();
    project.write_all(WORKFLOW);
    project.write(".milepost/project.toml", "");
    let server = Server::inside(&project, &[], Era::Legacy);
    server.call("start_workflow", json!({"workflow_name": "PLAN"}));
    drop(server);
    assert!(fs::read_to_string(project.path(".milepost/project.toml")).unwrap().contains("id = "));
}

#[test]
fn a_project_that_is_reached_through_a_link_works_as_ever() {
    let project = Project::new();
    project.write_all(WORKFLOW);
    project.write("plan.md", "The plan.\n");
    symlink("work", project.path("../way")).unwrap();
    let mut command = project.milepost(&["mcp"]);
    command.current_dir(project.path("../way")).env("PWD", project.path("../way"));
    let server = Server::start(&mut command, Era::Legacy);
    let begun = server.call("start_workflow", json!({"workflow_name": "PLAN"})).value;
    let report = json!({"step_id": "plan", "status": "success"});
    let arguments = json!({"instance_id": begun["instance_id"], "report": report});
    assert!(!server.call("advance_workflow", arguments).is_error);
}
