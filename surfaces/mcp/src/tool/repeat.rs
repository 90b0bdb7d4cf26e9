//! A call that may be sent again: it is made once, and answered alike each time.
//!
//! Every tool that changes something is called through here, so none can forget it. What the tool
//! does goes through a runtime that carries the call's id into each of its commits. An answer is
//! kept unless the call was refused and changed nothing: then the same call is decided again.

use runtime::{Asked, Asking, ExecuteError, Hearing, Identity, Runtime, View};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Call, Effect, Hints, Person, Reply};

/// What a report is about that has no request id.
pub(super) struct Answering {
    pub(super) view: View,
    /// The action, where the report names it.
    pub(super) action: Option<u64>,
}

/// Returns everything that a call asks for, as one text. How it is known when it is sent again is
/// not part of that.
pub(super) fn content(tool: &str, arguments: &Map<String, Value>) -> String {
    let mut arguments = arguments.clone();
    arguments.retain(|key, _| !["request_id", "action_id"].contains(&key.as_str()));
    let mut arguments = Value::Object(arguments);
    arguments.sort_all_objects();
    format!("{tool} {arguments}")
}

/// Returns the id that a call is given by its sender: among the arguments where there is a place
/// for it, beside them, or with the answer of a person.
pub(super) fn find_id(
    call: &Call<'_>,
    shape: &Value,
    arguments: &Map<String, Value>,
) -> Option<String> {
    let has_place = shape.pointer("/properties/request_id").is_some();
    let given = arguments.get("request_id").filter(|_| has_place).and_then(Value::as_str);
    let replied = || match &call.person {
        Person::Answered(reply) => reply.request_id.clone(),
        Person::OutOfReach | Person::Unproven | Person::Reachable | Person::Silent(_) => None,
    };
    given.map(ToOwned::to_owned).or_else(|| call.request_id.clone()).or_else(replied)
}

/// Returns how a call is known when it is sent again: by its id, else by the action that it
/// reports. `None` where it is not.
pub(super) async fn identify(
    call: &Call<'_>,
    hints: Hints,
    id: Option<String>,
    content: impl FnOnce() -> String,
    answering: impl Future<Output = Option<Answering>>,
) -> Result<Identity, ExecuteError> {
    if hints.effect == Effect::Reads {
        return Ok(Identity::None);
    }
    if let Some(id) = id {
        return Ok(Identity::Known(Asking::new(id, &content())?));
    }
    match answering.await {
        Some(Answering { view, action }) => call.runtime.identify(&view, action, &content()).await,
        None => Ok(Identity::None),
    }
}

/// What is known of a call with an id.
pub(super) enum Opened {
    /// It was answered before.
    Kept(Reply),
    /// It is made through this runtime.
    New(Runtime),
}

/// Looks a call up.
pub(super) async fn open(call: &Call<'_>, asking: Asking) -> Result<Opened, ExecuteError> {
    Ok(match call.runtime.ask(asking).await? {
        Asked::Open(runtime) => Opened::New(runtime),
        Asked::Answered(text) => match serde_json::from_str::<Kept>(&text) {
            Ok(kept) => Opened::Kept(kept.into()),
            Err(error) => {
                tracing::warn!(%error, "a kept answer cannot be read");
                Opened::New(call.runtime.apart())
            }
        },
    })
}

/// Has an answer tell what was noticed of runs' files while it was found. One that is not given,
/// because the person is asked first, leaves that to the next.
pub(super) fn tell(call: &Call<'_>, hearing: &Hearing, reply: Reply) -> Reply {
    if reply.then.is_some() || reply.is_gate_stale() && matches!(call.person, Person::Answered(_)) {
        return reply;
    }
    let untold = hearing.take(|it| reply.tells(it));
    reply.noticing(untold)
}

/// Keeps the answer of a call that was made through the runtime that [`open`] returned.
pub(super) async fn keep(call: &Call<'_>, reply: Reply) -> Reply {
    let is_whole = reply.then.is_none() && !matches!(call.person, Person::Silent(_));
    if is_whole {
        let why = "an answer has only text keys and numbers that JSON has";
        let text = serde_json::to_string(&Kept::from(&reply)).expect(why);
        call.runtime.keep_answer(text, reply.is_error).await;
    }
    reply
}

/// An answer as it is kept.
#[derive(Serialize, Deserialize)]
struct Kept {
    text: String,
    body: Value,
    is_error: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    notices: Vec<String>,
}

impl From<&Reply> for Kept {
    fn from(reply: &Reply) -> Self {
        let Reply { text, body, is_error, then: _, notices } = reply.clone();
        Self { text, body, is_error, notices }
    }
}

impl From<Kept> for Reply {
    fn from(kept: Kept) -> Self {
        let Kept { text, body, is_error, notices } = kept;
        Self { text, body, is_error, then: None, notices }
    }
}
