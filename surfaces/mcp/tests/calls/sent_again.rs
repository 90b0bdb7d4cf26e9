//! A call on a graph session that is sent again is answered as the first time, and changes nothing.

use std::{fs, sync::Arc, time::Duration};

use mcp::Options;
use serde_json::{Value, json};

use super::{client::Client, folder, world::Stage};

struct Sender {
    stage: Arc<Stage>,
    client: Client,
}

impl Sender {
    fn new() -> Self {
        let stage = Arc::new(Stage::new(false));
        let tiny = folder("devworkflow").join("workflows/tiny.txt");
        stage.define_all(&fs::read_to_string(tiny).unwrap());
        let classic = folder("").join("../../../workflows/Classic/graph.yaml");
        stage.define("Classic/graph.yaml", &fs::read_to_string(classic).unwrap());
        let toolsets = vec!["devworkflow".to_owned()];
        let options = Options { toolsets, ..Options::default() };
        let client = Client::new(stage.runtime(), options);
        Self { stage, client }
    }

    async fn send(&mut self, id: &str, tool: &str, arguments: &Value) -> Value {
        self.stage.pass(Duration::from_secs(1));
        let params = json!({ "name": tool, "arguments": arguments,
            "_meta": { "milepost/request_id": id } });
        let answer = self.client.ask("tools/call", params).await;
        answer["result"]["structuredContent"].clone()
    }

    /// Sends a call twice. The answers are the same, and so are the sessions after both.
    async fn send_twice(&mut self, id: &str, tool: &str, arguments: Value) -> Value {
        let first = self.send(id, tool, &arguments).await;
        let before = self.sessions().await;
        let second = self.send(id, tool, &arguments).await;
        assert_eq!(second, first, "{id}");
        assert_eq!(self.sessions().await, before, "{id}");
        first
    }

    async fn guide_twice(&mut self, id: &str, session: &Value, context: Value) -> Value {
        let arguments = json!({ "task_description": "Add: login", "context": context,
            "session_id": session });
        self.send_twice(id, "workflow_guidance", arguments).await
    }

    /// Returns what each session says of itself.
    async fn sessions(&mut self) -> Vec<Value> {
        let listed = self.client.call("workflow_cache_management", json!({ "operation": "list" }));
        let listed = listed.await["structuredContent"]["results"].clone();
        let mut states = Vec::new();
        for row in listed.as_array().unwrap() {
            let get = json!({ "operation": "get", "session_id": row["session_id"] });
            states.push(self.client.call("workflow_state", get).await["structuredContent"].clone());
        }
        states
    }

    async fn start(&mut self, workflow: &str) -> Value {
        let arguments = json!({ "task_description": "Add: login", "action": "start",
            "context": format!("workflow: {workflow}") });
        let begun = self.send_twice("start", "workflow_guidance", arguments).await;
        begun["session_id"].clone()
    }
}

fn count(text: &Value, part: &str) -> usize {
    text["content"].as_str().unwrap().matches(part).count()
}

#[tokio::test]
async fn a_session_is_begun_moved_and_ended_once() {
    let mut sender = Sender::new();
    let session = sender.start("Tiny").await;
    assert_eq!(sender.sessions().await.len(), 1);

    let evidence = json!({ "c1": "done", "c2": "done" });
    let refused = json!({ "choose": "Beta", "criteria_evidence": evidence });
    let first = sender.guide_twice("unapproved", &session, refused.clone()).await;
    assert_eq!(first["error_code"], "APPROVAL_REQUIRED");

    let update = json!({ "operation": "update", "session_id": session,
        "updates": { "log_entry": "half of it", "add_item": "the rest" } });
    let updated = sender.send_twice("update", "workflow_state", update).await;
    assert_eq!(count(&updated, "half of it"), 1, "{updated}");

    let approved =
        json!({ "choose": "Beta", "criteria_evidence": evidence, "user_approval": true });
    let moved = sender.guide_twice("choose", &session, approved).await;
    assert_eq!(count(&moved, "Transitioned to:** BETA"), 1, "{moved}");

    // What was refused stays refused, though the session has gone on.
    let arguments = json!({ "task_description": "Add: login", "context": refused,
        "session_id": session });
    assert_eq!(sender.send("unapproved", "workflow_guidance", &arguments).await, first);

    let reset = json!({ "operation": "reset", "session_id": session });
    sender.send_twice("reset", "workflow_state", reset).await;
    assert_eq!(sender.sessions().await.len(), 0);
}

#[tokio::test]
async fn what_the_engine_refused_is_refused_again() {
    let mut sender = Sender::new();
    let session = sender.start("Tiny").await;
    let empty = json!({ "choose": "Beta", "user_approval": true,
        "criteria_evidence": { "c1": "", "c2": "done" } });
    let first = sender.guide_twice("empty", &session, empty.clone()).await;
    assert_eq!(first["error_code"], "EMPTY_EVIDENCE");
    let full = json!({ "choose": "Beta", "user_approval": true,
        "criteria_evidence": { "c1": "done", "c2": "done" } });
    assert_eq!(sender.guide_twice("full", &session, full).await["ok"], true);
    let arguments = json!({ "task_description": "Add: login", "context": empty,
        "session_id": session });
    assert_eq!(sender.send("empty", "workflow_guidance", &arguments).await, first);
}

#[tokio::test]
async fn a_child_is_begun_once_and_returns_once() {
    let mut sender = Sender::new();
    let parent = sender.start("Tiny").await;
    let child = sender.guide_twice("child", &parent, json!({ "choose": "Other" })).await;
    assert_eq!(sender.sessions().await.len(), 2);
    let done = json!({ "criteria_evidence": { "seen": "a door" } });
    let back = sender.guide_twice("done", &child["session_id"], done).await;
    assert_eq!(back["session_id"], parent);
    assert_eq!(count(&back, "↩️ Workflow Other is COMPLETED"), 1, "{back}");
}

#[tokio::test]
async fn an_action_is_done_once() {
    let mut sender = Sender::new();
    let session = sender.start("Classic").await;
    for (id, action, phase) in [("1", "start", "ANALYZE"), ("2", "plan", "BLUEPRINT")] {
        let arguments = json!({ "task_description": "Add: login", "action": action,
            "context": format!("words for {phase}"), "session_id": session });
        sender.send_twice(id, "workflow_guidance", arguments).await;
        let states = sender.sessions().await;
        let line = format!("{action}: words for {phase}");
        assert_eq!(count(&states[0], &line), 1, "{states:?}");
    }
}

#[tokio::test]
async fn one_id_for_two_things_is_refused() {
    let mut sender = Sender::new();
    let session = sender.start("Tiny").await;
    let update = |text: &str| json!({ "operation": "update", "session_id": session, "updates": { "log_entry": text } });
    sender.send_twice("update", "workflow_state", update("one")).await;
    let other = sender.send("update", "workflow_state", &update("two")).await;
    assert_eq!(other["refusal"]["code"], "request_conflict");
}
