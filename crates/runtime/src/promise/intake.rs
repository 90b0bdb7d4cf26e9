//! Takes in what others wrote into files, and begins runs from files that have none.
//!
//! Taking in is a command of the server's own (`TakeEdit`, `AdoptRun`). A caller that only reads
//! has the file taken in first, and then reads.

mod elsewhere;
mod sorting;
mod unseen;

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use definition::{Digest, Workflow};
use engine::{Actor, Command, Refusal, RunId, StartRun, Surface};
use futures_util::future::join_all;
use serde_json::Map;
use store::{FileMark, Filter, Order, Row};

use self::sorting::Sorted;
use super::{Marks, corrupt, place, shown, unreadable};
use crate::{
    ExecuteError, Place, Projection, Request, RunFile, Runtime, Stat, Taken, Target, Unreadable,
    Unseen, View, fault,
};

/// How many files are taken in at the same time, so that they share commits.
const TOGETHER: usize = 64;

/// What earlier scans found. Only ever a shortcut.
#[derive(Default)]
pub(crate) struct Scanned {
    /// What is known of files, and at which position of all logs.
    marks: Option<(u64, Arc<Marks>)>,
    /// Files that could not be read, as they were then.
    unreadable: BTreeMap<String, (Stat, String)>,
    /// Files that no run was begun from, as they were then.
    unseen: BTreeMap<String, (Stat, Unseen)>,
    /// Whether the root of a run is the one here, which never changes.
    is_here: HashMap<RunId, bool>,
}

impl Runtime {
    /// Takes in the file of the newest run of `workflow` in this folder with this key, and begins a
    /// run where there is only the file. Returns the run and its file as they are then.
    pub async fn take_in_file(
        &self,
        workflow: &str,
        key: &str,
    ) -> Result<Option<(View, RunFile)>, ExecuteError> {
        if let Some(view) = self.find_holder(workflow, key).await? {
            let root = view.state.root().to_owned();
            if self.pinned(view.state.run).is_some() {
                let file = self.file_then(&view);
                return Ok(file.map(|file| (view, file)));
            }
            let left = self.finish_left(&view).await;
            return match self.sync(view).await? {
                (view, Some(mut file)) => {
                    file.notices.extend(left);
                    // What was taken in may have other files changed.
                    file.notices.extend(self.finish_left(&view).await);
                    Ok(Some((view, file)))
                }
                (view, None) if view.state.gave_up_key || self.is_over_with_file(workflow, key) => {
                    Ok(None)
                }
                (_, None) => Err(Refusal::WorkspaceNotHere { root }.into()),
            };
        }
        if self.is_before_beginning() {
            // A file that is there is one that this call wrote.
            return Ok(None);
        }
        let Some(projection) = self.find_projection(workflow) else { return Ok(None) };
        let (Some(path), Some(file_system)) = (projection.path(key), self.world.file_system())
        else {
            return Ok(None);
        };
        let place = place(&**projection, self.root_for(workflow), path);
        let name = shown(&**projection, &place.path);
        if file_system.stat(&place).await == Ok(None) {
            return Ok(None);
        }
        // Anyone who moves it away is waited for.
        let held = file_system.lock(&place).await.ok();
        let read = file_system.read(&place).await.map_err(|problem| unreadable(&name, problem))?;
        let Some((bytes, stat)) = read else { return Ok(None) };
        let definition = self.find_to_begin(workflow)?;
        let adopted = self.adopt(&**projection, &definition, &place, (bytes, stat)).await;
        drop(held);
        match adopted {
            Ok(run) => self.file_of(run).await.map(Some),
            // Someone else did, at the same moment.
            Err(ExecuteError::Refused(Refusal::KeyTaken { .. })) => {
                match self.find_holder(workflow, key).await? {
                    Some(view) => self.file_of(view.state.run).await.map(Some),
                    None => Ok(None),
                }
            }
            Err(error) => Err(error),
        }
    }

    /// Takes in the file of a run. Returns the run as it is then, and what was noticed.
    pub async fn take_in_run(&self, run: RunId) -> Result<(View, Vec<String>), ExecuteError> {
        let view = self.load(run).await?;
        let (view, file) = self.sync(view).await?;
        let is_owed = view.state.standing.is_live() && self.path_shown(&view).is_some();
        if file.is_none() && is_owed {
            return Err(Refusal::WorkspaceNotHere { root: view.state.root().to_owned() }.into());
        }
        Ok((view, file.map(|it| it.notices).unwrap_or_default()))
    }

