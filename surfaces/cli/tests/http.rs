//! The tools over HTTP, through the real binary: both eras on one endpoint, who is let in, and what
//! a server that everyone can knock at must live through.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

#[path = "support/http.rs"]
mod http;
#[path = "support/project.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod project;

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    process::Stdio,
    time::Duration,
};

use serde_json::{Value, json};

use http::HttpServer;
use project::Project;

fn serve(project: &Project, more: &[&str]) -> HttpServer {
    let mut arguments = vec!["serve", "--address", "127.0.0.1:0"];
    arguments.extend_from_slice(more);
    HttpServer::start(&mut project.milepost(&arguments))
}

fn hello(version: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": version, "capabilities": {},
        "clientInfo": { "name": "old", "version": "1" } } })
}

#[test]
fn a_run_is_worked_without_a_session() {
    let project = Project::new();
    let server = serve(&project, &[]);
    let begun = server.call("start_workflow", &json!({ "workflow_name": "SAVE" }));
    let report = json!({ "step_id": begun["next_step"]["step_name"], "status": "in_progress" });
    let advance = json!({ "instance_id": begun["instance_id"], "report": report });
    assert_eq!(server.call("advance_workflow", &advance)["status"], "RUNNING");
    // What is there is there for everyone.
    assert_eq!(project.ask(&["run", "list"])["runs"][0]["workflow"], "SAVE");
}

#[test]
fn a_client_of_every_older_revision_has_a_session() {
    let project = Project::new();
    let server = serve(&project, &[]);
    for version in ["2025-11-25", "2025-06-18", "2025-03-26"] {
        let answer = server.post(&[], &hello(version));
        assert_eq!(answer.status, 200);
        let session = answer.headers["mcp-session-id"].clone();
        assert_eq!(answer.json()["result"]["protocolVersion"], version);
        let headers = [("mcp-session-id", session.as_str()), ("mcp-protocol-version", version)];
        let begun = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(server.post(&headers, &begun).status, 202);
        let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
        let tools = server.post(&headers, &list).json()["result"]["tools"].clone();
        assert_eq!(tools.as_array().unwrap().len(), 12);
        assert_eq!(server.send("DELETE", "/mcp", &headers, b"").status, 204);
    }
}

#[test]
fn sessions_are_counted() {
    let project = Project::new();
    let server = serve(&project, &["--set", "mcp.sessions=2"]);
    for _ in 0..2 {
        assert_eq!(server.post(&[], &hello("2025-11-25")).status, 200);
    }
    let turned_away = server.post(&[], &hello("2025-11-25"));
    assert_eq!((turned_away.status, turned_away.headers["retry-after"].as_str()), (503, "5"));
    assert!(turned_away.json()["error"]["message"].as_str().unwrap().contains("2026-07-28"));
    assert_eq!(server.call("list_runs", &json!({}))["runs"], json!([]));
}

#[test]
fn what_is_wrong_with_a_request_is_said_in_the_protocol() {
    let project = Project::new();
    let server = serve(&project, &["--set", "mcp.body=64KiB"]);
    let json = ("content-type", "application/json");
    let accept = ("accept", "application/json, text/event-stream");
    let post = |body: &[u8]| server.send("POST", "/mcp", &[json, accept], body);
    for (body, status, code) in [
        (b"{".as_slice(), 400, -32700),
        (b"\xff\xfe", 400, -32700),
        (b"", 400, -32700),
        (b"[]", 400, -32600),
        (br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, 400, -32600),
        (br#"{"id":1,"method":"ping"}"#, 400, -32600),
        (br#"{"jsonrpc":"2.0","id":5}"#, 400, -32600),
        (br#"{"jsonrpc":"2.0","id":5,"method":7}"#, 400, -32600),
        (br#"{"jsonrpc":"2.0","id":5,"method":"initialize","params":{}}"#, 400, -32602),
        (&[b'x'; 100_000], 413, -32600),
    ] {
        let answer = post(body);
        assert_eq!(
            answer.status,
            status,
            "{}",
            String::from_utf8_lossy(&body[..body.len().min(40)])
        );
        assert_eq!(answer.json()["error"]["code"], code);
    }
    assert_eq!(server.send("GET", "/mcp", &[accept], b"").status, 405);
    assert_eq!(server.send("POST", "/mcp/elsewhere", &[json, accept], b"{}").status, 404);
    let unknown = server.ask("no/such/method", json!({}));
    assert_eq!(unknown.status, 404);
    assert_eq!(unknown.json()["error"]["code"], -32601);
    let malformed = server.ask("tools/call", json!({ "arguments": [] }));
    assert_eq!(malformed.json()["error"]["code"], -32602);
    let headers = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call")];
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {} } } });
    let mismatch = server.post(&headers, &list);
    assert_eq!(mismatch.status, 400);
    assert_eq!(mismatch.json()["error"]["code"], -32020);
}

