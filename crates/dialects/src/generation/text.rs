//! The texts of the answers, a file for each tool or two. They are a contract: what is said and in
//! which order is fixed.
//!
//! Everything comes from the document, as it is after the call. Nothing is decided here.

pub(crate) mod cancel;
pub(crate) mod complete;
pub(crate) mod failure;
pub(crate) mod list;
pub(crate) mod question;
pub(crate) mod resume;
pub(crate) mod start;
pub(crate) mod status;
pub(crate) mod step;

use engine::Timestamp;

use super::{
    document::Document,
    onward::{Onward, Way},
    words::{Dialect, NamedStep, Status, Step, duration},
};
use crate::kit::json::Json;

/// A scene that is spoken of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scene<'a> {
    pub(crate) id: &'a str,
    /// The state file, as people are shown it.
    pub(crate) path: &'a str,
    pub(crate) document: &'a Document,
    pub(crate) onward: &'a Onward,
    /// The step that the run is at; `None` where all are done.
    pub(crate) point: Option<&'static Step>,
    pub(crate) now: Timestamp,
}

impl Scene<'_> {
    /// Returns the status as the document says it.
    fn status(&self) -> &str {
        self.document.shown("workflow_status")
    }

    /// Returns the calls that lead on, each with when it is to be made.
    fn onward(&self, dialect: Dialect) -> Vec<String> {
        let Onward { ways, needs_person } = self.onward;
        let has_complete = ways.iter().any(|it| matches!(it, Way::Complete(_)));
        let has_ask = ways.iter().any(|it| matches!(it, Way::Ask(_)));
        let is_asked = self.document.status() == Some(Status::WaitingUserApproval);
        let line = |way: &Way| {
            let when = match way {
                Way::Complete(_) if is_asked => "Ask the user to approve; after their yes:".into(),
                Way::Ask(_) => "When the work is done, ask the user to approve it:".into(),
                Way::Complete(_) if has_ask => "After their yes:".into(),
                Way::Complete(step) => format!("When step {} is done:", step.number),
                Way::Start(step) if has_complete => format!("To restart step {}:", step.number),
                Way::Start(_) | Way::Finish => "Call".to_owned(),
                Way::Resume => "Show the resume plan:".to_owned(),
            };
            format!("{when} {}", self.call(*way, dialect))
        };
        match ways.first() {
            Some(first) if *needs_person => {
                vec![format!("{PERSON}. Then call {}", self.call(*first, dialect))]
            }
            None if *needs_person => {
                let id = self.id;
                vec![format!("{PERSON}. Then call get_generation_status(scene_id='{id}')")]
            }
            Some(_) | None => ways.iter().map(line).collect(),
        }
    }

    /// Returns a hint: what is so, and the calls that lead on.
    pub(super) fn hint(&self, lead: &str, dialect: Dialect) -> String {
        let lines = self.onward(dialect);
        if lines.is_empty() {
            return format!("💡 {lead}");
        }
        let lines: Vec<String> = lines.iter().map(|it| format!("\n  - {it}")).collect();
        format!("💡 {lead}:{}", lines.concat())
    }

    fn call(&self, way: Way, dialect: Dialect) -> String {
        let id = self.id;
        match way {
            Way::Start(step) => {
                let arguments = NamedStep { step, dialect }.start_arguments();
                format!("start_step(scene_id='{id}', {arguments})")
            }
            Way::Ask(step) => {
                let argument = NamedStep { step, dialect }.argument();
                format!("start_step(scene_id='{id}', {argument}, awaiting_approval=True)")
            }
            Way::Complete(step) => {
                let argument = NamedStep { step, dialect }.argument();
                format!("complete_step(scene_id='{id}', {argument}, duration_seconds=X)")
            }
            Way::Finish => format!(
                "complete_generation(scene_id='{id}', final_scene_path='...', \
                 validation_report_path='...', word_count=X, total_duration_seconds=X)"
            ),
            Way::Resume => format!("resume_generation(scene_id='{id}')"),
        }
    }

    /// Returns the lines of the completed steps.
    fn work(&self) -> Vec<String> {
        self.document.completed_steps().map(|it| self.work_line(it)).collect()
    }

    fn work_line(&self, step: &Step) -> String {
        let took = duration(self.document.step(step).duration_seconds());
        format!("   ✓ Step {}: {} ({took})", step.number, step.title)
    }

    /// Returns the line that says that there were more attempts at the draft than are meant to be.
    fn attempts_warning(&self) -> Option<String> {
        let (current, max) = self.document.attempts()?;
        (max < current).then(|| format!("⚠️ Attempt {current} exceeds max_attempts ({max})"))
    }
}

/// What is to be done where only a person's own answer counts.
const PERSON: &str = "Only the user's own answer counts: tell them to run `milepost gate` \
                                 (do not run it yourself), and wait";

/// The user wants something changed at the current step.
pub(crate) fn sent_back(scene: &Scene<'_>, feedback: &str) -> String {
    let (id, step) = (scene.id, scene.document.current_step());
    let wish = if feedback.is_empty() { String::new() } else { format!(": {feedback}") };
    format!(
        "\n\n↩️ The user sent step {step} back{wish}\n  - Change it, then ask again: \
         start_step(scene_id='{id}', step_number={step}, awaiting_approval=True)"
    )
}

/// What was noticed on the way, if anything was.
pub(crate) fn warnings(notices: &[String]) -> String {
    let lines: Vec<String> = notices.iter().map(|it| format!("\n  - {it}")).collect();
    if lines.is_empty() { String::new() } else { format!("\n\n⚠️ Warnings:{}", lines.concat()) }
}

/// There is no state, in one line.
pub(crate) fn missing(id: &str) -> String {
    format!("❌ ERROR: No state found for scene {id}")
}

/// The state is not a JSON object.
pub(crate) fn corrupted(path: &str, detail: &str) -> String {
    format!("Error: State file corrupted: {path}. JSON error: {detail}")
}

/// The state could not be read.
pub(crate) fn unreadable(path: &str, detail: &str) -> String {
    format!("Error: Failed to read state file {path}: {detail}")
}

/// Something else went wrong.
pub(crate) fn unexpected(kind: &str, detail: &str) -> String {
    format!("Error: Unexpected error occurred: {kind} - {detail}")
}

/// Names steps in a row: `4 (Prose Generation), 5 (Fast Compliance Check)`.
pub(crate) fn names<'a>(steps: impl Iterator<Item = &'a Step>) -> String {
    let names: Vec<String> = steps.map(|it| format!("{} ({})", it.number, it.title)).collect();
    names.join(", ")
}

/// Returns a number as it is shown, or that it is not known.
fn number(value: Option<&Json>) -> String {
    match value {
        Some(Json::Number(number)) => number.to_string(),
        Some(Json::Text(text)) => text.clone(),
        Some(Json::Null | Json::Bool(_) | Json::List(_) | Json::Object(_)) | None => {
            super::document::UNKNOWN.to_owned()
        }
    }
}

#[cfg(test)]
mod fixture;
