//! JSON-RPC messages, one a line. The library's own transport would do, but that it leaves a
//! client waiting whose message was too long or could not be read, falls over a notification that
//! comes first, and does not tell when the input has ended.

use std::{io, sync::Arc};

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
};

/// The longest line that is taken. Reports and contexts are bounded far below it.
const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// How much of the beginning and of the end of a line is searched for its id.
const ENDS_BYTES: usize = 1024;

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
    ended: Option<oneshot::Sender<()>>,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Send + Unpin + 'static> Lines<R, W> {
    /// Returns the messages that are read and written, and what tells that no more will come.
    pub(super) fn new(read: R, write: W) -> (Self, oneshot::Receiver<()>) {
        let (ended, has_ended) = oneshot::channel();
        let lines = Self {
            read: BufReader::new(read),
            line: Vec::new(),
            length: 0,
            write: Arc::new(Mutex::new(Some(write))),
            has_begun: false,
            ended: Some(ended),
        };
        (lines, has_ended)
    }

    /// Reads until the end of the line; `false` at the end of the input. May be given up and called
    /// again at any time: what was read is kept, and nothing is waited for in between.
    async fn read_line(&mut self) -> bool {
        loop {
            let available = match self.read.fill_buf().await {
                Ok([]) => return false,
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

    fn refuse_unreadable(&self, text: &[u8], error: &serde_json::Error) {
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
                    "this is no JSON-RPC message"
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
    fn refuse(&self, id: Option<&RequestId>, error: &ErrorData) {
        tracing::warn!(id = ?id, problem = %error.message, "a message was refused");
        let message = json!({ "jsonrpc": "2.0", "id": id, "error": error });
        let sending = send(Arc::clone(&self.write), message);
        // By itself, since reading may be given up at any time, and half a line must not be sent.
        tokio::spawn(async move {
            if let Err(error) = sending.await {
                tracing::warn!(%error, "the output cannot be written any more");
            }
        });
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
        send(Arc::clone(&self.write), message)
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        while self.read_line().await {
            if let Some(message) = self.take_line() {
                return Some(message);
            }
        }
        // Whoever waits for it may be gone already.
        self.ended.take().map(|it| it.send(()).ok());
        None
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
