//! `record_error`: an error that does not end the step.

use engine::{Command, Entry};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Map;

use super::{
    answer::{Facts, Failure},
    dialect::DialectTool,
    scene,
    scene_id::SceneId,
    step_choice::StepChoice,
    text::failure as text,
    words::NamedStep,
};
use crate::tool::{Call, Done, Hints, InvalidArguments};

pub(super) struct RecordError;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// 4 digits
    pub(super) scene_id: SceneId,
    #[serde(flatten)]
    pub(super) step: StepChoice,
    /// Category
    #[schemars(length(min = 1, max = 100))]
    pub(super) error_type: String,
    /// What went wrong
    #[schemars(length(min = 1, max = 1000))]
    pub(super) error_message: String,
    /// How bad
    pub(super) severity: Severity,
    /// Which retry
    pub(super) retry_count: Option<u32>,
}

/// How bad an error is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum Severity {
    Low,
    Medium,
    High,
    Critical,
}

impl DialectTool for RecordError {
    type Parameters = Parameters;
    const NAME: &'static str = "record_error";
    const TITLE: &'static str = "Record Non-Terminal Error";
    const DESCRIPTION: &'static str =
        "Record an error of a step. The workflow goes on and the step can be tried again.";
    const HINTS: Hints = Hints::ADDS;

    async fn call(call: &Call<'_>, parameters: Parameters) -> Result<Done<Facts>, Failure> {
        let spoken = parameters.step()?;
        let id = &parameters.scene_id;
        let found = scene::expect(call, id, super::text::missing(id.as_str())).await?;
        let (step, entry) = (Some(spoken.step.key.to_owned()), parameters.entry());
        let said = text::Recorded {
            kind: &parameters.error_type,
            message: &parameters.error_message,
            severity: parameters.severity.word(),
            retry_count: parameters.retry_count.map(u64::from),
        };
        match scene::change(call, id, &found, Command::RecordEntry { step, entry }).await {
            Ok(after) => Ok(after.say(text::recorded(&after.scene(), spoken, &said))),
            Err(stopped) => {
                Err(found.fail(stopped.or_else(Some(&found), |refusal| match refusal.code() {
                    "run_ended" => Some(text::ended(&found.scene(), "record error")),
                    _ => None,
                })))
            }
        }
    }
}

impl Parameters {
    /// Returns the step that had the error.
    pub(super) fn step(&self) -> Result<NamedStep, InvalidArguments> {
        self.step.read(RecordError::NAME)
    }
}

impl Parameters {
    fn entry(&self) -> Entry {
        let mut details = Map::new();
        details.insert("error_type".to_owned(), self.error_type.as_str().into());
        if let Some(retry) = self.retry_count {
            details.insert("attempt".to_owned(), retry.into());
            details.insert("retry_count".to_owned(), retry.into());
        }
        let severity = Some(self.severity.word().to_owned());
        Entry::Error { message: self.error_message.clone(), severity, details }
    }
}

impl Severity {
    /// Returns the word as it is written.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Low => "LOW",
            Self::Medium => "MEDIUM",
            Self::High => "HIGH",
            Self::Critical => "CRITICAL",
        }
    }
}
