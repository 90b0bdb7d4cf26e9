//! Denial of service: connections, calls in flight, unread output, memory, time limits.
#![expect(clippy::disallowed_methods, reason = "these tests are about real time")]

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc::channel,
    },
    thread,
    time::{Duration, Instant},
};

use engine::{Actor, Entry, Event, Recorded};
use serde_json::{Value, json};
use store::{Append, Filter, SqliteSettings, SqliteStore, Store as _};

use crate::http::HttpServer;
use crate::{
    project::Project,
    server::{Era, Server},
};

/// How many entries the long run has.
const ENTRIES: u64 = 20_000;
/// How much memory a server may take with it, in KiB: what the attack took was 5.8 GiB.
const MEMORY_MAX: u64 = 100 * 1024;
/// How many calls the client makes that reads no answers.
const UNREAD: usize = 2_500;
/// How long the test waits for what must happen.
const PATIENCE: Duration = Duration::from_secs(30);

fn serve(project: &Project) -> HttpServer {
    HttpServer::start(&mut project.milepost(&["serve", "--address", "127.0.0.1:0"]))
}

/// Returns how much memory a process has taken at most, in KiB.
fn peak(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches("kB").trim().parse().unwrap()
}

/// Begins a run, and returns its id.
fn begin(project: &Project) -> String {
    let server = Server::start(&mut project.milepost(&["mcp"]), Era::Modern);
    let begun = server.call("start_workflow", json!({ "workflow_name": "SAVE" }));
    begun.value["instance_id"].as_str().unwrap().to_owned()
}

/// Gives the only run of a project many entries, each with some words.
fn lengthen(project: &Project, count: u64) {
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio.block_on(async {
        let path = project.path(".milepost/milepost.db");
        let store = SqliteStore::open(&path, SqliteSettings::default()).unwrap();
        let rows = store.list(Filter { limit: 1, ..Filter::default() }).await.unwrap().rows;
        let row = rows.into_iter().next().unwrap();
        let log = store.load(row.run, 0).await.unwrap().unwrap();
        let step = log.events.iter().find_map(|it| {
            let Event::StepEntered { step, .. } = &it.event else { return None };
            Some(step.clone())
        });
        let (step, at) = (step.unwrap(), log.events.last().unwrap().at);
        let note = |seq: u64| {
            let text = format!("{seq}: looked at the storage layer, and ran the tests once more");
            let entry = Entry::Note { text, tags: Vec::new() };
            let event = Event::EntryRecorded { step: step.clone(), entry };
            Recorded { seq, at, steady: at, by: Actor::default(), event }
        };
        let append = Append {
            project: log.project,
            run: row.run,
            expected: log.length,
            events: (log.length + 1..=log.length + count).map(note).collect(),
            summary: row.summary,
            definition: None,
            request: None,
            leases: Vec::new(),
            owes: Vec::new(),
        };
        store.append(append).await.unwrap();
    });
}

/// Returns how many of the newest events of a run have a word.
fn count_notes(project: &Project, run: &str, word: &str) -> usize {
    let shown = project.ask(&["run", "history", run, "--limit", "1000"]);
    let events = shown["events"].as_array().unwrap();
    events.iter().filter(|it| it["event"].to_string().contains(word)).count()
}

#[test]
fn six_hundred_writes_at_once_to_a_run_of_20000_entries_take_little_memory() {
    let project = Project::new();
    let run = begin(&project);
    lengthen(&project, ENTRIES);
    let server = serve(&project);
    let written = AtomicUsize::new(0);
    thread::scope(|scope| {
        for number in 0..600 {
            let (server, run, written) = (&server, &run, &written);
            scope.spawn(move || {
                let text = format!("attacked {number}");
                let note = json!({ "instance_id": run, "type": "note", "text": text });
                let params = json!({ "name": "record_entry", "arguments": note });
                let answer = server.ask("tools/call", params).json();
                assert_eq!(answer["result"]["isError"], false, "{answer}");
                written.fetch_add(1, Ordering::Relaxed);
            });
        }
    });
    assert_eq!(written.into_inner(), 600);
    let taken = peak(server.child.id());
    assert!(taken < MEMORY_MAX, "{taken} KiB");
    drop(server);
    assert_eq!(count_notes(&project, &run, "attacked"), 600);
}

/// A server on pipes whose answers are read when the test says so.
struct Pipes {
    child: Child,
}

