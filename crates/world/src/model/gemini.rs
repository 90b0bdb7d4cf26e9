//! Gemini's `generateContent`: the reply is a text of a given MIME type and form.

use serde_json::{Value, json};

use super::{Asked, Said, invalid, number, unsafe_reply};
use engine::ModelFailure;

/// The reasons for which it ends without an answer because of what the answer would be.
const BLOCKS: &[&str] =
    &["SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE"];

pub(super) fn address(endpoint: &str, model: &str) -> String {
    if endpoint.ends_with(":generateContent") {
        return endpoint.to_owned();
    }
    let base = endpoint.strip_suffix("/v1beta").unwrap_or(endpoint);
    format!("{base}/v1beta/models/{model}:generateContent")
}

pub(super) fn body(asked: &Asked<'_>) -> Value {
    json!({
        "systemInstruction": {"parts": [{"text": asked.system}]},
        "contents": [{"role": "user", "parts": [{"text": asked.user}]}],
        "generationConfig": {
            "responseMimeType": "application/json",
            "responseSchema": form(asked.names),
        },
    })
}

pub(super) fn read(reply: &Value) -> Result<Said, ModelFailure> {
    if let Some(reason) = reply.pointer("/promptFeedback/blockReason").and_then(Value::as_str) {
        return Err(unsafe_reply(reason));
    }
    let ended = reply.pointer("/candidates/0/finishReason").and_then(Value::as_str);
    if let Some(reason) = ended.filter(|it| BLOCKS.contains(it)) {
        return Err(unsafe_reply(reason));
    }
    let parts = reply.pointer("/candidates/0/content/parts").and_then(Value::as_array);
    let spoken = parts.into_iter().flatten().filter(|it| it["thought"] != true);
    let text: String = spoken.filter_map(|it| it["text"].as_str()).collect();
    if text.is_empty() {
        return Err(invalid("its reply is empty"));
    }
    let tokens_in = number(reply, "/usageMetadata/promptTokenCount");
    let tokens_out = number(reply, "/usageMetadata/candidatesTokenCount");
    Ok(Said { text, tokens_in, tokens_out })
}

/// The form of a reply in the subset of `OpenAPI` that is understood.
fn form(names: &[String]) -> Value {
    json!({
        "type": "OBJECT",
        "required": ["next_step_name"],
        "properties": {
            "next_step_name": {"type": "STRING", "enum": names},
            "updated_context": {
                "type": "ARRAY",
                "nullable": true,
                "items": {
                    "type": "OBJECT",
                    "required": ["key", "value"],
                    "properties": {"key": {"type": "STRING"}, "value": {"type": "STRING"}},
                },
            },
            "status_suggestion": {
                "type": "STRING",
                "nullable": true,
                "enum": ["RUNNING", "SUSPENDED", "COMPLETED", "FAILED"],
            },
            "reasoning": {"type": "STRING", "nullable": true},
        },
    })
}
