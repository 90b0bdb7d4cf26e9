//! `workflow_guidance`: starts a session, shows the node it is at, and moves it on.

pub(super) mod choose;
pub(super) mod classic;
mod start;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    answer::{Answer, Failure, check_size},
    context::{self, Request},
    session::{self, Found},
};
use crate::kit::{Ask, Caller, Hints, Tool};

/// The largest that the texts of a call may be, in bytes.
pub(super) const TASK_BYTES_MAX: usize = 2 * 1024;
const CONTEXT_BYTES_MAX: usize = 256 * 1024;
const OPTIONS_BYTES_MAX: usize = 64 * 1024;

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "Parameters")]
pub(super) struct WorkflowGuidance {
    /// What the user wants done, in a sentence
    task_description: String,
    /// `start` opens a session; `plan`, `build`, `revise`, `next` move one of the workflow Classic
    #[schemars(extend("x-default" = ""))]
    action: Option<String>,
    /// To start: `workflow: NAME`, or YAML. In a session: JSON with `choose`, `criteria_evidence`,
    /// `user_approval`; or empty, to see the node
    #[schemars(extend("x-json" = true))]
    #[schemars(extend("x-default" = ""))]
    context: Option<String>,
    /// To start: JSON `{"inputs": {…}}`
    #[schemars(extend("x-json" = true))]
    #[schemars(extend("x-default" = ""))]
    options: Option<String>,
    /// The session, as the answer to `start` said
    #[schemars(extend("x-default" = ""))]
    session_id: Option<String>,
}

impl Tool for WorkflowGuidance {
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = "workflow_guidance";
    const TITLE: &'static str = "Workflow guidance";
    const DESCRIPTION: &'static str = "Start a workflow session, see what its current node asks \
                                       for, and move it on with evidence. Refused where the node \
                                       does not lead there, or the user's approval is missing.";
    const HINTS: Hints = Hints::ADDS;

    fn ask(self, caller: &Caller) -> Result<Ask, Failure> {
        let Self { task_description, action, context, options, session_id } = self;
        let (action, context) = (action.unwrap_or_default(), context.unwrap_or_default());
        let (options, id) = (options.unwrap_or_default(), session_id.unwrap_or_default());
        check_size("`task_description`", &task_description, TASK_BYTES_MAX)?;
        check_size("`context`", &context, CONTEXT_BYTES_MAX)?;
        check_size("`options`", &options, OPTIONS_BYTES_MAX)?;
        let is_start = action.trim().eq_ignore_ascii_case("start");
        if is_start && id.trim().is_empty() && !context.trim().is_empty() {
            return start::start(caller, task_description, &context, &options);
        }
        let by = caller.clone();
        session::find(caller, (&id, &context.clone()), move |found| match found {
            Some(found) => go_on(&by, found, &action, &context),
            None if is_start => Err(start::discovery_required()),
            None => Err(session::none_active(&action)),
        })
    }
}

/// Does what is asked of a session.
fn go_on(caller: &Caller, found: Found, action: &str, context: &str) -> Result<Ask, Failure> {
    let request = context::read_request(context);
    if let Request::Broken(problem) = request {
        return Err(Failure::new(
            "INVALID_JSON",
            format!("❌ **Error:** the `context` is not JSON: {problem}\n\nNothing was changed."),
            "fix the JSON, or write `choose: NODE`",
        )
        .about(found.id()));
    }
    if classic::is_classic(&found) && !action.trim().is_empty() {
        return classic::act(caller, found, action, (request, context));
    }
    match request {
        Request::Choose(choice) => choose::choose(caller, found, choice),
        Request::View | Request::Broken(_) => Ok(start::show(caller, found)),
    }
}
