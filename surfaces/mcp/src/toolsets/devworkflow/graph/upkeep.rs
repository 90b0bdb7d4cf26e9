//! What is done for sessions besides answering calls: those that only a file knows are taken in, and
//! those that have been over for long are put away.

use std::{sync::Arc, time::Duration};

use definition::{Form, MemoryFiles, Workflow, parse_graph};
use engine::{Actor, Command, Refusal, RunId, RunState, StartRun, Surface};
use runtime::{ExecuteError, Request, Runtime, Target, Wanted};

use super::{
    files::{SessionFile, SessionFiles, read_session},
    session::{self, Which},
    words::{self, Status},
};
use crate::{tool::Call, toolsets::devworkflow::options::Options};

/// How often sessions are put away.
const CLEAN_EVERY: Duration = Duration::from_secs(60 * 60);

/// Does what is due. Nobody's call fails because of it.
pub(super) async fn look_after(call: &Call<'_>) {
    // Its commits are not those of the call.
    tend_sessions(&call.runtime.apart(), session::options(call)).await;
}

/// Takes in sessions that only their files know, once in a process, and puts sessions away that
/// have been over for long, once an hour.
pub async fn tend_sessions(runtime: &Runtime, options: &Options) {
    if options.memory.begin_scan() {
        for (name, problem) in take_in(runtime, options, None).await {
            tracing::warn!("session file `{name}` was not taken in: {problem}");
        }
    }
    if options.memory.begin_cleaning(runtime.steady(), CLEAN_EVERY) {
        match clean_up(runtime, options, options.sessions.retention).await {
            Ok(cleaned) => cleaned.failed.iter().for_each(|it| tracing::warn!("{it}")),
            Err(error) => tracing::warn!(%error, "sessions that are over were not put away"),
        }
    }
}

/// Takes in the sessions of files that no run has, or only this one. Returns those that could not
/// be, and why.
pub(super) async fn take_in(
    runtime: &Runtime,
    options: &Options,
    only: Option<RunId>,
) -> Vec<(String, Unadopted)> {
    let folder = SessionFiles::new(options).sessions();
    let beginning = only.map(|it| it.to_string()).unwrap_or_default();
    let found = match file_names(runtime, &folder).await {
        Ok(found) => found.into_iter().filter(|it| it.starts_with(&beginning)),
        Err(problem) => return vec![(folder, Unadopted::Unreadable(problem))],
    };
    let mut failed = Vec::new();
    for name in found {
        let path = format!("{folder}/{name}");
        let taken = match runtime.read_text(&path).await {
            Ok(Some(text)) => {
                adopt_session(runtime, &text, SessionFiles::key_of(&name)).await.map(drop)
            }
            Ok(None) => Ok(()),
            Err(problem) => Err(Unadopted::Unreadable(problem)),
        };
        if let Err(problem) = taken {
            failed.push((name, problem));
        }
    }
    failed
}

/// Returns the names of the sessions' files that were not put away. It is always the same ones that
/// are wanted of the folder: anyone who watches it remembers by the folder alone.
async fn file_names(runtime: &Runtime, folder: &str) -> Result<Vec<String>, String> {
    let wanted: Wanted = Arc::new(|name| SessionFiles::key_of(name).is_some());
    Ok(runtime.list_names(folder, wanted).await?.unwrap_or_default())
}

/// Why no session was begun from a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unadopted {
    /// The file does not have it, and nothing goes by its name.
    #[error("the definition of workflow `{0}` is missing")]
    DefinitionMissing(String),
    #[error("{0}")]
    Unreadable(String),
}

/// Begins a session where its file says that it is. Returns its run, and whether it was begun: one
/// that is there already stays as it is.
pub async fn adopt_session(
    runtime: &Runtime,
    text: &str,
    stem: Option<String>,
) -> Result<(RunId, bool), Unadopted> {
    let file = read_session(text).map_err(Unadopted::Unreadable)?;
    let run = file.run;
    match runtime.view(run, None).await {
        Ok(_) => return Ok((run, false)),
        Err(ExecuteError::Refused(Refusal::RunUnknown(_))) => {}
        Err(error) => return Err(unreadable(&error)),
    }
    let workflow = Arc::new(find_definition(runtime, &file)?);
    let node = file.placement.stated.as_ref();
    if node.is_none_or(|it| workflow.find_step(it).is_none()) {
        let node = node.map(ToString::to_string).unwrap_or_default();
        return Err(Unadopted::Unreadable(format!("its workflow has no node `{node}`")));
    }
    let start = StartRun {
        key: Some(stem.unwrap_or(file.stem)),
        flow: None,
        context: file.context,
        vars: serde_json::Map::new(),
        root: runtime.settings().root.clone(),
    };
    let request = Request {
        target: Target::Given(workflow, run),
        command: Command::AdoptRun(Box::new(start), Box::new(file.placement)),
        actor: Actor { surface: Surface::File, ..Actor::default() },
        request_id: None,
    };
    let begun = runtime.execute(request).await;
    begun.map(|_| (run, true)).map_err(|error| unreadable(&error))
}

