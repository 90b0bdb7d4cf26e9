//! Finds the files that no run has yet, and begins a run from each.

mod elsewhere;
mod unseen;

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

use definition::{Digest, Workflow};
use engine::{Actor, Command, Refusal, RunId, StartRun, Surface};
use futures_util::future::join_all;
use serde_json::Map;
use store::{FileFilter, FileMark, Filter, Order, Row};

use super::{Marks, corrupt, place, shown, told, unreadable};
use crate::{
    ExecuteError, FileSystem, Place, Projection, Request, RunFile, Runtime, Stat, Taken, Target,
    Unreadable, Unseen, View, Wanted, fault,
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
    /// Returns the newest run of `workflow` in this folder with this key, and its file; a run is
    /// begun where there is only the file.
    pub async fn find_file(
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
                    if self.promises.unfinished.lock().contains(&view.state.run) {
                        file.notices.extend(self.keep_side_files(&view).await);
                    }
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

    /// Reads a small file that lies beside the promised ones; `None` where there is none.
    pub async fn read_beside(&self, workflow: &str, path: &str) -> Result<Option<String>, String> {
        let Some((place, file_system)) = self.beside(workflow, path) else { return Ok(None) };
        let Some((bytes, _)) = file_system.read(&place).await? else { return Ok(None) };
        String::from_utf8(bytes).map(Some).map_err(|_| "it is not UTF-8 text".to_owned())
    }

    /// Makes a file beside the promised ones, unless there is one. Returns whether it did.
    pub async fn make_beside(
        &self,
        workflow: &str,
        path: &str,
        text: String,
    ) -> Result<bool, String> {
        let Some((place, file_system)) = self.beside(workflow, path) else { return Ok(false) };
        let _held = file_system.lock(&place).await?;
        if file_system.stat(&place).await?.is_some() {
            return Ok(false);
        }
        file_system.write_durably(&place, text).await.map(|_| true)
    }

    /// Returns whether there is a folder beside the promised files.
    pub async fn has_beside(&self, workflow: &str, path: &str) -> bool {
        let Some((place, file_system)) = self.beside(workflow, path) else { return false };
        let folder = std::path::Path::new(&place.folder).join(&place.path);
        file_system.has_folder(&folder.to_string_lossy()).await
    }

    fn beside(&self, workflow: &str, path: &str) -> Option<(Place, &dyn FileSystem)> {
        let projection = self.find_projection(workflow)?;
        let place = place(&**projection, self.root_for(workflow), path.to_owned());
        Some((place, self.world.file_system()?))
    }

    /// Takes in every file of `workflow` right in one of these folders: begins a run from each that
    /// has none, and brings the others into step. `progress` is told how many are done, of how
    /// many.
    pub async fn scan(
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

    /// Returns what is known of the files of a workflow. Read again only when something happened.
    async fn marks(&self, workflow: &str) -> Result<Arc<Marks>, ExecuteError> {
        let position = *self.store.changed().borrow();
        if let Some((at, marks)) = &self.promises.scanned.lock().marks
            && *at == position
        {
            return Ok(Arc::clone(marks));
        }
        let filter = FileFilter {
            project: Some(self.settings.project.clone()),
            workflow: Some(workflow.to_owned()),
            ..FileFilter::default()
        };
        let mut marks = Marks::new();
        let mut files = self.store.files(filter).await.map_err(fault)?;
        self.keep_here(workflow, &mut files).await?;
        for (run, mark) in files {
            // Of several runs that had the file one after the other, the newest has it.
            let is_newer = marks.get(&mark.path).is_none_or(|(known, _)| *known < run);
            if is_newer {
                marks.insert(mark.path.clone(), (run, mark));
            }
        }
        let marks = Arc::new(marks);
        self.promises.scanned.lock().marks = Some((position, Arc::clone(&marks)));
        Ok(marks)
    }

    /// Keeps the files of runs whose root is here: another worktree, or another folder of this
    /// project, may have files of the same names.
    async fn keep_here(
        &self,
        workflow: &str,
        files: &mut Vec<(RunId, FileMark)>,
    ) -> Result<(), ExecuteError> {
        let is_known =
            |it: &(RunId, FileMark)| self.promises.scanned.lock().is_here.contains_key(&it.0);
        if !files.iter().all(is_known) {
            let filter = Filter {
                project: Some(self.settings.project.clone()),
                workflow: Some(workflow.to_owned()),
                root: Some(self.root_for(workflow).to_owned()),
                limit: u32::MAX,
                ..Filter::default()
            };
            let rows = self.store.list(filter).await.map_err(fault)?.rows;
            let here: HashSet<RunId> = rows.iter().map(|it| it.run).collect();
            let found = files.iter().map(|(run, _)| (*run, here.contains(run)));
            self.promises.scanned.lock().is_here.extend(found);
        }
        let scanned = self.promises.scanned.lock();
        files.retain(|(run, _)| scanned.is_here.get(run) == Some(&true));
        Ok(())
    }

    async fn find_files(
        &self,
        projection: &Arc<dyn Projection>,
        file_system: &dyn FileSystem,
        folders: &[String],
    ) -> Vec<(String, Stat)> {
        let mut found = Vec::new();
        for folder in folders {
            let inside = folder.clone();
            let names = Arc::clone(projection);
            let wanted: Wanted = Arc::new(move |name| match inside.as_str() {
                "" => names.key(name).is_some(),
                inside => names.key(&joined(inside, name)).is_some(),
            });
            let root = self.root_for(projection.workflow());
            let place = place(&**projection, root, folder.clone());
            match file_system.scan(&place, wanted).await {
                Ok(files) if folder.is_empty() => found.extend(files),
                Ok(files) => {
                    found.extend(files.into_iter().map(|(it, stat)| (joined(folder, &it), stat)));
                }
                Err(problem) => tracing::warn!(folder = place.folder, problem, "cannot be listed"),
            }
        }
        found
    }

    /// Tells files that are as they were left from those that are new, changed or gone.
    fn sort_out(
        &self,
        projection: &Arc<dyn Projection>,
        marks: &Marks,
        found: Vec<(String, Stat)>,
        folders: &[String],
    ) -> Sorted {
        let mut sorted = Sorted::default();
        let mut scanned = self.promises.scanned.lock();
        for (path, stat) in found {
            let unseen = scanned.unseen.get(&path).filter(|it| it.0 == stat);
            if let Some((_, unseen)) = unseen.filter(|_| !marks.contains_key(&path)) {
                sorted.unseen.push((path, unseen.clone()));
                continue;
            }
            match (marks.get(&path), scanned.unreadable.get(&path)) {
                (Some((_, mark)), _) if told(mark) == stat && mark.owed <= mark.written => {
                    sorted.known.push(path);
                }
                (Some((run, _)), _) => sorted.moved.push((*run, path)),
                (None, Some((then, problem))) if *then == stat => {
                    let (path, problem) = (shown(&**projection, &path), problem.clone());
                    sorted.unreadable.push(Unreadable { path, problem });
                }
                (None, _) => {
                    scanned.unreadable.remove(&path);
                    sorted.new.push(path);
                }
            }
        }
        let gone = find_gone(&sorted, marks, folders);
        sorted.moved.extend(gone);
        sorted.unreadable.sort_by(|one, two| one.path.cmp(&two.path));
        sorted
    }
}

#[derive(Default)]
struct Sorted {
    known: Vec<String>,
    /// Changed or gone.
    moved: Vec<(RunId, String)>,
    new: Vec<String>,
    /// New ones that are as they were when they were looked at.
    unseen: Vec<(String, Unseen)>,
    unreadable: Vec<Unreadable>,
}

/// Returns the files that are known to be in these folders, and are not there.
fn find_gone(sorted: &Sorted, marks: &Marks, folders: &[String]) -> Vec<(RunId, String)> {
    let is_scanned = |path: &str| {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        folders.iter().any(|it| it == folder)
    };
    let wanted = marks.keys().filter(|it| is_scanned(it)).count();
    if sorted.known.len() + sorted.moved.len() == wanted {
        return Vec::new();
    }
    let moved = sorted.moved.iter().map(|(_, path)| path);
    let seen: HashSet<&String> = sorted.known.iter().chain(moved).collect();
    let is_gone = |path: &String| is_scanned(path) && !seen.contains(path);
    let gone = marks.iter().filter(|(path, _)| is_gone(path));
    let mut gone: Vec<(RunId, String)> = gone.map(|(path, it)| (it.0, path.clone())).collect();
    gone.sort();
    gone
}

/// Says why no run could be begun from a file.
fn because(path: String, refusal: &Refusal) -> Unreadable {
    let problem = refusal.problem().unwrap_or_else(|| refusal.to_string());
    Unreadable { path, problem }
}

fn joined(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}
