//! The one loop that all dialects share: read, open, ask, execute, word.
//!
//! A tool of a dialect is pure. What it wants to see is looked up here, and the one thing that it
//! wants done goes through [`Runtime::execute`]. A file that others wrote into is taken in before
//! the tool sees its run.

use dialects::kit::{
    Ask, Asking, Beside, Caller, Deed, Entry, Fault, Look, Outcome, Reply, Snapshot, Stopped, Tell,
};
use engine::{Actor, Answer, AnswerGate, Command, ForkPoint, RunId, View};
use runtime::{ExecuteError, Fork, Identity, Request, Runtime, Target};
use serde_json::{Map, Value};

use super::{
    Call, GateReply, Person,
    repeat::{self, Opened},
};
use crate::server::PersonsDoor;

/// Calls a tool of a dialect with arguments of any shape.
pub(super) async fn run(
    call: &Call<'_>,
    entry: Entry,
    arguments: Map<String, Value>,
    shape: &Value,
) -> Reply {
    let read = entry.read(shape, arguments);
    let (id, warnings) = (repeat::find_id(call, shape, &read.taken), read.warnings);
    let asking = match read.asking {
        Ok(asking) => asking,
        Err(said) => return said.reply(warnings),
    };
    let content = repeat::content(entry.name, &read.taken);
    let identity = repeat::identify(call, entry.hints, id.clone(), &content, async { None }).await;
    let opened = match identity {
        Ok(Identity::Known(known)) => repeat::open(call, known).await,
        Ok(Identity::Stale | Identity::None) => return make(call, asking, warnings).await,
        Err(error) => Err(error),
    };
    match opened {
        Ok(Opened::Kept(reply)) => reply,
        Ok(Opened::New(runtime)) => {
            let call = Call { runtime: &runtime, request_id: id, ..call.clone() };
            repeat::keep(&call, make(&call, asking, warnings).await).await
        }
        Err(error) => entry.unasked(stopped(error)).reply(warnings),
    }
}

/// Answers everything that a tool asks for, until it answers.
async fn make(call: &Call<'_>, asking: Asking, warnings: Vec<String>) -> Reply {
    let mut ask = asking(&caller(call));
    let mut tell = loop {
        ask = match ask {
            Ask::Look(it) => look(call.runtime, it).await,
            Ask::Do(deed, then) => break then(execute(call, deed).await.map_err(stopped)),
            Ask::Extend(run, lease, duration, then) => {
                let lease = call.runtime.extend_lease(run, lease, duration).await;
                break then(lease.map_err(stopped));
            }
            Ask::Tell(tell) => break tell,
        };
    };
    loop {
        tell = match tell {
            Tell::Look(it) => look(call.runtime, it).await,
            Tell::Say(said) => return said.reply(warnings),
        };
    }
}

/// Looks, and goes on with what is seen.
async fn look<N>(runtime: &Runtime, look: Look<N>) -> N {
    match look {
        Look::Run(text, then) => then(runtime.find_run(&text).await.map_err(stopped)),
        Look::File(workflow, keys, then) => then(find_file(runtime, workflow, keys).await),
        Look::Beside(workflow, path, then) => {
            let text = runtime.read_beside(workflow, path).await.ok().flatten();
            then(Beside { root: runtime.root_for(workflow).to_owned(), text })
        }
        Look::View(run, at, then) => then(seen(runtime, runtime.view(run, at).await)),
        Look::Wait(run, after, duration, then) => {
            then(seen(runtime, runtime.wait(run, after, duration).await))
        }
        Look::History(run, before, limit, then) => {
            let history = runtime.history(run, before, limit).await;
            then(history.map(|it| it.events).map_err(stopped))
        }
        Look::Brief(view, tokens, then) => {
            let brief = runtime.brief_of(&view, tokens).await;
            then(brief.map(|it| it.0.text).map_err(stopped))
        }
        Look::Runs(filter, then) => then(runtime.list_runs(filter).await.map_err(stopped)),
        Look::Keyed(filter, then) => then(runtime.list_keyed(filter).await.map_err(stopped)),
        Look::Survey(workflow, folders, page, then) => {
            let (taken, page) =
                tokio::join!(runtime.survey(workflow, &folders), runtime.list_keyed(page));
            then(taken.and_then(|taken| Ok((taken, page?))).map_err(stopped))
        }
        Look::Search(text, run, page, then) => {
            then(runtime.search(&text, run, page).await.map_err(stopped))
        }
        Look::Workflows(then) => then(runtime.list_cards()),
    }
}

