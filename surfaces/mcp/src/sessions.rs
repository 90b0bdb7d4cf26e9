//! What the server does for sessions on graphs besides answering calls: those that only a file knows
//! are taken in, and those that have been over for long are put away. It also remembers what all of
//! them share.

mod memory;

use std::{ops::Deref, sync::Arc, time::Duration};

use definition::{Form, MemoryFiles, Workflow, parse_graph};
use dialects::{
    devworkflow::{
        graph::{SessionFile, SessionFiles, read_session},
        options::Options as Settings,
    },
    kit::{Tended, Unadopted},
};
use engine::{Actor, Command, Refusal, RunId, RunState, StartRun, Surface, View};
use runtime::{ExecuteError, Request, RunFilter, Runtime, Target, Wanted};

use crate::tool::stopped;

pub use memory::Memory;

/// How often sessions are put away.
const CLEAN_EVERY: Duration = Duration::from_secs(60 * 60);
/// How many runs a page has.
const PAGE: u32 = 100;

/// The settings of dev-workflow, and what the process remembers of sessions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Options {
    pub settings: Arc<Settings>,
    pub memory: Memory,
}

impl Deref for Options {
    type Target = Settings;

    fn deref(&self) -> &Settings {
        &self.settings
    }
}

impl From<Settings> for Options {
    fn from(settings: Settings) -> Self {
        Self { settings: Arc::new(settings), memory: Memory::default() }
    }
}

/// Takes in sessions that only their files know, once in a process, and puts sessions away that
/// have been over for long, once an hour. Nobody's call fails because of it.
pub async fn tend_sessions(runtime: &Runtime, options: &Options) {
    if options.memory.begin_scan() {
        for (name, problem) in take_in(runtime, options, None).await {
            tracing::warn!("session file `{name}` was not taken in: {problem}");
        }
    }
    if options.memory.begin_cleaning(runtime.steady(), CLEAN_EVERY) {
        match clean_up(runtime, options, options.sessions.retention).await {
            Ok(cleaned) => cleaned.problems.iter().for_each(|it| tracing::warn!("{it}")),
            Err(error) => tracing::warn!(%error, "sessions that are over were not put away"),
        }
    }
}

/// Returns a run, and what was noticed of its file. A session that only its file knows is taken in
/// first.
pub(crate) async fn find(
    runtime: &Runtime,
    options: &Options,
    run: RunId,
) -> Result<Option<(View, Vec<String>)>, Unadopted> {
    if let Some(found) = load(runtime, run).await? {
        return Ok(Some(found));
    }
    match take_in(runtime, options, Some(run)).await.into_iter().next() {
        Some((_, problem)) => Err(problem),
        None => load(runtime, run).await,
    }
}

async fn load(runtime: &Runtime, run: RunId) -> Result<Option<(View, Vec<String>)>, Unadopted> {
    match runtime.take_in_run(run).await {
        Ok(found) => Ok(Some(found)),
        Err(ExecuteError::Refused(Refusal::RunUnknown(_))) => Ok(None),
        Err(error) => Err(Unadopted::Stopped(stopped(error))),
    }
}

