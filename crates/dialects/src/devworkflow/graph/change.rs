//! Begins and changes sessions.

use std::sync::Arc;

use definition::Workflow;
use engine::{
    Command, Consent, ContextChange, Entry, Report, ReportOptions, ReportStep, RunId, StartRun,
    View,
};
use serde_json::{Map, Value, json};

use super::{
    answer::{Answer, Failure, Told, tell},
    session::{Found, Which, list, load},
    words,
};
use crate::kit::{Ask, Caller, Deed, Done, Outcome, Stopped};

/// Returns the report of the work on a node.
pub(super) fn report(
    node: &str,
    (status, evidence): (&str, Map<String, Value>),
    (next, consent): (Option<&str>, Consent),
) -> Command {
    Command::ReportStep(Box::new(ReportStep {
        part: None,
        report: Report {
            step_id: node.to_owned(),
            status: status.to_owned(),
            details: json!({ "evidence": evidence }),
            ..Report::default()
        },
        context: ContextChange::default(),
        next: next.map(ToOwned::to_owned),
        holder: None,
        terms: ReportOptions { consent, ..ReportOptions::default() },
    }))
}

/// Returns the command that writes a line into the log.
pub(super) fn note(text: impl Into<String>) -> Command {
    let entry = Entry::Note { text: text.into(), tags: Vec::new() };
    Command::RecordEntry { step: None, entry }
}

/// What a new session begins with.
pub(super) struct Beginning {
    pub(super) workflow: Workflow,
    pub(super) task: String,
    pub(super) inputs: Map<String, Value>,
    /// The file of the definition, where it is one that was found.
    pub(super) file: Option<String>,
    /// The session that it returns to when it is done.
    pub(super) parent: Option<RunId>,
}

impl Beginning {
    /// Returns what begins the session by this id.
    pub(super) fn deed(self, caller: &Caller, run: RunId) -> Deed {
        let Self { workflow, task, inputs, file, parent } = self;
        let mut context = Map::new();
        context.insert(words::TASK.to_owned(), task.into());
        context.insert(words::INPUTS.to_owned(), Value::Object(inputs));
        context.insert(words::CLIENT.to_owned(), words::DEFAULT_CLIENT.into());
        context.extend(file.map(|it| (words::WORKFLOW_FILE.to_owned(), it.into())));
        context.extend(
            parent.map(|it| (words::PARENT.to_owned(), json!({ "session_id": it.to_string() }))),
        );
        let start = StartRun {
            goes_on: false,
            key: Some(words::stem(run, caller.at)),
            flow: None,
            context,
            vars: Map::new(),
            root: caller.root.clone(),
        };
        Deed::Begin { workflow: Arc::new(workflow), run, start: Box::new(start) }
    }
}

/// Asks for a line in the log of a session.
pub(super) fn log(
    found: Found,
    lines: Vec<String>,
    then: impl FnOnce(Found) -> Told + Send + 'static,
) -> Ask {
    let command = Box::new(Command::All(lines.into_iter().map(note).collect()));
    let deed = Deed::Change { run: found.run(), command, by: None };
    let told = move |outcome: Result<Outcome, Stopped>| match outcome {
        Ok(outcome) => tell(then(Found::after(outcome).noticing(&found))),
        Err(_) => tell(then(found)),
    };
    Ask::Do(deed, Box::new(told))
}

/// A session that was changed, and what that means for others.
pub(super) struct Changed {
    pub(super) after: Found,
    /// The session that it returned to, because it is over.
    pub(super) parent: Option<Found>,
    /// Says which sessions that were begun from it still go on, though it is over.
    pub(super) children: Vec<String>,
}

/// Asks for a command on a session. If that ends it, the session that it returns to is told.
pub(super) fn change(
    caller: &Caller,
    found: Found,
    command: Command,
    then: impl FnOnce(&Found, Result<Changed, Stopped>) -> Told + Send + 'static,
) -> Ask {
    let by = caller.clone();
    let deed = Deed::Change { run: found.run(), command: Box::new(command), by: None };
    let told = move |found: Found, outcome: Result<Outcome, Stopped>| {
        let mut outcome = match outcome {
            Ok(outcome) => outcome,
            Err(stopped) => return tell(then(&found, Err(stopped))),
        };
        let parent = outcome.other.take().map(|it| Found::after(*it));
        let after = Found::after(outcome).noticing(&found);
        if after.is_active() {
            return tell(then(&found, Ok(Changed { after, parent, children: Vec::new() })));
        }
        list(&by, Which::Active, move |open: Result<Vec<Found>, Failure>| {
            tell(open.and_then(|open| {
                let own = open.iter().filter(|it| it.parent() == Some(after.run()));
                let children = own.map(Found::left_open).collect();
                then(&found, Ok(Changed { after, parent, children }))
            }))
        })
    };
    let Some(parent) = found.parent() else {
        return Ask::Do(deed, Box::new(move |outcome| told(found, outcome)));
    };
    let look = load(parent, Which::All, move |seen| {
        let is_over = seen.is_ok_and(|it| it.is_none_or(|it| !it.is_active()));
        let told = Box::new(move |outcome| told(found, outcome));
        if is_over {
            return Ask::Do(deed, told);
        }
        Ask::Both(deed, (parent, Box::new(returned)), told)
    });
    look.into()
}

/// Returns what a session is told of one that returns to it.
fn returned(child: &Outcome) -> Option<Command> {
    let View { workflow, state, .. } = &child.now.view;
    let status = words::ended(&state.standing)?.word();
    Some(note(format!("↩️ Workflow {} is {status} in session {}", workflow.name, state.run)))
}

/// Ends a session that goes on, and puts its file away. `then` is told where the file is.
pub(super) fn put_away(
    found: &Found,
    (line, reason): (Option<Command>, &str),
    then: impl FnOnce(&Found, Option<String>) -> Done<Answer> + Send + 'static,
) -> Ask {
    let cancel = Command::CancelRun { reason: reason.to_owned() };
    let end = found.is_active().then_some(cancel);
    let commands: Vec<Command> = line.into_iter().chain(end).collect();
    let command = (!commands.is_empty()).then(|| Box::new(Command::All(commands)));
    let deed = Deed::PutAway { run: found.run(), command };
    let told = move |outcome: Result<Outcome, Stopped>| {
        let outcome = outcome.map_err(|it| Failure::of(&it))?;
        let path = outcome.file.as_ref().map(|it| it.path.clone());
        Ok(then(&Found::after(outcome), path))
    };
    Ask::Do(deed, Box::new(move |outcome| tell(told(outcome))))
}
