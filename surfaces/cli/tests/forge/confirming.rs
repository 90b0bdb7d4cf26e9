//! The last call of the handshake, which makes a run.

use std::{fs, os::unix::fs::PermissionsExt as _};

use serde_json::{Value, json};

use crate::stage::Stage;

const CONTEXT: &str = "pipeline_init_with_context";

fn confirmation(stage: &Stage, more: Value) -> Value {
    let mut arguments = json!({
        "workspace": stage.workspace(), "task_text": "Add thing xx", "flags": {"skip_pr": true},
        "user_confirmation": {"effort": "M", "use_current_branch": true},
    });
    let Value::Object(more) = more else { panic!("no members: {more}") };
    arguments.as_object_mut().unwrap().extend(more);
    arguments
}

/// A run whose task is an issue of Linear.
pub(crate) fn linear(stage: &Stage) -> Value {
    let arguments = json!({
        "workspace": stage.specs("20270101-foo"), "source_id": "ENG-7",
        "source_url": "https://linear.app/a/issue/ENG-7",
        "external_context": {"linear_title": "Broken page!", "linear_description": "desc"},
        "user_confirmation": {"effort": "M"},
    });
    stage.done(CONTEXT, arguments).json()
}

#[test]
fn a09_a_confirmation_that_cannot_be_taken_is_refused_and_writes_nothing() {
    let stage = Stage::new();
    let small = json!({"user_confirmation": {"effort": "XS", "use_current_branch": true}});
    stage.refused(CONTEXT, confirmation(&stage, small)).has(&["S", "M", "L"]);
    let foreign = json!({"workspace": stage.specs("20260101-ü")});
    stage.refused(CONTEXT, confirmation(&stage, foreign)).has(&["non-ASCII"]);
    let context = json!({"external_context": "x"});
    stage.refused(CONTEXT, confirmation(&stage, context));
    let both = json!({"discussion_answers": "Quickly."});
    stage.refused(CONTEXT, confirmation(&stage, both));
    assert!(!stage.path("state.json").exists());
}

#[test]
fn a09_a_run_is_confirmed_once() {
    let stage = Stage::new();
    stage.done(CONTEXT, confirmation(&stage, json!({})));
    stage.refused(CONTEXT, confirmation(&stage, json!({}))).has(&["already initialised"]);
}

#[test]
fn a09_an_issue_gives_the_run_its_name_its_branch_and_its_request() {
    let stage = Stage::new();
    let said = linear(&stage);
    let workspace = stage.specs("20270101-eng-7-broken-page");
    assert_eq!(said["workspace"], workspace.as_str(), "{said:#}");
    assert_eq!(said["branch"], "feature/eng-7-broken-page");
    assert_eq!(said["create_branch"], true);
    assert_eq!(said["flow_template"], "standard");
    let request = fs::read_to_string(format!("{workspace}/request.md")).unwrap();
    assert_eq!(
        request,
        "---\nsource_type: linear_issue\nsource_url: https://linear.app/a/issue/ENG-7\nsource_id: \
         ENG-7\n---\n\nBroken page!\n\ndesc\n"
    );
    assert_eq!(said["request_md_content"], request.as_str());
    let mode = fs::metadata(format!("{workspace}/request.md")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a09_the_specs_are_kept_from_the_markdown_linter() {
    let stage = Stage::begun("M");
    let path = stage.project.path(".markdownlintignore");
    let text = fs::read_to_string(path).unwrap();
    assert!(text.lines().any(|it| it == ".specs/"), "{text}");
}

#[test]
fn a_confirmed_run_begins_at_its_first_phase_with_the_settings_of_its_effort() {
    for (effort, template, skipped) in [
        ("S", "light", json!(["phase-2", "phase-4", "phase-4b", "checkpoint-b", "phase-6"])),
        ("M", "standard", json!(["phase-4b", "checkpoint-b"])),
        ("L", "full", json!([])),
    ] {
        let stage = Stage::new();
        let said = stage.init(effort);
        assert_eq!((&said["effort"], &said["flow_template"]), (&json!(effort), &json!(template)));
        let told = said.get("skipped_phases");
        assert_eq!(told, Some(&skipped).filter(|_| effort != "L"), "{said:#}");
        assert_eq!(said.get("create_branch"), None);
        let state = stage.state();
        assert_eq!(state["skippedPhases"], skipped);
        assert_eq!((&state["skipPr"], &state["useCurrentBranch"]), (&json!(true), &json!(true)));
        assert_eq!((&state["branch"], &state["specName"]), (&Value::Null, &json!("x")));
        stage.is_at("phase-1", "pending");
    }
}

#[test]
fn a_name_of_ones_own_for_the_workspace_takes_the_place_of_the_slug() {
    let stage = Stage::new();
    let arguments = json!({
        "workspace": stage.specs("20270101-foo"), "source_id": "ENG-7",
        "source_url": "https://linear.app/a/issue/ENG-7",
        "external_context": {"linear_title": "Broken page!"},
        "user_confirmation": {"effort": "M", "workspace_slug": "Mended Page"},
    });
    let said = stage.done(CONTEXT, arguments).json();
    assert_eq!(said["workspace"], stage.specs("20270101-eng-7-mended-page").as_str());
}

#[test]
fn an_issue_is_known_by_its_address_even_if_its_text_is_not_sent_again() {
    let stage = Stage::new();
    let arguments = json!({
        "workspace": stage.workspace(), "source_url": "https://github.com/o/r/issues/12",
        "source_id": "12", "task_text": "Add thing xx", "flags": {"skip_pr": true},
        "user_confirmation": {"effort": "M", "use_current_branch": true},
    });
    let said = stage.done(CONTEXT, arguments).json();
    let request = said["request_md_content"].as_str().unwrap();
    assert!(request.contains("source_type: github_issue\n"), "{request}");
    assert!(request.contains("source_id: 12\n"), "{request}");
    assert!(request.ends_with("\n\nAdd thing xx\n"), "{request}");
}

#[test]
fn the_kind_of_work_is_in_the_name_of_the_branch() {
    for (text, branch) in [
        ("Fix the login page", "fix/x"),
        ("Refactoring of the parser", "refactor/x"),
        ("Write the documentation", "docs/x"),
        ("Upgrade the dependencies", "chore/x"),
        ("Add thing xx", "feature/x"),
    ] {
        let stage = Stage::new();
        let more = json!({"task_text": text, "user_confirmation": {"effort": "M"}});
        let said = stage.done(CONTEXT, confirmation(&stage, more)).json();
        assert_eq!((&said["branch"], &said["create_branch"]), (&json!(branch), &json!(true)));
    }
}