fn unreadable(problem: &dyn std::fmt::Display) -> Unadopted {
    Unadopted::Unreadable(problem.to_string())
}

/// Returns the definition that a file brings along, else the one that goes by its name now.
fn find_definition(runtime: &Runtime, file: &SessionFile) -> Result<Workflow, Unadopted> {
    if let Some(yaml) = &file.definition {
        let path = format!("{}/graph.yaml", file.workflow);
        let parts = file.parts.iter();
        let parts = parts.map(|(path, text)| (format!("{}/{path}", file.workflow), text.clone()));
        let files = MemoryFiles(parts.chain([(path.clone(), yaml.clone())]).collect());
        let read = parse_graph(Some(&file.workflow), &path, &files);
        return read.map(|(workflow, _)| workflow).map_err(|error| unreadable(&error));
    }
    let found = runtime.find_workflow(&file.workflow).ok().filter(|it| it.form == Form::Graph);
    found.ok_or_else(|| Unadopted::DefinitionMissing(file.workflow.clone()))
}

/// What became of putting sessions away.
#[derive(Debug, Default)]
pub(super) struct Cleaned {
    pub(super) count: usize,
    /// The sessions that could not be, and why.
    pub(super) failed: Vec<String>,
}

impl Cleaned {
    fn add(&mut self, run: RunId, put: Result<Option<String>, ExecuteError>) {
        match put {
            Ok(_) => self.count += 1,
            Err(error) => self.failed.push(format!("session `{run}` was not put away: {error}")),
        }
    }
}

/// Puts sessions away that ended well or failed, and were not changed for so long. One that cannot
/// be keeps no other from it.
pub(super) async fn clean_up(
    runtime: &Runtime,
    options: &Options,
    age: Duration,
) -> Result<Cleaned, ExecuteError> {
    // A wall clock that jumped ahead makes nothing old.
    let now = runtime.now().min(runtime.steady());
    let mut cleaned = finish(runtime, options).await;
    for found in session::list(runtime, options, Which::Over).await? {
        let changed = words::find_moment(&found.record.last_updated);
        if age <= now.since(changed.unwrap_or(found.view.state.updated_at)) {
            cleaned.add(found.run(), put_away(runtime, options, found.run()).await);
        }
    }
    Ok(cleaned)
}

/// Finishes what was broken off: a session gave its key up, and its file still has its old name.
async fn finish(runtime: &Runtime, options: &Options) -> Cleaned {
    let mut cleaned = Cleaned::default();
    let names = file_names(runtime, &SessionFiles::new(options).sessions()).await;
    for name in names.unwrap_or_default() {
        let Some(run) = RunId::parse(words::session_of(&name)) else { continue };
        let view = runtime.view(run, None).await;
        if view.is_ok_and(|it| it.workflow.form == Form::Graph && it.state.gave_up_key) {
            cleaned.add(run, put_away(runtime, options, run).await);
        }
    }
    // They were put away before; only their files were not.
    Cleaned { count: 0, ..cleaned }
}

/// Puts a session that is over into the archive. Returns the name it has there, if it has one.
pub(super) async fn put_away(
    runtime: &Runtime,
    options: &Options,
    run: RunId,
) -> Result<Option<String>, ExecuteError> {
    let is_archived = options.sessions.archiving;
    let name = move |state: &RunState| {
        let status = words::ended(&state.standing).unwrap_or(Status::Cancelled);
        let stem = state.key().unwrap_or_default();
        // It is the time at which the key was given up, whenever the file gets its name.
        let name = words::archived(stem, status.word(), state.updated_at);
        is_archived.then(|| SessionFiles::placed(&name))
    };
    options.memory.forget(&run.to_string());
    let name = runtime.put_away(run, Actor::default(), name).await?;
    Ok(name.map(|it| format!("{}/{it}.json", options.directory)))
}
