//! Chat completions: the reply is a text that must fit a JSON Schema.

use serde_json::{Value, json};

use super::{Asked, Said, invalid, number, schema, unsafe_reply};
use engine::ModelFailure;

pub(super) fn address(endpoint: &str) -> String {
    if endpoint.ends_with("/chat/completions") {
        return endpoint.to_owned();
    }
    let has_path = endpoint.split("://").nth(1).is_some_and(|it| it.contains('/'));
    let version = if has_path { "" } else { "/v1" };
    format!("{endpoint}{version}/chat/completions")
}

pub(super) fn body(model: &str, asked: &Asked<'_>) -> Value {
    json!({
        "model": model,
        "messages": [
            {"role": "system", "content": asked.system},
            {"role": "user", "content": asked.user},
        ],
        "response_format": {
            "type": "json_schema",
            "json_schema": {
                "name": schema::NAME,
                "strict": true,
                "schema": schema::reply(asked.names),
            },
        },
    })
}

pub(super) fn read(reply: &Value) -> Result<Said, ModelFailure> {
    let said = |pointer: &str| reply.pointer(pointer).and_then(Value::as_str);
    let is_filtered = said("/choices/0/finish_reason") == Some("content_filter");
    if is_filtered || said("/choices/0/message/refusal").is_some() {
        return Err(unsafe_reply("refusal"));
    }
    let text = said("/choices/0/message/content").filter(|it| !it.is_empty());
    let Some(text) = text.map(str::to_owned) else { return Err(invalid("its reply is empty")) };
    let tokens_in = number(reply, "/usage/prompt_tokens");
    let tokens_out = number(reply, "/usage/completion_tokens");
    Ok(Said { text, tokens_in, tokens_out })
}
