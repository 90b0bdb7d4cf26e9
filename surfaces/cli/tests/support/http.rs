//! A server that is reached over HTTP, and a client that sends what a test writes.

use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Command, Stdio},
    time::Duration,
};

use serde_json::{Value, json};

/// The longest that an answer may take before the test gives up.
const ANSWER_WAIT: Duration = Duration::from_secs(60);

/// A running `milepost serve`.
pub(crate) struct HttpServer {
    pub(crate) child: Child,
    /// Host and port.
    pub(crate) address: String,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    /// By name, in small letters.
    pub(crate) headers: BTreeMap<String, String>,
    body: BufReader<TcpStream>,
}

impl HttpServer {
    /// Starts a command that serves, and waits until it says where.
    pub(crate) fn start(command: &mut Command) -> Self {
        command.args(["--json"]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("said: {line}"));
        let address = said["address"].as_str().unwrap().replace("http://", "");
        Self { child, address }
    }

    /// Sends a request as it is written here, and returns what comes back.
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Response {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(ANSWER_WAIT)).unwrap();
        let has_host = headers.iter().any(|it| it.0.eq_ignore_ascii_case("host"));
        let mut text = format!("{method} {path} HTTP/1.1\r\ncontent-length: {}\r\n", body.len());
        text.push_str("connection: close\r\n");
        if !has_host {
            text.push_str(&format!("host: {}\r\n", self.address));
        }
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str("\r\n");
        let mut write = stream.try_clone().unwrap();
        write.write_all(text.as_bytes()).unwrap();
        // A server that has heard enough may hang up before it was told everything.
        drop(write.write_all(body));
        Response::read(stream)
    }

    /// Sends a message to the endpoint for agents.
    pub(crate) fn post(&self, headers: &[(&str, &str)], message: &Value) -> Response {
        let mut all = vec![
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
        ];
        all.extend_from_slice(headers);
        self.send("POST", "/mcp", &all, message.to_string().as_bytes())
    }

    /// Sends a request in the way of the newest protocol.
    pub(crate) fn ask(&self, method: &str, params: Value) -> Response {
        self.ask_with(method, params, &[], &json!({}))
    }

    /// Sends a request in the way of the newest protocol, with more headers, for a client that can
    /// do what `capabilities` say.
    pub(crate) fn ask_with(
        &self,
        method: &str,
        mut params: Value,
        more: &[(&str, &str)],
        capabilities: &Value,
    ) -> Response {
        let name = ["name", "uri", "taskId"].iter().find_map(|it| params[*it].as_str());
        let name = name.map(ToOwned::to_owned);
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities.clone();
        let mut headers = vec![("mcp-protocol-version", "2026-07-28"), ("mcp-method", method)];
        if let Some(name) = &name {
            headers.push(("mcp-name", name));
        }
        headers.extend_from_slice(more);
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        self.post(&headers, &message)
    }

    /// Calls a tool that must answer, and returns what it answers.
    pub(crate) fn call(&self, tool: &str, arguments: &Value) -> Value {
        let answer = self.ask("tools/call", json!({ "name": tool, "arguments": arguments })).json();
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        answer["result"]["structuredContent"].clone()
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Response {
    fn read(stream: TcpStream) -> Self {
        let mut body = BufReader::new(stream);
        let mut line = String::new();
        body.read_line(&mut line).unwrap();
        let status = line.split(' ').nth(1).and_then(|it| it.parse().ok());
        let status = status.unwrap_or_else(|| panic!("no answer: {line:?}"));
        let mut headers = BTreeMap::new();
        loop {
            let mut line = String::new();
            body.read_line(&mut line).unwrap();
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            headers.insert(name.to_lowercase(), value.trim().to_owned());
        }
        Self { status, headers, body }
    }

    /// Returns everything that comes.
    pub(crate) fn text(mut self) -> String {
        let mut bytes = Vec::new();
        self.body.read_to_end(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    /// Returns the message that comes, alone or as the last of a stream.
    pub(crate) fn json(mut self) -> Value {
        if self.headers.get("content-type").is_some_and(|it| it.starts_with("text/event-stream")) {
            loop {
                let message = self.next_message();
                if message["id"] == 1 {
                    return message;
                }
            }
        }
        let text = self.text();
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// Returns the next message of a stream.
    pub(crate) fn next_message(&mut self) -> Value {
        loop {
            let mut line = String::new();
            assert_ne!(self.body.read_line(&mut line).unwrap(), 0, "the stream ended");
            let data = line.trim_end().strip_prefix("data:").map(str::trim);
            if let Some(message) = data.and_then(|it| serde_json::from_str(it).ok()) {
                return message;
            }
        }
    }
}
