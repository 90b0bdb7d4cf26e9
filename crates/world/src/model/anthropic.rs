//! Anthropic's messages: the reply is the input of a tool that the model is made to call.

use serde_json::{Value, json};

use super::{Asked, Said, invalid, number, schema, unsafe_reply};
use engine::ModelFailure;

/// The version of the API that is spoken.
pub(super) const VERSION: &str = "2023-06-01";
/// The longest reply, in tokens.
const TOKENS_MAX: u32 = 4096;

pub(super) fn address(endpoint: &str) -> String {
    if endpoint.ends_with("/messages") {
        return endpoint.to_owned();
    }
    let base = endpoint.strip_suffix("/v1").unwrap_or(endpoint);
    format!("{base}/v1/messages")
}

pub(super) fn body(model: &str, asked: &Asked<'_>) -> Value {
    json!({
        "model": model,
        "max_tokens": TOKENS_MAX,
        "system": asked.system,
        "messages": [{"role": "user", "content": asked.user}],
        "tools": [{
            "name": schema::NAME,
            "description": "Say which step of the workflow comes next.",
            "input_schema": schema::reply(asked.names),
        }],
        "tool_choice": {"type": "tool", "name": schema::NAME},
    })
}

pub(super) fn read(reply: &Value) -> Result<Said, ModelFailure> {
    if reply["stop_reason"] == "refusal" {
        return Err(unsafe_reply("refusal"));
    }
    let blocks = reply["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    let called =
        blocks.iter().find(|it| it["type"] == "tool_use").map(|it| it["input"].to_string());
    let written = || blocks.iter().find_map(|it| it["text"].as_str()).map(str::to_owned);
    let Some(text) = called.or_else(written) else {
        return Err(invalid("its reply is empty"));
    };
    let tokens_in = number(reply, "/usage/input_tokens");
    let tokens_out = number(reply, "/usage/output_tokens");
    Ok(Said { text, tokens_in, tokens_out })
}
