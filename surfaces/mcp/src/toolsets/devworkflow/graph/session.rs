//! The sessions: found by their ids, or because there is only one, and listed.

use definition::Form;
use engine::RunId;
use runtime::{ExecuteError, RunFilter, Runtime, View};
use serde_json::{Map, Value, json};

use super::{
    answer::{Answer, Failure},
    record::Record,
    upkeep::{self, Unadopted},
    view::Session,
    words::{self, cut},
};
use crate::{
    tool::{Call, Done},
    toolsets::devworkflow::options::{Fallback, Options},
};

/// How many runs a page has.
const PAGE: u32 = 100;
/// How many sessions a list shows.
pub(super) const LISTED_MAX: usize = 50;
/// How much of a task a list shows.
const TASK_CHARS_MAX: usize = 120;

/// A session as a call finds it.
pub(super) struct Found {
    pub(super) view: View,
    pub(super) record: Box<Record>,
    /// What was found and done about its file on the way.
    pub(super) notices: Vec<String>,
}

/// Which sessions are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    /// Those that go on.
    Active,
    /// Those that are over.
    Over,
    /// All that were not put away.
    All,
}

impl Found {
    /// Returns the session that a run is, with what was noticed of its file.
    pub(super) fn new(view: View, notices: Vec<String>) -> Self {
        let mut record = Record::of(&view.workflow, &view.state);
        record.session_id = view.state.run.to_string();
        Self { view, record: Box::new(record), notices }
    }

    /// Returns the session to speak of.
    pub(super) fn session(&self) -> Session<'_> {
        let state = &self.view.state;
        Session {
            workflow: &self.view.workflow,
            record: &self.record,
            is_done: state.awaits_choice(),
            is_live: state.standing.is_live(),
            sent_back: state.sent_back(),
        }
    }

    /// Returns the id.
    pub(super) fn id(&self) -> &str {
        &self.record.session_id
    }

    /// Answers with a text about the session, and tells what was noticed on the way.
    pub(super) fn say(&self, content: impl Into<String>) -> Done<Answer> {
        let warnings = self.notices.clone();
        Done { warnings, ..Answer::of(self.id(), content).into() }
    }

    /// Takes over what was noticed of the session before it was changed.
    pub(super) fn noticing(mut self, before: &Self) -> Self {
        self.notices.splice(0..0, before.notices.iter().cloned());
        self.notices.dedup();
        self
    }

    /// Returns the run.
    pub(super) fn run(&self) -> RunId {
        self.view.state.run
    }

    /// Whether it goes on.
    pub(super) fn is_active(&self) -> bool {
        self.view.state.standing.is_live()
    }

    /// Returns the evidence that was given for the node before it was left, and is kept for then.
    pub(super) fn kept_evidence(&self) -> Map<String, Value> {
        let state = &self.view.state;
        let effort = state.current.as_ref().and_then(|it| state.effort(it, None));
        let report = effort.and_then(|it| it.report.as_ref());
        // What else was reported is of a visit that is over.
        let report = report.filter(|it| it.status == words::KEPT);
        let kept = report.and_then(|it| it.details.get("evidence")?.as_object());
        kept.cloned().unwrap_or_default()
    }

    /// Returns the session that it returns to when it is done.
    pub(super) fn parent(&self) -> Option<RunId> {
        let parent = self.view.state.context.get(words::PARENT)?;
        RunId::parse(parent.get("session_id")?.as_str()?)
    }

    /// Returns one line of a list.
    pub(super) fn line(&self) -> String {
        let record = &self.record;
        let task = record.current_item.as_deref().unwrap_or_default();
        format!(
            "- `{}`: workflow **{}**, node **{}**, status {}, task \"{}\", created {}, updated {}",
            record.session_id,
            record.workflow_name,
            record.current_node,
            record.status,
            cut(&task.replace('\n', " "), TASK_CHARS_MAX),
            record.created_at,
            record.last_updated
        )
    }

    /// Returns the same for a program.
    pub(super) fn row(&self) -> Value {
        let record = &self.record;
        json!({
            "session_id": record.session_id,
            "client_id": record.client_id,
            "workflow": record.workflow_name,
            "node": record.current_node,
            "status": record.status,
            "task": record.current_item,
            "created_at": record.created_at,
            "last_updated": record.last_updated,
        })
    }
}

