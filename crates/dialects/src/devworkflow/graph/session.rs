//! The sessions: found by their ids, or because there is only one, and listed.

use std::vec;

use definition::{Form, StepName};
use engine::{
    Command, Consent, Cursor, Page, Probe, Refusal, RunFilter, RunId, RunState, View, probe,
};
use serde_json::{Map, Value, json};

use super::{
    answer::{Answer, Failure, ask},
    change,
    record::Record,
    view::{Session, Stage},
    words::{self, cut},
};
use crate::{
    devworkflow::options::Fallback,
    kit::{Ask, Caller, Done, Look, Outcome, Snapshot, Stopped, Unadopted},
};

/// How many runs a page has.
const PAGE: u32 = 100;
/// How many sessions a list shows.
pub(super) const LISTED_MAX: usize = 50;
/// How much of a task a list shows.
const TASK_CHARS_MAX: usize = 120;

/// A session as a call finds it.
pub(super) struct Found {
    pub(super) seen: Snapshot,
    pub(super) record: Box<Record>,
    /// What was found and done about its file on the way.
    pub(super) notices: Vec<String>,
}

/// Which sessions are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    /// Those that go on.
    Active,
    /// All that were not put away.
    All,
    /// Those that were put away, too.
    Ever,
}

impl Found {
    /// Returns the session that a run is, with what was noticed of its file.
    pub(super) fn new((seen, notices): (Snapshot, Vec<String>)) -> Self {
        let View { workflow, state, .. } = &seen.view;
        let mut record = Record::of(workflow, state);
        record.session_id = state.run.to_string();
        Self { record: Box::new(record), notices, seen }
    }

    /// Returns the session as a deed left it.
    pub(super) fn after(outcome: Outcome) -> Self {
        let besides = outcome.told();
        let notices = outcome.file.map(|it| it.notices).unwrap_or_default();
        Self::new((outcome.now, notices.into_iter().chain(besides).collect()))
    }

