//! A language model on this computer that speaks all three APIs and does what it is told: answers,
//! refuses, breaks off, or waits until it is let go.

use std::{
    collections::VecDeque,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

/// How long a question is waited for before the test gives up.
const WAIT_MAX: Duration = Duration::from_secs(20);

/// What the model does with a question.
#[derive(Debug, Clone)]
pub(crate) enum Turn {
    /// Says this text.
    Says(String),
    /// Answers with this status, headers and body.
    Refuses(u16, &'static str, String),
    /// Sends this and closes the connection.
    BreaksOff(String),
    /// Says nothing until it is let go; then this text.
    Waits(String),
}

/// A question as it came in.
#[derive(Debug, Clone)]
pub(crate) struct Heard {
    pub(crate) path: String,
    /// In lower case, one a line.
    pub(crate) head: String,
    pub(crate) body: Value,
}

#[derive(Default)]
struct Shared {
    turns: Mutex<VecDeque<Turn>>,
    heard: Mutex<Vec<Heard>>,
    is_let_go: Mutex<bool>,
    changed: Condvar,
}

/// The model. It ends with the test.
pub(crate) struct FakeModel {
    pub(crate) endpoint: String,
    shared: Arc<Shared>,
}

impl FakeModel {
    pub(crate) fn start(turns: impl IntoIterator<Item = Turn>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let shared = Arc::new(Shared::default());
        shared.turns.lock().unwrap().extend(turns);
        let serving = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&serving);
                // A client that went away is not a fault of the model's.
                thread::spawn(move || drop(shared.serve(stream)));
            }
        });
        Self { endpoint, shared }
    }

    /// Returns what it was asked so far.
    pub(crate) fn heard(&self) -> Vec<Heard> {
        self.shared.heard.lock().unwrap().clone()
    }

    /// Waits until it was asked so often.
    pub(crate) fn wait_for(&self, count: usize) {
        let heard = self.shared.heard.lock().unwrap();
        let waited = self.shared.changed.wait_timeout_while(heard, WAIT_MAX, |it| it.len() < count);
        assert!(!waited.unwrap().1.timed_out(), "the model was not asked {count} times");
    }

    /// Has it do one thing more.
    pub(crate) fn add(&self, turn: Turn) {
        self.shared.turns.lock().unwrap().push_back(turn);
    }

    /// Lets anyone who waits for it go on.
    pub(crate) fn let_go(&self) {
        *self.shared.is_let_go.lock().unwrap() = true;
        self.shared.changed.notify_all();
    }
}

impl Shared {
    fn serve(&self, stream: TcpStream) -> std::io::Result<()> {
        let mut reader = BufReader::new(stream.try_clone()?);
        let mut out = stream;
        loop {
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") {
                if reader.read_line(&mut head)? == 0 {
                    return Ok(());
                }
            }
            let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
            let head = head.to_lowercase();
            let length = head.lines().find_map(|it| it.strip_prefix("content-length: "));
            let mut body = vec![0; length.and_then(|it| it.trim().parse().ok()).unwrap_or(0)];
            reader.read_exact(&mut body)?;
            let body = serde_json::from_slice(&body).unwrap_or_default();
            self.heard.lock().unwrap().push(Heard { path: path.clone(), head, body });
            self.changed.notify_all();
            let turn = self.turns.lock().unwrap().pop_front();
            match turn.unwrap_or(Turn::Refuses(500, "", "no turn is left".to_owned())) {
                Turn::Says(text) => answer(&mut out, 200, "", &envelope(&path, &text))?,
                Turn::Refuses(status, headers, body) => answer(&mut out, status, headers, &body)?,
                Turn::BreaksOff(bytes) => return out.write_all(bytes.as_bytes()),
                Turn::Waits(text) => {
                    let held = self.is_let_go.lock().unwrap();
                    drop(self.changed.wait_while(held, |it| !*it).unwrap());
                    answer(&mut out, 200, "", &envelope(&path, &text))?;
                }
            }
        }
    }
}

fn answer(out: &mut TcpStream, status: u16, headers: &str, body: &str) -> std::io::Result<()> {
    let length = body.len();
    write!(out, "HTTP/1.1 {status} X\r\ncontent-length: {length}\r\n{headers}\r\n{body}")
}

/// Puts a text into the form of the API that was called.
pub(crate) fn envelope(path: &str, text: &str) -> String {
    let reply = if path.ends_with("/messages") {
        let content = match serde_json::from_str::<Value>(text) {
            Ok(input) => json!({"type": "tool_use", "name": "choose_step", "input": input}),
            Err(_) => json!({"type": "text", "text": text}),
        };
        json!({"content": [content], "usage": {"input_tokens": 7, "output_tokens": 3}})
    } else if path.ends_with(":generateContent") {
        json!({
            "candidates": [{"content": {"parts": [{"text": text}]}}],
            "usageMetadata": {"promptTokenCount": 7, "candidatesTokenCount": 3},
        })
    } else {
        json!({
            "choices": [{"message": {"content": text}}],
            "usage": {"prompt_tokens": 7, "completion_tokens": 3},
        })
    };
    reply.to_string()
}
