//! Clients of both eras are told when a run changes that they watch.

use std::{sync::Arc, time::Duration};

use mcp::Options;
use serde_json::{Value, json};

use crate::{client::Client, world::Stage};

/// Returns two clients of one server, and the key of a run.
async fn two() -> (Arc<Stage>, Client, Client) {
    let stage = Arc::new(Stage::new(true));
    stage.define_all(include_str!("../core/workflows/plan.txt"));
    let runtime = stage.runtime();
    let options = Options { progress: Duration::from_millis(5), ..Options::default() };
    let watching = Client::new(Arc::clone(&runtime), options);
    let mut working = Client::new(runtime, Options::default());
    working.call("start_workflow", json!({ "workflow_name": "PLAN", "key": "AB-1" })).await;
    (stage, watching, working)
}

async fn note(working: &mut Client) {
    let note = json!({ "instance_id": "AB-1", "type": "note", "text": "looked at it" });
    assert_eq!(working.call("record_entry", note).await["isError"], false);
}

#[tokio::test]
async fn a_client_of_the_newer_era_listens() {
    let (_stage, mut watching, mut working) = two().await;
    let uri = "milepost://runs/AB-1";
    let wish = json!({ "resourceSubscriptions": [uri, "milepost://workflows/PLAN"],
        "resourcesListChanged": true, "toolsListChanged": true });
    let id = watching.send("subscriptions/listen", json!({ "notifications": wish })).await;
    let told = watching.receive().await;
    assert_eq!(told["method"], "notifications/subscriptions/acknowledged");
    // Workflows do not change by what is done with them, and tools never do.
    let accepted = json!({ "resourceSubscriptions": [uri], "resourcesListChanged": true });
    assert_eq!(told["params"]["notifications"], accepted, "{told}");

    note(&mut working).await;
    let told = watching.receive().await;
    assert_eq!(told["method"], "notifications/resources/updated");
    assert_eq!(told["params"]["uri"], uri);
    assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], id);

    working.call("start_workflow", json!({ "workflow_name": "PLAN", "key": "AB-2" })).await;
    assert_eq!(watching.receive().await["method"], "notifications/resources/list_changed");
}

#[tokio::test]
async fn a_run_that_is_still_to_come_is_watched_by_its_key() {
    let (_stage, mut watching, mut working) = two().await;
    let uri = "milepost://runs/AB-9";
    let wish = json!({ "notifications": { "resourceSubscriptions": [uri] } });
    watching.send("subscriptions/listen", wish).await;
    watching.receive().await;
    working.call("start_workflow", json!({ "workflow_name": "PLAN", "key": "AB-9" })).await;
    assert_eq!(watching.receive().await["params"]["uri"], uri);
}

#[tokio::test]
async fn whoever_listens_does_not_hold_the_end_up() {
    let stage = Arc::new(Stage::new(false));
    let options = Options { drain: Duration::from_secs(3600), ..Options::default() };
    let mut client = Client::new(stage.runtime(), options);
    let wish = json!({ "notifications": { "resourcesListChanged": true } });
    let id = client.send("subscriptions/listen", wish).await;
    let told = client.receive().await;
    assert_eq!(told["method"], "notifications/subscriptions/acknowledged");
    let ended = tokio::time::timeout(Duration::from_secs(10), client.hang_up()).await;
    let (ended, answers) = ended.expect("the server waits for what never comes");
    ended.unwrap();
    assert_eq!(answers.iter().map(|it| &it["id"]).collect::<Vec<_>>(), [&json!(id)]);
}

#[tokio::test]
async fn a_client_of_the_older_era_subscribes_and_lets_go() {
    let (_stage, mut watching, mut working) = two().await;
    watching.shake_hands().await;
    let uri = "milepost://runs/AB-1/brief";
    watching.send_plain("one", "resources/subscribe", json!({ "uri": uri })).await;
    assert_eq!(watching.receive().await["result"], json!({}));

    note(&mut working).await;
    let told = watching.receive().await;
    assert_eq!(told["method"], "notifications/resources/updated");
    assert_eq!(told["params"], json!({ "uri": uri }));

    watching.send_plain("two", "resources/unsubscribe", json!({ "uri": uri })).await;
    assert_eq!(watching.receive().await["result"], json!({}));
    note(&mut working).await;
    watching.send_plain("three", "ping", json!({})).await;
    assert_eq!(watching.receive().await["id"], "three");
}

#[tokio::test]
async fn what_cannot_be_watched_is_refused() {
    let (_stage, mut watching, _working) = two().await;
    watching.shake_hands().await;
    for uri in ["milepost://workflows/PLAN", "milepost://runs/none", "elsewhere"] {
        watching.send_plain("one", "resources/subscribe", json!({ "uri": uri })).await;
        assert_eq!(watching.receive().await["error"]["data"]["uri"], uri);
    }
}

#[tokio::test]
async fn whoever_waits_is_told_that_it_goes_on_if_it_asks_for_it() {
    let (_stage, mut watching, mut working) = two().await;
    let wait = json!({ "name": "get_workflow_status", "_meta": { "progressToken": "p" },
        "arguments": { "instance_id": "AB-1", "wait_seconds": 50 } });
    let id = watching.send("tools/call", wait).await;
    let mut last = 0.0;
    for _ in 0..3 {
        let told = watching.receive().await;
        assert_eq!(told["method"], "notifications/progress");
        assert_eq!(told["params"]["progressToken"], "p");
        let progress = told["params"]["progress"].as_f64().unwrap();
        assert!(last < progress, "{told}");
        last = progress;
    }
    note(&mut working).await;
    loop {
        let told: Value = watching.receive().await;
        if told["id"] == id {
            assert_eq!(told["result"]["isError"], false);
            return;
        }
    }
}
