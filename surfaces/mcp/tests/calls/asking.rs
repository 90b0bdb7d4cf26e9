//! A gate is put to the person by the client itself, in the way of either era.

use std::sync::Arc;

use mcp::Options;
use serde_json::{Value, json};

use crate::{client::Client, world::Stage};

const INVALID_PARAMS: i64 = -32602;

/// Returns a client that can show forms, with a run that waits at a gate.
async fn waiting(is_modern: bool) -> (Arc<Stage>, Client) {
    let stage = Arc::new(Stage::new(true));
    stage.define_all(include_str!("../core/workflows/plan.txt"));
    stage.write("plan.md", "do this");
    let mut client = Client::new(stage.runtime(), Options::default());
    client.capabilities = json!({ "elicitation": {} });
    let start = json!({ "name": "start_workflow",
        "arguments": { "workflow_name": "PLAN", "key": "AB-1" } });
    let report = json!({ "name": "advance_workflow", "arguments": { "instance_id": "AB-1",
        "report": { "step_id": "Draft", "status": "success" } } });
    if is_modern {
        client.ask("tools/call", start).await;
        let waiting = client.ask("tools/call", report).await;
        assert_eq!(waiting["result"]["structuredContent"]["status"], "SUSPENDED");
    } else {
        client.shake_hands().await;
        for (id, params) in [("start", start), ("report", report)] {
            client.send_plain(id, "tools/call", params).await;
            assert_eq!(client.receive().await["result"]["isError"], false);
        }
    }
    (stage, client)
}

fn question() -> Value {
    json!({ "name": "answer_gate", "arguments": { "instance_id": "AB-1" } })
}