    fn is_over_with_file(&self, workflow: &str, key: &str) -> bool {
        self.find_projection(workflow).is_some_and(|it| !it.outlives_file(key))
    }

    async fn file_of(&self, run: RunId) -> Result<(View, RunFile), ExecuteError> {
        let view = self.load(run).await?;
        let (view, file) = self.sync(view).await?;
        let root = view.state.root().to_owned();
        let file = file.ok_or(Refusal::WorkspaceNotHere { root })?;
        Ok((view, file))
    }

    /// Returns the newest run of `workflow` in this folder with this key.
    pub async fn find_newest(
        &self,
        workflow: &str,
        key: &str,
    ) -> Result<Option<RunId>, ExecuteError> {
        let filter = Filter {
            project: Some(self.settings.project.clone()),
            workflow: Some(workflow.to_owned()),
            root: Some(self.root_for(workflow).to_owned()),
            key: Some(key.to_owned()),
            is_newest_of_key: true,
            limit: 1,
            ..Filter::default()
        };
        let is_there = |it: &Row| self.pinned(it.run) != Some(0);
        let newest = self.store.list(filter.clone()).await.map_err(fault)?.rows;
        if newest.iter().all(is_there) {
            return Ok(newest.first().map(|it| it.run));
        }
        // The call that is made again began the newest: it looks for the one before.
        let all = Filter { is_newest_of_key: false, order: Order::Started, limit: 100, ..filter };
        let rows = self.store.list(all).await.map_err(fault)?.rows;
        Ok(rows.iter().find(|it| is_there(it)).map(|it| it.run))
    }

    /// Returns the newest run with this key, unless it gave the key up.
    pub(super) async fn find_holder(
        &self,
        workflow: &str,
        key: &str,
    ) -> Result<Option<View>, ExecuteError> {
        let Some(run) = self.find_newest(workflow, key).await? else { return Ok(None) };
        let view = self.load(run).await?;
        Ok((!view.state.gave_up_key).then_some(view))
    }

    /// Returns whether a run with this key goes on.
    pub async fn find_live(&self, workflow: &str, key: &str) -> Result<bool, ExecuteError> {
        let holder = self.find_holder(workflow, key).await?;
        Ok(holder.is_some_and(|it| it.state.standing.is_live()))
    }

