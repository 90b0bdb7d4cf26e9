//! `workflow_guidance`: starts a session, shows the node it is at, and moves it on.

pub(super) mod choose;
mod classic;
mod start;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    answer::{Answer, Failure, check_size},
    context::{self, Ask},
    dialect::DialectTool,
    session::{self, Found},
    upkeep, view,
};
use crate::tool::{Call, Done, Hints};

/// The largest that the texts of a call may be, in bytes.
pub(super) const TASK_BYTES_MAX: usize = 2 * 1024;
const CONTEXT_BYTES_MAX: usize = 256 * 1024;
const OPTIONS_BYTES_MAX: usize = 64 * 1024;

pub(super) struct WorkflowGuidance;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
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

impl DialectTool for WorkflowGuidance {
    type Parameters = Parameters;
    const NAME: &'static str = "workflow_guidance";
    const TITLE: &'static str = "Workflow guidance";
    const DESCRIPTION: &'static str = "Start a workflow session, see what its current node asks \
                                       for, and move it on with evidence. Refused where the node \
                                       does not lead there, or the user's approval is missing.";
    const HINTS: Hints = Hints::ADDS;

    async fn call(call: &Call<'_>, parameters: Parameters) -> Result<Done<Answer>, Failure> {
        let Parameters { task_description, action, context, options, session_id } = parameters;
        let (action, context) = (action.unwrap_or_default(), context.unwrap_or_default());
        let (options, id) = (options.unwrap_or_default(), session_id.unwrap_or_default());
        check_size("`task_description`", &task_description, TASK_BYTES_MAX)?;
        check_size("`context`", &context, CONTEXT_BYTES_MAX)?;
        check_size("`options`", &options, OPTIONS_BYTES_MAX)?;
        upkeep::look_after(call).await;
        let is_start = action.trim().eq_ignore_ascii_case("start");
        if is_start && id.trim().is_empty() && !context.trim().is_empty() {
            return start::start(call, &task_description, &context, &options).await;
        }
        match session::find(call, &id, &context).await? {
            Some(found) => Box::pin(go_on(call, found, &action, &context)).await,
            None if is_start => Err(start::discovery_required()),
            None => Err(session::none_active(&action)),
        }
    }
}

/// Does what is asked of a session.
async fn go_on(
    call: &Call<'_>,
    found: Found,
    action: &str,
    context: &str,
) -> Result<Done<Answer>, Failure> {
    let ask = context::read_ask(context);
    if let Ask::Broken(problem) = ask {
        return Err(Failure::new(
            "INVALID_JSON",
            format!("❌ **Error:** the `context` is not JSON: {problem}\n\nNothing was changed."),
            "fix the JSON, or write `choose: NODE`",
        )
        .about(found.id()));
    }
    if classic::is_classic(&found) && !action.trim().is_empty() {
        return classic::act(call, found, action, (ask, context)).await;
    }
    match ask {
        Ask::Choose(choice) => choose::choose(call, found, choice).await,
        Ask::View | Ask::Broken(_) => Ok(show(call, &found).await),
    }
}

/// Shows the node that a session is at.
async fn show(call: &Call<'_>, found: &Found) -> Done<Answer> {
    let mut text = start::changed(call, found).await;
    text.push_str(&view::node(found.session(), call.runtime.find_personal(&found.view)));
    found.say(text)
}