#[test]
fn who_comes_under_another_name_or_from_another_page_is_turned_away() {
    let project = Project::new();
    let server = serve(&project, &["--set", "serve.hosts=milepost.example:8443"]);
    let get = |headers: &[(&str, &str)]| server.send("GET", "/", headers, b"").status;
    assert_eq!(get(&[("host", "evil.example")]), 403);
    assert_eq!(get(&[("host", "127.0.0.1.evil.example")]), 403);
    assert_eq!(get(&[("host", "localhost:80")]), 200);
    assert_eq!(get(&[("host", "milepost.example")]), 200);
    let discover = |more: &[(&str, &str)]| {
        server.ask_with("server/discover", json!({}), more, &json!({})).status
    };
    assert_eq!(discover(&[]), 200);
    assert_eq!(discover(&[("origin", "http://localhost:3000")]), 200);
    assert_eq!(discover(&[("origin", "https://milepost.example")]), 200);
    assert_eq!(discover(&[("origin", "https://evil.example")]), 403);
    assert_eq!(discover(&[("origin", "null")]), 403);
    assert_eq!(discover(&[("host", "evil.example")]), 403);
}

#[test]
fn an_address_that_others_can_reach_needs_a_token() {
    let project = Project::new();
    let refused = project
        .milepost(&["serve", "--address", "0.0.0.0:0"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(!refused.status.success());
    let why = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(why.contains("--token-file"), "{why}");

    project.write("token", "a-token-of-many-letters\n");
    let mut command =
        project.milepost(&["serve", "--address", "0.0.0.0:0", "--token-file", "token"]);
    let mut server = HttpServer::start(&mut command);
    server.address = server.address.replace("0.0.0.0", "127.0.0.1");
    let discover =
        |more: &[(&str, &str)]| server.ask_with("server/discover", json!({}), more, &json!({}));
    let turned_away = discover(&[]);
    assert_eq!(turned_away.status, 401);
    assert!(turned_away.headers["www-authenticate"].starts_with("Bearer"));
    assert_eq!(discover(&[("authorization", "Bearer another")]).status, 401);
    assert_eq!(discover(&[("authorization", "Bearer a-token-of-many-letters")]).status, 200);
    assert_eq!(server.send("GET", "/", &[], b"").status, 401);
    assert_eq!(server.send("GET", "/healthz", &[], b"").status, 200);
}

#[test]
fn a_listener_hears_of_what_another_process_does() {
    let project = Project::new();
    let server = serve(&project, &[]);
    let run = server.call("start_workflow", &json!({ "workflow_name": "SAVE" }))["run"].clone();
    let uri = format!("milepost://runs/{}", run.as_str().unwrap());
    let wish = json!({ "notifications": { "resourceSubscriptions": [uri] } });
    let mut stream = server.ask("subscriptions/listen", wish);
    let acknowledged = stream.next_message();
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    project.ask(&["run", "cancel", run.as_str().unwrap(), "--reason", "no more"]);
    let told = stream.next_message();
    assert_eq!(told["method"], "notifications/resources/updated");
    assert_eq!(told["params"]["uri"], uri);
}

#[test]
fn a_wait_as_a_task_outlives_the_server() {
    let project = Project::new();
    let mut server = serve(&project, &[]);
    let run = server.call("start_workflow", &json!({ "workflow_name": "SAVE" }))["run"].clone();
    let capabilities = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let wait = json!({ "name": "get_workflow_status",
        "arguments": { "instance_id": run, "wait_seconds": 50 } });
    let task = server.ask_with("tools/call", wait, &[], &capabilities).json()["result"].clone();
    assert_eq!(task["resultType"], "task", "{task}");
    server.child.kill().unwrap();
    server.child.wait().unwrap();

    let server = serve(&project, &[]);
    let get = || {
        let get = json!({ "taskId": task["taskId"] });
        server.ask_with("tasks/get", get, &[], &capabilities).json()["result"].clone()
    };
    assert_eq!(get()["status"], "working");
    project.ask(&["run", "cancel", run.as_str().unwrap(), "--reason", "no more"]);
    assert_eq!(get()["status"], "cancelled");
}

#[test]
fn the_server_stops_when_told_though_streams_are_open() {
    let project = Project::new();
    let mut server = serve(&project, &[]);
    let wish = json!({ "notifications": { "resourcesListChanged": true } });
    let mut stream = server.ask("subscriptions/listen", wish);
    stream.next_message();
    let idle = TcpStream::connect(&server.address).unwrap();
    let mut half = TcpStream::connect(&server.address).unwrap();
    half.write_all(b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 500\r\n\r\n{")
        .unwrap();
    let pid = server.child.id().to_string();
    assert!(std::process::Command::new("kill").arg(&pid).status().unwrap().success());
    assert!(server.child.wait().unwrap().success());
    drop((idle, half));
}

#[test]
fn a_client_that_goes_away_in_the_middle_harms_nobody() {
    let project = Project::new();
    let server = serve(&project, &[]);
    for half in
        ["POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 500\r\n\r\n{", "GET /", ""]
    {
        let mut stream = TcpStream::connect(&server.address).unwrap();
        stream.write_all(half.as_bytes()).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        drop(stream.read_to_end(&mut Vec::new()));
    }
    assert_eq!(server.call("list_runs", &json!({}))["runs"], json!([]));
}
