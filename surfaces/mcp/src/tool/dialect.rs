//! The one loop that all dialects share: read, take in, ask, execute, word.
//!
//! A tool of a dialect is pure. What it wants to see is looked up here, and the one thing that it
//! wants done goes through [`Runtime::execute`]. Before a tool sees a run that has a file, the loop
//! takes in what others wrote into it. That is a step of the server's own, and no effect of the
//! tool: a tool that only looks is marked as reading.

use std::{sync::Arc, time::Duration};

use definition::Workflow;
use dialects::{
    core,
    kit::{
        Also, Ask, Asking, Await, Begin, Beside, Caller, Deed, Entry, Fault, Look, NotBegun,
        Outcome, Reply, Reports, Second, Sent, Snapshot, Stopped, Tell, Tended, Text, Upkeep,
    },
};
use engine::{
    Actor, Answer, AnswerGate, Command, ForkPoint, Refusal, RunFile, RunId, Standing, View,
};
use runtime::{ExecuteError, Fork, Hearing, Identity, Request, Runtime, Target};
use serde_json::{Map, Value};

use super::{
    Call, GateReply, Person,
    files::Reach,
    repeat::{self, Answering, Opened},
};
use crate::{server::PersonsDoor, sessions, toolsets::brief_of};

/// How often the file of a run is looked at while a person is waited for.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Calls a tool of a dialect with arguments of any shape.
pub(super) async fn run(
    call: &Call<'_>,
    entry: Entry,
    arguments: Map<String, Value>,
    shape: &Value,
) -> Reply {
    let (runtime, hearing) = call.runtime.hear();
    let call = &Call { runtime: &runtime, ..call.clone() };
    let read = entry.read(shape, arguments);
    let id = repeat::find_id(call, shape, &read.taken);
    let (reports, warnings) = (read.reports, read.warnings);
    let asking = match read.asking {
        Ok(asking) => asking,
        Err(said) => return said.reply(warnings),
    };
    let content = || repeat::content(entry.name, &read.taken);
    let reported = async { find_reported(call, reports?).await };
    let identity = repeat::identify(call, entry.hints, id.clone(), content, reported).await;
    let opened = match identity {
        Ok(Identity::Known(known)) => repeat::open(call, known).await,
        Ok(Identity::Stale) => {
            let call = Call { is_stale: true, ..call.clone() };
            return make((&call, &hearing), asking, warnings).await;
        }
        Ok(Identity::None) => return make((call, &hearing), asking, warnings).await,
        Err(error) => Err(error),
    };
    match opened {
        Ok(Opened::Kept(reply)) => reply,
        Ok(Opened::New(runtime)) => {
            let call = Call { runtime: &runtime, request_id: id, ..call.clone() };
            repeat::keep(&call, make((&call, &hearing), asking, warnings).await).await
        }
        Err(error) => {
            let reply = entry.unasked(stopped(error)).reply(warnings);
            repeat::tell(call, &hearing, reply)
        }
    }
}

/// Finds the run of an action that is reported, as it is now.
async fn find_reported(call: &Call<'_>, reports: Reports) -> Option<Answering> {
    let Reports { workflow, key, action } = reports;
    let key = key(&caller(call))?;
    let (view, _) = call.runtime.take_in_file(workflow, &key).await.ok()??;
    Some(Answering { view, action })
}