    /// Takes in every file of `workflow` right in one of these folders: begins a run from each that
    /// has none, and brings the others into step. `progress` is told how many are done, of how
    /// many.
    pub async fn take_in_files(
        &self,
        workflow: &str,
        folders: &[String],
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<Taken, ExecuteError> {
        let (Some(projection), Some(file_system)) =
            (self.find_projection(workflow), self.world.file_system())
        else {
            return Ok(Taken::default());
        };
        let marks = self.marks(workflow).await?;
        let found = self.find_files(projection, file_system, folders).await;
        let mut sorted = self.sort_out(projection, &marks, found, folders);
        sorted.new.extend(sorted.unseen.drain(..).map(|(path, _)| path));
        self.take_in(&**projection, sorted, progress).await
    }

    /// Brings the runs into step whose files changed, and begins one from each file that is new.
    async fn take_in(
        &self,
        projection: &dyn Projection,
        sorted: Sorted,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<Taken, ExecuteError> {
        let mut taken = Taken {
            known: sorted.known,
            unreadable: sorted.unreadable,
            has_changed: !sorted.new.is_empty() || !sorted.moved.is_empty(),
            ..Taken::default()
        };
        let total = sorted.new.len() + sorted.moved.len();
        if total == 0 {
            return Ok(taken);
        }
        let mut moved = 0;
        for runs in sorted.moved.chunks(TOGETHER) {
            let working = runs.iter().map(|(run, _)| self.file_of(*run));
            for ((_, path), done) in runs.iter().zip(join_all(working).await) {
                match done {
                    Ok((_, file)) => {
                        taken.notices.extend(file.notices);
                        taken.known.push(path.clone());
                    }
                    Err(ExecuteError::Refused(_)) => taken.known.push(path.clone()),
                    Err(error) => return Err(error),
                }
            }
            moved += runs.len();
            progress(moved, total);
        }
        let done = |done| progress(moved + done, total);
        self.begin_all(projection, &sorted.new, &mut taken, &done).await?;
        Ok(taken)
    }

    async fn begin_all(
        &self,
        projection: &dyn Projection,
        new: &[String],
        taken: &mut Taken,
        progress: &(dyn Fn(usize) + Sync),
    ) -> Result<(), ExecuteError> {
        let definition = self.find_to_begin(projection.workflow())?;
        let mut done = 0;
        for paths in new.chunks(TOGETHER) {
            let working = paths.iter().map(|it| self.begin_one(projection, &definition, it));
            for (path, begun) in paths.iter().zip(join_all(working).await) {
                done += 1;
                match begun {
                    Ok(true) => taken.begun.push(path.clone()),
                    Ok(false) => taken.known.push(path.clone()),
                    Err(ExecuteError::Refused(refusal)) => {
                        taken.unreadable.push(because(shown(projection, path), &refusal));
                    }
                    Err(error) => return Err(error),
                }
            }
            progress(done);
        }
        taken.unreadable.sort_by(|one, two| one.path.cmp(&two.path));
        Ok(())
    }

    /// Begins a run from a file, unless there is one.
    async fn begin_one(
        &self,
        projection: &dyn Projection,
        definition: &Arc<Workflow>,
        path: &str,
    ) -> Result<bool, ExecuteError> {
        let Some(file_system) = self.world.file_system() else { return Ok(false) };
        if let Some(key) = projection.key(path)
            && let Some(view) = self.find_holder(projection.workflow(), &key).await?
        {
            let (view, file) = self.file_of(view.state.run).await?;
            self.keep_untold(view.state.run, file.notices);
            return Ok(false);
        }
        let root = self.root_for(projection.workflow());
        let place = place(projection, root, path.to_owned());
        let name = shown(projection, path);
        let read = file_system.read(&place).await.map_err(|problem| unreadable(&name, problem))?;
        let Some((bytes, stat)) = read else { return Ok(false) };
        let adopted = self.adopt(projection, definition, &place, (bytes, stat)).await;
        if let Err(ExecuteError::Refused(refusal)) = &adopted
            && let Some(problem) = refusal.problem()
        {
            self.note_unreadable(path, stat, problem);
        }
        match adopted {
            Err(ExecuteError::Refused(Refusal::KeyTaken { .. })) => Ok(false),
            adopted => adopted.map(|_| true),
        }
    }

    /// Begins a run from what a file says.
    async fn adopt(
        &self,
        projection: &dyn Projection,
        definition: &Arc<Workflow>,
        place: &Place,
        (bytes, stat): (Vec<u8>, Stat),
    ) -> Result<RunId, ExecuteError> {
        let name = shown(projection, &place.path);
        let (run, length, text) =
            self.begin_with(projection, definition, &place.path, (&name, bytes)).await?;
        let mark = FileMark {
            path: place.path.clone(),
            owed: length,
            written: length,
            sha256: Digest::of(text.as_bytes()).as_str().to_owned(),
            size: stat.size,
            modified: stat.modified,
        };
        self.note(run, mark);
        Ok(run)
    }

    /// Begins the run of the file at `path` from what is in a file of some name. Returns it with
    /// the length of its log, and the text.
    async fn begin_with(
        &self,
        projection: &dyn Projection,
        definition: &Arc<Workflow>,
        path: &str,
        (name, bytes): (&str, Vec<u8>),
    ) -> Result<(RunId, u64, String), ExecuteError> {
        let text = String::from_utf8(bytes).map_err(|it| corrupt(name, it.to_string()))?;
        let reading = projection.read(&text).map_err(|problem| corrupt(name, problem))?;
        let (placement, context) = reading.claim(name, &text);
        let start = StartRun {
            goes_on: false,
            key: projection.key(path),
            flow: None,
            context,
            vars: Map::new(),
            root: self.root_for(projection.workflow()).to_owned(),
        };
        let request = Request {
            target: Target::New(definition.name.to_string()),
            command: Command::AdoptRun(Box::new(start), Box::new(placement)),
            actor: Actor { surface: Surface::File, ..Actor::default() },
            request_id: None,
        };
        let outcome = self.begin_from(Arc::clone(definition), &request, None).await?;
        Ok((outcome.view.state.run, outcome.view.state.length, text))
    }
}

/// Says why no run could be begun from a file.
fn because(path: String, refusal: &Refusal) -> Unreadable {
    let problem = refusal.problem().unwrap_or_else(|| refusal.to_string());
    Unreadable { path, problem }
}

fn joined(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}
