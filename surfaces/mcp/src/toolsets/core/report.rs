//! What an agent says of a step, as it comes in.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The `report` of advance and resume.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Report {
    /// Step worked on
    pub(super) step_id: String,
    /// success, failure; any other word: not done yet
    status: String,
    /// Outcome, any JSON
    #[serde(default)]
    result: Value,
    /// Facts for the workflow's conditions
    details: Option<Map<String, Value>>,
    /// One line for whoever comes next
    message: Option<String>,
    /// Why it failed
    error: Option<String>,
}

impl From<Report> for engine::Report {
    fn from(report: Report) -> Self {
        let Report { step_id, status, result, details, message, error } = report;
        let details = details.map_or(Value::Null, Value::Object);
        Self { step_id, result, status, details, message, error }
    }
}
