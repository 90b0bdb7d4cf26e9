//! How clients of either era are served, and what a server must live through.

use std::{sync::Arc, time::Duration};

use mcp::{Options, ServeError};
use serde_json::{Value, json};

use crate::{client::Client, world::Stage};

const INVALID_PARAMS: i64 = -32602;
const INTERNAL_ERROR: i64 = -32603;
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_REQUEST: i64 = -32600;
const PARSE_ERROR: i64 = -32700;

fn client() -> Client {
    Client::new(Arc::new(Stage::new(false)).runtime(), Options::default())
}

#[tokio::test]
async fn a_client_of_the_older_era_shakes_hands() {
    let mut client = client();
    let hello = json!({ "jsonrpc": "2.0", "id": "a", "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "old", "version": "0.9" } } });
    client.send_line(hello.to_string().as_bytes()).await;
    let answer = client.receive().await;
    assert_eq!(answer["id"], "a");
    assert_eq!(answer["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(answer["result"]["serverInfo"]["name"], "milepost");
    assert!(answer["result"]["instructions"].as_str().unwrap().contains("advance_workflow"));
    client.send_line(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    client.send_line(br#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#).await;
    assert_eq!(client.receive().await["result"], json!({}));
    client.send_line(br#"{"jsonrpc":"2.0","id":3,"method":"tools/list"}"#).await;
    let tools = client.receive().await["result"]["tools"].clone();
    assert_eq!(tools.as_array().unwrap().len(), 12);
    for (list, first) in [("prompts", "milepost_resume"), ("resources", "how-to-write-a-workflow")]
    {
        let ask = json!({ "jsonrpc": "2.0", "id": list, "method": format!("{list}/list") });
        client.send_line(ask.to_string().as_bytes()).await;
        assert_eq!(client.receive().await["result"][list][0]["name"], first);
    }
    client.hang_up().await.0.unwrap();
}

#[tokio::test]
async fn a_client_of_the_newer_era_asks_what_there_is_and_may_keep_it() {
    let mut client = client();
    let discovered = client.ask("server/discover", json!({})).await["result"].clone();
    assert!(discovered["supportedVersions"].as_array().unwrap().contains(&json!("2026-07-28")));
    assert!(0 < discovered["ttlMs"].as_u64().unwrap());
    assert_eq!(discovered["cacheScope"], "public");
    let listed = client.ask("tools/list", json!({})).await["result"].clone();
    assert!(0 < listed["ttlMs"].as_u64().unwrap());
    let called = client.call("list_runs", json!({})).await;
    for result in [discovered, listed, called] {
        let info = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
        assert_eq!(info["name"], "milepost", "{result}");
    }
    client.hang_up().await.0.unwrap();
}

#[tokio::test]
async fn every_tool_is_listed_with_its_title_schemas_and_four_hints() {
    let mut client = client();
    let tools = client.ask("tools/list", json!({})).await["result"]["tools"].clone();
    for tool in tools.as_array().unwrap() {
        assert!(tool["title"].is_string() && tool["outputSchema"].is_object(), "{tool}");
        let hints = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
        assert!(hints.iter().all(|it| tool["annotations"][*it].is_boolean()), "{tool}");
    }
}

#[tokio::test]
async fn a_client_that_only_looks_in_ends_the_server_cleanly() {
    let mut looking = client();
    looking.ask("server/discover", json!({})).await;
    looking.hang_up().await.0.unwrap();
    client().hang_up().await.0.unwrap();
}

#[tokio::test]
async fn a_notification_that_comes_first_is_ignored() {
    let mut client = client();
    client.send_line(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    client.send_line(br#"{"jsonrpc":"2.0","method":"$/of/another/protocol"}"#).await;
    client.send_line(br#"{"jsonrpc":"2.0","id":5,"result":{}}"#).await;
    assert!(client.ask("tools/list", json!({})).await["result"].is_object());
}

#[tokio::test]
async fn what_is_malformed_or_unknown_gets_the_right_code() {
    let mut client = client();
    let cases = [
        ("tools/call", json!({ "arguments": {} }), INVALID_PARAMS),
        ("tools/call", json!({ "name": "list_runs", "arguments": [1] }), INVALID_PARAMS),
        ("tools/call", json!({ "name": "no_such_tool" }), INVALID_PARAMS),
        ("tools/list", json!({ "cursor": "more" }), INVALID_PARAMS),
        ("no/such/method", json!({}), METHOD_NOT_FOUND),
        // Only the older era has these, whether they can be read or not.
        ("initialize", json!({}), METHOD_NOT_FOUND),
        ("ping", json!({}), METHOD_NOT_FOUND),
        ("resources/subscribe", json!({}), METHOD_NOT_FOUND),
        ("resources/subscribe", json!({ "uri": "milepost://runs/x" }), METHOD_NOT_FOUND),
        ("resources/unsubscribe", json!({}), METHOD_NOT_FOUND),
        ("logging/setLevel", json!({ "level": "info" }), METHOD_NOT_FOUND),
        ("tasks/list", json!({}), METHOD_NOT_FOUND),
    ];
    for (method, params, code) in cases {
        let answer = client.ask(method, params.clone()).await;
        assert_eq!(answer["error"]["code"], code, "{method} {params}: {answer}");
    }
    let unknown = client.ask("tools/call", json!({ "name": "no_such_tool" })).await;
    assert!(unknown["error"]["message"].as_str().unwrap().contains("start_workflow"));
}

#[tokio::test]
async fn a_message_that_cannot_be_read_is_refused_by_its_id_and_the_server_lives_on() {
    let mut client = client();
    let deep = format!(r#"{{"jsonrpc":"2.0","id":8,"method":"x","params":{}}}"#, "[".repeat(5000));
    let cases: [(&[u8], Value, i64); 9] = [
        (b"{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"\xff\xfe\"}", json!(4), PARSE_ERROR),
        (br#"{"jsonrpc":"2.0","id":"x","method":"tools/list","params":{"#, json!("x"), PARSE_ERROR),
        (br#"{"method":"tools/call","params":{"a":"#, Value::Null, PARSE_ERROR),
        (b"\xff\xff\xff", Value::Null, PARSE_ERROR),
        (b"hello", Value::Null, PARSE_ERROR),
        (b"null", Value::Null, INVALID_REQUEST),
        (b"[]", Value::Null, INVALID_REQUEST),
        (br#"{"id":6}"#, json!(6), INVALID_REQUEST),
        (deep.as_bytes(), json!(8), PARSE_ERROR),
    ];
    for (line, id, code) in cases {
        client.send_line(line).await;
        let answer = client.receive().await;
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(code)), "{answer}");
    }
    // What asks for nothing, and what is an answer itself, is not answered.
    let answer = br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}"#;
    for quiet in [b"".as_slice(), b"   ", answer] {
        client.send_line(quiet).await;
    }
    assert!(client.ask("tools/list", json!({})).await["result"].is_object());
}

#[tokio::test]
async fn a_message_of_fifty_megabytes_is_refused_by_its_id_and_the_server_lives_on() {
    let mut client = client();
    let large = "x".repeat(50_000_000);
    let first =
        format!(r#"{{"jsonrpc":"2.0","id":41,"method":"tools/call","params":{{"a":"{large}"}}}}"#);
    let last =
        format!(r#"{{"method":"tools/call","params":{{"a":"{large}"}},"jsonrpc":"2.0","id":42}}"#);
    for (line, id) in [(first, 41), (last, 42)] {
        client.send_line(line.as_bytes()).await;
        let answer = client.receive().await;
        assert_eq!(answer["id"], id);
        assert_eq!(answer["error"]["code"], INVALID_REQUEST);
        assert!(answer["error"]["message"].as_str().unwrap().contains("at most 16777216"));
    }
    assert!(client.ask("tools/list", json!({})).await["result"].is_object());
}

#[tokio::test]
async fn a_tool_that_breaks_down_is_answered_with_an_incident() {
    let stage = Arc::new(Stage::new(false));
    let mut client = Client::new(stage.runtime(), Options::default());
    stage.break_down();
    let broken = client.ask("tools/call", json!({ "name": "list_workflows" })).await;
    assert_eq!(broken["error"]["code"], INTERNAL_ERROR);
    assert!(broken["error"]["data"]["incident"].is_string(), "{broken}");
    assert!(client.call("list_runs", json!({})).await["isError"] == false);
}

#[tokio::test]
async fn the_end_of_input_lets_calls_finish_but_does_not_wait_for_ever() {
    let stage = Arc::new(Stage::new(true));
    stage.define_all(include_str!("../core/workflows/demo.txt"));
    let options = Options { drain: Duration::from_millis(50), ..Options::default() };
    let mut client = Client::new(stage.runtime(), options);
    let begun = client.call("start_workflow", json!({ "workflow_name": "DEMO" })).await;
    let run = begun["structuredContent"]["instance_id"].clone();
    let wait = json!({ "name": "get_workflow_status",
        "arguments": { "instance_id": run, "wait_seconds": 50 } });
    let waiting = client.send("tools/call", wait).await;
    let list = client.send("tools/call", json!({ "name": "list_runs" })).await;
    let (ended, answers) = client.hang_up().await;
    ended.unwrap();
    let of = |id: u64| answers.iter().find(|it| it["id"] == id).unwrap();
    assert_eq!(of(list)["result"]["isError"], false);
    assert_eq!(of(waiting)["error"]["message"], "the call was cancelled");
}

#[tokio::test]
async fn a_toolset_that_does_not_exist_is_named() {
    let options = Options { toolsets: vec!["forg".to_owned()], ..Options::default() };
    let client = Client::new(Arc::new(Stage::new(false)).runtime(), options);
    let ended = client.hang_up().await.0;
    assert!(matches!(ended, Err(ServeError::Toolset(_))));
    assert_eq!(
        ended.unwrap_err().to_string(),
        "there is no toolset `forg`; there are: `core`, `generation`, `devworkflow`, `forge`"
    );
}
