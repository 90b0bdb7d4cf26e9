//! `cancel_workflow`: the end of a run that is not wanted any more.

use engine::Command;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    answer, run,
    words::{Failure, Tried},
};
use crate::kit::{Ask, Caller, Effect, Hints, Tool};

/// The parameters.
#[derive(Deserialize, JsonSchema)]
pub(super) struct CancelWorkflow {
    /// Run id or key
    #[schemars(extend("x-names" = ["run"]))]
    instance_id: String,
    /// Why
    reason: Option<String>,
    /// For safe retries
    #[expect(dead_code, reason = "the server reads it before the call")]
    request_id: Option<String>,
}

impl Tool for CancelWorkflow {
    type Answer = answer::Answer;
    type Failure = Failure;
    const NAME: &'static str = "cancel_workflow";
    const TITLE: &'static str = "Cancel a run";
    const DESCRIPTION: &'static str = "End a run. resume_workflow with reopen brings it back.";
    const HINTS: Hints = Hints { effect: Effect::Ends, is_idempotent: true, reaches_out: false };

    fn ask(self, caller: &Caller) -> Result<Ask, Failure> {
        let person = caller.person;
        let tried = Tried::new(
            person,
            format!("Failed to cancel workflow instance '{}'", self.instance_id),
        );
        let reason = self.reason.unwrap_or_else(|| "no reason was given".to_owned());
        Ok(run::find::<Self>(self.instance_id, tried.clone(), move |run| {
            let say = move |outcome| Self::say(answer::of_outcome(&outcome, person));
            let come = tried.or_fail::<Self, _, _>(say);
            run::change(run, Command::CancelRun { reason }, None, come)
        }))
    }
}
