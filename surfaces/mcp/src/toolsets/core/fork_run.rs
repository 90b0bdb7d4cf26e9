//! `fork_run`: a copy of a run from some point on, that goes its own way.

use engine::{ForkPoint, Refusal};
use runtime::{ExecuteError, Fork};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{answer, words::Failure};
use crate::tool::{Call, Done, Hints, InvalidArguments, Tool};

pub(super) struct ForkRun;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// Run id or key
    instance_id: String,
    /// As it was when this step was last entered
    from_step: Option<String>,
    /// As it was after this event
    from_seq: Option<u64>,
    /// The copy's own key
    key: Option<String>,
    /// Makes a retry safe
    request_id: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Answer {
    #[serde(flatten)]
    copy: answer::Answer,
    forked_from: Origin,
}

#[derive(Serialize, JsonSchema)]
struct Origin {
    instance_id: String,
    seq: u64,
}

impl Tool for ForkRun {
    type Parameters = Parameters;
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = "fork_run";
    const TITLE: &'static str = "Fork a run";
    const DESCRIPTION: &'static str =
        "Copy a run as it was at a step or event, to try another way. The original stays.";
    const HINTS: Hints = Hints::ADDS;

    async fn call(call: &Call<'_>, parameters: Parameters) -> Result<Done<Answer>, Failure> {
        let point = point(&parameters)?;
        let instance = parameters.instance_id.clone();
        let has_key = parameters.key.is_some();
        fork(call, parameters, point).await.map_err(|error| {
            if let ExecuteError::Refused(Refusal::KeyTaken { key, .. }) = &error
                && !has_key
            {
                let why = format!("the original lives and has `{key}`; give the copy its own");
                return InvalidArguments::missing(Self::NAME, "key", &why).into();
            }
            Failure::new(&format!("Failed to fork instance '{instance}'"), &error)
        })
    }
}

fn point(parameters: &Parameters) -> Result<ForkPoint, InvalidArguments> {
    match (&parameters.from_step, parameters.from_seq) {
        (Some(step), None) => Ok(ForkPoint::Step(step.clone())),
        (None, Some(seq)) => Ok(ForkPoint::Seq(seq)),
        (None, None) => {
            let why = "a fork needs it, or `from_seq`";
            Err(InvalidArguments::missing(ForkRun::NAME, "from_step", why))
        }
        (Some(_), Some(_)) => {
            let why = "cannot be given together with `from_step`";
            Err(InvalidArguments::wrong(ForkRun::NAME, "from_seq", why))
        }
    }
}

async fn fork(
    call: &Call<'_>,
    parameters: Parameters,
    point: ForkPoint,
) -> Result<Done<Answer>, ExecuteError> {
    let run = call.runtime.find_run(&parameters.instance_id).await?;
    let Parameters { key, request_id, .. } = parameters;
    let fork = Fork { run, point, key, actor: call.actor.clone(), request_id };
    let outcome = call.runtime.fork(fork).await?;
    let Done { answer: copy, warnings, then } = answer::of_outcome(call.runtime, &outcome);
    let seq = outcome.view.state.forked_from.map_or(0, |it| it.1);
    let forked_from = Origin { instance_id: run.to_string(), seq };
    Ok(Done { answer: Answer { copy, forked_from }, warnings, then })
}
