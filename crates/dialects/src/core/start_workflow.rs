//! `start_workflow`: a new run, and its first step.

use engine::StartRun;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    answer,
    words::{Failure, Tried},
};
use crate::kit::{Ask, Caller, Deed, Hints, Tool};

/// The parameters.
#[derive(Deserialize, JsonSchema)]
pub(super) struct StartWorkflow {
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
    /// Your id for this call: makes a retry safe
    #[expect(dead_code, reason = "the server reads it before the call")]
    request_id: Option<String>,
}

impl Tool for StartWorkflow {
    type Answer = answer::Answer;
    type Failure = Failure;
    const NAME: &'static str = "start_workflow";
    const TITLE: &'static str = "Start a workflow";
    const DESCRIPTION: &'static str =
        "Start a run. Follow the returned instructions exactly, then report with advance_workflow.";
    const HINTS: Hints = Hints::ADDS;

    fn ask(self, caller: &Caller) -> Result<Ask, Failure> {
        let person = caller.person;
        let tried =
            Tried::new(person, format!("Failed to start workflow '{}'", self.workflow_name));
        let start = StartRun {
            goes_on: true,
            key: self.key,
            flow: self.flow,
            context: self.context,
            vars: self.vars.unwrap_or_default(),
            root: caller.root.clone(),
        };
        let deed = Deed::Start { workflow: self.workflow_name, start: Box::new(start) };
        let say = move |outcome| Self::say(answer::of_outcome(&outcome, person));
        Ok(Ask::Do(deed, tried.or_fail::<Self, _, _>(say)))
    }
}
