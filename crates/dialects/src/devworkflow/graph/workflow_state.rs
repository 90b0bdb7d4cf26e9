//! `workflow_state`: shows a session, changes it by hand, or puts it away.

mod update;

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    answer::{Answer, Failure, check_size, tell},
    change::{self, note},
    session::{self, Found},
    view::{self, Extent},
    words,
};
use crate::kit::{Ask, Caller, Done, Effect, Hints, Tool};

/// The largest that `updates` may be, in bytes.
const UPDATES_BYTES_MAX: usize = 64 * 1024;

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "Parameters")]
pub(super) struct WorkflowState {
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

impl Tool for WorkflowState {
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = "workflow_state";
    const TITLE: &'static str = "Workflow state";
    const DESCRIPTION: &'static str = "Show how far a session is (`get`), change it by hand \
                                       (`update`: status, log, items, node), or end it and put it \
                                       into the archive (`reset`).";
    const HINTS: Hints = Hints { effect: Effect::Ends, is_idempotent: false, reaches_out: false };

    fn ask(self, caller: &Caller) -> Result<Ask, Failure> {
        let Self { operation, updates, session_id } = self;
        let (updates, id) = (updates.unwrap_or_default(), session_id.unwrap_or_default());
        let operation: Operation = match operation.trim().to_lowercase().as_str() {
            "get" => |_, found, _| Ok(tell(Ok(get(&found))).into()),
            "update" => update::update,
            "reset" => |_, found, _| Ok(reset(&found)),
            _ => return Err(invalid(&operation)),
        };
        check_size("`updates`", &updates, UPDATES_BYTES_MAX)?;
        let by = caller.clone();
        session::find(caller, (&id, ""), move |found| match found {
            Some(found) => operation(&by, found, &updates),
            None => Err(session::none_active("")),
        })
    }
}

/// Does something with a session.
type Operation = fn(&Caller, Found, &str) -> Result<Ask, Failure>;

fn get(found: &Found) -> Done<Answer> {
    let (session, workflow) = (found.session(), &found.seen.view.workflow);
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
fn reset(found: &Found) -> Ask {
    let line = found.is_active().then(|| note("🔄 Session reset"));
    change::put_away(found, (line, "the session was reset"), |found, path| {
        let place = path.map(|it| format!("\n**Archived as:** `{it}`")).unwrap_or_default();
        found.say(format!(
            "✅ **State reset - ready for new workflow.**\n\n**Session:** `{}`, which was at node \
             **{}** and is {} now{place}",
            found.id(),
            found.record.current_node,
            found.record.status,
        ))
    })
}

fn invalid(operation: &str) -> Failure {
    let operation = words::cut(operation, 60);
    Failure::new(
        "INVALID_OPERATION",
        format!("❌ **Invalid operation:** {operation}. Use 'get', 'update', or 'reset'."),
        "use `get`, `update` or `reset`",
    )
}
