//! `fail_step` and `retry_step`: a step failed, and is tried again.

use engine::{Command, Refusal};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    answer::{Facts, Failure},
    scene,
    scene_id::SceneId,
    step_choice::StepChoice,
    text::{failure as text, step},
    words::NamedStep,
};
use crate::kit::{Ask, Caller, Hints, InvalidArguments, Tool};

/// The parameters.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct FailStep {
    /// 4 digits
    pub(super) scene_id: SceneId,
    #[serde(flatten)]
    pub(super) step: StepChoice,
    /// Why
    #[schemars(length(min = 1, max = 1000))]
    pub(super) failure_reason: String,
    /// `attempt`, `severity`; `terminal`: true fails the workflow
    pub(super) metadata: Option<Map<String, Value>>,
}

/// The parameters.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct RetryStep {
    /// 4 digits
    pub(super) scene_id: SceneId,
    #[serde(flatten)]
    pub(super) step: StepChoice,
    /// `attempt_number`
    pub(super) metadata: Option<Map<String, Value>>,
}

impl Tool for FailStep {
    type Answer = Facts;
    type Failure = Failure;
    const NAME: &'static str = "fail_step";
    const TITLE: &'static str = "Fail Step (Recoverable or Terminal)";
    const DESCRIPTION: &'static str =
        "Say that a running step failed. It can be tried again unless it is terminal.";
    const HINTS: Hints = Hints::ADDS;

    fn ask(self, _: &Caller) -> Result<Ask, Failure> {
        let spoken = self.step()?;
        let missing = super::text::missing(self.scene_id.as_str());
        Ok(scene::open::<Self>(&self.scene_id.clone(), missing, move |found| {
            found.change::<Self>(
                self.command(spoken),
                move |_, after| {
                    let (reason, severity) = (self.failure_reason.as_str(), self.severity());
                    after.say(text::failed(&after.scene(), spoken, reason, severity))
                },
                move |found, refusal| {
                    let is_idle = matches!(refusal, Refusal::StepNotBegun { .. });
                    Err(if scene::is_ended(refusal) {
                        Some(text::ended(&found.scene(), "fail step"))
                    } else if is_idle || scene::is_elsewhere(refusal) {
                        Some(step::not_running(&found.scene(), spoken))
                    } else {
                        None
                    })
                },
            )
        }))
    }
}

impl Tool for RetryStep {
    type Answer = Facts;
    type Failure = Failure;
    const NAME: &'static str = "retry_step";
    const TITLE: &'static str = "Retry Failed Step";
    const DESCRIPTION: &'static str = "Make a failed step ready to be tried again.";
    const HINTS: Hints = Hints::ADDS;

    fn ask(self, _: &Caller) -> Result<Ask, Failure> {
        let spoken = self.step()?;
        let missing = super::text::missing(self.scene_id.as_str());
        let (step, details) = (spoken.step.key.to_owned(), self.metadata.unwrap_or_default());
        Ok(scene::open::<Self>(&self.scene_id, missing, move |found| {
            found.change::<Self>(
                Command::RetryStep { step, details },
                move |_, after| after.say(text::retried(&after.scene(), spoken)),
                move |found, refusal| {
                    let is_open =
                        matches!(refusal, Refusal::StepNotFailed { .. } | Refusal::GateOpen { .. });
                    let is_there = found.document.step(spoken.step).is_present();
                    let words = if is_there { text::not_failed } else { text::not_found };
                    Err(if scene::is_ended(refusal) {
                        Some(text::ended(&found.scene(), "retry step"))
                    } else {
                        is_open.then(|| words(&found.scene(), spoken))
                    })
                },
            )
        }))
    }
}

impl FailStep {
    /// Returns the step that failed.
    pub(super) fn step(&self) -> Result<NamedStep, InvalidArguments> {
        self.step.read(Self::NAME)
    }

    /// Returns what is asked of the run: the step failed, and with a terminal failure the whole.
    fn command(&self, spoken: NamedStep) -> Command {
        let (step, reason) = (spoken.step.key.to_owned(), self.failure_reason.clone());
        let details = self.metadata.clone().unwrap_or_default();
        let fail = Command::FailStep { step: step.clone(), reason: reason.clone(), details };
        if !self.is_terminal() {
            return fail;
        }
        let give_up = Command::FailRun { reason, step: Some(step), errors: Vec::new() };
        Command::All(vec![fail, give_up])
    }

    /// Whether the workflow failed with it. Only `true` says so, not a text.
    pub(super) fn is_terminal(&self) -> bool {
        super::is_true(self.metadata.as_ref(), "terminal")
    }

    /// Returns how bad it is, if that is said.
    pub(super) fn severity(&self) -> Option<&str> {
        self.metadata.as_ref()?.get("severity")?.as_str()
    }
}

impl RetryStep {
    /// Returns the step that is tried again.
    pub(super) fn step(&self) -> Result<NamedStep, InvalidArguments> {
        self.step.read(Self::NAME)
    }
}
