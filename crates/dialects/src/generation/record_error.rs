//! `record_error`: an error that does not end the step.

use engine::{Command, Entry};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Map;

use super::{
    answer::{Facts, Failure},
    scene,
    scene_id::SceneId,
    step_choice::StepChoice,
    text::failure as text,
    words::NamedStep,
};
use crate::kit::{Ask, Caller, Hints, InvalidArguments, Tool};

/// The parameters.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct RecordError {
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

impl Tool for RecordError {
    type Answer = Facts;
    type Failure = Failure;
    const NAME: &'static str = "record_error";
    const TITLE: &'static str = "Record Non-Terminal Error";
    const DESCRIPTION: &'static str =
        "Record an error of a step. The workflow goes on and the step can be tried again.";
    const HINTS: Hints = Hints::ADDS;

    fn ask(self, _: &Caller) -> Result<Ask, Failure> {
        let spoken = self.step()?;
        let missing = super::text::missing(self.scene_id.as_str());
        Ok(scene::open::<Self>(&self.scene_id.clone(), missing, move |found| {
            let (step, entry) = (Some(spoken.step.key.to_owned()), self.entry());
            found.change::<Self>(
                Command::RecordEntry { step, entry },
                move |_, after| {
                    let said = text::Recorded {
                        kind: &self.error_type,
                        message: &self.error_message,
                        severity: self.severity.word(),
                        retry_count: self.retry_count.map(u64::from),
                    };
                    after.say(text::recorded(&after.scene(), spoken, &said))
                },
                |found, refusal| {
                    let ended = || text::ended(&found.scene(), "record error");
                    Err(scene::is_ended(refusal).then(ended))
                },
            )
        }))
    }
}

impl RecordError {
    /// Returns the step that had the error.
    pub(super) fn step(&self) -> Result<NamedStep, InvalidArguments> {
        self.step.read(Self::NAME)
    }
}

impl RecordError {
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