/// Returns the options of this toolset.
pub(super) fn options<'a>(call: &'a Call<'_>) -> &'a Options {
    &call.options.devworkflow
}

/// Returns a session by its run; `None` where there is no such run, or it is not a session, or it was
/// put away.
pub(super) async fn load(
    runtime: &Runtime,
    options: &Options,
    run: RunId,
) -> Result<Option<Found>, ExecuteError> {
    let (view, notices) = match runtime.take_in_run(run).await {
        Ok(found) => found,
        Err(ExecuteError::Refused(engine::Refusal::RunUnknown(_))) => return Ok(None),
        Err(error) => return Err(error),
    };
    if !is_session(&view) {
        options.memory.keep_none(run);
        return Ok(None);
    }
    Ok(Some(Found::new(view, notices)))
}

/// Whether a run is a session, and was not put away.
pub(super) fn is_session(view: &View) -> bool {
    view.workflow.form == Form::Graph && !view.state.gave_up_key
}

/// Finds the session that a call is about: the one it names, else the only active one.
pub(super) async fn find(
    call: &Call<'_>,
    session_id: &str,
    context: &str,
) -> Result<Option<Found>, Failure> {
    let named = match session_id.trim() {
        "" => super::context::find_session(context),
        id => Some(RunId::parse(id).ok_or_else(|| unknown(id))?),
    };
    // A call that is made again is about the session that it changed before.
    if let Some(run) = named.or_else(|| call.runtime.find_changed_before()) {
        return find_run(call, run).await.map(Some);
    }
    let fallback = options(call).sessions.fallback;
    if fallback == Fallback::None {
        return Ok(None);
    }
    let mut active = list(call.runtime, options(call), Which::Active).await?;
    // Who waits for a child is not the one that goes on.
    let parents: Vec<RunId> = active.iter().filter_map(Found::parent).collect();
    active.retain(|it| !parents.contains(&it.run()));
    if fallback == Fallback::Single && 1 < active.len() {
        return Err(ambiguous(&active));
    }
    // They are listed with the last changed first; among them, one that runs comes first.
    let running = active.iter().position(|it| it.record.status == words::Status::Running.word());
    let place = running.unwrap_or(0);
    Ok((place < active.len()).then(|| active.swap_remove(place)))
}

/// Finds a session by its id. One that only its file knows is taken in first.
async fn find_run(call: &Call<'_>, run: RunId) -> Result<Found, Failure> {
    if let Some(found) = load(call.runtime, options(call), run).await? {
        return Ok(found);
    }
    let failed = upkeep::take_in(call.runtime, options(call), Some(run)).await;
    if let Some((file, problem)) = failed.into_iter().next() {
        return Err(unadopted(run, &file, &problem));
    }
    load(call.runtime, options(call), run).await?.ok_or_else(|| unknown(&run.to_string()))
}

/// Returns the sessions, the last changed first.
pub(super) async fn list(
    runtime: &Runtime,
    options: &Options,
    which: Which,
) -> Result<Vec<Found>, ExecuteError> {
    let mut found = Vec::new();
    each(runtime, options, which, |it| found.push(it)).await?;
    Ok(found)
}

