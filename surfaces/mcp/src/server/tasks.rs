//! Runs as tasks, for clients that look after long work themselves.
//!
//! Nothing is kept here: a task is a run, seen from outside, so it outlives this process. The id
//! of a run is a task that ends when the run does. `RUN@SEQ@UNTIL` is a wait for news: it ends when
//! the run has more than so many events, or is over, or the time is. While a gate is open, both ask
//! for input.

use dialects::core;
use engine::{Command, Entry, OpenGate, RunId, Standing, Timestamp};
use rmcp::{
    ErrorData,
    model::{
        CreateTaskResult, DetailedTask, GetTaskResult, InputRequests, InputResponses, JsonObject,
        Task, TaskPayload, TaskStatus,
    },
};
use runtime::{ExecuteError, Outcome, Request, Runtime, Target, View};
use serde_json::json;

use super::{
    PersonsDoor,
    ask::{self, Seal},
    lists::{failed, refused},
};
use crate::{
    gate,
    tool::{Call, Person, snapshot, take_reply},
};

/// How often a client should look, in milliseconds.
const POLL_MS: u64 = 1_000;

/// A task, by its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Name {
    run: RunId,
    wait: Option<Wait>,
}

/// A wait for news of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wait {
    /// After how many events there is news.
    pub(super) after: u64,
    /// When it ends without any, by the steady clock.
    pub(super) until: Timestamp,
}

impl Name {
    async fn find(runtime: &Runtime, text: &str) -> Result<(Self, View), ErrorData> {
        let unknown = || ErrorData::invalid_params(format!("there is no task `{text}`"), None);
        let mut pieces = text.split('@');
        let run = pieces.next().and_then(RunId::parse).ok_or_else(unknown)?;
        let wait = match (pieces.next(), pieces.next(), pieces.next()) {
            (None, ..) => None,
            (Some(after), Some(until), None) => {
                let after = after.parse().map_err(|_| unknown())?;
                let until = i64::from_str_radix(until, 16).map_err(|_| unknown())?;
                Some(Wait { after, until: Timestamp(until) })
            }
            (Some(_), ..) => return Err(unknown()),
        };
        let view = runtime.view(run, None).await.map_err(|error| match error {
            ExecuteError::Refused(_) => unknown(),
            ExecuteError::Store(_) | ExecuteError::Busy { .. } | ExecuteError::Endless => {
                failed(&error)
            }
        })?;
        Ok((Self { run, wait }, view))
    }

    fn text(self) -> String {
        match self.wait {
            Some(wait) => format!("{}@{}@{:x}", self.run.short(), wait.after, wait.until.0),
            None => self.run.short(),
        }
    }

    /// Returns whether it is over.
    fn has_ended(self, runtime: &Runtime, view: &View) -> bool {
        let is_over = |it: Wait| it.after < view.state.length || it.until <= runtime.steady();
        !view.state.standing.is_live() || self.wait.is_some_and(is_over)
    }
}

/// Returns a wait for news of a run as a task.
pub(super) async fn wait(
    runtime: &Runtime,
    run: RunId,
    wait: Wait,
) -> Result<CreateTaskResult, ErrorData> {
    let view = runtime.view(run, None).await.map_err(|error| refused(&error))?;
    let name = Name { run, wait: Some(wait) };
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

/// Returns how a task stands. Without a seal nothing is asked: the client shows no forms. Nor is
/// a person asked for an answer that would not count, since it comes through no door of theirs.
pub(super) async fn get(
    runtime: &Runtime,
    id: &str,
    (seal, door): (Option<&Seal>, Option<PersonsDoor>),
) -> Result<GetTaskResult, ErrorData> {
    let (name, view) = Name::find(runtime, id).await?;
    let open = view.state.standing.open_gate();
    let counts = door.is_some() || !open.is_some_and(OpenGate::is_personal);
    let seal = seal.filter(|_| counts);
    let payload = payload(runtime, name, &view, seal).await?;
    let task = task(name, payload.status(), &view);
    Ok(GetTaskResult::new(DetailedTask::new(task, payload)))
}

async fn payload(
    runtime: &Runtime,
    name: Name,
    view: &View,
    seal: Option<&Seal>,
) -> Result<TaskPayload, ErrorData> {
    if name.has_ended(runtime, view) {
        if matches!(view.state.standing, Standing::Cancelled { .. }) {
            return Ok(TaskPayload::Cancelled);
        }
        let body = core::record(&snapshot(runtime, view.clone()));
        let mut result = JsonObject::new();
        let content = json!([{ "type": "text", "text": format!("{body:#}") }]);
        result.insert("content".to_owned(), content);
        result.insert("structuredContent".to_owned(), body);
        let has_failed = matches!(view.state.standing, Standing::Failed { .. });
        result.insert("isError".to_owned(), has_failed.into());
        result.insert("resultType".to_owned(), "complete".into());
        return Ok(TaskPayload::Completed { result });
    }
    // Anyone who cannot show a form waits until the person answers elsewhere.
    let Some(seal) = seal else { return Ok(TaskPayload::Working) };
    let form = match gate::form(runtime, view).await {
        // What the gate is about cannot be seen from here.
        Err(ExecuteError::Refused(_)) => None,
        other => other.map_err(|error| failed(&error))?,
    };
    let Some(form) = form else { return Ok(TaskPayload::Working) };
    let mut input_requests = InputRequests::new();
    input_requests.insert(seal.name(&form), ask::input_request(form)?);
    Ok(TaskPayload::InputRequired { input_requests })
}

/// Takes a person's answer. Answers to what is not asked, or not any more, are left alone. That
/// nobody answered is noted, so that a wait ends with it and the next question has another name.
pub(super) async fn update(
    call: &Call<'_>,
    id: &str,
    (replies, door): (&InputResponses, Option<PersonsDoor>),
    seal: &Seal,
) -> Result<(), ErrorData> {
    let (_, view) = Name::find(call.runtime, id).await?;
    let form = gate::form(call.runtime, &view).await.map_err(|error| refused(&error))?;
    let Some(form) = form else { return Ok(()) };
    let Some(reply) = replies.get(&seal.name(&form)) else { return Ok(()) };
    let done = match gate::read(reply, (form.digest, None), door) {
        Person::Answered(reply) => take_reply(call, view.state.run, &reply).await,
        Person::Silent(why) => {
            let tags = vec![gate::UNANSWERED.to_owned()];
            let entry = Entry::Note { text: why.to_owned(), tags };
            let command = Command::RecordEntry { step: None, entry };
            execute(call, view.state.run, command).await
        }
        Person::OutOfReach | Person::Unproven | Person::Reachable => return Ok(()),
    };
    done.map(drop).map_err(|error| refused(&error))
}

/// Cancels a task: of a run the run itself; of a wait nothing but the wait, which costs nothing.
pub(super) async fn cancel(call: &Call<'_>, id: &str) -> Result<(), ErrorData> {
    let (name, view) = Name::find(call.runtime, id).await?;
    if name.wait.is_some() || !view.state.standing.is_live() {
        return Ok(());
    }
    let command = Command::CancelRun { reason: "the task was cancelled".to_owned() };
    execute(call, name.run, command).await.map(drop).map_err(|error| refused(&error))
}

async fn execute(call: &Call<'_>, run: RunId, command: Command) -> Result<Outcome, ExecuteError> {
    let (target, actor) = (Target::Run(run), call.actor.clone());
    call.runtime.execute(Request { target, command, actor, request_id: None }).await
}
