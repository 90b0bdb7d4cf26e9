//! What an agent says of its work, and what it means.

use alloc::{
    format,
    string::{String, ToString as _},
};

use definition::StepName;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What an agent says of its work.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Report {
    pub step_id: String,
    #[serde(default)]
    pub result: Value,
    pub status: String,
    #[serde(default)]
    pub details: Value,
    #[serde(default)]
    pub message: Option<String>,
    #[serde(default)]
    pub error: Option<String>,
    /// Nobody reported: the server noted that the work is done, and the words are its own.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub by_server: bool,
}

/// What a report's free `status` word means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Success,
    Failure,
    /// Neither: the step goes on, unless the definition says otherwise.
    Open,
}

impl Report {
    /// Returns the report on work that nobody had to do.
    pub(crate) fn passed(step: &StepName, message: &str) -> Self {
        Self {
            step_id: step.to_string(),
            status: String::from("success"),
            message: Some(message.to_string()),
            by_server: true,
            ..Self::default()
        }
    }

    /// Returns a report that a step failed.
    pub(crate) fn failure(step: &StepName, reason: &str) -> Self {
        Self {
            step_id: step.to_string(),
            status: String::from("failure"),
            error: Some(String::from(reason)),
            ..Self::default()
        }
    }

    /// Returns what the status means. The words are those that agents use.
    pub fn outcome(&self) -> Outcome {
        match self.status.trim().to_lowercase().as_str() {
            word if says_success(word) => Outcome::Success,
            "failure" | "failed" | "fail" | "error" => Outcome::Failure,
            _ => Outcome::Open,
        }
    }

    /// Returns what is said of the work: the message, then the result, and a result that is no text
    /// as JSON. `None` where nothing is said.
    pub fn said(&self) -> Option<String> {
        let result = match &self.result {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
                other.to_string()
            }
        };
        let (message, result) = (self.message.as_deref().unwrap_or_default().trim(), result.trim());
        let said = match (message.is_empty(), result.is_empty()) {
            (true, true) => return None,
            (false, false) if !message.contains(result) => format!("{message}\n{result}"),
            (false, _) => String::from(message),
            (true, false) => String::from(result),
        };
        Some(said)
    }

    /// Returns why the step failed, in the agent's own words.
    pub fn reason(&self) -> String {
        let words = [self.error.as_deref(), self.message.as_deref(), self.result.as_str()];
        let found = words.into_iter().flatten().find(|it| !it.trim().is_empty());
        String::from(found.unwrap_or("the agent reported a failure without a reason"))
    }
}

/// Whether a word, in lower case, says no more than that something succeeded.
pub(crate) fn says_success(word: &str) -> bool {
    matches!(
        word,
        "success"
            | "succeeded"
            | "successful"
            | "completed"
            | "complete"
            | "done"
            | "ok"
            | "passed"
            | "finished"
    )
}