/// Answers everything that a tool asks for, until it answers.
async fn make(
    (call, hearing): (&Call<'_>, &Hearing),
    asking: Asking,
    warnings: Vec<String>,
) -> Reply {
    let caller = caller(call);
    let reach = Reach { runtime: call.runtime, caller: &caller };
    let mut ask = asking(&caller);
    let mut tell = loop {
        ask = match ask {
            Ask::Look(it) => look(call, &reach, it).await,
            Ask::Do(deed, then) => break then(execute(call, deed).await.map_err(stopped)),
            Ask::Both(first, second, then) => {
                break then(execute_both(call, first, second).await.map_err(stopped));
            }
            Ask::Also(deed, also, then) => {
                break then(execute_also(call, &reach, deed, also).await.map_err(stopped));
            }
            Ask::Await(it, then) => break then(execute_await(call, it).await.map_err(stopped)),
            Ask::Tend(upkeep, then) => break then(tend(call, upkeep).await.map_err(stopped)),
            Ask::Begin(it, then) => break then(begin(call, &reach, *it).await),
            Ask::Write(write, then) => break then(reach.write(write).await),
            Ask::Make(workflow, path, text, then) => {
                break then(call.runtime.make_beside(workflow, &path, text).await);
            }
            Ask::Tell(tell) => break tell,
        };
    };
    loop {
        tell = match tell {
            Tell::Look(it) => look(call, &reach, it).await,
            Tell::Say(said) => return repeat::tell(call, hearing, said.reply(warnings)),
        };
    }
}

/// Looks, and goes on with what is seen.
async fn look<N: Send + 'static>(call: &Call<'_>, reach: &Reach<'_>, look: Look<N>) -> N {
    let (runtime, sessions) = (call.runtime, &call.options.devworkflow);
    match look {
        Look::Run(text, then) => then(runtime.find_run(&text).await.map_err(stopped)),
        Look::File(workflow, keys, then) => then(take_in(runtime, workflow, keys).await),
        Look::Live(workflow, keys, then) => then(live_first(runtime, workflow, keys).await),
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
            let words = core::words_for(call.person.reach());
            let brief = brief_of(runtime, &view, tokens, &words).await;
            then(brief.map(|it| it.0.text).map_err(stopped))
        }
        Look::Runs(filter, then) => then(runtime.list_runs(filter).await.map_err(stopped)),
        Look::Keyed(filter, then) => then(runtime.list_keyed(filter).await.map_err(stopped)),
        Look::Survey(workflow, folders, page, then) => {
            let (taken, page) =
                tokio::join!(runtime.take_in_changed(workflow, &folders), runtime.list_keyed(page));
            then(taken.and_then(|taken| Ok((taken, page?))).map_err(stopped))
        }
        Look::Search(text, run, page, then) => {
            then(runtime.search(&text, run, page).await.map_err(stopped))
        }
        Look::Workflows(then) => then(runtime.list_cards()),
        Look::Sessions(filter, then) => {
            sessions::tend_sessions(&runtime.apart(), sessions).await;
            then(runtime.list_runs(filter).await.map_err(stopped))
        }
        Look::Session(run, then) => {
            sessions::tend_sessions(&runtime.apart(), sessions).await;
            let found = sessions::find(runtime, sessions, run).await;
            then(found.map(|it| it.map(|(view, notices)| (snapshot(runtime, view), notices))))
        }
        Look::Trial(view, command, then) => then(runtime.find_refusal(&view, &command).await),
        Look::Shown(view, then) => {
            runtime.note_seen(&view).await;
            then(())
        }
        Look::NewRun(then) => then(runtime.new_run()),
        Look::Folder(folder, then) => {
            let found = runtime.find_graphs(&folder).await;
            if found.is_ok() {
                sessions.memory.keep_folder(folder);
            }
            then(found)
        }
        Look::Library(usual, then) => then(find_library(call, usual).await),
        Look::Listed(name, then) => then(runtime.find_listed(&name)),
        Look::Shipped(then) => then(runtime.list_workflows().0),
        Look::Graph(path, then) => then(runtime.read_graph(&path).await),
        Look::Index(indexing, then) => then(sessions.memory.index(indexing)),
        Look::Workflow(name, then) => then(runtime.find_workflow(name)),
        Look::Files(files) => reach.look(files).await,
    }
}

/// Returns the graphs of a folder, then those of the folder that was last looked through. The first
/// of a name counts.
async fn find_library(call: &Call<'_>, usual: String) -> Vec<(String, Workflow)> {
    let last = call.options.devworkflow.memory.folder().filter(|it| *it != usual);
    let mut known: Vec<(String, Workflow)> = Vec::new();
    for folder in std::iter::once(usual).chain(last) {
        let found = call.runtime.find_graphs(&folder).await.ok().flatten().unwrap_or_default();
        for (file, workflow) in found.graphs {
            if !known.iter().any(|(_, it)| it.name == workflow.name) {
                known.push((format!("{folder}/{file}"), workflow));
            }
        }
    }
    known
}

/// Looks after sessions.
async fn tend(call: &Call<'_>, upkeep: Upkeep) -> Result<Tended, ExecuteError> {
    let (runtime, options) = (call.runtime, &call.options.devworkflow);
    sessions::tend_sessions(&runtime.apart(), options).await;
    match upkeep {
        Upkeep::TakeIn => {
            let failed = sessions::take_in(runtime, options, None).await;
            let problems = failed.into_iter().map(|(file, problem)| format!("`{file}`: {problem}"));
            Ok(Tended { count: 0, problems: problems.collect() })
        }
        Upkeep::PutAway(age) => sessions::clean_up(runtime, options, age).await,
    }
}

