//! `claim_step`: a lease on a step or part, so that nobody else works on it; its heartbeat; its end.

use std::time::Duration;

use engine::{Command, RunId};
use runtime::ExecuteError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    advance_workflow::parse_part,
    answer::{self, Part},
    next_step::{NextStep, next_step},
    run,
    words::Failure,
};
use crate::tool::{Call, Done, Hints, InvalidArguments, Tool};

pub(super) struct ClaimStep;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// Run id or key
    instance_id: String,
    /// Your name
    holder: String,
    /// Default: current
    step: Option<String>,
    /// Default: first free
    part: Option<String>,
    /// How long; default: the step's
    seconds: Option<u64>,
    /// Number of your lease, to extend it
    lease: Option<u64>,
    /// End that lease instead
    #[serde(default)]
    release: bool,
    /// Makes a retry safe
    request_id: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Answer {
    instance_id: String,
    /// The lease that is held now; `null` once it was let go.
    lease: Option<LeaseAnswer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_step: Option<NextStep>,
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<Part>,
    run: String,
}

/// A lease, as tools show it.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct LeaseAnswer {
    /// Give it as `lease` with the report.
    number: u64,
    step_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<String>,
    holder: String,
    until: String,
}

impl From<&engine::Lease> for LeaseAnswer {
    fn from(lease: &engine::Lease) -> Self {
        Self {
            number: lease.generation,
            step_name: lease.step.to_string(),
            part: lease.part.as_ref().map(ToString::to_string),
            holder: lease.holder.clone(),
            until: lease.until.to_string(),
        }
    }
}

impl Tool for ClaimStep {
    type Parameters = Parameters;
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = "claim_step";
    const TITLE: &'static str = "Claim a step";
    const DESCRIPTION: &'static str = "Only where several agents share a run: hold the step, or \
        one part of it, so that no one else does it. Report with the lease number.";
    const HINTS: Hints = Hints::ADDS;

    async fn call(call: &Call<'_>, parameters: Parameters) -> Result<Done<Answer>, Failure> {
        if parameters.release && parameters.lease.is_none() {
            let why = "it says which lease to end";
            return Err(InvalidArguments::missing(Self::NAME, "lease", why).into());
        }
        let instance = parameters.instance_id.clone();
        let answer = dispatch(call, parameters).await.map_err(|error| {
            Failure::new(&format!("Failed to claim a step of instance '{instance}'"), &error)
        })?;
        Ok(answer.into())
    }
}

async fn dispatch(call: &Call<'_>, parameters: Parameters) -> Result<Answer, ExecuteError> {
    let call = &run::named(call, Some(&parameters.holder));
    let run = call.runtime.find_run(&parameters.instance_id).await?;
    match parameters.lease {
        Some(lease) if parameters.release => {
            let command = Command::ReleaseStep { generation: lease };
            run::execute(call, run, command, parameters.request_id).await?;
            Ok(bare(run, None))
        }
        Some(lease) => {
            let duration = parameters.seconds.map(Duration::from_secs);
            let lease = call.runtime.extend_lease(run, lease, duration).await?;
            Ok(bare(run, Some(LeaseAnswer::from(&lease))))
        }
        None => claim(call, run, parameters).await,
    }
}

async fn claim(
    call: &Call<'_>,
    run: RunId,
    parameters: Parameters,
) -> Result<Answer, ExecuteError> {
    let Parameters { holder, step, part, seconds, request_id, .. } = parameters;
    let command = Command::ClaimStep(engine::ClaimStep {
        step,
        part: part.as_deref().map(parse_part).transpose()?,
        holder,
        duration: seconds.map(Duration::from_secs),
    });
    let outcome = run::execute(call, run, command, request_id).await?;
    let state = &outcome.view.state;
    let lease = state.leases.values().find(|it| it.generation == state.generation);
    let part = lease.and_then(|it| answer::find_part(&outcome.view, it));
    let lease = lease.map(|it| LeaseAnswer::from(&outcome.view.shown(it)));
    let next_step = next_step(&outcome.view, &outcome.events);
    Ok(Answer { next_step, part, ..bare(run, lease) })
}

fn bare(run: RunId, lease: Option<LeaseAnswer>) -> Answer {
    let (instance_id, run) = (run.to_string(), run.short());
    Answer { instance_id, lease, next_step: None, part: None, run }
}