async fn find_file(
    runtime: &Runtime,
    workflow: &str,
    keys: Vec<String>,
) -> Result<Option<(Snapshot, engine::RunFile)>, Stopped> {
    for key in keys {
        if let Some((view, file)) = runtime.find_file(workflow, &key).await.map_err(stopped)? {
            return Ok(Some((snapshot(runtime, view), file)));
        }
    }
    Ok(None)
}

/// Has a deed done.
async fn execute(call: &Call<'_>, deed: Deed) -> Result<Outcome, ExecuteError> {
    let runtime = call.runtime;
    let outcome = match deed {
        Deed::Start { workflow, start } => {
            request(call, Target::New(workflow), Command::StartRun(start), None).await?
        }
        Deed::Change { run, command, by } => request(call, Target::Run(run), *command, by).await?,
        Deed::ChangeCopy { run, length, key, command } => {
            let copy = fork(call, run, ForkPoint::Seq(length), Some(key)).await?;
            request(call, Target::Run(copy.view.state.run), *command, None).await?
        }
        Deed::Fork { run, point, key } => fork(call, run, point, key).await?,
        Deed::TakeReply(run) => match &call.person {
            Person::Answered(reply) => take_reply(call, run, reply).await?,
            Person::OutOfReach | Person::Unproven | Person::Reachable | Person::Silent(_) => {
                return Err(engine::Refusal::GateNotOpen.into());
            }
        },
    };
    let runtime::Outcome { view, events, file, chores, notes: _, halted: _ } = outcome;
    Ok(Outcome { now: snapshot(runtime, view), events, file, notices: chores.notices() })
}

async fn request(
    call: &Call<'_>,
    target: Target,
    command: Command,
    by: Option<String>,
) -> Result<runtime::Outcome, ExecuteError> {
    let actor = call.actor.clone();
    let actor = Actor { name: by.or(actor.name), ..actor };
    let request_id = call.request_id.clone();
    call.runtime.execute(Request { target, command, actor, request_id }).await
}

async fn fork(
    call: &Call<'_>,
    run: RunId,
    point: ForkPoint,
    key: Option<String>,
) -> Result<runtime::Outcome, ExecuteError> {
    let (actor, request_id) = (call.actor.clone(), call.request_id.clone());
    call.runtime.fork(Fork { run, point, key, actor, request_id }).await
}

/// Takes what a person answered when the client asked.
pub(crate) async fn take_reply(
    call: &Call<'_>,
    run: RunId,
    reply: &GateReply,
) -> Result<runtime::Outcome, ExecuteError> {
    let client = call.actor.client.as_deref().unwrap_or("the client");
    let given = AnswerGate {
        answer: Answer::Named(reply.answer.clone()),
        feedback: reply.feedback.clone(),
        by: PersonsDoor::who(reply.door.as_ref(), client),
        how: PersonsDoor::how(reply.door.as_ref()),
        digest: Some(reply.digest.clone()),
    };
    request(call, Target::Run(run), Command::AnswerGate(Box::new(given)), None).await
}

fn caller(call: &Call<'_>) -> Caller {
    let (root, at) = (call.runtime.settings().root.clone(), call.runtime.now());
    let options = dialects::Options { devworkflow: call.options.devworkflow.settings.clone() };
    Caller { person: call.person.reach(), takes_tasks: call.takes_tasks, root, at, options }
}

/// Returns a run with what is known beside it.
pub(crate) fn snapshot(runtime: &Runtime, view: View) -> Snapshot {
    Snapshot { known: runtime.known(&view), at: runtime.now(), view }
}

fn seen(runtime: &Runtime, view: Result<View, ExecuteError>) -> Result<Snapshot, Stopped> {
    view.map(|it| snapshot(runtime, it)).map_err(stopped)
}

fn stopped(error: ExecuteError) -> Stopped {
    let (code, hint, passes) = (error.code(), error.hint(), error.passes());
    match error {
        ExecuteError::Refused(refusal) => Stopped::Refused(refusal),
        ExecuteError::Store(_) | ExecuteError::Busy { .. } | ExecuteError::Endless => {
            Stopped::Failed(Fault { code, message: error.to_string(), hint, passes })
        }
    }
}
