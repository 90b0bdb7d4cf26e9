//! What the classic tools answer: what to do now, what not to do, and which call comes next.
//!
//! The texts are Markdown files beside this one, with places to fill. Everything comes in as plain
//! values and nothing is decided here: a text only says what a call has led to.

mod block;
mod calls;
mod guidance;
mod illegal;
mod onward;
mod quote;
mod template;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{classic::Trial, words::is_pending};

pub(super) use calls::LATER;
pub(super) use guidance::Guidance;
pub(super) use illegal::illegal;

/// What an answer of a classic tool is made of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Told<'a> {
    pub(super) tool: Guidance,
    pub(super) mode: Mode,
    /// May be empty: then the item at hand is meant.
    pub(super) task: &'a str,
    /// The requirements summary, feedback, error details or issues; empty where a tool has none.
    pub(super) detail: &'a str,
    /// The state after the call. Nothing where there is none yet, and in advisory mode.
    pub(super) state: Option<&'a Shown<'a>>,
    pub(super) warnings: &'a [String],
    /// The run to try advice on. Without one all of it is given.
    pub(super) trial: Option<&'a Trial<'a>>,
    pub(super) facts: Facts<'a>,
}

/// Who keeps the state file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// The server: a call is recorded, and the agent never writes the file.
    Managed,
    /// The agent: a text says what to write where, and no file is touched.
    Advisory,
}

/// The state as an answer shows it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shown<'a> {
    pub(super) path: &'a str,
    pub(super) phase: &'a str,
    pub(super) status: &'a str,
    pub(super) current_item: Option<&'a str>,
    /// Id, description and status of each row.
    pub(super) items: &'a [(u64, String, String)],
    pub(super) log_tail: &'a str,
    pub(super) test_commands: &'a [String],
    pub(super) build_commands: &'a [String],
    /// Where the log is that this call put into the archive.
    pub(super) rotated: Option<&'a str>,
    /// The file itself, to be shown in place of its parts. Too large a file is not.
    pub(super) whole: Option<&'a str>,
}

/// What else a text must know.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Facts<'a> {
    pub(super) issues: &'a [String],
    pub(super) next_item: Option<&'a str>,
    pub(super) items_completed: usize,
    pub(super) items_pending: usize,
    /// The changelog line that was written by this call.
    pub(super) changelog: Option<&'a str>,
    /// The plan needs no approval any more, or plans are approved by themselves.
    pub(super) is_approved: bool,
    /// The file that is to be created, or has been.
    pub(super) template: Option<&'a str>,
    /// What an update is to write in advisory mode: the names of fields, and their values.
    pub(super) fields: &'a [(&'a str, String)],
    /// Where the project's configuration is; empty for the usual place.
    pub(super) config_path: &'a str,
}

/// A call that may come next.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(super) struct Next {
    /// The condition under which to make this call.
    pub(super) when: String,
    pub(super) tool: &'static str,
    /// The arguments. What stands in angle brackets is for the agent to fill in.
    pub(super) params: Map<String, Value>,
}

/// What is said where the plan at hand is not the one that was approved.
pub(super) const VOID: &str = "the plan is not the one that the user approved: show it to them and \
                               ask again before you go on";

/// Returns the calls that may come next, but for those that the engine would refuse.
pub(super) fn next(told: &Told<'_>) -> Vec<Next> {
    let calls = calls::next(told);
    match told.trial {
        Some(trial) => trial.keep(told, calls),
        None => calls,
    }
}

/// Returns the text of an answer, and the calls that may come next.
pub(super) fn answer(told: &Told<'_>) -> (String, Vec<Next>) {
    let next = next(told);
    let mut parts = vec![template::render(told)];
    parts.extend(block::calls(&next));
    parts.extend(told.state.map(block::state));
    (parts.join("\n\n") + "\n", next)
}

impl<'a> Told<'a> {
    /// Returns the task: what the call names, or else the item at hand.
    fn task(&self) -> Option<&'a str> {
        let named = Some(self.task.trim()).filter(|it| !it.is_empty());
        named.or_else(|| self.state.and_then(|it| it.current_item))
    }

    /// Returns whether the only thing to do is to ask the user for a task.
    pub(super) fn lacks_task(&self) -> bool {
        self.tool.takes_task() && self.task().is_none()
    }

    fn phase(&self) -> Option<&'a str> {
        self.state.map(|it| it.phase)
    }

    /// Returns whether the task was only put on the list, because another one is under way.
    fn is_queued(&self) -> bool {
        self.tool == Guidance::Init && self.phase().is_some_and(|it| it != "INIT")
    }

    fn has_pending(&self) -> bool {
        let is_listed = |shown: &Shown<'_>| shown.items.iter().any(|it| is_pending(&it.2));
        0 < self.facts.items_pending || self.state.is_some_and(is_listed)
    }

    /// Returns the item whose turn it is.
    fn next_item(&self) -> Option<&'a str> {
        self.facts.next_item.or(self.state.and_then(|it| it.current_item))
    }

    fn config_path(&self) -> &'a str {
        if self.facts.config_path.is_empty() { "project_config.md" } else { self.facts.config_path }
    }
}

#[cfg(test)]
mod tests;
