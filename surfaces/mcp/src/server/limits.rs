//! How much clients may ask for at once, and how long an answer may take.

use std::time::Duration;

use rmcp::ErrorData;
use runtime::Phase;
use serde_json::json;

/// The limits, as the configuration says.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// How long a call may take by itself, in the setting `mcp.call_timeout`. What has a limit of
    /// its own is not counted: checks, chores, language models, waits, questions to a person.
    pub call: Duration,
    /// The most calls of all clients at once, in the setting `mcp.calls`.
    pub calls: usize,
    /// The most calls of one client at once, in the setting `mcp.calls_per_client`. A call ends
    /// when its answer is written.
    pub calls_per_client: usize,
    /// The most streams of news at once, in the setting `mcp.streams`.
    pub streams: usize,
    /// The most resources that one client may watch, in the setting `mcp.watched`.
    pub watched: usize,
}

impl Default for Limits {
    fn default() -> Self {
        let call = Duration::from_secs(60);
        Self { call, calls: 256, calls_per_client: 64, streams: 256, watched: 1_000 }
    }
}

/// Answers a call that took too long.
pub(super) fn overdue(what: &str, limit: Duration, phase: Phase) -> ErrorData {
    let written = match phase {
        Phase::Open => "Nothing of it was written",
        Phase::Writing | Phase::Written => {
            "It may have been written: look at the run before you call again, or call again with \
             the same request id"
        }
    };
    let text = format!(
        "`{what}` took longer than {limit:?} and was stopped (setting `mcp.call_timeout`). {written}."
    );
    tracing::warn!("{text}");
    let data = json!({ "code": "timed_out", "setting": "mcp.call_timeout" });
    ErrorData::internal_error(text, Some(data))
}

/// Refuses what would be more than `max`, which a setting says.
pub(super) fn too_many(what: &str, max: usize, setting: &str) -> ErrorData {
    let text = format!("no more than {max} {what} at once (setting `{setting}`)");
    ErrorData::invalid_request(text, Some(json!({ "code": "too_many", "setting": setting })))
}