impl Pipes {
    fn start(command: &mut Command) -> Self {
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut pipes = Self { child: pipes.spawn().unwrap() };
        let client = json!({ "name": "tests", "version": "1" });
        let params =
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        pipes.send(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }));
        pipes.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        pipes
    }

    fn send(&mut self, message: &Value) {
        let input = self.child.stdin.as_mut().unwrap();
        input.write_all(format!("{message}\n").as_bytes()).unwrap();
    }
}

impl Drop for Pipes {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
fn a_client_that_reads_no_answers_is_not_read_from() {
    let project = Project::new();
    let run = begin(&project);
    lengthen(&project, 200);
    let mut pipes = Pipes::start(&mut project.milepost(&["mcp"]));
    let mut input = pipes.child.stdin.take().unwrap();
    let sent = Arc::new(AtomicUsize::new(0));
    let arguments = json!({ "instance_id": run, "include_history": true });
    let counter = Arc::clone(&sent);
    let writing = thread::spawn(move || {
        for id in 1..=UNREAD {
            let params = json!({ "name": "get_workflow_status", "arguments": arguments });
            let call =
                json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
            input.write_all(format!("{call}\n").as_bytes()).unwrap();
            counter.fetch_add(1, Ordering::Relaxed);
        }
        input
    });
    // Until nothing is taken any more.
    let begun = Instant::now();
    let mut before = usize::MAX;
    while before != sent.load(Ordering::Relaxed) && begun.elapsed() < PATIENCE {
        before = sent.load(Ordering::Relaxed);
        thread::sleep(Duration::from_secs(1));
    }
    assert!(before < UNREAD, "all {UNREAD} calls were taken");
    let taken = peak(pipes.child.id());
    assert!(taken < MEMORY_MAX, "{taken} KiB");
    // Once it reads, it gets every answer.
    let output = BufReader::new(pipes.child.stdout.take().unwrap());
    let answered = output.lines().map_while(Result::ok).filter(|it| it.contains("\"id\":"));
    assert_eq!(answered.take(UNREAD + 1).count(), UNREAD + 1);
    drop(writing.join().unwrap());
}

#[test]
fn half_open_connections_shut_nobody_out() {
    let project = Project::new().with("MILEPOST_LOG_FILE", "server.log");
    let binary = project.milepost(&[]).get_program().to_string_lossy().into_owned();
    let line = format!("ulimit -n 256 && exec '{binary}' serve --address 127.0.0.1:0 --json");
    let mut command = Command::new("sh");
    command.args(["-c", &line]);
    project.place(&mut command);
    let server = HttpServer::start(&mut command);
    let half_open = || {
        let mut stream = TcpStream::connect(&server.address).unwrap();
        stream.write_all(b"POST /mcp HTTP/1.1\r\nhost: ").unwrap();
        stream
    };
    let streams: Vec<TcpStream> = (0..300).map(|_| half_open()).collect();
    let begun = Instant::now();
    let answer = server.send("GET", "/healthz", &[], b"");
    assert_eq!(answer.status, 200);
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    assert_eq!(server.call("list_runs", &json!({}))["runs"], json!([]));
    let log = fs::read_to_string(project.path("server.log")).unwrap();
    assert!(log.contains("serve.connections"), "{log}");
    drop(streams);
}

#[test]
fn a_connection_on_which_nothing_is_asked_is_closed() {
    let project = Project::new()
        .with("MILEPOST_SERVE_HEADER_TIMEOUT", "1s")
        .with("MILEPOST_SERVE_IDLE_TIMEOUT", "2s");
    let server = serve(&project);
    let mut half_open = TcpStream::connect(&server.address).unwrap();
    half_open.write_all(b"GET /healthz HTTP/1.1\r\n").unwrap();
    let mut idle = TcpStream::connect(&server.address).unwrap();
    idle.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    for stream in [&mut half_open, &mut idle] {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
    }
    assert_eq!(half_open.read_to_end(&mut Vec::new()).unwrap(), 0);
    let mut answer = String::new();
    idle.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("ok\n"), "{answer}");
}

/// Keeps everyone else from writing into the database of a project.
fn lock(project: &Project) -> rusqlite::Connection {
    let connection = rusqlite::Connection::open(project.path(".milepost/milepost.db")).unwrap();
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    connection
}

