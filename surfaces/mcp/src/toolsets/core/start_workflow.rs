//! `start_workflow`: a new run, and its first step.

use engine::{Command, StartRun};
use runtime::{ExecuteError, Outcome, Request, Target};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{answer, words::Failure};
use crate::tool::{Call, Done, Hints, Tool};

pub(super) struct StartWorkflow;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// Name from the list
    workflow_name: String,
    /// Facts the steps need, such as the goal
    #[serde(default)]
    context: Map<String, Value>,
    /// Own name of the run, such as a ticket; unique while it lives
    key: Option<String>,
    /// One of its flows
    flow: Option<String>,
    /// Values for its variables
    vars: Option<Map<String, Value>>,
    /// Your own id for this call: makes a retry safe
    request_id: Option<String>,
}

impl Tool for StartWorkflow {
    type Parameters = Parameters;
    type Answer = answer::Answer;
    type Failure = Failure;
    const NAME: &'static str = "start_workflow";
    const TITLE: &'static str = "Start a workflow";
    const DESCRIPTION: &'static str =
        "Start a run. Follow the returned instructions exactly, then report with advance_workflow.";
    const HINTS: Hints = Hints::ADDS;

    async fn call(
        call: &Call<'_>,
        parameters: Parameters,
    ) -> Result<Done<answer::Answer>, Failure> {
        let tried = format!("Failed to start workflow '{}'", parameters.workflow_name);
        match start(call, parameters).await {
            Ok(outcome) => Ok(answer::of_outcome(call.runtime, &outcome)),
            Err(error) => Err(Failure::new(&tried, &error)),
        }
    }
}

async fn start(call: &Call<'_>, parameters: Parameters) -> Result<Outcome, ExecuteError> {
    let Parameters { workflow_name, context, key, flow, vars, request_id } = parameters;
    let start = StartRun {
        key,
        flow,
        context,
        vars: vars.unwrap_or_default(),
        root: call.runtime.settings().root.clone(),
    };
    let request = Request {
        target: Target::New(workflow_name),
        command: Command::StartRun(Box::new(start)),
        actor: call.actor.clone(),
        request_id,
    };
    call.runtime.execute(request).await
}
