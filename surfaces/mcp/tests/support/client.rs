//! A client that speaks over a pipe in memory, message by message.

use std::sync::Arc;

use mcp::{Options, ServeError, serve};
use runtime::Runtime;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines},
    task::JoinHandle,
};

/// A served client.
pub(crate) struct Client {
    write: Option<DuplexStream>,
    read: Lines<BufReader<DuplexStream>>,
    id: u64,
    /// What the client says it can do.
    pub(crate) capabilities: Value,
    serving: JoinHandle<Result<(), ServeError>>,
}

impl Client {
    /// Serves `runtime` to a new client.
    pub(crate) fn new(runtime: Arc<Runtime>, options: Options) -> Self {
        let (write, input) = tokio::io::duplex(1 << 20);
        let (output, read) = tokio::io::duplex(1 << 20);
        let serving = tokio::spawn(serve(runtime, options, input, output));
        Self {
            write: Some(write),
            read: BufReader::new(read).lines(),
            id: 0,
            capabilities: json!({}),
            serving,
        }
    }

    /// Sends a line as it is.
    pub(crate) async fn send_line(&mut self, line: &[u8]) {
        let write = self.write.as_mut().unwrap();
        write.write_all(line).await.unwrap();
        write.write_all(b"\n").await.unwrap();
    }

    /// Returns the next message.
    pub(crate) async fn receive(&mut self) -> Value {
        let line = self.read.next_line().await.unwrap().expect("the server hung up");
        serde_json::from_str(&line).unwrap()
    }

    /// Sends a request in the way of the newest protocol, and returns its id.
    pub(crate) async fn send(&mut self, method: &str, mut params: Value) -> u64 {
        self.id += 1;
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
        params["_meta"]["io.modelcontextprotocol/clientInfo"] =
            json!({ "name": "transcript", "version": "1" });
        let request =
            json!({ "jsonrpc": "2.0", "id": self.id, "method": method, "params": params });
        self.send_line(request.to_string().as_bytes()).await;
        self.id
    }

    /// Sends a request and returns the answer.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params).await;
        let answer = self.receive().await;
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Shakes hands in the way of the older era.
    pub(crate) async fn shake_hands(&mut self) {
        let hello = json!({ "jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": self.capabilities,
            "clientInfo": { "name": "old", "version": "0.9" } } });
        self.send_line(hello.to_string().as_bytes()).await;
        assert_eq!(self.receive().await["result"]["protocolVersion"], "2025-11-25");
        self.send_line(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    }

    /// Sends a request without anything that only the newer era has.
    pub(crate) async fn send_plain(&mut self, id: &str, method: &str, params: Value) {
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send_line(request.to_string().as_bytes()).await;
    }

    /// Calls a tool and returns its result.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", json!({ "name": tool, "arguments": arguments })).await;
        assert!(answer["error"].is_null(), "{answer}");
        answer["result"].clone()
    }

    /// Hangs up, and returns how the serving ended and what came until then.
    pub(crate) async fn hang_up(mut self) -> (Result<(), ServeError>, Vec<Value>) {
        drop(self.write.take());
        let ended = self.serving.await.unwrap();
        let mut rest = Vec::new();
        while let Some(line) = self.read.next_line().await.unwrap() {
            rest.push(serde_json::from_str(&line).unwrap());
        }
        (ended, rest)
    }
}
