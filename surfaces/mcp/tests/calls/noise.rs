//! Whatever comes in: lines that were cut, mixed up and made up. Every one is answered or left alone,
//! the server lives on, and nothing of the machine is told.

use std::sync::Arc;

use mcp::Options;
use serde_json::Value;

use crate::{client::Client, world::Stage};

/// Where the lines come from that are spoilt.
const LINES: &str = include_str!("../noise.txt");
/// How many spoilt lines are tried.
const SPOILT: usize = 3_000;

#[tokio::test]
async fn no_line_brings_the_server_down() {
    let stage = Arc::new(Stage::new(false));
    stage.define_all(include_str!("../core/workflows/demo.txt"));
    let mut client = Client::new(stage.runtime(), Options::default());
    let lines: Vec<&str> = LINES.lines().filter(|it| !it.starts_with('#')).collect();
    let mut random = Random(7);
    for (number, line) in lines.iter().enumerate() {
        let answers = talk(&mut client, line.as_bytes(), number, asks(line)).await;
        assert_eq!(answers, usize::from(asks(line)), "{line}");
    }
    for number in 0..SPOILT {
        let line = spoil(&mut random, &lines);
        talk(&mut client, &line, number, false).await;
    }
}

/// Returns whether a line must be answered: a notification asks for nothing, and an answer neither.
fn asks(line: &str) -> bool {
    let message: Value = serde_json::from_str(line).unwrap_or_default();
    let is_notification = message.get("method").is_some() && message.get("id").is_none();
    let is_answer = message.get("result").is_some() || message.get("error").is_some();
    !is_notification && !is_answer
}

/// Sends a line, and whatever it led to, the next request is answered. Returns how many answers the
/// line itself got; where it must have one, that is waited for.
async fn talk(client: &mut Client, line: &[u8], number: usize, must_answer: bool) -> usize {
    client.send_line(line).await;
    let id = format!("after {number}");
    client
        .send_plain(
            &id,
            "server/discover",
            serde_json::json!({ "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {} } }),
        )
        .await;
    let (mut answers, mut is_alive) = (0, false);
    while !is_alive || (must_answer && answers == 0) {
        let message: Value = client.receive().await;
        let text = message.to_string();
        for secret in [env!("CARGO_MANIFEST_DIR"), "/home/", ".rs:", "panicked"] {
            // What the line said itself may be said back.
            let is_echo = String::from_utf8_lossy(line).contains(secret);
            assert!(is_echo || !text.contains(secret), "{}\n{text}", String::from_utf8_lossy(line));
        }
        if message["id"] == id {
            is_alive = true;
        } else {
            answers += 1;
        }
    }
    answers
}

/// Returns a line that was cut, doubled, mixed with another or changed here and there.
fn spoil(random: &mut Random, lines: &[&str]) -> Vec<u8> {
    let mut line = lines[random.below(lines.len())].as_bytes().to_vec();
    for _ in 0..=random.below(3) {
        let at = random.below(line.len().max(1)).min(line.len());
        match random.below(6) {
            0 => line.truncate(at),
            1 => line.insert(at, [b'"', b'{', b'}', b'[', b',', 0, 0xff, b'\\'][random.below(8)]),
            2 if at < line.len() => drop(line.remove(at)),
            3 if at < line.len() => line[at] ^= 1 << random.below(8),
            4 => {
                let other = lines[random.below(lines.len())].as_bytes();
                let from = random.below(other.len().max(1)).min(other.len());
                line.splice(at.., other[from..].iter().copied());
            }
            _ => {
                let piece = line[..at].to_vec();
                line.splice(at..at, piece);
            }
        }
    }
    line.retain(|it| *it != b'\n' && *it != b'\r');
    line
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).unwrap()
    }
}