/// Takes in the first of these files that is there, and returns its run.
async fn take_in(
    runtime: &Runtime,
    workflow: &str,
    keys: Vec<String>,
) -> Result<Option<(Snapshot, RunFile)>, Stopped> {
    for key in keys {
        if let Some((view, file)) = runtime.take_in_file(workflow, &key).await.map_err(stopped)? {
            return Ok(Some((snapshot(runtime, view), file)));
        }
    }
    Ok(None)
}

/// Has a deed done, and another run changed if that calls for it. What was done stays done, also where
/// the rest fails.
async fn execute_both(
    call: &Call<'_>,
    first: Deed,
    (run, second): (RunId, Second),
) -> Result<Outcome, ExecuteError> {
    let mut outcome = execute(call, first).await?;
    let Some(command) = second(&outcome) else { return Ok(outcome) };
    match request(call, Target::Run(run), command, None).await {
        Ok(other) => outcome.other = Some(Box::new(done(call.runtime, other))),
        Err(error) => outcome.notices.push(format!("run `{run}` was not told of it: {error}")),
    }
    Ok(outcome)
}

/// Puts the first of these keys whose run goes on before the others.
async fn live_first(
    runtime: &Runtime,
    workflow: &str,
    mut keys: Vec<String>,
) -> Result<Vec<String>, Stopped> {
    for (at, key) in keys.iter().enumerate() {
        if runtime.find_live(workflow, key).await.map_err(stopped)? {
            keys.swap(0, at);
            break;
        }
    }
    Ok(keys)
}

/// Has a deed done, and a file written if that calls for it.
async fn execute_also(
    call: &Call<'_>,
    reach: &Reach<'_>,
    deed: Deed,
    also: Also,
) -> Result<Outcome, ExecuteError> {
    let mut outcome = execute(call, deed).await?;
    if let Some(write) = also(&outcome) {
        outcome.unwritten = reach.write(write).await.err();
    }
    Ok(outcome)
}

/// Has a run changed on which a person is asked something; again once they have answered it. Says
/// whether the time was over before.
async fn execute_await(call: &Call<'_>, wait: Await) -> Result<(Outcome, bool), ExecuteError> {
    let Await { run, command, workflow, key, asked, patience } = wait;
    let change = || request(call, Target::Run(run), (*command).clone(), None);
    let asks = |it: &View| it.state.standing.open_gate().is_some_and(|gate| gate.digest == asked);
    let mut outcome = done(call.runtime, change().await?);
    if !asks(&outcome.now.view) {
        return Ok((outcome, false));
    }
    let end = call.runtime.steady().after(patience);
    while asks(&outcome.now.view) {
        let left = end.since(call.runtime.steady());
        if left.is_zero() {
            return Ok((outcome, true));
        }
        let length = outcome.now.view.state.length;
        call.runtime.wait(run, length, left.min(LOOK_EVERY)).await?;
        let Some((view, file)) = call.runtime.take_in_file(workflow, &key).await? else {
            break;
        };
        outcome.now = snapshot(call.runtime, view);
        outcome.notices.extend(file.notices);
    }
    if outcome.now.view.state.standing != Standing::Running {
        return Ok((outcome, false));
    }
    let mut again = done(call.runtime, change().await?);
    let earlier = outcome.file.into_iter().flat_map(|it| it.notices).chain(outcome.notices);
    again.notices.splice(0..0, earlier);
    Ok((again, false))
}

/// Has a deed done.
async fn execute(call: &Call<'_>, deed: Deed) -> Result<Outcome, ExecuteError> {
    let outcome = match deed {
        Deed::Start { workflow, start } => {
            request(call, Target::New(workflow), Command::StartRun(start), None).await?
        }
        Deed::StartWith { workflow, start, command } => {
            let key = start.key.clone().unwrap_or_default();
            let all = Command::All(vec![Command::StartRun(start), (*command).clone()]);
            match request(call, Target::New(workflow.clone()), all, None).await {
                Err(ExecuteError::Refused(Refusal::KeyTaken { .. })) => {
                    let found = call.runtime.take_in_file(&workflow, &key).await?;
                    let (view, _) = found.ok_or(Refusal::RunUnknown(key))?;
                    request(call, Target::Run(view.state.run), *command, None).await?
                }
                done => done?,
            }
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
                return Err(Refusal::GateNotOpen.into());
            }
        },
        Deed::Begin { workflow, run, start } => {
            let (target, command) = (Target::Given(workflow, run), Command::StartRun(start));
            let (actor, request_id) = (call.actor.clone(), None);
            call.runtime.execute(Request { target, command, actor, request_id }).await?
        }
        Deed::Replace { run, command, aside, workflow, start } => {
            if let Some(command) = command {
                request(call, Target::Run(run), *command, None).await?;
            }
            call.runtime.put_away(run, call.actor.clone(), |_| Some(aside)).await?;
            request(call, Target::New(workflow), Command::StartRun(start), None).await?
        }
        Deed::PutAway { run, command } => return put_away(call, run, command).await,
    };
    Ok(done(call.runtime, outcome))
}

