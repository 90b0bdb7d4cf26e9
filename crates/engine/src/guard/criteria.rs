//! Guard: the report says how each acceptance criterion is met.

use alloc::{format, string::String, vec::Vec};

use definition::{Evidence, Step};
use serde_json::Value;

use crate::{Refusal, Report};

/// Returns what to warn of.
pub(super) fn check(
    step: &Step,
    report: &Report,
    policy: Option<Evidence>,
) -> Result<Vec<String>, Refusal> {
    let given = report.details.get("evidence").unwrap_or(&Value::Null);
    // Nothing that is said to be evidence is worse than none.
    let is_blank = |key: &str| given[key].as_str().is_some_and(|it| it.trim().is_empty());
    let blank = step.criteria.iter().filter(|it| is_blank(&it.key));
    let blank: Vec<String> = blank.map(|it| it.key.clone()).collect();
    let policy = policy.unwrap_or(step.evidence);
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
