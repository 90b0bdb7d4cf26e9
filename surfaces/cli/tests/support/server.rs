//! A small MCP client for one server, in both eras of the protocol. The server is a process of its
//! own, or runs in a thread of the test; either way it speaks over pipes.
//!
//! Calls may be made from several threads at once; each waits for its own answer. Everything the
//! server writes is checked on the way in: every line must be a JSON-RPC message, and every answer
//! of a tool must say the same as text and as structured content.

use std::{
    collections::BTreeMap,
    io::{self, BufRead as _, BufReader, Read, Write},
    process::{Child, ChildStderr, Command, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use cli::Surroundings;
use serde_json::{Value, json};
use tokio::{net::unix::pipe, runtime::Builder, sync::oneshot};

use crate::project::Project;

/// The longest that an answer may take before the test gives up.
const ANSWER_WAIT: Duration = Duration::from_secs(60);
/// The longest that a server may take to end.
const END_WAIT: Duration = Duration::from_secs(10);
/// How long its work beside may take then, as in the binary.
const PARTING: Duration = Duration::from_millis(500);

/// How a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// With a handshake.
    Legacy,
    /// Without one: each request says which revision it is of.
    Modern,
}

/// A running server, and the pipes to it.
pub(crate) struct Server {
    host: Mutex<Host>,
    pub(crate) input: Mutex<Option<Box<dyn Write + Send>>>,
    era: Era,
    /// What a client of the newer era says that it can do.
    pub(crate) capabilities: Value,
    next_id: AtomicU64,
    inbox: Arc<Inbox>,
    threads: Vec<JoinHandle<()>>,
}

/// What a server runs in.
enum Host {
    Process(Child),
    /// A thread: how it is made to stop at once, and what is closed when it has ended.
    Thread(Option<oneshot::Sender<()>>, Receiver<()>),
}

/// What came from the server, and who waits for it.
#[derive(Default)]
struct Inbox {
    waiting: Mutex<Option<BTreeMap<u64, Sender<Value>>>>,
    /// Lines on standard output that are no messages.
    noise: Mutex<Vec<String>>,
    /// Everything on standard error.
    talk: Mutex<String>,
}

/// What a tool answered.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    pub(crate) value: Value,
    pub(crate) is_error: bool,
}

/// The server is no longer there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gone;

impl Server {
    /// Starts a server by `command`, and shakes hands if the era wants it.
    pub(crate) fn start(command: &mut Command, era: Era) -> Self {
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = pipes.spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let errors = child.stderr.take().unwrap();
        let inbox = Inbox::new();
        let notes = Arc::clone(&inbox);
        let noting = thread::spawn(move || notes.note(errors));
        Self::meet(Host::Process(child), Box::new(input), output, (inbox, noting, era))
    }

    /// Serves `project` as `milepost mcp` with `flags` does, in a thread of the test.
    pub(crate) fn inside(project: &Project, flags: &[&str], era: Era) -> Self {
        Self::surrounded(project.surroundings(), flags, era)
    }

    /// The same, in any surroundings.
    pub(crate) fn surrounded(around: Surroundings, flags: &[&str], era: Era) -> Self {
        let ((hears, input), (output, says)) = (io::pipe().unwrap(), io::pipe().unwrap());
        let (stop, stopped) = oneshot::channel();
        let (ends, ended) = channel();
        let inbox = Inbox::new();
        let flags: Vec<String> = flags.iter().map(|it| (*it).to_owned()).collect();
        let notes = Arc::clone(&inbox);
        let serving = thread::spawn(move || {
            let tokio = Builder::new_current_thread().enable_all().build().unwrap();
            tokio.block_on(async {
                let hears = pipe::Receiver::from_owned_fd(hears.into()).unwrap();
                let says = pipe::Sender::from_owned_fd(says.into()).unwrap();
                tokio::select! {
                    served = cli::serve(&around, &flags, hears, says) => {
                        notes.talk.lock().unwrap().push_str(&served.err().unwrap_or_default());
                    }
                    _ = stopped => {}
                }
            });
            tokio.shutdown_timeout(PARTING);
            drop(ends);
        });
        let host = Host::Thread(Some(stop), ended);
        let server = Self::meet(host, Box::new(input), output, (inbox, serving, era));
        if era == Era::Modern {
            // Two servers of one process must not begin at the same moment: files that are being made
            // are named after the process. One that cannot serve is told of by the first call.
            drop(server.request("server/discover", json!({})));
        }
        server
    }

    fn meet(
        host: Host,
        input: Box<dyn Write + Send>,
        output: impl Read + Send + 'static,
        (inbox, thread, era): (Arc<Inbox>, JoinHandle<()>, Era),
    ) -> Self {
        let hears = Arc::clone(&inbox);
        let threads = vec![thread, thread::spawn(move || hears.hear(output))];
        let (host, input) = (Mutex::new(host), Mutex::new(Some(input)));
        let (capabilities, next_id) = (json!({}), AtomicU64::new(1));
        let server = Self { host, input, era, capabilities, next_id, inbox, threads };
        if era == Era::Legacy {
            server.shake_hands();
        }
        server
    }

    /// Ends the server at once, whatever it is doing. Only a process can be in the middle of a write.
    pub(crate) fn kill(&self) {
        match &mut *self.host.lock().unwrap() {
            Host::Process(child) => child.kill().unwrap(),
            Host::Thread(stop, _) => drop(stop.take()),
        }
    }

