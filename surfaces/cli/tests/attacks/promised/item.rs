//! The endless item: what the file's own rules order completes it, by every route, once.

use std::fs;

use serde_json::json;

use super::{done, serve};
use crate::{project::Project, server::Server};

const FILE: &str = "workflow_state.md";
const FIRST: &str = "Add: a door";
const SECOND: &str = "Add: a roof";

/// The first of two items, built and under validation.
fn validating() -> (Project, Server) {
    let project = Project::new().with("WORKFLOW_AUTO_APPROVE_PLANS", "true");
    project.write("project_config.md", "## Changelog\n- Opened the shop.\n");
    let server = serve(&project, "", "devworkflow");
    done(&server, "init_workflow_guidance", json!({"task_description": FIRST}));
    done(&server, "analyze_phase_guidance", json!({"task_description": FIRST}));
    done(&server, "init_workflow_guidance", json!({"task_description": SECOND}));
    validate(&server, FIRST);
    (project, server)
}

/// Takes an item that is analyzed to its validation.
fn validate(server: &Server, task: &str) {
    let plan = json!({"task_description": task, "requirements_summary": "r"});
    done(server, "blueprint_phase_guidance", plan);
    done(server, "validate_phase_guidance", json!({"task_description": task}));
}

fn text(project: &Project) -> String {
    fs::read_to_string(project.path(FILE)).unwrap()
}

/// Checks that the first item is done, once, and that the second is next.
#[track_caller]
fn check_next(project: &Project) {
    let now = text(project);
    for part in [
        "Phase: ANALYZE",
        "Status: READY",
        "CurrentItem: Add: a roof",
        "| 1 | Add: a door | completed |",
        "| 2 | Add: a roof | pending |",
        "--- LOG ROTATION",
    ] {
        assert!(now.contains(part), "no `{part}` in:\n{now}");
    }
    let config = fs::read_to_string(project.path("project_config.md")).unwrap();
    assert_eq!(config, "## Changelog\n- Add: a door\n- Opened the shop.\n");
}

fn complete_by_tool(server: &Server) {
    let update = json!({"phase": "VALIDATE", "status": "COMPLETED"});
    done(server, "update_workflow_state_guidance", update);
}

fn complete_by_file(project: &Project, server: &Server) {
    project.write(FILE, &text(project).replace("Status: RUNNING", "Status: COMPLETED"));
    done(server, "validate_workflow_files_guidance", json!({}));
}

#[test]
fn an_item_that_is_set_to_completed_by_the_tool_is_done_and_the_next_one_begins() {
    let (project, server) = validating();
    complete_by_tool(&server);
    check_next(&project);
}

#[test]
fn an_item_that_is_set_to_completed_in_the_file_is_done_and_the_next_one_begins() {
    let (project, server) = validating();
    complete_by_file(&project, &server);
    check_next(&project);
}

#[test]
fn an_item_that_is_completed_by_its_own_call_is_done_and_the_next_one_begins() {
    let (project, server) = validating();
    done(&server, "complete_workflow_guidance", json!({"task_description": FIRST}));
    check_next(&project);
}

#[test]
fn completing_another_item_than_the_one_at_hand_leaves_that_open() {
    let (project, server) = validating();
    done(&server, "complete_workflow_guidance", json!({"task_description": SECOND}));
    let now = text(&project);
    assert!(now.contains("| 1 | Add: a door | pending |"), "{now}");
    assert!(now.contains("| 2 | Add: a roof | completed |"), "{now}");
}

#[test]
fn the_last_item_that_is_set_to_completed_leaves_nothing_to_do() {
    for by_file in [false, true] {
        let (project, server) = validating();
        complete_by_tool(&server);
        done(&server, "analyze_phase_guidance", json!({"task_description": SECOND}));
        validate(&server, SECOND);
        if by_file {
            complete_by_file(&project, &server);
        } else {
            complete_by_tool(&server);
        }
        let now = text(&project);
        assert!(now.contains("| 2 | Add: a roof | completed |"), "{now}");
        done(&server, "finalize_workflow_guidance", json!({}));
        assert!(text(&project).contains("Phase: INIT"), "{}", text(&project));
    }
}
