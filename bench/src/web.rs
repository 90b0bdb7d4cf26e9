//! A server over HTTP, and connections to it that do one call at a time.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{Measured, peer};

/// A server, and where it is.
pub(crate) struct Web {
    child: Child,
    address: String,
}

/// A connection that is kept.
pub(crate) struct Line {
    write: TcpStream,
    read: BufReader<TcpStream>,
    host: String,
    /// Of the last answer.
    body: Vec<u8>,
    next_id: u64,
}

impl Web {
    /// Starts a server that says where it is in a line of JSON.
    pub(crate) fn start(command: &mut Command) -> Measured<Self> {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().ok_or("no output")?).read_line(&mut line)?;
        let said: Value = serde_json::from_str(&line)?;
        let address = said["address"].as_str().ok_or("no address")?.replace("http://", "");
        Ok(Self { child, address })
    }

    /// Opens a connection.
    pub(crate) fn connect(&self) -> Measured<Line> {
        let write = TcpStream::connect(&self.address)?;
        write.set_nodelay(true)?;
        write.set_read_timeout(Some(Duration::from_secs(60)))?;
        let read = BufReader::new(write.try_clone()?);
        let host = self.address.clone();
        Ok(Line { write, read, host, body: Vec::new(), next_id: 1 })
    }

    /// Returns how much memory the server has, in KiB.
    pub(crate) fn resident_kib(&self) -> Measured<u64> {
        peer::resident_kib(&self.child)
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Line {
    /// Sends a request.
    pub(crate) fn send(&mut self, method: &str, mut params: Value) -> Measured<u64> {
        let name = params["name"].as_str().map(|it| format!("mcp-name: {it}\r\n"));
        params["_meta"] = peer::meta();
        let id = self.next_id;
        self.next_id += 1;
        let body = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let body = body.to_string();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\naccept: \
             application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\n\
             mcp-method: {method}\r\n{}content-length: {}\r\n\r\n",
            self.host,
            name.unwrap_or_default(),
            body.len()
        );
        self.write.write_all(format!("{head}{body}").as_bytes())?;
        Ok(id)
    }

    /// Calls a tool that must not refuse, and returns how long that took. What it answers is not
    /// read any further: a client's own work is not what is measured.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Measured<Duration> {
        let begun = Instant::now();
        let id = self.send("tools/call", json!({"name": tool, "arguments": arguments}))?;
        self.receive()?;
        let took = begun.elapsed();
        let body = std::str::from_utf8(&self.body)?;
        let begins = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":");
        if !body.starts_with(&begins) || body.contains("\"isError\":true") {
            return Err(format!("`{tool}` was answered: {body}").into());
        }
        Ok(took)
    }

    /// Returns how many letters the body of the last answer has.
    pub(crate) fn received(&self) -> usize {
        self.body.len()
    }

    /// Starts a run, and returns its id.
    pub(crate) fn begin(&mut self, workflow: &str) -> Measured<String> {
        self.call("start_workflow", &json!({"workflow_name": workflow}))?;
        let message: Value = serde_json::from_slice(&self.body)?;
        let id = message["result"]["structuredContent"]["instance_id"].as_str();
        Ok(id.ok_or("no id")?.to_owned())
    }

    /// Reads the body of the next answer.
    fn receive(&mut self) -> Measured<()> {
        let length = self.receive_head()?.ok_or("the answer has no length")?;
        self.body.resize(length, 0);
        self.read.read_exact(&mut self.body)?;
        Ok(())
    }

    /// Reads the head of an answer that must be a good one, and returns the length of its body.
    pub(crate) fn receive_head(&mut self) -> Measured<Option<usize>> {
        let (mut status, mut length) = (String::new(), None);
        self.read.read_line(&mut status)?;
        loop {
            let mut line = String::new();
            self.read.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            if name.eq_ignore_ascii_case("content-length") {
                length = Some(value.trim().parse()?);
            }
        }
        if !status.contains(" 200 ") {
            return Err(format!("answered: {status}").into());
        }
        Ok(length)
    }

    /// Returns the next message of a stream.
    pub(crate) fn next_message(&mut self) -> Measured<Value> {
        loop {
            let mut line = String::new();
            if self.read.read_line(&mut line)? == 0 {
                return Err("the stream ended".into());
            }
            let data = line.trim_end().strip_prefix("data:").map(str::trim);
            if let Some(message) = data.and_then(|it| serde_json::from_str(it).ok()) {
                return Ok(message);
            }
        }
    }
}