/// Shows each session, the last changed first. None is kept here, however many there are.
pub(super) async fn each(
    runtime: &Runtime,
    options: &Options,
    which: Which,
    mut show: impl FnMut(Found) + Send,
) -> Result<(), ExecuteError> {
    let statuses: &[&str] = match which {
        Which::Active => &["running", "waiting"],
        Which::Over => &["completed", "failed", "cancelled"],
        Which::All => &[],
    };
    let statuses: Vec<String> = statuses.iter().map(|it| (*it).to_owned()).collect();
    let mut after = None;
    loop {
        let filter =
            RunFilter { statuses: statuses.clone(), after, limit: PAGE, ..RunFilter::default() };
        let page = runtime.list_runs(filter).await?;
        for row in page.rows {
            let key = row.summary.key.as_deref().unwrap_or_default();
            let is_here = row.summary.root == runtime.settings().root;
            // What was put away once never comes back.
            if is_here && words::session_of(key) != key && !options.memory.is_none(row.run) {
                load(runtime, options, row.run).await?.into_iter().for_each(&mut show);
            }
        }
        after = page.next;
        if after.is_none() {
            return Ok(());
        }
    }
}

/// Says that there is no session of this id.
pub(super) fn unknown(id: &str) -> Failure {
    Failure::new(
        "SESSION_NOT_FOUND",
        format!(
            "❌ **Session Not Found:** {}\n\nThere is no session of this id here, or it was put \
             away. `workflow_cache_management` with `operation` `list` shows those there are.",
            cut(id, TASK_CHARS_MAX)
        ),
        "take an id from `workflow_cache_management` with `operation` `list`, or start again",
    )
}

/// Says that a session cannot be gone on with, of which only a file is there.
fn unadopted(run: RunId, file: &str, problem: &Unadopted) -> Failure {
    let failure = match problem {
        Unadopted::DefinitionMissing(workflow) => Failure::new(
            "MISSING_DEFINITION",
            format!(
                "❌ **Missing Workflow Definition**\n\nThe session goes through **{}**, whose \
                 definition is neither in its file nor among the workflows.",
                cut(workflow, TASK_CHARS_MAX)
            ),
            "put the workflow's YAML into the folder of workflows, then call again",
        ),
        Unadopted::Unreadable(problem) => Failure::new(
            "SESSION_UNREADABLE",
            format!("❌ **Session Unreadable:** `{file}`: {problem}"),
            "fix the file, or move it away and start again",
        ),
    };
    failure.about(&run.to_string())
}

/// Says that nothing is under way.
pub(super) fn none_active(action: &str) -> Failure {
    let asked = match action.trim() {
        "" => String::new(),
        action => format!(" for `{}`", cut(action, TASK_CHARS_MAX)),
    };
    Failure::new(
        "NO_SESSION",
        format!(
            "❌ **No Active Workflow Session**\n\nThere is no session{asked}. Do this:\n1. \
             `workflow_discovery` with the task: it lists the workflows.\n2. `workflow_guidance` \
             with `action` `start` and `context` `workflow: NAME`.\n3. Keep the `session_id` of \
             the answer, and pass it with every call."
        ),
        "call `workflow_discovery`, then `workflow_guidance` with `action` `start`",
    )
}

fn ambiguous(active: &[Found]) -> Failure {
    let (lines, left) = lines(active);
    Failure::new(
        "AMBIGUOUS_SESSION",
        format!(
            "❌ **Ambiguous Session:** several sessions are active, and the call names none.\n\n\
             {lines}{left}\n\nCall again with the `session_id` of the one that is meant.",
        ),
        "pass `session_id`",
    )
    .among(active.iter().take(LISTED_MAX).map(Found::row).collect())
}

/// Returns a list of sessions as people read it, and how many it leaves out.
pub(super) fn lines(sessions: &[Found]) -> (String, String) {
    let lines: Vec<String> = sessions.iter().take(LISTED_MAX).map(Found::line).collect();
    let left = sessions.len().saturating_sub(LISTED_MAX);
    let left = if left == 0 { String::new() } else { format!("\n- … and {left} more") };
    (lines.join("\n"), left)
}
