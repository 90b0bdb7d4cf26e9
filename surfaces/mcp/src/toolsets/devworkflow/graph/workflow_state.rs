//! `workflow_state`: shows a session, changes it by hand, or puts it away.

mod update;

use std::fmt::Write as _;

use engine::Command;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    answer::{Answer, Failure, check_size},
    change::{change, note},
    dialect::DialectTool,
    session::{self, Found},
    upkeep,
    view::{self, Extent},
    words,
};
use crate::tool::{Call, Done, Effect, Hints};

/// The largest that `updates` may be, in bytes.
const UPDATES_BYTES_MAX: usize = 64 * 1024;

pub(super) struct WorkflowState;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// `get`, `update` or `reset`
    operation: String,
    /// For `update`: JSON with `status`, `log_entry`, `node` (with `force`), `add_item`,
    /// `complete_item`
    #[schemars(extend("x-json" = true))]
    #[schemars(extend("x-default" = ""))]
    updates: Option<String>,
    /// The session; may be left out while only one is active
    #[schemars(extend("x-default" = ""))]
    session_id: Option<String>,
}

impl DialectTool for WorkflowState {
    type Parameters = Parameters;
    const NAME: &'static str = "workflow_state";
    const TITLE: &'static str = "Workflow state";
    const DESCRIPTION: &'static str = "Show how far a session is (`get`), change it by hand \
                                       (`update`: status, log, items, node), or end it and put it \
                                       into the archive (`reset`).";
    const HINTS: Hints = Hints { effect: Effect::Ends, is_idempotent: false, reaches_out: false };

    async fn call(call: &Call<'_>, parameters: Parameters) -> Result<Done<Answer>, Failure> {
        let Parameters { operation, updates, session_id } = parameters;
        let (updates, id) = (updates.unwrap_or_default(), session_id.unwrap_or_default());
        upkeep::look_after(call).await;
        match operation.trim().to_lowercase().as_str() {
            "get" => Ok(get(&find(call, &id).await?)),
            "update" => {
                check_size("`updates`", &updates, UPDATES_BYTES_MAX)?;
                let found = find(call, &id).await?;
                update::update(call, found, &updates).await
            }
            "reset" => reset(call, find(call, &id).await?).await,
            _ => Err(invalid(&operation)),
        }
    }
}

async fn find(call: &Call<'_>, id: &str) -> Result<Found, Failure> {
    session::find(call, id, "").await?.ok_or_else(|| session::none_active(""))
}

fn get(found: &Found) -> Done<Answer> {
    let (session, workflow) = (found.session(), &found.view.workflow);
    let record = &found.record;
    let (place, total) = view::position(workflow, &record.current_node);
    let goal = session.node().map_or("", |it| it.goal.trim());
    let root = workflow.first_step().map_or("", |it| it.name.as_str());
    let names = |is_wanted: fn(&definition::Step) -> bool| {
        let names: Vec<&str> =
            workflow.work_steps().filter(|it| is_wanted(it)).map(|it| it.name.as_str()).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    };
    let mut text = format!(
        "📊 **DYNAMIC WORKFLOW STATE**\n\n**Workflow:** {}\n**Current Node:** {}\n**Status:** \
         {}\n**Current Goal:** {}\n**Progress:** Node {place} of {total}\n",
        record.workflow_name,
        record.current_node,
        record.status,
        words::fill(goal, &record.inputs),
    );
    write!(
        text,
        "**Root:** {root}\n**Total nodes:** {total}\n**Decision nodes:** {}\n**Terminal nodes:** \
         {}\n\n",
        names(|it| 1 < words::options(it).len()),
        names(words::is_terminal),
    )
    .unwrap_or_default();
    text.push_str(&view::state(session, Extent::Answer));
    found.say(text)
}

/// Ends a session that goes on, and puts it into the archive.
async fn reset(call: &Call<'_>, found: Found) -> Result<Done<Answer>, Failure> {
    let command = if found.is_active() {
        let cancel = Command::CancelRun { reason: "the session was reset".to_owned() };
        Command::All(vec![note("🔄 Session reset"), cancel])
    } else {
        Command::GiveUpKey
    };
    let found = change(call, &found, command).await?;
    let archived = upkeep::put_away(call.runtime, session::options(call), found.run()).await?;
    let place = match archived {
        Some(name) => format!("\n**Archived as:** `{name}`"),
        None => String::new(),
    };
    let content = format!(
        "✅ **State reset - ready for new workflow.**\n\n**Session:** `{}`, which was at node \
         **{}** and is {} now{place}",
        found.id(),
        found.record.current_node,
        found.record.status,
    );
    Ok(found.say(content))
}

fn invalid(operation: &str) -> Failure {
    let operation = words::cut(operation, 60);
    Failure::new(
        "INVALID_OPERATION",
        format!("❌ **Invalid operation:** {operation}. Use 'get', 'update', or 'reset'."),
        "use `get`, `update` or `reset`",
    )
}
