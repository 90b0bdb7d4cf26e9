//! A client for one server over stdio that does one call at a time, and times it.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::Measured;

/// A server, and the pipes to it.
pub(crate) struct Peer {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next_id: u64,
}

impl Peer {
    /// Starts a server.
    pub(crate) fn start(command: &mut Command) -> Measured<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let output = BufReader::new(child.stdout.take().ok_or("no output")?);
        Ok(Self { input: child.stdin.take(), child, output, next_id: 1 })
    }

    /// Sends a request, and returns its result and how long that took.
    pub(crate) fn request(
        &mut self,
        method: &str,
        mut params: Value,
    ) -> Measured<(Value, Duration)> {
        params["_meta"] = meta();
        let id = self.next_id;
        self.next_id += 1;
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let (line, mut answer) = (format!("{message}\n"), String::new());
        let begun = Instant::now();
        self.input.as_mut().ok_or("no input")?.write_all(line.as_bytes())?;
        self.output.read_line(&mut answer)?;
        let took = begun.elapsed();
        let message: Value = serde_json::from_str(&answer)?;
        if message["id"] != id || !message["result"].is_object() {
            return Err(format!("`{method}` was answered: {answer}").into());
        }
        Ok((message["result"].clone(), took))
    }

    /// Calls a tool, and returns its whole result and how long that took.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Measured<(Value, Duration)> {
        self.request("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// Calls a tool that must not refuse.
    pub(crate) fn done(&mut self, tool: &str, arguments: &Value) -> Measured<(Value, Duration)> {
        let (result, took) = self.call(tool, arguments)?;
        if result["isError"] == true {
            return Err(format!("`{tool}` refused: {}", result["structuredContent"]).into());
        }
        Ok((result["structuredContent"].clone(), took))
    }

    /// Starts a run, and returns its id.
    pub(crate) fn begin(&mut self, workflow: &str) -> Measured<String> {
        let (begun, _) = self.done("start_workflow", &json!({"workflow_name": workflow}))?;
        Ok(begun["instance_id"].as_str().ok_or("no id")?.to_owned())
    }

    /// Returns how much memory the server has, in KiB.
    pub(crate) fn resident_kib(&self) -> Measured<u64> {
        resident_kib(&self.child)
    }
}

/// Returns how much memory a process has, in KiB.
pub(crate) fn resident_kib(child: &Child) -> Measured<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id()))?;
    let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.input = None;
        if let Err(error) = self.child.wait() {
            eprintln!("a server did not end well: {error}");
        }
    }
}

/// What every request says of its client.
pub(crate) fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}
