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
        talk(&mut client, line.as_bytes(), number).await;
    }
    for number in 0..SPOILT {
        let line = spoil(&mut random, &lines);
        talk(&mut client, &line, number).await;
    }
}

/// Sends a line, and whatever it led to, the next request is answered.
async fn talk(client: &mut Client, line: &[u8], number: usize) {
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
    loop {
        let message: Value = client.receive().await;
        let text = message.to_string();
        for secret in ["/work/", "/root", "/home", ".rs:", "panicked"] {
            // What the line said itself may be said back.
            let is_echo = String::from_utf8_lossy(line).contains(secret);
            assert!(is_echo || !text.contains(secret), "{}\n{text}", String::from_utf8_lossy(line));
        }
        if message["id"] == id {
            return;
        }
    }
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
