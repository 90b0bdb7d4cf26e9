//! What an agent says of a step, as it comes in.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The `report` of advance and resume.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Report {
    /// Step worked on
    #[schemars(extend("x-names" = ["step_name", "step"]))]
    pub(super) step_id: String,
    /// success or failure; any other word keeps the step open
    status: String,
    /// Outcome, any JSON
    #[serde(default)]
    result: Value,
    /// Structured facts; `evidence` by criterion
    details: Option<Map<String, Value>>,
    /// One line for the next agent
    message: Option<String>,
    /// Why it failed
    error: Option<String>,
}

impl From<Report> for engine::Report {
    fn from(report: Report) -> Self {
        let Report { step_id, status, result, details, message, error } = report;
        let details = details.map_or(Value::Null, Value::Object);
        Self { step_id, result, status, details, message, error, by_server: false }
    }
}
