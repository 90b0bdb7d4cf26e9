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

use definition::{StepName, Target};
use engine::{Offers, Timestamp, What};

use super::{
    advice::{self, find_step},
    document::Document,
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
    /// What can be done with it.
    pub(crate) offers: &'a Offers,
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
        let Offers { open, needs_person, .. } = self.offers;
        let mut calls: Vec<(String, String)> =
            open.iter().filter_map(|it| self.call(&it.what, dialect)).collect();
        calls.dedup();
        if *needs_person {
            let look = || format!("get_generation_status(scene_id='{}')", self.id);
            let then = calls.into_iter().next().map_or_else(look, |it| it.1);
            return vec![format!("{}. Then call {then}", advice::PERSON)];
        }
        calls.into_iter().map(|(when, call)| format!("{when} {call}")).collect()
    }

    /// Returns the calls that lead on as a list, a line each.
    fn listed(&self, dialect: Dialect) -> String {
        self.onward(dialect).iter().map(|it| format!("  - {it}\n")).collect()
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

    /// Returns a call with when it is to be made.
    fn call(&self, what: &What, dialect: Dialect) -> Option<(String, String)> {
        let id = self.id;
        let named = |name: &StepName| find_step(name).map(|step| NamedStep { step, dialect });
        let start =
            |named: NamedStep| format!("start_step(scene_id='{id}', {})", named.start_arguments());
        let (when, call) = match what {
            What::Begin(step) => {
                let step = named(step)?;
                let number = step.step.number;
                let when = match self.point {
                    Some(point) if number < point.number => format!("To go back to step {number}:"),
                    _ if self.may(|it| matches!(it, What::Report(_) | What::Retry(_))) => {
                        format!("To restart step {number}:")
                    }
                    Some(_) | None => "Call".to_owned(),
                };
                (when, start(step))
            }
            What::Choose { to: Target::Step(step), .. } => ("Call".to_owned(), start(named(step)?)),
            What::Choose { to: Target::Finish, .. } => {
                let call = format!(
                    "complete_generation(scene_id='{id}', final_scene_path='...', \
                     validation_report_path='...', word_count=X, total_duration_seconds=X)"
                );
                ("Call".to_owned(), call)
            }
            What::Ask(step) => {
                let argument = named(step)?.argument();
                let call =
                    format!("start_step(scene_id='{id}', {argument}, awaiting_approval=True)");
                ("When the work is done, ask the user to approve it:".to_owned(), call)
            }
            What::Report(step) => {
                let step = named(step)?;
                let is_asked = self.document.status() == Some(Status::WaitingUserApproval);
                let when = match is_asked {
                    true => "Ask the user to approve; after their yes:".to_owned(),
                    false if self.may(|it| matches!(it, What::Ask(_))) => {
                        "After their yes:".to_owned()
                    }
                    false => format!("When step {} is done:", step.step.number),
                };
                let argument = step.argument();
                (when, format!("complete_step(scene_id='{id}', {argument}, duration_seconds=X)"))
            }
            What::Retry(step) => {
                let step = named(step)?;
                let when = format!("To retry step {}:", step.step.number);
                (when, format!("retry_step(scene_id='{id}', {})", step.argument()))
            }
            What::Reopen => {
                let call = format!("resume_generation(scene_id='{id}')");
                ("Show the resume plan:".to_owned(), call)
            }
            What::Cancel => {
                ("Cancel it:".to_owned(), format!("cancel_generation(scene_id='{id}')"))
            }
            What::Leave { .. } | What::Answer { .. } | What::Fail => return None,
        };
        Some((when, call))
    }

    /// Whether something of the kind can be done.
    fn may(&self, is_it: impl Fn(&What) -> bool) -> bool {
        self.offers.open.iter().any(|it| is_it(&it.what))
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
