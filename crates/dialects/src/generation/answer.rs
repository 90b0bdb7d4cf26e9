//! What every tool of this toolset answers: a Markdown text, and beside it the same as data.

use engine::Remedy;
use schemars::JsonSchema;
use serde::Serialize;

use super::{advice::WORDS, document::Document, text::Scene};
use crate::kit::{Answer, Failing, InvalidArguments, Leniency, Refused, Stopped, Unasked};

/// What a program reads of an answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Facts {
    /// The answer as Markdown.
    pub(crate) result: String,
    /// Whether what was asked for is so now.
    pub(crate) ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) scene_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) workflow_status: Option<String>,
    /// From 1 to 7; 0 before the first step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) current_step: Option<u8>,
    /// Where a resume goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) resume_step: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) completed_steps: Option<Vec<u8>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) time_saved_seconds: Option<f64>,
    /// How many generations there are, also beyond those that are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) total: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) generations: Option<Vec<Generation>>,
}

/// A generation in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Generation {
    pub(crate) scene_id: String,
    pub(crate) workflow_status: String,
    pub(crate) current_step: u8,
    pub(crate) started_at: Option<String>,
    pub(crate) updated_at: Option<String>,
}

/// What a call that led to nothing is answered.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Failure {
    #[serde(flatten)]
    facts: Box<Facts>,
    refusal: Box<Refused>,
}

impl Facts {
    /// Returns what an answer says of a scene.
    pub(crate) fn new(scene: &Scene<'_>, result: String) -> Self {
        Self { result, ok: true, ..Self::of_scene(scene.id, Some(scene.document)) }
    }

    fn of_scene(id: &str, document: Option<&Document>) -> Self {
        let status = document.and_then(|it| it.find_text("workflow_status"));
        Self {
            scene_id: Some(id.to_owned()),
            workflow_status: status.map(ToOwned::to_owned),
            current_step: document.map(Document::current_step),
            ..Self::default()
        }
    }
}

impl Failure {
    /// Words a refusal: what is said to a person is its message and its hint too.
    pub(crate) fn new(code: &str, result: String) -> Self {
        let refusal = Box::new(Refused {
            code: code.to_owned(),
            message: message_in(&result).to_owned(),
            hint: hint_in(&result),
            retry_after_ms: None,
        });
        Self { facts: Box::new(Facts { result, ..Facts::default() }), refusal }
    }

    /// Says which scene it is about, and how that stands.
    #[must_use]
    pub(crate) fn about(self, id: &str, document: Option<&Document>) -> Self {
        let facts = Facts { result: self.facts.result, ..Facts::of_scene(id, document) };
        Self { facts: Box::new(facts), ..self }
    }

    /// Says that the same call may work later.
    #[must_use]
    pub(crate) fn retry_after(mut self, ms: u64) -> Self {
        self.refusal.retry_after_ms = Some(ms);
        self
    }

    /// Words a failure of the store, and what helps.
    pub(crate) fn unexpected(stopped: &Stopped) -> Self {
        let said = super::text::unexpected(stopped.code(), &stopped.to_string());
        let hint = match stopped {
            Stopped::Refused(refusal) => &WORDS.hint(refusal),
            Stopped::Failed(fault) => &fault.hint,
        };
        Self::new(stopped.code(), format!("{said}\n\n💡 {hint}"))
    }
}

impl Answer for Facts {
    fn text(&self) -> Option<&str> {
        Some(&self.result)
    }
}

impl Answer for Failure {
    fn text(&self) -> Option<&str> {
        Some(&self.facts.result)
    }
}

impl Failing for Failure {
    const LENIENCY: Leniency = Leniency::Closed;
}

impl From<Unasked> for Failure {
    fn from(unasked: Unasked) -> Self {
        Self::unexpected(&unasked.stopped)
    }
}

impl From<InvalidArguments> for Failure {
    fn from(invalid_arguments: InvalidArguments) -> Self {
        let problems: Vec<String> = invalid_arguments
            .problems
            .iter()
            .map(|it| format!("{}: {}", it.path, it.text))
            .collect();
        let (count, tool) = (problems.len(), invalid_arguments.tool);
        let noun = if count == 1 { "error" } else { "errors" };
        let text = problems.join("\n");
        let mut failure = Self::new(
            "parameter_invalid",
            format!("Error: {count} validation {noun} for {tool}\n\n{text}"),
        );
        failure.refusal.message = problems.join("; ");
        failure.refusal.hint = Remedy::FixValue.to_string();
        failure
    }
}

/// Returns the first line without what announces it.
fn message_in(text: &str) -> &str {
    let line = text.lines().next().unwrap_or_default();
    let line = line.strip_prefix("❌ ERROR: ").or_else(|| line.strip_prefix("Error: "));
    line.unwrap_or_else(|| text.lines().next().unwrap_or_default())
}

/// Returns what stands behind the lamp, also if that is a list.
fn hint_in(text: &str) -> String {
    let mut lines = text.lines().skip_while(|it| !it.starts_with('💡'));
    let Some(first) = lines.next() else {
        return "look at it with `get_generation_status`".to_owned();
    };
    let first = first.trim_start_matches('💡').trim();
    if !first.ends_with(':') {
        return first.to_owned();
    }
    let is_mark = |it: char| it.is_ascii_digit() || matches!(it, '-' | '.' | ' ');
    let items: Vec<&str> = lines
        .take_while(|it| it.starts_with(' '))
        .map(|it| it.trim_start_matches(is_mark))
        .collect();
    items.join("; ")
}

#[cfg(test)]
mod tests {
    use super::Failure;
    use crate::generation::text::{cancel, resume};

    #[test]
    fn what_a_person_reads_is_the_message_and_the_hint() {
        let failure = Failure::new("state_not_found", resume::missing("0204"));
        assert_eq!(failure.refusal.message, "No state found for scene 0204");
        let hint = "Check scene exists: acts/.../scene-0204-blueprint.md; List all generations: \
                    Use list_generations tool; Start new generation: \"Generate scene 0204\"";
        assert_eq!(failure.refusal.hint, hint);
        let failure = Failure::new("state_not_found", cancel::missing("0204"));
        assert_eq!(failure.refusal.hint, "List all generations: Use list_generations tool");
    }
}