fn note(run: &str, text: &str) -> Value {
    let arguments = json!({ "instance_id": run, "type": "note", "text": text });
    json!({ "name": "record_entry", "arguments": arguments })
}

#[test]
fn a_call_that_hangs_is_answered_when_its_time_is_over_and_never_written() {
    let project = Project::new()
        .with("MILEPOST_STORE_BUSY_WAIT", "5m")
        .with("MILEPOST_MCP_CALL_TIMEOUT", "1s");
    let run = begin(&project);
    let server = Server::start(&mut project.milepost(&["mcp"]), Era::Legacy);
    let locked = lock(&project);
    let begun = Instant::now();
    let answer = server.request("tools/call", note(&run, "overdue")).unwrap();
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("mcp.call_timeout"), "{message}");
    assert_eq!(answer["error"]["data"]["code"], "timed_out", "{answer}");
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    drop(locked);
    // What comes later is written, and nothing before it.
    let answer = server.request("tools/call", note(&run, "in time")).unwrap();
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    assert_eq!(count_notes(&project, &run, "in time"), 1);
    assert_eq!(count_notes(&project, &run, "overdue"), 0);
}

#[test]
fn a_call_that_is_cancelled_before_it_is_written_is_never_written() {
    let project = Project::new().with("MILEPOST_STORE_BUSY_WAIT", "5m");
    let run = begin(&project);
    let mut pipes = Pipes::start(&mut project.milepost(&["mcp"]));
    let output = BufReader::new(pipes.child.stdout.take().unwrap());
    let locked = lock(&project);
    let call = |id: u32, params: Value| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
    pipes.send(&call(1, note(&run, "cancelled")));
    let params = json!({ "requestId": 1, "reason": "changed my mind" });
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
    pipes.send(&cancel);
    // Reading needs no lock. Its answer comes after the cancellation was taken.
    let status = json!({ "name": "get_workflow_status", "arguments": { "instance_id": run } });
    pipes.send(&call(2, status));
    let mut answers = output.lines().map_while(Result::ok);
    assert!(answers.any(|it| it.contains("\"id\":2")));
    drop(locked);
    pipes.send(&call(3, note(&run, "wanted")));
    let rest: Vec<String> = answers
        .inspect(|it| assert!(!it.contains("\"id\":1,"), "{it}"))
        .take_while(|it| !it.contains("\"id\":3"))
        .collect();
    assert!(rest.is_empty(), "{rest:?}");
    assert_eq!(count_notes(&project, &run, "wanted"), 1);
    assert_eq!(count_notes(&project, &run, "cancelled"), 0);
}

#[test]
fn a_connection_that_is_dropped_before_its_call_is_written_is_never_written() {
    let project = Project::new().with("MILEPOST_STORE_BUSY_WAIT", "5m");
    let run = begin(&project);
    let server = serve(&project);
    let locked = lock(&project);
    let params = note(&run, "hung up");
    let mut params = params;
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let body = body.to_string();
    let mut stream = TcpStream::connect(&server.address).unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\n\
         mcp-method: tools/call\r\nmcp-name: record_entry\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    drop(stream);
    // Once others are served, the server has seen that the client is gone.
    for _ in 0..20 {
        let status = json!({ "instance_id": run });
        assert_eq!(server.call("get_workflow_status", &status)["status"], "RUNNING");
    }
    drop(locked);
    let wanted = json!({ "instance_id": run, "type": "note", "text": "wanted" });
    server.call("record_entry", &wanted);
    assert_eq!(count_notes(&project, &run, "wanted"), 1);
    assert_eq!(count_notes(&project, &run, "hung up"), 0);
}

#[test]
fn the_process_ends_soon_after_its_input_though_a_call_hangs() {
    let project = Project::new().with("MILEPOST_STORE_BUSY_WAIT", "2s");
    let run = begin(&project);
    let mut pipes = Pipes::start(&mut project.milepost(&["mcp"]));
    let locked = lock(&project);
    let call =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": note(&run, "x") });
    pipes.send(&call);
    drop(pipes.child.stdin.take());
    let (ended, has_ended) = channel();
    let mut output = pipes.child.stdout.take().unwrap();
    thread::spawn(move || ended.send(output.read_to_end(&mut Vec::new()).is_ok()));
    assert_eq!(has_ended.recv_timeout(Duration::from_secs(10)), Ok(true));
    drop(locked);
}
