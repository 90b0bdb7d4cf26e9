//! Runs as tasks, for clients that look after long work themselves.
//!
//! Nothing is kept here: a task is a run, seen from outside, so it outlives this process. The id
//! of a run is a task that ends when the run does. `RUN@SEQ` is a wait for news: it ends when the
//! run has more than so many events, or is over. While a gate is open, both ask for input.

use engine::{Command, RunId, Standing};
use rmcp::{
    ErrorData,
    model::{
        CreateTaskResult, DetailedTask, GetTaskResult, InputRequests, InputResponses, JsonObject,
        Task, TaskPayload, TaskStatus,
    },
};
use runtime::{ExecuteError, Request, Runtime, Target, View};
use serde_json::json;

use super::{ask, lists::failed};
use crate::{
    gate,
    tool::{Call, Person},
    toolsets::core,
};

/// How often a client should look, in milliseconds.
const POLL_MS: u64 = 1_000;

/// A task, by its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Name {
    run: RunId,
    /// For a wait: after how many events there is news.
    after: Option<u64>,
}

impl Name {
    async fn find(runtime: &Runtime, text: &str) -> Result<(Self, View), ErrorData> {
        let unknown = || ErrorData::invalid_params(format!("there is no task `{text}`"), None);
        let (run, after) = match text.split_once('@') {
            Some((run, after)) => (run, Some(after.parse().map_err(|_| unknown())?)),
            None => (text, None),
        };
        let run = RunId::parse(run).ok_or_else(unknown)?;
        let view = runtime.view(run, None).await.map_err(|error| match error {
            ExecuteError::Refused(_) => unknown(),
            ExecuteError::Store(_) | ExecuteError::Busy { .. } | ExecuteError::Endless => {
                failed(&error)
            }
        })?;
        Ok((Self { run, after }, view))
    }

    fn text(self) -> String {
        match self.after {
            Some(after) => format!("{}@{after}", self.run.short()),
            None => self.run.short(),
        }
    }

    /// Returns whether it is over.
    fn has_ended(self, view: &View) -> bool {
        !view.state.standing.is_live() || self.after.is_some_and(|it| it < view.state.length)
    }
}

/// Returns a wait for news of a run as a task.
pub(super) async fn wait(
    runtime: &Runtime,
    run: RunId,
    after: u64,
) -> Result<CreateTaskResult, ErrorData> {
    let view = runtime.view(run, None).await.map_err(|error| failed(&error))?;
    let name = Name { run, after: Some(after) };
    Ok(CreateTaskResult::new(task(name, TaskStatus::Working, &view)))
}

fn task(name: Name, status: TaskStatus, view: &View) -> Task {
    let state = &view.state;
    let step = state.current.as_ref().map(|it| format!(", at `{it}`")).unwrap_or_default();
    let message = format!("{}{step}", core::status_word(&state.standing));
    let (begun, changed) = (state.started_at.to_string(), state.updated_at.to_string());
    Task::new(name.text(), status, begun, changed)
        .with_status_message(message)
        .with_poll_interval_ms(POLL_MS)
}

/// Returns how a task stands.
pub(super) async fn get(
    runtime: &Runtime,
    id: &str,
    shows_forms: bool,
) -> Result<GetTaskResult, ErrorData> {
    let (name, view) = Name::find(runtime, id).await?;
    let payload = payload(runtime, name, &view, shows_forms).await?;
    let task = task(name, payload.status(), &view);
    Ok(GetTaskResult::new(DetailedTask::new(task, payload)))
}

async fn payload(
    runtime: &Runtime,
    name: Name,
    view: &View,
    shows_forms: bool,
) -> Result<TaskPayload, ErrorData> {
    if name.has_ended(view) {
        if matches!(view.state.standing, Standing::Cancelled { .. }) {
            return Ok(TaskPayload::Cancelled);
        }
        let body = core::record(runtime, view);
        let mut result = JsonObject::new();
        let content = json!([{ "type": "text", "text": format!("{body:#}") }]);
        result.insert("content".to_owned(), content);
        result.insert("structuredContent".to_owned(), body);
        let has_failed = matches!(view.state.standing, Standing::Failed { .. });
        result.insert("isError".to_owned(), has_failed.into());
        result.insert("resultType".to_owned(), "complete".into());
        return Ok(TaskPayload::Completed { result });
    }
    let form = gate::form(runtime, view).await.map_err(|error| failed(&error))?;
    // Whoever cannot show a form waits until the person answers elsewhere.
    let Some(form) = form.filter(|_| shows_forms) else { return Ok(TaskPayload::Working) };
    let mut input_requests = InputRequests::new();
    input_requests.insert(form.key.clone(), ask::input_request(form)?);
    Ok(TaskPayload::InputRequired { input_requests })
}

/// Takes a person's answer. Answers to what is not asked are left alone.
pub(super) async fn update(
    call: &Call<'_>,
    id: &str,
    replies: &InputResponses,
) -> Result<(), ErrorData> {
    let (_, view) = Name::find(call.runtime, id).await?;
    let form = gate::form(call.runtime, &view).await.map_err(|error| failed(&error))?;
    let Some(form) = form else { return Ok(()) };
    let Some(reply) = replies.get(&form.key) else { return Ok(()) };
    let Person::Answered(reply) = gate::read(reply, form.digest, None) else { return Ok(()) };
    let answered = core::answer_gate(call, view.state.run, &reply).await;
    answered.map(drop).map_err(|error| refused(&error))
}

/// Cancels a task: of a run the run itself; of a wait nothing but the wait, which costs nothing.
pub(super) async fn cancel(call: &Call<'_>, id: &str) -> Result<(), ErrorData> {
    let (name, view) = Name::find(call.runtime, id).await?;
    if name.after.is_some() || !view.state.standing.is_live() {
        return Ok(());
    }
    let request = Request {
        target: Target::Run(name.run),
        command: Command::CancelRun { reason: "the task was cancelled".to_owned() },
        actor: call.actor.clone(),
        request_id: None,
    };
    call.runtime.execute(request).await.map(drop).map_err(|error| refused(&error))
}

fn refused(error: &ExecuteError) -> ErrorData {
    match error {
        ExecuteError::Refused(refusal) => {
            let data = json!({ "code": refusal.code(), "hint": refusal.hint() });
            ErrorData::invalid_params(refusal.to_string(), Some(data))
        }
        ExecuteError::Store(_) | ExecuteError::Busy { .. } | ExecuteError::Endless => failed(error),
    }
}