/// Changes a session so that it is over, and puts its file away.
async fn put_away(
    call: &Call<'_>,
    run: RunId,
    command: Option<Box<Command>>,
) -> Result<Outcome, ExecuteError> {
    let outcome = match command {
        Some(command) => request(call, Target::Run(run), *command, None).await?,
        None => request(call, Target::Run(run), Command::GiveUpKey, None).await?,
    };
    let options = &call.options.devworkflow;
    let name = sessions::put_away(call.runtime, options, (run, call.actor.clone())).await?;
    let notices = outcome.file.as_ref().map(|it| it.notices.clone()).unwrap_or_default();
    let file = name.map(|path| RunFile { path, text: String::new(), notices });
    Ok(Outcome { file, ..done(call.runtime, outcome) })
}

fn done(runtime: &Runtime, outcome: runtime::Outcome) -> Outcome {
    let runtime::Outcome { view, events, file, chores, notes, halted } = outcome;
    let (now, notices, undone) = (snapshot(runtime, view), chores.warnings, chores.failure);
    Outcome { notices, notes, halted, undone, ..Outcome::new(now, events, file) }
}

/// Begins a run that works from a file. The file goes first: a run without it could not be worked on.
async fn begin(call: &Call<'_>, reach: &Reach<'_>, begin: Begin) -> Result<Outcome, NotBegun> {
    let Begin { deed, file, besides } = begin;
    let (folder, path) = (file.folder.clone(), file.path.clone());
    if let (Deed::Start { workflow, start }, Text::Whole(text)) = (&deed, &file.text) {
        let rehearsed = call.runtime.rehearse_start(workflow, start, (&path, text)).await;
        rehearsed.map_err(|it| NotBegun::Stopped(stopped(it)))?;
    }
    let was_there = reach.has(&folder, &path).await;
    reach.write(file).await.map_err(NotBegun::Unwritten)?;
    if let Some(write) = besides
        && let Err(problem) = reach.write(write).await
    {
        tracing::warn!("a file beside a new run could not be changed: {problem}");
    }
    let begun = execute(call, deed).await;
    let is_taken = matches!(begun, Err(ExecuteError::Refused(Refusal::KeyTaken { .. })));
    if begun.is_err() && !was_there && !is_taken {
        // What was not begun has no request. If it stays, it is only in the way.
        reach.remove(&folder, &path).await.ok();
    }
    begun.map_err(|it| NotBegun::Stopped(stopped(it)))
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
    let settle = Command::SettleRun { goes_on: true };
    request(call, Target::Copy(Fork { run, point, key }), settle, None).await
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

/// Returns who calls, as a dialect sees it.
fn caller(call: &Call<'_>) -> Caller {
    let (root, at) = (call.runtime.settings().root.clone(), call.runtime.now());
    let options = dialects::Options {
        devworkflow: Arc::clone(&call.options.devworkflow.settings),
        forge: Arc::clone(&call.options.forge),
    };
    Caller {
        person: call.person.reach(),
        takes_tasks: call.takes_tasks,
        root,
        at,
        changed: call.runtime.find_changed_before(),
        bounds: call.runtime.settings().bounds,
        sent: match call.is_stale {
            true => Sent::Late,
            false if call.runtime.is_repeating() => Sent::Again,
            false => Sent::First,
        },
        options,
    }
}

/// Returns a run with what is known beside it.
pub(crate) fn snapshot(runtime: &Runtime, view: View) -> Snapshot {
    Snapshot { known: runtime.known(&view), at: runtime.now(), view }
}

fn seen(runtime: &Runtime, view: Result<View, ExecuteError>) -> Result<Snapshot, Stopped> {
    view.map(|it| snapshot(runtime, it)).map_err(stopped)
}

pub(crate) fn stopped(error: ExecuteError) -> Stopped {
    let (code, hint, passes) = (error.code(), error.hint(), error.passes());
    match error {
        ExecuteError::Refused(refusal) => Stopped::Refused(refusal),
        ExecuteError::Store(_) | ExecuteError::Busy { .. } | ExecuteError::Endless => {
            Stopped::Failed(Fault { code, message: error.to_string(), hint, passes })
        }
    }
}
