//! The limits that a schema sets to texts and numbers. A text is measured in characters.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use regex::Regex;
use serde_json::{Number, Value};

/// The patterns of our schemas that were met so far, compiled. One that cannot be read is a mistake
/// of ours, and nothing fits it.
static PATTERNS: Mutex<BTreeMap<String, Option<Regex>>> = Mutex::new(BTreeMap::new());

/// Says what a text must be that is not so.
pub(super) fn of_text(shape: &Value, text: &str) -> Option<String> {
    let count = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
    let limit = |name| shape.get(name).and_then(Value::as_u64);
    if let Some(least) = limit("minLength").filter(|it| count < *it) {
        return Some(format!("must have at least {}", characters(least)));
    }
    if let Some(most) = limit("maxLength").filter(|it| *it < count) {
        return Some(format!("must have at most {}, not {count}", characters(most)));
    }
    let pattern = shape.get("pattern").and_then(Value::as_str)?;
    (!fits(pattern, text)).then(|| format!("must match the pattern {pattern}"))
}

/// Says what a number must be that is not so.
pub(super) fn of_number(shape: &Value, number: &Number) -> Option<String> {
    let given = number.as_f64()?;
    let limit = |name| shape.get(name).and_then(Value::as_f64);
    if let Some(least) = limit("minimum").filter(|it| given < *it) {
        return Some(format!("must be at least {least}"));
    }
    let most = limit("maximum").filter(|it| *it < given)?;
    Some(format!("must be at most {most}"))
}

fn fits(pattern: &str, text: &str) -> bool {
    let mut patterns = PATTERNS.lock();
    if !patterns.contains_key(pattern) {
        patterns.insert(pattern.to_owned(), Regex::new(pattern).ok());
    }
    let compiled = patterns.get(pattern).cloned().flatten();
    drop(patterns);
    compiled.is_some_and(|it| it.is_match(text))
}

fn characters(count: u64) -> String {
    if count == 1 { "1 character".to_owned() } else { format!("{count} characters") }
}