    /// Returns the id of the server's process.
    pub(crate) fn process_id(&self) -> u32 {
        match &*self.host.lock().unwrap() {
            Host::Process(child) => child.id(),
            Host::Thread(..) => panic!("the server has no process of its own"),
        }
    }

    fn shake_hands(&self) {
        let client = json!({"name": "tests", "version": "1"});
        let params =
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        let answer = self.request("initialize", params).unwrap();
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        self.send(&ready).unwrap();
    }

    /// Calls a tool that must answer.
    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Answer {
        self.try_call(tool, arguments).unwrap_or_else(|Gone| {
            panic!("the server is gone while `{tool}` was called:\n{}", self.talk())
        })
    }

    /// Calls a tool, and returns what it said, checked.
    pub(crate) fn try_call(&self, tool: &str, arguments: Value) -> Result<Answer, Gone> {
        let mut params = json!({"name": tool});
        params["arguments"] = arguments;
        let message = self.request("tools/call", params)?;
        let result = &message["result"];
        assert!(result.is_object(), "`{tool}` was not answered by a result: {message}");
        let value = result["structuredContent"].clone();
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        assert_eq!(result["content"].as_array().map(Vec::len), Some(1), "{message}");
        let read: Value = serde_json::from_str(text).unwrap_or_else(|error| {
            panic!("`{tool}` answered with a text that is not JSON: {error}: {text}")
        });
        assert_eq!(read, value, "`{tool}`: text and structured content differ");
        Ok(Answer { value, is_error: result["isError"] == true })
    }

    /// Sends a request, and waits for the message that answers it.
    pub(crate) fn request(&self, method: &str, mut params: Value) -> Result<Value, Gone> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        if self.era == Era::Modern {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": self.capabilities,
            });
        }
        let (reply, answer) = channel();
        self.inbox.waiting.lock().unwrap().as_mut().ok_or(Gone)?.insert(id, reply);
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        match answer.recv_timeout(ANSWER_WAIT) {
            Ok(message) => Ok(message),
            Err(RecvTimeoutError::Disconnected) => Err(Gone),
            Err(RecvTimeoutError::Timeout) => {
                panic!("`{method}` was not answered in time: {params}\n{}", self.talk())
            }
        }
    }

    fn send(&self, message: &Value) -> Result<(), Gone> {
        let mut line = message.to_string();
        line.push('\n');
        let mut input = self.input.lock().unwrap();
        let input = input.as_mut().ok_or(Gone)?;
        input.write_all(line.as_bytes()).map_err(|_| Gone)
    }

    /// Returns what the server said on standard error so far.
    pub(crate) fn talk(&self) -> String {
        self.inbox.talk.lock().unwrap().clone()
    }
}

impl Drop for Server {
    /// Ends the server as a client does: by closing its input. It must then end by itself.
    fn drop(&mut self) {
        *self.input.lock().unwrap() = None;
        let has_ended = self.wait_for_end();
        for thread in self.threads.drain(..).filter(|_| has_ended) {
            drop(thread.join());
        }
        if !thread::panicking() {
            assert!(has_ended, "the server did not end when its input did:\n{}", self.talk());
            let noise = self.inbox.noise.lock().unwrap();
            assert!(noise.is_empty(), "standard output must carry messages only: {noise:?}");
        }
    }
}

impl Server {
    /// Waits a while for the server to end, and ends its process if it does not.
    fn wait_for_end(&self) -> bool {
        let mut host = self.host.lock().unwrap();
        let child = match &mut *host {
            Host::Process(child) => child,
            Host::Thread(_, ended) => {
                return ended.recv_timeout(END_WAIT) == Err(RecvTimeoutError::Disconnected);
            }
        };
        for _ in 0..1000 {
            if child.try_wait().unwrap().is_some() {
                return true;
            }
            thread::sleep(Duration::from_millis(10));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        false
    }
}

impl Inbox {
    fn new() -> Arc<Self> {
        Arc::new(Self { waiting: Mutex::new(Some(BTreeMap::new())), ..Self::default() })
    }

    /// Hands each answer to anyone who waits for it, until the server closes its end.
    fn hear(&self, output: impl Read) {
        let mut output = BufReader::new(output);
        let mut line = Vec::new();
        while 0 < output.read_until(b'\n', &mut line).unwrap_or(0) {
            // A line without an end is one that the server was killed in the middle of.
            if line.ends_with(b"\n") {
                self.sort(&line);
            }
            line.clear();
        }
        // Anyone who still waits is told by the end of its channel.
        *self.waiting.lock().unwrap() = None;
    }

    fn sort(&self, line: &[u8]) {
        let message: Value = serde_json::from_slice(line).unwrap_or_default();
        if message["jsonrpc"] != "2.0" {
            self.noise.lock().unwrap().push(String::from_utf8_lossy(line).into_owned());
            return;
        }
        let Some(id) = message["id"].as_u64() else { return };
        let reply = self.waiting.lock().unwrap().as_mut().and_then(|it| it.remove(&id));
        if let Some(reply) = reply {
            drop(reply.send(message));
        }
    }

    fn note(&self, mut errors: ChildStderr) {
        let mut buffer = [0; 4096];
        while let Ok(length @ 1..) = errors.read(&mut buffer) {
            let text = String::from_utf8_lossy(&buffer[..length]);
            self.talk.lock().unwrap().push_str(&text);
        }
    }
}