/// Asks, and returns the call again as a client sends it with the person's reply.
async fn asked(client: &mut Client, reply: Value) -> Value {
    let asked = client.ask("tools/call", question()).await["result"].clone();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let key = asked["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    let mut again = question();
    again["requestState"] = asked["requestState"].clone();
    again["inputResponses"] = json!({ key: reply });
    again
}

fn approve() -> Value {
    json!({ "action": "accept", "content": { "answer": "approve" } })
}

#[tokio::test]
async fn the_form_shows_what_is_asked_and_the_answers_there_are() {
    let (_stage, mut client) = waiting(true).await;
    let asked = client.ask("tools/call", question()).await["result"].clone();
    let (_, form) = asked["inputRequests"].as_object().unwrap().iter().next().unwrap();
    assert_eq!(form["method"], "elicitation/create");
    let message = form["params"]["message"].as_str().unwrap();
    assert!(message.contains("Approve the plan for AB-1?") && message.contains("plan.md"));
    let answers = &form["params"]["requestedSchema"]["properties"]["answer"]["enum"];
    assert_eq!(*answers, json!(["approve", "changes", "abandon"]));
}

#[tokio::test]
async fn an_answer_moves_the_run_and_is_stored_as_the_persons_own() {
    let (_stage, mut client) = waiting(true).await;
    let again = asked(&mut client, approve()).await;
    let answered = client.ask("tools/call", again).await["result"].clone();
    assert_eq!(answered["structuredContent"]["next_step"]["step_name"], "Review", "{answered}");
    let status = json!({ "instance_id": "AB-1", "include_history": true });
    let history = client.call("get_workflow_status", status).await;
    assert!(history.to_string().contains("the person at transcript 1"), "{history:#}");
}

#[tokio::test]
async fn a_gate_that_wants_the_person_takes_what_the_client_was_told() {
    let (_stage, mut client) = waiting(true).await;
    let again = asked(&mut client, approve()).await;
    client.ask("tools/call", again).await;
    let report = json!({ "instance_id": "AB-1",
        "report": { "step_id": "Review", "status": "success" } });
    let review = client.call("advance_workflow", report).await;
    assert_eq!(review["structuredContent"]["waiting"]["answers"], "verified");
    let relayed = json!({ "instance_id": "AB-1", "answer": "approve" });
    let refused = client.call("answer_gate", relayed).await;
    assert_eq!(refused["structuredContent"]["refusal"]["code"], "gate_needs_person");
    let again = asked(&mut client, approve()).await;
    let answered = client.ask("tools/call", again).await["result"].clone();
    assert_eq!(answered["structuredContent"]["next_step"]["step_name"], "Build", "{answered}");
}

#[tokio::test]
async fn an_answer_that_is_sent_again_is_taken_once() {
    let (_stage, mut client) = waiting(true).await;
    let again = asked(&mut client, approve()).await;
    let first = client.ask("tools/call", again.clone()).await["result"].clone();
    let second = client.ask("tools/call", again).await["result"].clone();
    assert_eq!(first["structuredContent"]["seq"], second["structuredContent"]["seq"]);
    assert_eq!(second["isError"], false);
}

#[tokio::test]
async fn feedback_goes_back_with_the_run() {
    let (_stage, mut client) = waiting(true).await;
    let content = json!({ "answer": "changes", "feedback": "name the risks" });
    let again = asked(&mut client, json!({ "action": "accept", "content": content })).await;
    let answered = client.ask("tools/call", again).await["result"]["structuredContent"].clone();
    assert_eq!(answered["next_step"]["step_name"], "Draft");
    assert_eq!(answered["next_step"]["feedback"], "name the risks");
}

#[tokio::test]
async fn whoever_declines_or_dismisses_leaves_the_gate_open() {
    let (_stage, mut client) = waiting(true).await;
    for action in ["decline", "cancel"] {
        let again = asked(&mut client, json!({ "action": action })).await;
        let answered = client.ask("tools/call", again).await["result"].clone();
        assert_eq!(answered["isError"], false);
        assert_eq!(answered["structuredContent"]["status"], "SUSPENDED");
        let warning = answered["structuredContent"]["warnings"][0].as_str().unwrap();
        assert!(warning.ends_with("the gate stays open"), "{warning}");
    }
}

#[tokio::test]
async fn an_answer_that_is_none_of_the_options_is_refused() {
    let (_stage, mut client) = waiting(true).await;
    let again = asked(&mut client, json!({ "action": "accept", "content": { "answer": "maybe" } }));
    let again = again.await;
    let answered = client.ask("tools/call", again).await["result"].clone();
    assert_eq!(answered["structuredContent"]["refusal"]["code"], "answer_unknown");
}

#[tokio::test]
async fn what_was_sealed_for_one_call_opens_no_other() {
    let (_stage, mut client) = waiting(true).await;
    let sealed = asked(&mut client, approve()).await;
    let state = sealed["requestState"].as_str().unwrap();
    let mut tampered = sealed.clone();
    let (head, tail) = state.split_at(state.len() / 2);
    let other = if tail.starts_with('A') { 'B' } else { 'A' };
    tampered["requestState"] = json!(format!("{head}{other}{}", tail.split_at(1).1));
    let mut other = sealed.clone();
    other["arguments"]["person"] = json!("someone else");
    for wrong in [tampered, other] {
        let answer = client.ask("tools/call", wrong).await;
        assert_eq!(answer["error"]["code"], INVALID_PARAMS, "{answer}");
    }
    let status = client.call("get_workflow_status", json!({ "instance_id": "AB-1" })).await;
    assert_eq!(status["structuredContent"]["status"], "SUSPENDED");
}

#[tokio::test]
async fn a_missing_answer_is_asked_for_again() {
    let (_stage, mut client) = waiting(true).await;
    let mut again = asked(&mut client, approve()).await;
    again["inputResponses"] = json!({ "something": approve() });
    let answer = client.ask("tools/call", again).await["result"].clone();
    assert_eq!(answer["resultType"], "input_required");
}

#[tokio::test]
async fn what_changed_since_it_was_shown_is_shown_again() {
    let (stage, mut client) = waiting(true).await;
    let again = asked(&mut client, approve()).await;
    stage.write("plan.md", "do that");
    let answer = client.ask("tools/call", again).await["result"].clone();
    assert_eq!(answer["resultType"], "input_required", "{answer}");
}

#[tokio::test]
async fn a_client_that_cannot_show_forms_is_told_what_to_do() {
    let (_stage, mut client) = waiting(true).await;
    client.capabilities = json!({});
    let refused = client.call("answer_gate", json!({ "instance_id": "AB-1" })).await;
    let message = refused["structuredContent"]["refusal"]["message"].as_str().unwrap();
    assert!(message.contains("your client shows no forms"), "{message}");
}

#[tokio::test]
async fn a_client_of_the_older_era_is_asked_while_its_call_waits() {
    let (_stage, mut client) = waiting(false).await;
    client.send_plain("ask", "tools/call", question()).await;
    let form = client.receive().await;
    assert_eq!(form["method"], "elicitation/create");
    assert!(form["params"]["message"].as_str().unwrap().contains("Approve the plan"));
    let reply = json!({ "jsonrpc": "2.0", "id": form["id"], "result": approve() });
    client.send_line(reply.to_string().as_bytes()).await;
    let answered = client.receive().await;
    assert_eq!(answered["id"], "ask");
    assert_eq!(answered["result"]["structuredContent"]["next_step"]["step_name"], "Review");
}

#[tokio::test]
async fn a_client_of_the_older_era_may_decline() {
    let (_stage, mut client) = waiting(false).await;
    client.send_plain("ask", "tools/call", question()).await;
    let form = client.receive().await;
    let reply = json!({ "jsonrpc": "2.0", "id": form["id"], "result": { "action": "decline" } });
    client.send_line(reply.to_string().as_bytes()).await;
    let answered = client.receive().await["result"]["structuredContent"].clone();
    assert_eq!(answered["status"], "SUSPENDED");
    assert_eq!(answered["warnings"][0], "the person declined to answer; the gate stays open");
}
