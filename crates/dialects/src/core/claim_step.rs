//! `claim_step`: a lease on a step or part, so that nobody else works on it; its heartbeat; its end.

use core::time::Duration;

use engine::{Command, Lease, RunId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    advance_workflow::parse_part,
    answer::{self, Part},
    next_step::{NextStep, next_step},
    run,
    words::{Failure, Tried},
};
use crate::kit::{self, Ask, Caller, Hints, InvalidArguments, Outcome, Stopped, Tool};

/// The parameters.
#[derive(Deserialize, JsonSchema)]
pub(super) struct ClaimStep {
    /// Run id or key
    #[schemars(extend("x-names" = ["run"]))]
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
    /// For safe retries
    #[expect(dead_code, reason = "the server reads it before the call")]
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

impl kit::Answer for Answer {}

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

impl From<&Lease> for LeaseAnswer {
    fn from(lease: &Lease) -> Self {
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
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = "claim_step";
    const TITLE: &'static str = "Claim a step";
    const DESCRIPTION: &'static str = "Only if several agents share a run: hold the step, or a \
        part of it, for yourself. Report with the lease number.";
    const HINTS: Hints = Hints::ADDS;

    fn ask(self, caller: &Caller) -> Result<Ask, Failure> {
        let person = caller.person;
        if self.release && self.lease.is_none() {
            let why = "it says which lease to end";
            return Err(InvalidArguments::missing(Self::NAME, "lease", why).into());
        }
        let tried = Tried::new(
            person,
            format!("Failed to claim a step of instance '{}'", self.instance_id),
        );
        Ok(run::find::<Self>(self.instance_id.clone(), tried.clone(), move |run| {
            let duration = self.seconds.map(Duration::from_secs);
            let by = Some(self.holder.clone());
            match self.lease {
                Some(generation) if self.release => {
                    let say = move |_| Self::say(bare(run, None));
                    let come = tried.or_fail::<Self, Outcome, _>(say);
                    run::change(run, Command::ReleaseStep { generation }, by, come)
                }
                Some(generation) => {
                    let say = move |it: Outcome| Self::say(bare(run, extended(&it, generation)));
                    let come = tried.or_fail::<Self, Outcome, _>(say);
                    run::change(run, Command::ExtendLease { generation, duration }, by, come)
                }
                None => match self.command(duration) {
                    Ok(command) => {
                        let say = move |outcome| Self::say(claimed(run, &outcome));
                        run::change(run, command, by, tried.or_fail::<Self, _, _>(say))
                    }
                    Err(stopped) => Self::fail(tried.failure(&stopped)).into(),
                },
            }
        }))
    }
}

impl ClaimStep {
    fn command(self, duration: Option<Duration>) -> Result<Command, Stopped> {
        let part = self.part.as_deref().map(parse_part).transpose()?;
        let (step, holder) = (self.step, self.holder);
        Ok(Command::ClaimStep(engine::ClaimStep { step, part, holder, duration }))
    }
}

fn claimed(run: RunId, outcome: &Outcome) -> Answer {
    let view = &outcome.now.view;
    let state = &view.state;
    let lease = state.leases.values().find(|it| it.generation == state.generation);
    let part = lease.and_then(|it| answer::find_part(view, it));
    let lease = lease.map(|it| LeaseAnswer::from(&view.shown(it)));
    Answer { next_step: next_step(view, &outcome.events), part, ..bare(run, lease) }
}

fn extended(outcome: &Outcome, generation: u64) -> Option<LeaseAnswer> {
    let view = &outcome.now.view;
    let lease = view.leases.iter().find(|it| it.generation == generation);
    lease.map(|it| LeaseAnswer::from(&view.shown(it)))
}

fn bare(run: RunId, lease: Option<LeaseAnswer>) -> Answer {
    let (instance_id, run) = (run.to_string(), run.short());
    Answer { instance_id, lease, next_step: None, part: None, run }
}
