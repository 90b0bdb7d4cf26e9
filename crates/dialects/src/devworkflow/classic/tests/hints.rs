//! The calls that the hint of a refusal names.

use serde_json::{Map, Value, json};

use super::{super::Row, player::Next};

/// Returns the tools that a hint names in backticks, with the parameters that it names for them:
/// "with `name` `value`" is a call with this value, "that `name`" one with what was sent before.
pub(super) fn find(hint: &str, sent: &Map<String, Value>) -> Vec<Next> {
    let words: Vec<&str> = hint.split('`').collect();
    let mut found: Vec<Next> = Vec::new();
    // Between two backticks stands every second piece.
    for (place, word) in words.iter().enumerate().skip(1).step_by(2) {
        if let Some(row) = Row::find(word) {
            let params = needed(row, sent);
            found.push(Next { when: "the hint says so".to_owned(), tool: row.name, params });
            continue;
        }
        let Some(last) = found.last_mut() else { continue };
        let is_param = Row::find(last.tool).is_some_and(|it| it.takes(word));
        let follows = words.get(place + 1) == Some(&" ");
        let value = match words.get(place + 2).filter(|_| follows) {
            Some(value) => json!(value),
            None => sent.get(*word).cloned().unwrap_or(json!("1. one")),
        };
        if is_param {
            last.params.insert((*word).to_owned(), value);
        }
    }
    found
}

/// Returns what a tool cannot do without, as it was sent before.
fn needed(row: &Row, sent: &Map<String, Value>) -> Map<String, Value> {
    let schema = row.schema();
    let required = schema.get("required").and_then(Value::as_array);
    let names = required.into_iter().flatten().filter_map(Value::as_str);
    let value = |name: &str| {
        let is_said = |it: &&Value| it.as_str().is_some_and(|it| !it.trim().is_empty());
        sent.get(name).filter(is_said).cloned().unwrap_or(json!("Add: login"))
    };
    names.map(|name| (name.to_owned(), value(name))).collect()
}
