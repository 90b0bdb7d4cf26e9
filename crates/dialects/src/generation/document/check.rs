//! What is wrong with a document that can still be read.

use super::Document;
use crate::{
    generation::words::{STEPS_TOTAL, Status},
    kit::json::Json,
};

/// The fields that a state must have.
const REQUIRED: [&str; 4] = ["scene_id", "workflow_status", "current_step", "started_at"];

impl Document {
    /// Returns what is wrong with the state of scene `id`, the fields that are missing first.
    ///
    /// The numbered form hides nothing of it: a step that cannot be understood is left as it was.
    pub(crate) fn problems(&self, id: &str) -> Vec<String> {
        let is_missing = |it: &&&str| self.object().get(it).is_none();
        let missing = REQUIRED.iter().filter(is_missing);
        let mut problems: Vec<String> =
            missing.map(|it| format!("Missing required field: {it}")).collect();
        if let Some(other) = self.object().get("scene_id").filter(|it| it.as_text() != Some(id)) {
            problems.push(format!("Scene ID mismatch: expected {id}, got {}", plain(other)));
        }
        if let Some(status) = self.object().get("workflow_status").filter(|it| !is_status(it)) {
            problems.push(format!("Invalid workflow_status: {}", plain(status)));
        }
        if let Some(step) = self.object().get("current_step").filter(|it| !is_step(it)) {
            let step = plain(step);
            problems.push(format!("Invalid current_step: {step} (must be 1-{STEPS_TOTAL})"));
        }
        problems
    }
}

fn is_status(value: &Json) -> bool {
    value.as_text().and_then(Status::parse).is_some()
}

fn is_step(value: &Json) -> bool {
    let is_number = |it: u64| 1 <= it && it <= u64::from(STEPS_TOTAL);
    value.is_null() || value.as_count().is_some_and(is_number)
}

/// Returns a text without its quotes, and anything else as JSON.
fn plain(value: &Json) -> String {
    value.as_text().map_or_else(|| value.render(), ToOwned::to_owned)
}
