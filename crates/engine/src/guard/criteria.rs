//! Guard: the report says how each acceptance criterion is met.

use alloc::{format, string::String, vec::Vec};

use definition::{Evidence, Step};
use serde_json::Value;

use crate::{Refusal, Report};

/// Returns what to warn of.
pub(super) fn check(step: &Step, report: &Report) -> Result<Vec<String>, Refusal> {
    let given = report.details.get("evidence").unwrap_or(&Value::Null);
    let missing: Vec<String> = step.missing_evidence(given).map(|it| it.key.clone()).collect();
    if missing.is_empty() {
        return Ok(missing);
    }
    match step.evidence {
        Evidence::Strict => {
            Err(Refusal::EvidenceMissing { step: step.name.clone(), criteria: missing })
        }
        Evidence::Warn => {
            Ok(missing.iter().map(|key| format!("no evidence was given for `{key}`")).collect())
        }
        Evidence::Off => Ok(Vec::new()),
    }
}
