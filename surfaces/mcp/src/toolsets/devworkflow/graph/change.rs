//! Begins and changes sessions.

use std::sync::Arc;

use definition::Workflow;
use engine::{Command, Entry, RunId, StartRun};
use runtime::{ExecuteError, Outcome, Request, Target};
use serde_json::{Map, Value, json};

use super::{session::Found, words};
use crate::tool::Call;

/// What a new session begins with.
pub(super) struct Beginning {
    pub(super) workflow: Arc<Workflow>,
    pub(super) task: String,
    pub(super) inputs: Map<String, Value>,
    /// The file of the definition, where it is one that was found.
    pub(super) file: Option<String>,
    /// The session that it returns to when it is done.
    pub(super) parent: Option<RunId>,
}

/// Begins a session.
pub(super) async fn begin(call: &Call<'_>, beginning: Beginning) -> Result<Found, ExecuteError> {
    let Beginning { workflow, task, inputs, file, parent } = beginning;
    let run = call.runtime.new_run();
    let mut context = Map::new();
    context.insert(words::TASK.to_owned(), task.into());
    context.insert(words::INPUTS.to_owned(), Value::Object(inputs));
    context.insert(words::CLIENT.to_owned(), words::DEFAULT_CLIENT.into());
    context.extend(file.map(|it| (words::WORKFLOW_FILE.to_owned(), it.into())));
    context.extend(
        parent.map(|it| (words::PARENT.to_owned(), json!({ "session_id": it.to_string() }))),
    );
    let start = StartRun {
        key: Some(words::stem(run, call.runtime.now())),
        flow: None,
        context,
        vars: Map::new(),
        root: call.runtime.settings().root.clone(),
    };
    let target = Target::Given(workflow, run);
    let command = Command::StartRun(Box::new(start));
    let request = Request { target, command, actor: call.actor.clone(), request_id: None };
    let outcome = call.runtime.execute(request).await?;
    Ok(found_after(outcome))
}

/// Has a command executed on a session, and returns it as it is then.
pub(super) async fn change(
    call: &Call<'_>,
    found: &Found,
    command: Command,
) -> Result<Found, ExecuteError> {
    let (actor, request_id) = (call.actor.clone(), None);
    let request = Request { target: Target::Run(found.run()), command, actor, request_id };
    let outcome = call.runtime.execute(request).await?;
    Ok(found_after(outcome))
}

/// Returns the session as a command left it, even where more has happened since.
fn found_after(outcome: Outcome) -> Found {
    Found::new(outcome.view, outcome.file.map(|it| it.notices).unwrap_or_default())
}

/// Returns the command that writes a line into the log.
pub(super) fn note(text: impl Into<String>) -> Command {
    let entry = Entry::Note { text: text.into(), tags: Vec::new() };
    Command::RecordEntry { step: None, entry }
}
