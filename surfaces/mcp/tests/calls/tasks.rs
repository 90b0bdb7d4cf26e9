//! A run is a task for clients that look after long work themselves.

use std::sync::Arc;

use mcp::Options;
use serde_json::{Value, json};

use crate::{client::Client, world::Stage};

const INVALID_PARAMS: i64 = -32602;
const MISSING_CAPABILITY: i64 = -32021;

/// Returns a client that takes tasks and shows forms, with a run that waits at its gate.
async fn client() -> (Arc<Stage>, Arc<runtime::Runtime>, Client) {
    let stage = Arc::new(Stage::new(true));
    stage.define_all(include_str!("../core/workflows/plan.txt"));
    stage.write("plan.md", "do this");
    let runtime = stage.runtime();
    let mut client = Client::new(Arc::clone(&runtime), Options::default());
    client.capabilities = json!({ "elicitation": {},
        "extensions": { "io.modelcontextprotocol/tasks": {} } });
    client.call("start_workflow", json!({ "workflow_name": "PLAN", "key": "AB-1" })).await;
    let report = json!({ "step_id": "Draft", "status": "success" });
    client.call("advance_workflow", json!({ "instance_id": "AB-1", "report": report })).await;
    (stage, runtime, client)
}

async fn wait(client: &mut Client) -> String {
    let wait = json!({ "instance_id": "AB-1", "wait_seconds": 50 });
    let task = client.call("get_workflow_status", wait).await;
    assert_eq!(task["resultType"], "task", "{task}");
    task["taskId"].as_str().unwrap().to_owned()
}

async fn get(client: &mut Client, task: &str) -> Value {
    client.ask("tasks/get", json!({ "taskId": task })).await["result"].clone()
}

#[tokio::test]
async fn a_wait_is_a_task_that_asks_the_person_and_ends_with_the_answer() {
    let (_stage, _runtime, mut client) = client().await;
    let task = wait(&mut client).await;
    let asks = get(&mut client, &task).await;
    assert_eq!(asks["status"], "input_required", "{asks}");
    let key = asks["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    let reply = json!({ "action": "accept", "content": { "answer": "approve" } });
    let update = json!({ "taskId": task, "inputResponses": { key: reply } });
    assert!(client.ask("tasks/update", update).await["error"].is_null());
    let done = get(&mut client, &task).await;
    assert_eq!(done["status"], "completed", "{done}");
    let result = &done["result"]["structuredContent"];
    assert_eq!(result["next_step"]["step_name"], "Review", "{done}");
}

#[tokio::test]
async fn an_answer_to_what_has_changed_meanwhile_is_none_and_the_task_asks_anew() {
    let (stage, _runtime, mut client) = client().await;
    let task = wait(&mut client).await;
    let key = |asks: &Value| asks["inputRequests"].as_object().unwrap().keys().next().cloned();
    let shown = key(&get(&mut client, &task).await).unwrap();
    stage.write("plan.md", "do something else");
    let reply = json!({ "action": "accept", "content": { "answer": "approve" } });
    let update = json!({ "taskId": task, "inputResponses": { shown.as_str(): reply } });
    assert!(client.ask("tasks/update", update).await["error"].is_null());
    let asks = get(&mut client, &task).await;
    assert_eq!(asks["status"], "input_required", "{asks}");
    assert_ne!(key(&asks).unwrap(), shown);
}

#[tokio::test]
async fn a_task_outlives_the_process_that_gave_it_out() {
    let (_stage, runtime, mut first) = client().await;
    let task = wait(&mut first).await;
    let capabilities = first.capabilities.clone();
    first.hang_up().await.0.unwrap();
    let mut second = Client::new(runtime, Options::default());
    second.capabilities = capabilities;
    assert_eq!(get(&mut second, &task).await["status"], "input_required");
}

#[tokio::test]
async fn a_client_that_shows_no_forms_waits_until_the_person_answers_elsewhere() {
    let (_stage, runtime, mut client) = client().await;
    client.capabilities = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let task = wait(&mut client).await;
    assert_eq!(get(&mut client, &task).await["status"], "working");
    let mut other = Client::new(runtime, Options::default());
    other.call("answer_gate", json!({ "instance_id": "AB-1", "answer": "approve" })).await;
    assert_eq!(get(&mut client, &task).await["status"], "completed");
}

#[tokio::test]
async fn a_run_is_a_task_of_its_own_and_ends_when_it_does() {
    let (_stage, _runtime, mut client) = client().await;
    let run = Stage::run(1).short();
    assert_eq!(get(&mut client, &run).await["status"], "input_required");
    assert!(client.ask("tasks/cancel", json!({ "taskId": run })).await["error"].is_null());
    assert_eq!(get(&mut client, &run).await["status"], "cancelled");
}

#[tokio::test]
async fn giving_up_a_wait_leaves_the_run_alone() {
    let (_stage, _runtime, mut client) = client().await;
    let task = wait(&mut client).await;
    assert!(client.ask("tasks/cancel", json!({ "taskId": task })).await["error"].is_null());
    let status = client.call("get_workflow_status", json!({ "instance_id": "AB-1" })).await;
    assert_eq!(status["structuredContent"]["status"], "SUSPENDED");
}

#[tokio::test]
async fn news_that_are_there_already_are_no_task() {
    let (_stage, _runtime, mut client) = client().await;
    let wait = json!({ "instance_id": "AB-1", "wait_seconds": 50, "after_seq": 1 });
    let status = client.call("get_workflow_status", wait).await;
    assert_eq!(status["structuredContent"]["status"], "SUSPENDED", "{status}");
}

#[tokio::test]
async fn what_is_no_task_or_comes_from_elsewhere_is_refused() {
    let (_stage, _runtime, mut client) = client().await;
    for task in ["", "none", "run_0@1", "run_@", "@4"] {
        let answer = client.ask("tasks/get", json!({ "taskId": task })).await;
        assert_eq!(answer["error"]["code"], INVALID_PARAMS, "{task}: {answer}");
    }
    client.capabilities = json!({});
    let run = Stage::run(1).short();
    let answer = client.ask("tasks/get", json!({ "taskId": run })).await;
    assert_eq!(answer["error"]["code"], MISSING_CAPABILITY, "{answer}");
}
