//! JSON-RPC messages, one a line. The library's own transport would do, but that it leaves a
//! client waiting whose message was too long or could not be read, falls over a notification that
//! comes first, does not tell when the input has ended, and reads on however many calls a client
//! has not read the answers of.

mod slots;

use std::{collections::VecDeque, io, sync::Arc};

use rmcp::{
    ErrorData, RoleServer,
    model::{
        ClientJsonRpcMessage, ClientRequest, GetMeta as _, ProtocolVersion, RequestId,
        ServerJsonRpcMessage,
    },
    transport::Transport,
};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader},
    sync::{Mutex, oneshot},
    task::JoinHandle,
};

use slots::Slots;

/// The longest line that is taken. Reports and contexts are bounded far below it.
const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// How much of the beginning and of the end of a line is searched for its id.
const ENDS_BYTES: usize = 1024;
/// How many requests may wait until others are answered, and …
const WAITING_MAX: usize = 1_000;
/// … how many bytes their lines may have. Then nothing more is read. As long as there is room,
/// answers to questions and cancellations are read that come after requests that wait.
const WAITING_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Messages of one client.
pub(super) struct Lines<R, W> {
    read: BufReader<R>,
    /// What has come of the current line. Kept here, since waiting for the rest may be given up.
    line: Vec<u8>,
    /// How long the current line is, though not all of it is kept.
    length: usize,
    write: Arc<Mutex<Option<W>>>,
    /// Whether the client has begun, in the way of either era.
    has_begun: bool,
    slots: Arc<Slots>,
    /// Requests for which no slot is free, with the lengths of their lines.
    waiting: VecDeque<(ClientJsonRpcMessage, usize)>,
    waiting_bytes: usize,
    /// Writes why a message was refused.
    refusing: Option<JoinHandle<()>>,
    ended: Option<oneshot::Sender<()>>,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Send + Unpin + 'static> Lines<R, W> {
    /// Returns the messages that are read and written, and what tells that no more will come.
    /// Only `calls_max` requests are let through that are not answered.
    pub(super) fn new(read: R, write: W, calls_max: usize) -> (Self, oneshot::Receiver<()>) {
        let (ended, has_ended) = oneshot::channel();
        let lines = Self {
            read: BufReader::new(read),
            line: Vec::new(),
            length: 0,
            write: Arc::new(Mutex::new(Some(write))),
            has_begun: false,
            slots: Arc::new(Slots::new(calls_max)),
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            refusing: None,
            ended: Some(ended),
        };
        (lines, has_ended)
    }

    /// Reads until the end of the line; `false` at the end of the input. May be given up and called
    /// again at any time: what was read is kept, and nothing is waited for in between.
    async fn read_line(&mut self) -> bool {
        loop {
            let available = match self.read.fill_buf().await {
                // The last line may have no end.
                Ok([]) => return !self.line.is_empty(),
                Ok(available) => available,
                Err(error) => {
                    tracing::warn!(%error, "the input cannot be read any more");
                    return false;
                }
            };
            let end = available.iter().position(|it| *it == b'\n');
            let taken = end.unwrap_or(available.len());
            self.line.extend_from_slice(available.get(..taken).unwrap_or_default());
            self.length += taken;
            self.read.consume(taken + usize::from(end.is_some()));
            if LINE_BYTES_MAX < self.line.len() {
                // Only the two ends are of use any more.
                let cut = self.line.len() - ENDS_BYTES;
                self.line.drain(ENDS_BYTES..cut);
            }
            if end.is_some() {
                return true;
            }
        }
    }

    /// Reads the next message; `None` at the end of the input. One that must wait for others comes
    /// later.
    async fn read_message(&mut self) -> Option<Option<ClientJsonRpcMessage>> {
        // A client that does not read why its messages are refused is not read from.
        if let Some(refusing) = &mut self.refusing {
            drop(refusing.await);
            self.refusing = None;
        }
        if !self.read_line().await {
            return None;
        }
        let length = self.length;
        let message = self.take_line();
        Some(message.and_then(|message| self.queue(message, length)))
    }

    /// Returns a message that does not have to wait: whatever is not a request, and what may last
    /// for ever. A request that is cancelled while it waits is never begun.
    fn queue(
        &mut self,
        message: ClientJsonRpcMessage,
        length: usize,
    ) -> Option<ClientJsonRpcMessage> {
        if slots::needs_slot(&message) {
            self.waiting.push_back((message, length));
            self.waiting_bytes += length;
            return None;
        }
        if let Some(id) = slots::cancelled(&message) {
            self.slots.release(id);
            let is_meant = |it: &ClientJsonRpcMessage| slots::request_id(it) == Some(id);
            self.waiting.retain(|(it, _)| !is_meant(it));
            self.waiting_bytes = self.waiting.iter().map(|it| it.1).sum();
        }
        Some(message)
    }

    /// Returns the message on the line, if it is one that goes on to the tools.
    fn take_line(&mut self) -> Option<ClientJsonRpcMessage> {
        let line = std::mem::take(&mut self.line);
        let length = std::mem::take(&mut self.length);
        let text = line.trim_ascii();
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        if text.is_empty() {
            return None;
        }
        if LINE_BYTES_MAX < length {
            let problem = format!(
                "the message has {length} bytes, and at most {LINE_BYTES_MAX} are taken; \
                 write large things to a file and report the path"
            );
            self.refuse(find_id(text).as_ref(), &ErrorData::invalid_request(problem, None));
            return None;
        }
        match serde_json::from_slice::<ClientJsonRpcMessage>(text) {
            Ok(message) => self.admit(message),
            Err(error) => {
                self.refuse_unreadable(text, &error);
                None
            }
        }
    }

