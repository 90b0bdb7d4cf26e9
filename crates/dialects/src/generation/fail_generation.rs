//! `fail_generation`: a generation that is given up.

use engine::{Command, Entry, Status};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    answer::{Facts, Failure},
    scene,
    scene_id::SceneId,
    step_choice::StepChoice,
    text::failure as text,
    words::{NamedStep, Step},
};
use crate::kit::{Ask, Caller, Hints, InvalidArguments, Tool};

/// The parameters.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct FailGeneration {
    /// 4 digits
    pub(super) scene_id: SceneId,
    #[serde(flatten)]
    pub(super) step: StepChoice,
    /// Why
    #[schemars(length(min = 1, max = 1000))]
    pub(super) failure_reason: String,
    /// Errors to record with it
    pub(super) final_errors: Option<Vec<Map<String, Value>>>,
}

impl Tool for FailGeneration {
    type Answer = Facts;
    type Failure = Failure;
    const NAME: &'static str = "fail_generation";
    const TITLE: &'static str = "Fail Generation Workflow (Terminal)";
    const DESCRIPTION: &'static str =
        "Give a generation up after all attempts. resume_generation brings it back.";
    const HINTS: Hints = super::WRITES_ONCE;

    fn ask(self, _: &Caller) -> Result<Ask, Failure> {
        let spoken = self.step()?;
        let missing = super::text::missing(self.scene_id.as_str());
        Ok(scene::open::<Self>(&self.scene_id.clone(), missing, move |found| {
            let is_again = found.seen.view.state.standing.status() == Status::Failed;
            let command = Command::FailRun {
                reason: self.failure_reason.clone(),
                step: Some(spoken.step.key.to_owned()),
                errors: self.errors(is_again),
            };
            found.change::<Self>(
                command,
                move |_, after| {
                    after.say(text::generation_failed(&after.scene(), spoken, is_again))
                },
                |found, refusal| {
                    let ended = || text::ended(&found.scene(), "fail generation");
                    Err(scene::is_ended(refusal).then(ended))
                },
            )
        }))
    }
}

impl FailGeneration {
    /// Returns what went wrong, each with the step it is of if that is said. There is always one:
    /// anyone who resumes is to know why.
    fn errors(&self, is_again: bool) -> Vec<(Option<String>, Entry)> {
        let given = self.final_errors.as_deref().unwrap_or_default();
        if given.is_empty() && !is_again {
            let message = self.failure_reason.clone();
            let details = [("terminal".to_owned(), true.into())].into_iter().collect();
            let severity = Some("CRITICAL".to_owned());
            return vec![(None, Entry::Error { message, severity, details })];
        }
        given.iter().map(|it| self.error(it)).collect()
    }

    fn error(&self, given: &Map<String, Value>) -> (Option<String>, Entry) {
        let text = |key: &str| given.get(key).and_then(Value::as_str).filter(|it| !it.is_empty());
        let message = text("message").or_else(|| text("error_message"));
        let severity = text("severity").map(ToOwned::to_owned);
        let number = given.get("step").and_then(Value::as_u64).and_then(|it| u8::try_from(it).ok());
        let step = number.and_then(Step::find).or_else(|| Step::find_named(text("step")?));
        let mut details = given.clone();
        details.retain(|key, _| !["message", "error_message", "severity"].contains(&key.as_str()));
        let message = message.unwrap_or(&self.failure_reason).to_owned();
        (step.map(|it| it.key.to_owned()), Entry::Error { message, severity, details })
    }

    /// Returns the step at which it failed.
    pub(super) fn step(&self) -> Result<NamedStep, InvalidArguments> {
        self.step.read(Self::NAME)
    }
}
