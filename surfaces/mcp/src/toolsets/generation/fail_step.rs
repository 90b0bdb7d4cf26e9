//! `fail_step` and `retry_step`: a step failed, and is tried again.

use engine::Command;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    answer::{Facts, Failure},
    dialect::DialectTool,
    scene,
    scene_id::SceneId,
    step_choice::StepChoice,
    text::{failure as text, step},
    words::NamedStep,
};
use crate::tool::{Call, Done, Hints, InvalidArguments};

pub(super) struct FailStep;

pub(super) struct RetryStep;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct FailParameters {
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

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct RetryParameters {
    /// 4 digits
    pub(super) scene_id: SceneId,
    #[serde(flatten)]
    pub(super) step: StepChoice,
    /// `attempt_number`
    pub(super) metadata: Option<Map<String, Value>>,
}

impl DialectTool for FailStep {
    type Parameters = FailParameters;
    const NAME: &'static str = "fail_step";
    const TITLE: &'static str = "Fail Step (Recoverable or Terminal)";
    const DESCRIPTION: &'static str =
        "Say that a running step failed. It can be tried again unless it is terminal.";
    const HINTS: Hints = Hints::ADDS;

    async fn call(call: &Call<'_>, parameters: FailParameters) -> Result<Done<Facts>, Failure> {
        let spoken = parameters.step()?;
        let id = &parameters.scene_id;
        let found = scene::expect(call, id, super::text::missing(id.as_str())).await?;
        let (reason, severity) = (parameters.failure_reason.as_str(), parameters.severity());
        match scene::change(call, id, &found, parameters.command(spoken)).await {
            Ok(after) => Ok(after.say(text::failed(&after.scene(), spoken, reason, severity))),
            Err(stopped) => {
                Err(found.fail(stopped.or_else(Some(&found), |refusal| match refusal.code() {
                    "run_ended" => Some(text::ended(&found.scene(), "fail step")),
                    "step_not_begun" | "step_not_current" | "choice_open" | "gate_open" => {
                        Some(step::not_running(&found.scene(), spoken))
                    }
                    _ => None,
                })))
            }
        }
    }
}

impl DialectTool for RetryStep {
    type Parameters = RetryParameters;
    const NAME: &'static str = "retry_step";
    const TITLE: &'static str = "Retry Failed Step";
    const DESCRIPTION: &'static str = "Make a failed step ready to be tried again.";
    const HINTS: Hints = Hints::ADDS;

    async fn call(call: &Call<'_>, parameters: RetryParameters) -> Result<Done<Facts>, Failure> {
        let spoken = parameters.step()?;
        let RetryParameters { scene_id: id, metadata, .. } = parameters;
        let found = scene::expect(call, &id, super::text::missing(id.as_str())).await?;
        let (step, details) = (spoken.step.key.to_owned(), metadata.unwrap_or_default());
        match scene::change(call, &id, &found, Command::RetryStep { step, details }).await {
            Ok(after) => Ok(after.say(text::retried(&after.scene(), spoken))),
            Err(stopped) => {
                Err(found.fail(stopped.or_else(Some(&found), |refusal| match refusal.code() {
                    "run_ended" => Some(text::ended(&found.scene(), "retry step")),
                    "step_not_failed" | "gate_open" => {
                        let is_there = found.document.step(spoken.step).is_present();
                        Some(if is_there {
                            text::not_failed(&found.scene(), spoken)
                        } else {
                            text::not_found(&found.scene(), spoken)
                        })
                    }
                    _ => None,
                })))
            }
        }
    }
}

impl FailParameters {
    /// Returns the step that failed.
    pub(super) fn step(&self) -> Result<NamedStep, InvalidArguments> {
        self.step.read(FailStep::NAME)
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

impl RetryParameters {
    /// Returns the step that is tried again.
    pub(super) fn step(&self) -> Result<NamedStep, InvalidArguments> {
        self.step.read(RetryStep::NAME)
    }
}
