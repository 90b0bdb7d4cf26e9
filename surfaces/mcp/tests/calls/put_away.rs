//! A session whose putting away was broken off, so that its file still has its old name.

use std::{fs, sync::Arc, time::Duration};

use engine::{Actor, Command};
use mcp::Options;
use runtime::{Request, Target};
use serde_json::json;

use super::{client::Client, folder, world::Stage};

#[tokio::test]
async fn what_was_broken_off_is_finished_and_nothing_is_adopted_again() {
    let stage = Arc::new(Stage::new(false));
    let tiny = folder("devworkflow").join("workflows/tiny.txt");
    stage.define_all(&fs::read_to_string(tiny).unwrap());
    let runtime = stage.runtime();
    let toolsets = vec!["devworkflow".to_owned()];
    let options = Options { toolsets, ..Options::default() };
    let mut client = Client::new(Arc::clone(&runtime), options);
    let start = json!({ "task_description": "Add: login", "action": "start",
        "context": "workflow: Tiny" });
    client.call("workflow_guidance", start).await;
    let end = json!({ "operation": "update", "updates": { "status": "CANCELLED" } });
    client.call("workflow_state", end).await;

    let run = Stage::run(1);
    let key = runtime.view(run, None).await.unwrap().state.key().unwrap().to_owned();
    let old = format!("sessions/{key}.json");
    stage.write(&format!(".accordo/{old}"), &stage.promised(&old).unwrap());
    let give_up = Request {
        target: Target::Run(run),
        command: Command::GiveUpKey,
        actor: Actor::default(),
        request_id: None,
    };
    let given_up = runtime.execute(give_up).await.unwrap().view.state;
    assert!(stage.promised(&old).is_some());

    stage.pass(Duration::from_secs(2 * 60 * 60));
    let restored =
        client.call("workflow_cache_management", json!({ "operation": "restore" })).await;
    let said = restored["structuredContent"]["content"].as_str().unwrap();
    assert!(said.contains("No workflow sessions found to restore"), "{said}");
    assert_eq!(stage.promised(&old), None);
    let names = stage.promised_names();
    let beginning = format!("sessions/{key}_CANCELLED_");
    assert!(names.iter().any(|it| it.starts_with(&beginning)), "{names:?}");
    assert_eq!(runtime.view(run, None).await.unwrap().state.length, given_up.length);
}

#[tokio::test]
async fn one_file_that_cannot_be_renamed_keeps_no_other_from_it() {
    let stage = Arc::new(Stage::new(false));
    let tiny = folder("devworkflow").join("workflows/tiny.txt");
    stage.define_all(&fs::read_to_string(tiny).unwrap());
    let toolsets = vec!["devworkflow".to_owned()];
    let options = Options { toolsets, ..Options::default() };
    let mut client = Client::new(stage.runtime(), options);
    for number in 1..4 {
        let start = json!({ "task_description": "Add: login", "action": "start",
            "context": "workflow: Tiny" });
        client.call("workflow_guidance", start).await;
        let end = json!({ "operation": "update", "session_id": Stage::run(number).to_string(),
            "updates": { "status": "CANCELLED" } });
        client.call("workflow_state", end).await;
    }
    let second = Stage::run(2).to_string();
    let names = stage.promised_names();
    let stuck = names.iter().find(|it| it.contains(&second)).unwrap();
    stage.stick(stuck);
    let clean_up = json!({ "operation": "cleanup", "days": 0 });
    let cleaned = client.call("workflow_cache_management", clean_up).await;
    let cleaned = &cleaned["structuredContent"];
    assert!(cleaned["content"].as_str().unwrap().contains("Put away 2 session(s)"), "{cleaned}");
    assert!(cleaned["warnings"][0].as_str().unwrap().contains(&second), "{cleaned}");
    let names = stage.promised_names();
    assert_eq!(names.iter().filter(|it| it.contains("_CANCELLED_")).count(), 2, "{names:?}");
    assert!(names.contains(stuck));
}
