//! `answer_gate`: what a person said at a gate, passed on by the agent.

use engine::{Answer as GateAnswer, Command, How};
use runtime::ExecuteError;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{answer, run, words::Failure};
use crate::tool::{Call, Done, Effect, Hints, Tool};

pub(super) struct AnswerGate;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// Run id or key
    instance_id: String,
    /// Name of an option, or approve, reject
    answer: String,
    /// What the person wants changed
    feedback: Option<String>,
    /// Who said so
    person: Option<String>,
    /// Makes a retry safe
    request_id: Option<String>,
}

impl Tool for AnswerGate {
    type Parameters = Parameters;
    type Answer = answer::Answer;
    type Failure = Failure;
    const NAME: &'static str = "answer_gate";
    const TITLE: &'static str = "Pass a person's answer on";
    const DESCRIPTION: &'static str = "Pass on what a person answered while the run is SUSPENDED. \
        Ask them first; never answer yourself.";
    const HINTS: Hints = Hints { effect: Effect::Ends, is_idempotent: false };

    async fn call(
        call: &Call<'_>,
        parameters: Parameters,
    ) -> Result<Done<answer::Answer>, Failure> {
        let instance = parameters.instance_id.clone();
        pass_on(call, parameters).await.map_err(|error| {
            Failure::new(&format!("Failed to answer the gate of instance '{instance}'"), &error)
        })
    }
}

async fn pass_on(
    call: &Call<'_>,
    parameters: Parameters,
) -> Result<Done<answer::Answer>, ExecuteError> {
    let run = call.runtime.find_run(&parameters.instance_id).await?;
    let command = Command::AnswerGate(Box::new(engine::AnswerGate {
        answer: GateAnswer::Named(parameters.answer),
        feedback: parameters.feedback.unwrap_or_default(),
        by: parameters.person.unwrap_or_else(|| "a person".to_owned()),
        how: How::Relayed,
        digest: None,
    }));
    let outcome = run::execute(call, run, command, parameters.request_id).await?;
    Ok(answer::of_outcome(call.runtime, &outcome))
}