    /// Lets a message through once the client has begun; before that only requests.
    fn admit(&mut self, message: ClientJsonRpcMessage) -> Option<ClientJsonRpcMessage> {
        if let ClientJsonRpcMessage::Request(request) = &message {
            self.has_begun |= begins(&request.request);
            return Some(message);
        }
        if !self.has_begun {
            tracing::debug!("a message before the first request was ignored");
        }
        self.has_begun.then_some(message)
    }

    fn refuse_unreadable(&mut self, text: &[u8], error: &serde_json::Error) {
        match serde_json::from_slice::<Value>(text) {
            // Some clients send notifications of other protocols.
            Ok(value) if value.get("method").is_some() && value.get("id").is_none() => {
                tracing::debug!("a notification that is none of ours was ignored");
            }
            // Two programs that answer each other's answers never stop.
            Ok(value) if value.get("result").is_some() || value.get("error").is_some() => {
                tracing::debug!("an answer to nothing was ignored");
            }
            Ok(value) => {
                let id: Option<RequestId> =
                    value.get("id").and_then(|it| serde_json::from_value(it.clone()).ok());
                let problem = if value.is_array() {
                    "batches are not taken; send one message a line"
                } else {
                    "this is not JSON-RPC message"
                };
                self.refuse(id.as_ref(), &ErrorData::invalid_request(problem, None));
            }
            Err(_) => {
                let problem = format!("the message cannot be read: {error}");
                self.refuse(find_id(text).as_ref(), &ErrorData::parse_error(problem, None));
            }
        }
    }

    /// Tells the client why. Where it cannot be told apart which request was meant, the id is null.
    fn refuse(&mut self, id: Option<&RequestId>, error: &ErrorData) {
        tracing::warn!(id = ?id, problem = %error.message, "a message was refused");
        let message = json!({ "jsonrpc": "2.0", "id": id, "error": error });
        let sending = send(Arc::clone(&self.write), message);
        // By itself, since reading may be given up at any time, and half a line must not be sent.
        self.refusing = Some(tokio::spawn(async move {
            if let Err(error) = sending.await {
                tracing::warn!(%error, "the output cannot be written any more");
            }
        }));
    }
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let (write, slots) = (Arc::clone(&self.write), Arc::clone(&self.slots));
        async move {
            let answered = slots::answered_id(&message).cloned();
            let sent = send(write, message).await;
            if let Some(id) = answered {
                slots.release(&id);
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let has_room =
                self.waiting.len() < WAITING_MAX && self.waiting_bytes < WAITING_BYTES_MAX;
            let slots = Arc::clone(&self.slots);
            let id = self.waiting.front().and_then(|it| slots::request_id(&it.0)).cloned();
            if self.ended.is_none() && id.is_none() {
                return None;
            }
            tokio::select! {
                biased;
                () = slots.take(id.as_ref()) => {
                    let (message, length) = self.waiting.pop_front()?;
                    self.waiting_bytes -= length;
                    return Some(message);
                }
                read = self.read_message(), if has_room && self.ended.is_some() => match read {
                    Some(Some(message)) => return Some(message),
                    Some(None) => {}
                    // The other side may be gone already.
                    None => drop(self.ended.take().map(|it| it.send(()))),
                },
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        let write = self.write.lock().await.take();
        match write {
            Some(mut write) => write.shutdown().await,
            None => Ok(()),
        }
    }
}

async fn send<W: AsyncWrite + Unpin>(
    write: Arc<Mutex<Option<W>>>,
    message: impl Serialize,
) -> Result<(), io::Error> {
    let mut line = serde_json::to_vec(&message).map_err(io::Error::other)?;
    line.push(b'\n');
    let mut write = write.lock().await;
    let Some(write) = write.as_mut() else { return Err(io::ErrorKind::NotConnected.into()) };
    write.write_all(&line).await?;
    write.flush().await
}

/// Returns whether a request is the first of a session, in the way of either era. A probe is not.
fn begins(request: &ClientRequest) -> bool {
    match request.method() {
        "initialize" => true,
        "server/discover" | "ping" => false,
        _ => request.get_meta().missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty(),
    }
}

/// Finds the id in a message that cannot be read as a whole: clients write it first or last.
fn find_id(text: &[u8]) -> Option<RequestId> {
    let head = text.get(..text.len().min(ENDS_BYTES))?;
    let tail = text.get(text.len().saturating_sub(ENDS_BYTES)..)?;
    let (head, tail) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
    // Not inside the parameters: a report may have an id of its own.
    let first = head.split("\"params\"").next().and_then(|it| it.split_once("\"id\""));
    let last = || {
        let (_, value) = tail.rsplit_once("\"id\"")?;
        let value = value.strip_suffix('}')?;
        (!value.contains(['}', '{'])).then_some(value)
    };
    match first {
        Some((_, value)) => parse_id(value.split(',').next()?),
        None => parse_id(last()?.split(',').next()?),
    }
}

fn parse_id(text: &str) -> Option<RequestId> {
    let text = text.trim().strip_prefix(':')?.trim().trim_end_matches('}');
    serde_json::from_str(text).ok()
}
