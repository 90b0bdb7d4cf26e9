//! What a server does besides serving: time limits are kept while nobody asks, and definitions that
//! cannot be used are told on standard error.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

#[path = "support/project.rs"]
mod project;
#[path = "support/server.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod server;

use std::{thread, time::Duration};

use serde_json::json;

use project::Project;
use server::{Era, Server};

const WORKFLOWS: &str = "\
== .milepost/workflows/HURRIED/index.md
1. [Hurry](steps/hurry.md)
== .milepost/workflows/HURRIED/steps/hurry.md
---
timeout: 1s
attempts: 1
---
# Orchestrator Guidance
Go to \"FINISH\".
# Client Instructions
Hurry.
== .milepost/workflows/BROKEN/index.md
1. [Nothing](steps/nothing.md)";

#[test]
fn a_step_whose_time_is_over_fails_while_nobody_asks() {
    let project = Project::new();
    project.write_all(WORKFLOWS);
    let server = Server::start(&mut project.milepost(&["mcp"]), Era::Legacy);
    let started = server.call("start_workflow", json!({"workflow_name": "HURRIED", "key": "h"}));
    assert!(!started.is_error, "{started:?}");
    // The other process only reads; what is over is written by the one that serves.
    for _ in 0..200 {
        let shown = project.ask(&["run", "history", "h"]);
        if shown["events"].as_array().unwrap().iter().any(|it| it["kind"] == "StepFailed") {
            return;
        }
        thread::sleep(Duration::from_millis(100));
    }
    panic!("nothing happened:\n{}", server.talk());
}

#[test]
fn what_cannot_be_used_is_told_on_standard_error() {
    let project = Project::new().with("MILEPOST_WORKFLOWS_DIRS", "no-such-folder");
    project.write_all(WORKFLOWS);
    let server = Server::start(&mut project.milepost(&["mcp"]), Era::Legacy);
    for _ in 0..200 {
        let talk = server.talk();
        let has = |level: &str, words: &str| {
            talk.lines().any(|it| it.contains(level) && it.contains(words))
        };
        if has("ERROR", "workflow `BROKEN` cannot be used") && has("WARN", "no-such-folder") {
            return;
        }
        thread::sleep(Duration::from_millis(50));
    }
    panic!("nothing was said:\n{}", server.talk());
}
