//! What a text means where something else is wanted: `"45.2"` is a number, `"yes"` is true.

use serde_json::{Number, Value};

/// Trims a text, and makes of it what is wanted, if it says that.
pub(super) fn read(kind: &str, value: &mut Value) {
    if let Value::String(text) = value {
        let trimmed = text.trim();
        if trimmed.len() != text.len() {
            *text = trimmed.to_owned();
        }
    }
    let read = match kind {
        "boolean" => find_bool(value).map(Value::Bool),
        "integer" | "number" => find_number(value).map(Value::Number),
        _ => None,
    };
    if let Some(read) = read {
        *value = read;
    }
}

/// Reads a word for yes or no.
pub(super) fn find_bool(value: &Value) -> Option<bool> {
    let word = match value {
        Value::String(text) => text.to_ascii_lowercase(),
        Value::Number(number) => number.to_string(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    match word.as_str() {
        "true" | "yes" | "on" | "1" | "y" | "t" => Some(true),
        "false" | "no" | "off" | "0" | "n" | "f" => Some(false),
        _ => None,
    }
}

/// Reads a number as JSON has it. `007` and `NaN` are none.
pub(super) fn find_number(value: &Value) -> Option<Number> {
    serde_json::from_str(value.as_str()?).ok()
}
