//! `fork_run`: a copy of a run from some point on, that goes its own way.

use engine::{ForkPoint, Refusal, RunId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    answer, run,
    words::{Failure, Tried},
};
use crate::kit::{
    self, Ask, Caller, Deed, Done, Hints, InvalidArguments, Outcome, Person, Stopped, Tool,
};

/// The parameters.
#[derive(Deserialize, JsonSchema)]
pub(super) struct ForkRun {
    /// Run id or key
    #[schemars(extend("x-names" = ["run"]))]
    instance_id: String,
    /// As it was when this step was last entered
    from_step: Option<String>,
    /// As it was after this event
    from_seq: Option<u64>,
    /// The copy's own key
    key: Option<String>,
    /// For safe retries
    #[expect(dead_code, reason = "the server reads it before the call")]
    request_id: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Answer {
    #[serde(flatten)]
    copy: answer::Answer,
    forked_from: Origin,
}

impl kit::Answer for Answer {}

#[derive(Serialize, JsonSchema)]
struct Origin {
    instance_id: String,
    seq: u64,
}

impl Tool for ForkRun {
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = "fork_run";
    const TITLE: &'static str = "Fork a run";
    const DESCRIPTION: &'static str =
        "Copy a run as it was at a step or event, to try another way. The original stays.";
    const HINTS: Hints = Hints::ADDS;

    fn ask(self, caller: &Caller) -> Result<Ask, Failure> {
        let person = caller.person;
        let point = self.point()?;
        let tried = Tried::new(person, format!("Failed to fork instance '{}'", self.instance_id));
        let key = self.key;
        Ok(run::find::<Self>(self.instance_id, tried.clone(), move |run| {
            let has_key = key.is_some();
            let failure = move |stopped: Stopped| match &stopped {
                Stopped::Refused(Refusal::KeyTaken { key, .. }) if !has_key => {
                    let why = format!("the original lives and has `{key}`; give the copy its own");
                    InvalidArguments::missing(Self::NAME, "key", &why).into()
                }
                Stopped::Refused(_) | Stopped::Failed(_) => tried.failure(&stopped),
            };
            let word = move |came: run::Came| {
                Self::tell(came.map(|it| forked(run, &it, person)).map_err(failure))
            };
            Ask::Do(Deed::Fork { run, point, key }, Box::new(word))
        }))
    }
}

impl ForkRun {
    fn point(&self) -> Result<ForkPoint, InvalidArguments> {
        match (&self.from_step, self.from_seq) {
            (Some(step), None) => Ok(ForkPoint::Step(step.clone())),
            (None, Some(seq)) => Ok(ForkPoint::Seq(seq)),
            (None, None) => {
                let why = "a fork needs it, or `from_seq`";
                Err(InvalidArguments::missing(Self::NAME, "from_step", why))
            }
            (Some(_), Some(_)) => {
                let why = "cannot be given together with `from_step`";
                Err(InvalidArguments::wrong(Self::NAME, "from_seq", why))
            }
        }
    }
}

fn forked(run: RunId, outcome: &Outcome, person: Person) -> Done<Answer> {
    let Done { answer: copy, warnings, then } = answer::of_outcome(outcome, person);
    let seq = outcome.now.view.state.forked_from.map_or(0, |it| it.1);
    let forked_from = Origin { instance_id: run.to_string(), seq };
    Done { answer: Answer { copy, forked_from }, warnings, then }
}
