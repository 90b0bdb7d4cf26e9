//! Several processes on one workspace, and several workspaces in one process.

use std::thread;

use serde_json::{Value, json};

use crate::{
    said::Said,
    server::{Era, Server},
    stage::{Stage, world},
};

/// How many entries each process writes.
const ENTRIES: u64 = 200;

fn log_all(server: &Server, workspace: &str, model: &str) {
    for number in 0..ENTRIES {
        let entry = json!({
            "workspace": workspace, "phase": "phase-1", "tokens": number, "duration_ms": 1,
            "model": model,
        });
        let said = Said::hear(server, "phase_log", entry).unwrap();
        assert!(!said.is_error, "{model} {number}: {}", said.text);
    }
}

#[test]
fn two_processes_that_log_into_one_run_lose_nothing() {
    let stage = Stage::apart(world(&[]));
    stage.init("M");
    let other = Stage::serve_apart(&stage.project, Era::Modern);
    let workspace = stage.workspace();
    thread::scope(|scope| {
        scope.spawn(|| log_all(&stage.server, &workspace, "one"));
        scope.spawn(|| log_all(&other, &workspace, "two"));
    });
    let stats = stage.ok("phase_stats", json!({})).json();
    assert_eq!(stats["totalDurationMs"], 2 * ENTRIES, "{}", stats["totalTokens"]);
    let state = stage.state();
    let log = state["phaseLog"].as_array().unwrap();
    for model in ["one", "two"] {
        let of_it: Vec<u64> = log
            .iter()
            .filter(|it| it["model"] == model)
            .map(|it| it["tokens"].as_u64().unwrap())
            .collect();
        assert_eq!(of_it, (0..ENTRIES).collect::<Vec<u64>>(), "{model}");
    }
}

#[test]
fn two_processes_that_set_different_things_both_are_heard() {
    let stage = Stage::begun("M");
    let other = Stage::serve(&stage.project, Era::Modern);
    stage.ok("set_debug", json!({}));
    let arguments = json!({"workspace": stage.workspace()});
    let said = Said::hear(&other, "set_auto_approve", arguments).unwrap();
    assert!(!said.is_error, "{}", said.text);
    stage.ok("set_branch", json!({"branch": "feature/both"}));
    let state = stage.state();
    assert_eq!((&state["debug"], &state["autoApprove"]), (&json!(true), &json!(true)));
    assert_eq!(state["branch"], "feature/both");
}

/// Begins a run in a workspace of that name.
fn begin(stage: &Stage, name: &str, effort: &str) -> String {
    let workspace = stage.specs(name);
    let arguments = json!({
        "workspace": workspace, "task_text": format!("Add {name}"), "flags": {"skip_pr": true},
        "user_confirmation": {"effort": effort, "use_current_branch": true},
    });
    stage.done("pipeline_init_with_context", arguments);
    workspace
}

#[test]
fn several_workspaces_are_worked_on_in_one_process() {
    let stage = Stage::new();
    let first = begin(&stage, "20260101-first", "S");
    let second = begin(&stage, "20260102-second", "L");
    let go = |workspace: &str, more: Value| {
        let mut arguments = more;
        arguments["workspace"] = json!(workspace);
        stage.done("pipeline_next_action", arguments).json()
    };
    assert_eq!(go(&first, json!({}))["agent"], "situation-analyst-investigator");
    assert_eq!(go(&second, json!({}))["agent"], "situation-analyst");
    stage.done("set_debug", json!({"workspace": first}));
    stage.project.write(".specs/20260102-second/analysis.md", "An analysis.\n");
    assert_eq!(go(&second, crate::stage::done())["agent"], "investigator");
    let field = |workspace: &str, field: &str| {
        stage.done("get", json!({"workspace": workspace, "field": field})).text
    };
    assert_eq!((field(&first, "debug"), field(&second, "debug")), ("true".into(), "false".into()));
    assert_eq!(field(&first, "currentPhase"), "phase-1");
    assert_eq!(field(&second, "currentPhase"), "phase-2");
    assert_eq!((field(&first, "effort"), field(&second, "effort")), ("S".into(), "L".into()));
}

#[test]
fn calls_on_one_run_at_once_do_not_lose_each_other() {
    let stage = Stage::begun("M");
    thread::scope(|scope| {
        for number in 0..8 {
            let stage = &stage;
            scope.spawn(move || {
                for _ in 0..10 {
                    stage.ok("phase_log", json!({"phase": "phase-1", "tokens": number}));
                    stage.ok("revision_bump", json!({"rev_type": "design"}));
                }
            });
        }
    });
    let state = stage.state();
    assert_eq!(state["phaseLog"].as_array().unwrap().len(), 80);
    assert_eq!(state["revisions"]["designRevisions"], 80);
}
