//! Guard: the report says how each acceptance criterion is met.

use alloc::{format, string::String, vec::Vec};

use definition::{Evidence, Step};
use serde_json::Value;

use crate::{Refusal, Report, event::says_success};

/// Returns what to warn of.
pub(super) fn check(
    step: &Step,
    report: &Report,
    policy: Option<Evidence>,
) -> Result<Vec<String>, Refusal> {
    let given = report.details.get("evidence").unwrap_or(&Value::Null);
    let policy = policy.unwrap_or(step.evidence);
    // Where the definition or the settings insist on evidence, a claim is none.
    let is_strict = policy == Evidence::Strict;
    // Nothing that is said to be evidence is worse than none.
    let is_blank = |key: &str| is_nothing(&given[key]) || is_strict && only_claims(&given[key]);
    let blank = step.criteria.iter().filter(|it| is_blank(&it.key));
    let blank: Vec<String> = blank.map(|it| it.key.clone()).collect();
    if !blank.is_empty() && policy != Evidence::Off {
        return Err(Refusal::EvidenceEmpty { step: step.name.clone(), criteria: blank });
    }
    let missing: Vec<String> = step.missing_evidence(given).map(|it| it.key.clone()).collect();
    if missing.is_empty() {
        return Ok(missing);
    }
    match policy {
        Evidence::Strict => {
            Err(Refusal::EvidenceMissing { step: step.name.clone(), criteria: missing })
        }
        Evidence::Warn => {
            Ok(missing.iter().map(|key| format!("no evidence was given for `{key}`")).collect())
        }
        Evidence::Off => Ok(Vec::new()),
    }
}

/// Whether a value that was given says nothing.
fn is_nothing(value: &Value) -> bool {
    match value {
        // What was not given is missing.
        Value::Null | Value::Number(_) | Value::Bool(true) => false,
        Value::Bool(false) => true,
        Value::String(text) => !text.chars().any(is_seen),
        Value::Array(items) => items.iter().all(is_nothing),
        Value::Object(map) => map.values().all(is_nothing),
    }
}

/// Whether a value claims success and shows nothing: `true`, or a word such as `done`.
fn only_claims(value: &Value) -> bool {
    let text = match value {
        Value::Bool(is_so) => return *is_so,
        Value::String(text) => text,
        Value::Array(items) => return items.iter().all(only_claims),
        Value::Object(map) => return map.values().all(only_claims),
        Value::Null | Value::Number(_) => return false,
    };
    let word = text.trim_matches(|it: char| !it.is_alphanumeric()).to_lowercase();
    says_success(&word) || word == "true" || word == "yes"
}

/// Whether a letter can be seen.
fn is_seen(letter: char) -> bool {
    !letter.is_whitespace()
        && !letter.is_control()
        && !matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{ad}')
}
