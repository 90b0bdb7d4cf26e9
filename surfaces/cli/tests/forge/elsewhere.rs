//! The specs lie in another project than the one that the server is started in.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use crate::stage::{Stage, word, world};

/// A server that is told of the specs of another project, and that project.
fn begin(settings: &str) -> (Stage, PathBuf) {
    let project = world(&[]);
    let other = project.path("../other");
    fs::create_dir_all(other.join(".specs")).unwrap();
    project.write("../other/.milepost/config.toml", settings);
    let other = other.canonicalize().unwrap();
    let project = project.with("FORGE_SPECS_DIR", other.join(".specs").to_str().unwrap());
    let stage = Stage::over(project);
    let confirmation = json!({
        "workspace": ".specs/20260101-x", "task_text": "Add thing xx", "flags": {"skip_pr": true},
        "user_confirmation": {"effort": "M", "use_current_branch": true},
    });
    let said = stage.done("pipeline_init_with_context", confirmation).json();
    assert_eq!(said["ready"], true, "{said:#}");
    (stage, other)
}

/// Calls a tool on the workspace, by its absolute path.
#[track_caller]
fn call(stage: &Stage, other: &Path, tool: &str, mut arguments: Value) -> Value {
    arguments["workspace"] = json!(other.join(".specs/20260101-x"));
    stage.done(tool, arguments).json()
}

#[test]
fn a_pipeline_is_worked_on_in_the_project_of_its_specs() {
    let (stage, other) = begin("");
    assert!(other.join(".specs/20260101-x/state.json").is_file());
    assert!(other.join(".milepost/milepost.db").is_file());
    assert!(!stage.project.path(".specs/20260101-x").exists());
    assert!(!stage.project.path(".milepost").exists());
    let action = call(&stage, &other, "pipeline_next_action", json!({}));
    assert_eq!(action["agent"], "situation-analyst", "{action:#}");
    fs::write(other.join(".specs/20260101-x/analysis.md"), "An analysis.\n").unwrap();
    let done = json!({"previous_action_complete": true});
    let action = call(&stage, &other, "pipeline_next_action", done);
    assert_eq!(action["agent"], "investigator", "{action:#}");
}

#[test]
fn the_settings_of_the_project_of_the_specs_count() {
    let (stage, other) = begin("[gates]\nanswers = \"verified\"\n");
    let asked = json!({"workspace": ".specs/20260101-x", "phase": "checkpoint-a"});
    assert_eq!(stage.done("checkpoint", asked).text, "ok");
    let answer = json!({"user_response": "proceed"});
    let action = call(&stage, &other, "pipeline_next_action", answer);
    assert_eq!(action["name"], "checkpoint-a", "{action:#}");
    let warning = word(&action["warning"]);
    assert!(warning.contains("milepost gate") && !warning.contains("answer_gate"), "{warning}");
}
