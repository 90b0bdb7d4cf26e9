//! Reads what a language model replied. Nothing in it is believed before it fits.

use alloc::{
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use serde_json::{Map, Value};

use super::cut;
use crate::{ModelFailure, ModelFailureKind};

/// The most of its reasons that is kept, in characters.
const REASONING_CHARS_MAX: usize = 2000;
/// The most of a word that is told, in characters.
const WORD_CHARS_MAX: usize = 40;

/// A reply that fits.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reply {
    pub(super) next: String,
    pub(super) updates: Map<String, Value>,
    pub(super) suggestion: Option<Suggestion>,
    /// Empty where it gave none.
    pub(super) reasoning: String,
    pub(super) warnings: Vec<String>,
}

/// How it says the run should stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Suggestion {
    Running,
    Suspended,
    Completed,
    Failed,
}

/// Reads a reply: one JSON object, in a fence or not.
pub(super) fn parse(text: &str) -> Result<Reply, ModelFailure> {
    let invalid = |message: String| ModelFailure {
        kind: ModelFailureKind::InvalidResponse,
        message: format!("its reply {message}"),
    };
    let parsed: Value = serde_json::from_str(unfenced(text))
        .map_err(|error| invalid(format!("is not JSON: {error}")))?;
    let Value::Object(mut reply) = parsed else {
        return Err(invalid(String::from("is not a JSON object")));
    };
    let next = reply.get("next_step_name").and_then(Value::as_str).map(str::trim);
    let Some(next) = next.filter(|it| !it.is_empty()).map(String::from) else {
        return Err(invalid(String::from("has no text `next_step_name`")));
    };
    let mut warnings = Vec::new();
    let updates = read_updates(reply.remove("updated_context"), &mut warnings);
    let suggestion = read_suggestion(reply.get("status_suggestion"), &mut warnings);
    let reasoning = reply.get("reasoning").and_then(Value::as_str).unwrap_or_default().trim();
    let reasoning = cut(reasoning, REASONING_CHARS_MAX);
    Ok(Reply { next, updates, suggestion, reasoning, warnings })
}

fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let inner = text.strip_prefix("```json").or_else(|| text.strip_prefix("```"));
    inner.and_then(|it| it.strip_suffix("```")).unwrap_or(text).trim()
}

/// Takes an object, or a list of keys with values.
fn read_updates(value: Option<Value>, warnings: &mut Vec<String>) -> Map<String, Value> {
    let items = match value {
        None | Some(Value::Null) => return Map::new(),
        Some(Value::Object(map)) => return map,
        Some(Value::Array(items)) => items,
        Some(Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
            warnings.push(String::from("its `updated_context` is neither a list nor an object"));
            return Map::new();
        }
    };
    let mut updates = Map::new();
    for item in items {
        let key = item.get("key").and_then(Value::as_str).map(String::from);
        match (key, item.get("value")) {
            (Some(key), Some(value)) => {
                updates.insert(key, value.clone());
            }
            (_, _) => warnings.push(String::from("an item of its `updated_context` is not a pair")),
        }
    }
    updates
}

fn read_suggestion(value: Option<&Value>, warnings: &mut Vec<String>) -> Option<Suggestion> {
    let value = value.filter(|it| !it.is_null())?;
    let word = value.as_str().map_or_else(|| value.to_string(), String::from);
    match word.trim().to_uppercase().as_str() {
        "" => None,
        "RUNNING" => Some(Suggestion::Running),
        "SUSPENDED" => Some(Suggestion::Suspended),
        "COMPLETED" => Some(Suggestion::Completed),
        "FAILED" => Some(Suggestion::Failed),
        _ => {
            let word = cut(&word, WORD_CHARS_MAX);
            warnings.push(format!("it suggested the status `{word}`, which there is not"));
            None
        }
    }
}
