//! Sends made-up lines to a server, which must then still answer.
#![no_main]
#![allow(dead_code, clippy::unwrap_used, clippy::indexing_slicing, reason = "a fuzz target may panic")]

#[path = "../../surfaces/mcp/tests/support/client.rs"]
mod client;
#[path = "../../surfaces/mcp/tests/support/world.rs"]
mod world;

use std::{sync::Arc, time::Duration};

use libfuzzer_sys::fuzz_target;
use mcp::Options;
use serde_json::json;

use client::Client;
use world::Stage;

/// The longest that an answer may take.
const ANSWER_WAIT: Duration = Duration::from_secs(10);

fuzz_target!(|data: &[u8]| {
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio.block_on(async {
        let stage = Arc::new(Stage::new(false));
        stage.define_all(include_str!("../../surfaces/mcp/tests/core/workflows/demo.txt"));
        let mut client = Client::new(stage.runtime(), Options::default());
        for line in data.split(|it| *it == b'\n') {
            client.send_line(line).await;
        }
        let answered = async {
            let id = "after all that";
            let meta = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            client.send_plain(id, "server/discover", json!({ "_meta": meta })).await;
            while client.receive().await["id"] != id {}
        };
        tokio::time::timeout(ANSWER_WAIT, answered).await.expect("the server hangs");
    });
});