/// Takes in the sessions of files that no run has, or only this one. Returns those that could not
/// be, and why.
pub(crate) async fn take_in(
    runtime: &Runtime,
    options: &Options,
    only: Option<RunId>,
) -> Vec<(String, Unadopted)> {
    let folder = SessionFiles::new(options).sessions();
    let beginning = only.map(|it| it.to_string()).unwrap_or_default();
    let found = match file_names(runtime, &folder).await {
        Ok(found) => found.into_iter().filter(|it| it.starts_with(&beginning)),
        Err(problem) => return vec![(folder.clone(), Unadopted::Unreadable(folder, problem))],
    };
    let mut failed = Vec::new();
    for name in found {
        let path = format!("{folder}/{name}");
        let taken = match runtime.read_text(&path).await {
            Ok(Some(text)) => {
                adopt_session(runtime, (&name, &text), SessionFiles::key_of(&name)).await.map(drop)
            }
            Ok(None) => Ok(()),
            Err(problem) => Err(Unadopted::Unreadable(name.clone(), problem)),
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

/// Begins a session where its file says that it is. Returns its run, and whether it was begun: one
/// that is there already stays as it is.
pub async fn adopt_session(
    runtime: &Runtime,
    (name, text): (&str, &str),
    stem: Option<String>,
) -> Result<(RunId, bool), Unadopted> {
    let unreadable = |problem: String| Unadopted::Unreadable(name.to_owned(), problem);
    let file = read_session(text).map_err(unreadable)?;
    let run = file.run;
    match runtime.view(run, None).await {
        Ok(_) => return Ok((run, false)),
        Err(ExecuteError::Refused(Refusal::RunUnknown(_))) => {}
        Err(error) => return Err(unreadable(error.to_string())),
    }
    let found = find_definition(runtime, &file)?;
    let workflow = Arc::new(found.map_err(unreadable)?);
    let node = file.placement.stated.as_ref();
    if node.is_none_or(|it| workflow.find_step(it).is_none()) {
        let node = node.map(ToString::to_string).unwrap_or_default();
        return Err(unreadable(format!("its workflow has no node `{node}`")));
    }
    let start = StartRun {
        goes_on: false,
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
    begun.map(|_| (run, true)).map_err(|error| unreadable(error.to_string()))
}

/// Returns the definition that a file brings along, else the one that goes by its name now.
fn find_definition(
    runtime: &Runtime,
    file: &SessionFile,
) -> Result<Result<Workflow, String>, Unadopted> {
    if let Some(yaml) = &file.definition {
        let path = format!("{}/graph.yaml", file.workflow);
        let parts = file.parts.iter();
        let parts = parts.map(|(path, text)| (format!("{}/{path}", file.workflow), text.clone()));
        let files = MemoryFiles(parts.chain([(path.clone(), yaml.clone())]).collect());
        let read = parse_graph(Some(&file.workflow), &path, &files);
        return Ok(read.map(|(workflow, _)| workflow).map_err(|error| error.to_string()));
    }
    let found = runtime.find_workflow(&file.workflow).ok().filter(|it| it.form == Form::Graph);
    found.map(Ok).ok_or_else(|| Unadopted::DefinitionMissing(file.workflow.clone()))
}

/// Puts sessions away that are over, and were not changed for so long. One that cannot be keeps no
/// other from it.
pub(crate) async fn clean_up(
    runtime: &Runtime,
    options: &Options,
    age: Duration,
) -> Result<Tended, ExecuteError> {
    // A wall clock that jumped ahead makes nothing old.
    let now = runtime.now().min(runtime.steady());
    let mut cleaned = Tended::default();
    // A session gave its key up, and its file still has its old name.
    for run in find_broken_off(runtime, options).await {
        // It was put away before; only its file was not.
        note(
            &mut cleaned,
            run,
            put_away(runtime, options, (run, Actor::default())).await.map(|_| 0),
        );
    }
    for (view, _) in find_over(runtime).await? {
        let run = view.state.run;
        if age <= now.since(SessionFiles::changed_at(&view.workflow, &view.state)) {
            let put = put_away(runtime, options, (run, Actor::default())).await;
            note(&mut cleaned, run, put.map(|_| 1));
        }
    }
    Ok(cleaned)
}

fn note(cleaned: &mut Tended, run: RunId, put: Result<usize, ExecuteError>) {
    match put {
        Ok(count) => cleaned.count += count,
        Err(error) => {
            cleaned.problems.push(format!("session `{run}` was not put away: {error}"));
        }
    }
}

/// Returns the sessions that are over and were not put away.
async fn find_over(runtime: &Runtime) -> Result<Vec<(View, Vec<String>)>, ExecuteError> {
    let statuses: Vec<String> =
        ["completed", "failed", "cancelled"].iter().map(|it| (*it).to_owned()).collect();
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let filter =
            RunFilter { statuses: statuses.clone(), after, limit: PAGE, ..RunFilter::default() };
        let page = runtime.list_runs(filter).await?;
        for row in page.rows {
            let key = row.summary.key.as_deref().and_then(SessionFiles::run_of);
            let is_here = row.summary.root == runtime.settings().root;
            if is_here && row.summary.holds_key && key.is_some() {
                let (view, notices) = runtime.take_in_run(row.run).await?;
                found.extend((view.workflow.form == Form::Graph).then_some((view, notices)));
            }
        }
        after = page.next;
        if after.is_none() {
            return Ok(found);
        }
    }
}

/// Returns the sessions that gave their keys up, and whose files still have their old names.
async fn find_broken_off(runtime: &Runtime, options: &Options) -> Vec<RunId> {
    let names = file_names(runtime, &SessionFiles::new(options).sessions()).await;
    let mut found = Vec::new();
    for run in names.unwrap_or_default().iter().filter_map(|it| SessionFiles::run_of(it)) {
        let view = runtime.view(run, None).await;
        if view.is_ok_and(|it| it.workflow.form == Form::Graph && it.state.gave_up_key) {
            found.push(run);
        }
    }
    found
}

/// Puts the file of a session that is over into the archive. Returns the name it has there, if it has
/// one.
pub(crate) async fn put_away(
    runtime: &Runtime,
    options: &Options,
    (run, actor): (RunId, Actor),
) -> Result<Option<String>, ExecuteError> {
    let files = SessionFiles::new(options);
    let name = runtime.put_away(run, actor, |state: &RunState| files.archived(state)).await?;
    Ok(name.map(|it| files.shown(&it)))
}
