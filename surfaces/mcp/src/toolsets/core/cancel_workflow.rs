//! `cancel_workflow`: the end of a run that is not wanted any more.

use engine::Command;
use runtime::ExecuteError;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{answer, run, words::Failure};
use crate::tool::{Call, Done, Effect, Hints, Tool};

pub(super) struct CancelWorkflow;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// Run id or key
    instance_id: String,
    /// Why
    reason: Option<String>,
    /// Makes a retry safe
    request_id: Option<String>,
}

impl Tool for CancelWorkflow {
    type Parameters = Parameters;
    type Answer = answer::Answer;
    type Failure = Failure;
    const NAME: &'static str = "cancel_workflow";
    const TITLE: &'static str = "Cancel a run";
    const DESCRIPTION: &'static str = "End a run. resume_workflow with reopen brings it back.";
    const HINTS: Hints = Hints { effect: Effect::Ends, is_idempotent: true, reaches_out: false };

    async fn call(
        call: &Call<'_>,
        parameters: Parameters,
    ) -> Result<Done<answer::Answer>, Failure> {
        let instance = parameters.instance_id.clone();
        cancel(call, parameters).await.map_err(|error| {
            Failure::new(&format!("Failed to cancel workflow instance '{instance}'"), &error)
        })
    }
}

async fn cancel(
    call: &Call<'_>,
    parameters: Parameters,
) -> Result<Done<answer::Answer>, ExecuteError> {
    let run = call.runtime.find_run(&parameters.instance_id).await?;
    let reason = parameters.reason.unwrap_or_else(|| "no reason was given".to_owned());
    let command = Command::CancelRun { reason };
    let outcome = run::execute(call, run, command, parameters.request_id).await?;
    Ok(answer::of_outcome(call.runtime, &outcome))
}