    /// Returns the session to speak of.
    pub(super) fn session(&self) -> Session<'_> {
        let state = self.state();
        Session {
            workflow: &self.seen.view.workflow,
            record: &self.record,
            stage: match () {
                () if !self.is_active() => Stage::Over,
                () if state.awaits_choice() => Stage::Reported,
                () => Stage::Open,
            },
            needs_approval: self.needs_approval(),
            personal: self.personal(),
            sent_back: state.sent_back(),
        }
    }

    /// Whether the engine has a person asked before the node is left.
    pub(super) fn needs_approval(&self) -> bool {
        let View { workflow, state, .. } = &self.seen.view;
        let step = state.current.as_ref().and_then(|it| workflow.find_step(it));
        let Some(step) = step else { return false };
        let evidence = step.criteria.iter().map(|it| (it.key.clone(), "x".into())).collect();
        let work = (words::DONE, evidence);
        let report = change::report(step.name.as_str(), work, (None, Consent::None));
        match self.probe(&report) {
            Probe::Open(after) => after.standing.open_gate().is_some_and(|it| it.step == step.name),
            Probe::Closed(Refusal::GateOpen { step: open, .. }) => open == step.name,
            Probe::Closed(_) | Probe::Needs(_) => false,
        }
    }

    /// Returns the node that only a person's own answer counts for, where that matters now.
    pub(super) fn personal(&self) -> Option<&StepName> {
        let View { workflow, state, .. } = &self.seen.view;
        engine::find_personal(workflow, state, self.seen.known.gates)
    }

    /// Returns how far the run is.
    pub(super) fn state(&self) -> &RunState {
        &self.seen.view.state
    }

    /// Tries a command on the session.
    pub(super) fn probe(&self, command: &Command) -> Probe {
        let View { workflow, state, .. } = &self.seen.view;
        probe(workflow, state, &self.seen.known, command)
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
        self.state().run
    }

    /// Whether it goes on.
    pub(super) fn is_active(&self) -> bool {
        self.state().standing.is_live()
    }

    /// Returns the evidence that was given for the node before it was left, and is kept for then.
    pub(super) fn kept_evidence(&self) -> Map<String, Value> {
        let state = self.state();
        let effort = state.current.as_ref().and_then(|it| state.effort(it, None));
        let report = effort.and_then(|it| it.report.as_ref());
        // What else was reported is of a visit that is over.
        let report = report.filter(|it| it.status == words::KEPT);
        let kept = report.and_then(|it| it.details.get("evidence")?.as_object());
        kept.cloned().unwrap_or_default()
    }

    /// Returns the session that it returns to when it is done.
    pub(super) fn parent(&self) -> Option<RunId> {
        let parent = self.state().context.get(words::PARENT)?;
        RunId::parse(parent.get("session_id")?.as_str()?)
    }

    /// Says that it still goes on, though the session that began it is over.
    pub(super) fn left_open(&self) -> String {
        format!(
            "session `{}` of workflow {}, which was begun from this one, still goes on",
            self.id(),
            self.record.workflow_name
        )
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

/// Looks for a session by its run; `None` where there is no such run, or it is not a session.
pub(super) fn load<N>(
    run: RunId,
    which: Which,
    then: impl FnOnce(Result<Option<Found>, Failure>) -> N + Send + 'static,
) -> Look<N> {
    let found = move |seen: Result<Option<(Snapshot, Vec<String>)>, Unadopted>| {
        let seen = seen.map_err(|it| unadopted(run, it))?;
        Ok(seen.filter(|(seen, _)| which.has(&seen.view)).map(Found::new))
    };
    Look::Session(run, Box::new(move |seen| then(found(seen))))
}

impl Which {
    /// Whether a run is such a session.
    fn has(self, view: &View) -> bool {
        view.workflow.form == Form::Graph && (self == Self::Ever || !view.state.gave_up_key)
    }
}

/// Finds the session that a call is about: the one it names, else the only active one.
pub(super) fn find(
    caller: &Caller,
    (session_id, context): (&str, &str),
    then: impl FnOnce(Option<Found>) -> Result<Ask, Failure> + Send + 'static,
) -> Result<Ask, Failure> {
    let named = match session_id.trim() {
        "" => super::context::find_session(context),
        id => Some(RunId::parse(id).ok_or_else(|| unknown(id))?),
    };
    // A call that is made again is about the session that it changed before.
    if let Some(run) = named.or(caller.changed) {
        let found = move |found: Option<Found>| match found {
            Some(found) => then(Some(found)),
            None => Err(unknown(&run.to_string())),
        };
        return Ok(load(run, Which::All, |it| ask(it.and_then(found))).into());
    }
    let fallback = caller.options.devworkflow.sessions.fallback;
    if fallback == Fallback::None {
        return then(None);
    }
    Ok(list(caller, Which::Active, move |active: Result<Vec<Found>, Failure>| {
        ask(active.and_then(|it| select(it, fallback)).and_then(then))
    }))
}

/// Returns the session that is meant by a call that names none.
fn select(mut active: Vec<Found>, fallback: Fallback) -> Result<Option<Found>, Failure> {
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

/// Looks for the sessions, the last changed first.
pub(super) fn list<N: From<Look<N>> + 'static>(
    caller: &Caller,
    which: Which,
    then: impl FnOnce(Result<Vec<Found>, Failure>) -> N + Send + 'static,
) -> N {
    each(caller, which, Vec::new(), Vec::push, then)
}

/// Looks at each session, the last changed first. Only what `see` takes of it is kept, however many
/// there are.
pub(super) fn each<T: Send + 'static, N: From<Look<N>> + 'static>(
    caller: &Caller,
    which: Which,
    seen: T,
    see: fn(&mut T, Found),
    then: impl FnOnce(Result<T, Failure>) -> N + Send + 'static,
) -> N {
    let root = caller.root.clone();
    Walk { root, which, seen, see, then: Box::new(then) }.page(None)
}

/// The way through all sessions.
struct Walk<T, N> {
    root: String,
    which: Which,
    seen: T,
    see: fn(&mut T, Found),
    then: Box<dyn FnOnce(Result<T, Failure>) -> N + Send>,
}

impl<T: Send + 'static, N: From<Look<N>> + 'static> Walk<T, N> {
    fn page(self, after: Option<Cursor>) -> N {
        let statuses: &[&str] = match self.which {
            Which::Active => &["running", "waiting"],
            Which::All | Which::Ever => &[],
        };
        let statuses = statuses.iter().map(|it| (*it).to_owned()).collect();
        let filter = RunFilter { statuses, after, limit: PAGE, ..RunFilter::default() };
        let took = move |page: Result<Page, Stopped>| match page {
            Ok(page) => {
                let here = page.rows.into_iter().filter(|it| {
                    let key = it.summary.key.as_deref().unwrap_or_default();
                    let is_kept = self.which == Which::Ever || it.summary.holds_key;
                    is_kept && it.summary.root == self.root && words::session_of(key) != key
                });
                let runs: Vec<RunId> = here.map(|it| it.run).collect();
                self.next(runs.into_iter(), page.next)
            }
            Err(stopped) => (self.then)(Err(stopped.into())),
        };
        Look::Sessions(filter, Box::new(took)).into()
    }

    fn next(mut self, mut runs: vec::IntoIter<RunId>, after: Option<Cursor>) -> N {
        let Some(run) = runs.next() else {
            return if after.is_some() { self.page(after) } else { (self.then)(Ok(self.seen)) };
        };
        let look = load(run, self.which, move |found| match found {
            Ok(found) => {
                if let Some(found) = found {
                    (self.see)(&mut self.seen, found);
                }
                self.next(runs, after)
            }
            Err(failure) => (self.then)(Err(failure)),
        });
        look.into()
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

/// Says why a session cannot be seen.
fn unadopted(run: RunId, problem: Unadopted) -> Failure {
    let failure = match problem {
        Unadopted::DefinitionMissing(workflow) => Failure::new(
            "MISSING_DEFINITION",
            format!(
                "❌ **Missing Workflow Definition**\n\nThe session goes through **{}**, whose \
                 definition is neither in its file nor among the workflows.",
                cut(&workflow, TASK_CHARS_MAX)
            ),
            "put the workflow's YAML into the folder of workflows, then call again",
        ),
        Unadopted::Unreadable(file, problem) => Failure::new(
            "SESSION_UNREADABLE",
            format!("❌ **Session Unreadable:** `{file}`: {problem}"),
            "fix the file, or move it away and start again",
        ),
        Unadopted::Stopped(stopped) => return stopped.into(),
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
