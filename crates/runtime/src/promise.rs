//! Promised files: written from the log after each commit, and taken in where others wrote.
//!
//! The log is the truth. A file that is missing, torn or behind is written again; one that says
//! something that no length of the log ever said was edited, and becomes an event. A file that
//! cannot be taken in is put aside before it is written over, so nothing is ever lost.

mod looking;
mod moved;
mod rendering;
mod replacing;
mod scan;
mod side_files;
mod telling;
mod writing;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use definition::{Digest, Workflow};
use engine::{Command, Recorded, Refusal, RunId};
use parking_lot::Mutex;
use store::{FileFilter, FileMark, StoreError, Touch};

use self::looking::{Edit, Found, Left, Made};
use crate::{
    ExecuteError, FileSystem, Held, Place, Projection, RunFile, Runtime, Stat, View,
    execute::Checks, fault, load::Kept,
};

pub(crate) use rendering::Rendering;

pub use moved::Released;

/// How often a file is looked at again because someone wrote into it just now.
const LOOKS_MAX: u32 = 5;

/// A run whose file was looked at.
struct Synced {
    view: View,
    /// `None` where it has none, or its folder is not here.
    file: Option<RunFile>,
    /// Why the file is not written. It is owed then.
    problem: Option<String>,
    /// Whether nothing is owed of the file: it is another run's by now, or was taken away.
    is_moot: bool,
}

impl Synced {
    fn without_file(view: View, is_moot: bool) -> Self {
        Self { view, file: None, problem: None, is_moot }
    }
}

/// Which files are promised, and what is known of them.
#[derive(Default)]
pub(crate) struct Promises {
    pub(crate) projections: Vec<Arc<dyn Projection>>,
    files: Mutex<Kept<RunId, Arc<tokio::sync::Mutex<Known>>>>,
    scanned: Mutex<scan::Scanned>,
    /// The runs whose other files could not be changed so far.
    unfinished: Mutex<BTreeSet<RunId>>,
    /// The runs of which this process knows whether another one left their other files undone.
    looked: Mutex<Kept<RunId, ()>>,
    formatters: Mutex<Kept<RunId, Arc<Mutex<telling::Told>>>>,
    /// Notes on files that are being kept.
    notes: Mutex<Vec<tokio::task::JoinHandle<()>>>,
    /// What was noticed of the files of runs while nobody was there to be told.
    untold: Mutex<BTreeMap<RunId, Vec<String>>>,
}

impl Promises {
    pub(crate) fn of(projections: Vec<Arc<dyn Projection>>) -> Self {
        Self { projections, ..Self::default() }
    }
}

/// What is known of a run's file. Never more than a start: what is there counts.
struct Known {
    file: Rendering,
    mark: Option<FileMark>,
    /// Whether the file is known to be as this release writes it. An earlier one may have left it.
    is_own: bool,
    /// What was last written beside it, by path.
    beside: BTreeMap<String, Digest>,
}

/// The file that is promised of one run.
struct Promise<'a> {
    projection: &'a Arc<dyn Projection>,
    file_system: &'a dyn FileSystem,
    run: RunId,
    workflow: Arc<Workflow>,
    key: String,
    place: Place,
    shown: String,
}

impl Runtime {
    /// Returns the paths of the files that are owed with each event of a run.
    pub(crate) fn owed_by(
        &self,
        view: &View,
        key: Option<&str>,
        events: &[Recorded],
    ) -> Vec<String> {
        let projection = self.find_covering(&view.workflow).map(|it| &**it);
        let own = projection.zip(key).and_then(|(projection, key)| projection.path(key));
        let mut owed: Vec<String> = own.into_iter().collect();
        for name in events.iter().filter_map(|it| side_files::find_name(projection, it)) {
            if !owed.iter().any(|it| it == name) {
                owed.push(name.to_owned());
            }
        }
        if projection.is_some_and(|it| it.event_log().is_some() && it.is_told(events)) {
            owed.push(telling::TOLD.to_owned());
        }
        owed
    }

    /// Returns the folder that the artifacts of a run are in.
    pub fn home_of(&self, view: &View) -> String {
        self.home(&view.workflow, view.state.root(), view.state.key())
    }

    /// Returns the root of a run, and the folder that its artifacts are in.
    pub fn folders_of(&self, view: &View) -> (String, String) {
        (view.state.root().to_owned(), self.home_of(view))
    }

    /// Returns the folder that the artifacts of a run with this root and key are in.
    pub(crate) fn home(&self, workflow: &Workflow, root: &str, key: Option<&str>) -> String {
        let projection = self.find_covering(workflow);
        match projection.zip(key).and_then(|(projection, key)| projection.home(key)) {
            Some(home) => std::path::Path::new(root).join(home).to_string_lossy().into_owned(),
            None => root.to_owned(),
        }
    }

    pub(crate) fn find_covering(&self, workflow: &Workflow) -> Option<&Arc<dyn Projection>> {
        self.promises.projections.iter().find(|it| it.covers(workflow))
    }

    pub(crate) fn find_projection(&self, workflow: &str) -> Option<&Arc<dyn Projection>> {
        self.promises.projections.iter().find(|it| it.workflow() == workflow)
    }

    /// Returns the folder that runs of a workflow which begin here are worked on in.
    pub fn root_for(&self, workflow: &str) -> &str {
        let own = self.find_projection(workflow).and_then(|it| it.root());
        own.unwrap_or(&self.settings.root)
    }

    fn promise(&self, view: &View) -> Option<Promise<'_>> {
        let projection = self.find_covering(&view.workflow)?;
        // A file whose run gave it up was put away, or is the next run's.
        let key = view.state.key().filter(|_| !view.state.gave_up_key)?.to_owned();
        let place = place(&**projection, view.state.root(), projection.path(&key)?);
        Some(Promise {
            projection,
            file_system: self.world.file_system()?,
            run: view.state.run,
            workflow: Arc::clone(&view.workflow),
            key,
            shown: shown(&**projection, &place.path),
            place,
        })
    }

    /// Returns the file of a run as people name it, if it has one.
    pub(crate) fn path_shown(&self, view: &View) -> Option<String> {
        self.promise(view).map(|it| it.shown)
    }

    /// Returns where the file of a run is, if it has one. What is written beside it comes first: as
    /// long as its own is there, something is left to do.
    pub(crate) fn places_of(&self, view: &View) -> Vec<Place> {
        let Some(promise) = self.promise(view) else { return Vec::new() };
        let beside = promise.projection.beside(&view.workflow, &view.state).into_iter();
        let beside = beside.map(|(path, _)| Place { path, ..promise.place.clone() });
        beside.chain([promise.place.clone()]).collect()
    }

    /// Returns what the file of a run, and what is written beside it, will say once these events
    /// are in its log, by path from the run's root.
    pub(crate) fn foresee(&self, view: &View, events: &[Recorded]) -> Vec<(String, String)> {
        let Some(promise) = self.promise(view) else { return Vec::new() };
        let state = Arc::clone(&view.state);
        let mut file = Rendering::of(promise.projection, &promise.workflow, state);
        events.iter().for_each(|it| file.apply(it));
        let home = promise.projection.home(&promise.key).map(|it| format!("{it}/"));
        // Anyone who does the chore sees paths from where the artifacts are.
        let seen = |path: String| match home.as_deref().and_then(|it| path.strip_prefix(it)) {
            Some(inside) => inside.to_owned(),
            None => path,
        };
        let beside = file.beside().into_iter();
        let beside = beside.map(|(path, text)| (seen(shown(&**promise.projection, &path)), text));
        let own = (seen(promise.shown.clone()), file.text().to_owned());
        std::iter::once(own).chain(beside).collect()
    }

    /// Brings the file of a run and its log into step. Returns the run as it is then; without a
    /// file where it has none, or its folder is not here. What was noticed while nobody was there
    /// to be told is told with it.
    pub(crate) async fn sync(&self, view: View) -> Result<(View, Option<RunFile>), ExecuteError> {
        let Some(promise) = self.promise(&view) else { return Ok((view, None)) };
        if self.pinned(promise.run).is_some() {
            let file = self.file_then(&view);
            return Ok((view, file));
        }
        let known = self.known_file(&promise);
        let mut known = known.lock().await;
        let Synced { view, mut file, problem, .. } =
            self.bring_into_step(view, &promise, &mut known).await?;
        if let Some(file) = &mut file {
            let untold = self.promises.untold.lock().remove(&promise.run);
            file.notices.splice(0..0, untold.unwrap_or_default());
            file.notices.extend(problem);
        }
        Ok((view, file))
    }

    /// Does the same where nobody is there to be told. The next caller is. Returns also why the
    /// file is not written, if it is not.
    pub(crate) async fn sync_untold(
        &self,
        view: View,
    ) -> Result<(View, Option<String>), ExecuteError> {
        let Some(promise) = self.promise(&view).filter(|it| self.pinned(it.run).is_none()) else {
            return Ok((view, None));
        };
        let known = self.known_file(&promise);
        let mut known = known.lock().await;
        let Synced { view, file, problem, is_moot } =
            self.bring_into_step(view, &promise, &mut known).await?;
        if is_moot {
            self.note_nothing_owed(promise.run, promise.place.path.clone(), view.state.length);
        }
        let notices = file.map(|it| it.notices).unwrap_or_default();
        // A caller that waits for the lock finds them.
        self.keep_untold(promise.run, notices);
        Ok((view, problem))
    }

    /// Keeps what was noticed of a run's file for the next answer about it.
    pub(crate) fn keep_untold(&self, run: RunId, notices: Vec<String>) {
        let mut untold = self.promises.untold.lock();
        for notice in notices {
            let kept = untold.entry(run).or_default();
            // What is tried again may fail again.
            if !kept.contains(&notice) {
                kept.push(notice);
            }
        }
    }

    async fn bring_into_step(
        &self,
        view: View,
        promise: &Promise<'_>,
        known: &mut Known,
    ) -> Result<Synced, ExecuteError> {
        if known.mark.is_none() {
            known.mark = self.find_mark(promise).await?;
        }
        let stat = promise.file_system.stat(&promise.place).await;
        if known.is_as_left(&stat) && known.written() == view.state.length {
            self.catch_up(known, promise.run, Some(view.state.length), None).await?;
        }
        let is_whole = view.state.length <= known.length() && known.written() == known.length();
        // A run that is over keeps the file that an earlier release left.
        let is_live = view.state.standing.is_live();
        if known.is_as_left(&stat) && is_whole && (!is_live || known.is_current()) {
            let (path, text) = (promise.shown.clone(), known.text().to_owned());
            // Someone else may have taken in meanwhile what was written into it.
            let is_behind = view.state.length < known.length();
            let view = if is_behind { self.load(promise.run).await? } else { view };
            let file = RunFile { path, text, notices: Vec::new() };
            return Ok(Synced { view, file: Some(file), problem: None, is_moot: false });
        }
        if promise.is_over(known, &stat) {
            return Ok(Synced::without_file(view, true));
        }
        if !view.state.standing.is_live() && !self.is_newest(&view, promise).await? {
            // The file is that of the run that began with the key since.
            return Ok(Synced::without_file(view, true));
        }
        let lock = promise.file_system.lock(&promise.place).await;
        if lock.is_err() && !promise.file_system.has_folder(&promise.place.root).await {
            return Ok(Synced::without_file(view, false));
        }
        self.set_right(view, promise, known, lock).await
    }

    async fn is_newest(&self, view: &View, promise: &Promise<'_>) -> Result<bool, ExecuteError> {
        let newest = self.find_newest(view.workflow.name.as_str(), &promise.key).await?;
        Ok(newest.is_none_or(|it| it == promise.run))
    }

    /// Brings a file that is out of step into step, while nobody else writes it.
    async fn set_right(
        &self,
        mut view: View,
        promise: &Promise<'_>,
        known: &mut Known,
        lock: Result<Held, String>,
    ) -> Result<Synced, ExecuteError> {
        let mut notices = Vec::new();
        let mut written = Err("others keep writing into it".to_owned());
        let looks = if lock.is_ok() { LOOKS_MAX } else { 0 };
        if let Err(problem) = &lock {
            written = Err(problem.clone());
            self.catch_up(known, promise.run, None, None).await?;
        }
        for _ in 0..looks {
            let found = self.look_at(promise, known).await?;
            written = match found {
                Found::Same(stat) => Ok(stat),
                Found::Unseen(problem) => Err(problem),
                Found::Changing => continue,
                Found::GivenUp => {
                    let view = self.load(promise.run).await?;
                    return Ok(Synced::without_file(view, false));
                }
                Found::Behind => promise.write(known).await,
                Found::Gone => {
                    let told = "was gone, and was written from the log again";
                    notices.push(format!("`{}` {told}", promise.shown));
                    promise.write(known).await
                }
                Found::Refused(left, problem) => {
                    self.replace(promise, known, (left, problem), &mut notices).await?
                }
                Found::Edited(edit) => {
                    match self.settle(promise, known, *edit, &mut notices).await? {
                        Some(written) => written,
                        None => continue,
                    }
                }
            };
            break;
        }
        let problem = match written {
            Ok(stat) => {
                self.write_beside(promise, known, &mut notices).await?;
                self.mark(promise, known, stat);
                None
            }
            Err(problem) => Some(format!("`{}` could not be written: {problem}", promise.shown)),
        };
        if view.state.length < known.length() {
            view = self.load(promise.run).await?;
        }
        let (path, text) = (promise.shown.clone(), known.text().to_owned());
        let file = Some(RunFile { path, text, notices });
        Ok(Synced { view, file, problem, is_moot: false })
    }

    /// Takes an edit in, and writes the file where it is to say something else. `None` where it is
    /// to be looked at again.
    async fn settle(
        &self,
        promise: &Promise<'_>,
        known: &mut Known,
        edit: Edit,
        notices: &mut Vec<String>,
    ) -> Result<Option<Result<Stat, String>>, ExecuteError> {
        match self.take(promise, known, &edit).await {
            Ok(false) => return Ok(None),
            Ok(true) => {}
            Err(ExecuteError::Refused(refusal)) => {
                let refused = (Left::Text(edit.text), why(refusal));
                return self.replace(promise, known, refused, notices).await.map(Some);
            }
            Err(error) => return Err(error),
        }
        let path = &promise.shown;
        match edit.made {
            // Only a caller who reads a file as people write it is told what they wrote.
            Made::Now if promise.projection.distance(&edit.text, &edit.text).is_none() => {}
            Made::Now => notices.push(format!("`{path}` was changed by hand: taken in")),
            Made::Back => {
                notices.push(format!("an older state of `{path}` was put back"));
                promise.keep_last(known, notices).await;
            }
            Made::Elsewhere { continues } => {
                notices
                    .push(format!("`{path}` went on elsewhere: what was done there is taken in"));
                if !continues {
                    promise.keep_last(known, notices).await;
                }
            }
            Made::Before => {
                let joined = "was changed from an older state; what was done since stays";
                notices.push(format!("`{path}` {joined}"));
                self.catch_up(known, promise.run, None, None).await?;
                return Ok(Some(promise.write(known).await));
            }
        }
        Ok(None)
    }

    /// Has a run give its key up if someone took its file away and it is over, or is over with it,
    /// so that the work can be begun again.
    pub(crate) async fn release_taken_away(
        &self,
        workflow: &str,
        key: &str,
    ) -> Result<(), ExecuteError> {
        let Some(run) = self.find_newest(workflow, key).await? else { return Ok(()) };
        let view = self.load(run).await?;
        let Some(promise) = self.promise(&view) else { return Ok(()) };
        let is_live = view.state.standing.is_live();
        if is_live && promise.projection.outlives_file(key) {
            return Ok(());
        }
        let is_written = self.find_mark(&promise).await?.is_some();
        let is_gone = promise.file_system.stat(&promise.place).await == Ok(None);
        if !is_written || !is_gone {
            return Ok(());
        }
        let mut commands = Vec::new();
        if is_live {
            commands.push(Command::CancelRun { reason: "its file was taken away".to_owned() });
        }
        commands.push(Command::GiveUpKey);
        let request = promise.request(Command::All(commands));
        self.commit(&request, None, None).await.map(drop)
    }

    /// Takes in what someone wrote into a run's file, as it was read at the length that is known of
    /// its log. Returns whether it did: what others did meanwhile is not written over.
    async fn take(
        &self,
        promise: &Promise<'_>,
        known: &Known,
        edit: &Edit,
    ) -> Result<bool, ExecuteError> {
        let view = self.load(promise.run).await?;
        if view.state.length != known.length() {
            return Ok(false);
        }
        let placement = edit.reading.clone().claim(&promise.shown, &edit.taken).0;
        let request = promise.request(Command::TakeEdit(Box::new(placement)));
        let decided = self.decide(&view, &request.command, &mut Checks::new()).await?;
        match self.append(&view, decided, &request, None).await {
            Ok(_) => Ok(true),
            Err(ExecuteError::Store(StoreError::Conflict { .. })) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Notes how a file was left. Nobody waits for that: without it the file is looked at again.
    fn mark(&self, promise: &Promise<'_>, known: &mut Known, stat: Stat) {
        let mark = FileMark {
            path: promise.place.path.clone(),
            owed: known.length(),
            written: known.length(),
            sha256: Digest::of(known.text().as_bytes()).as_str().to_owned(),
            size: stat.size,
            modified: stat.modified,
        };
        known.is_own = true;
        if known.mark.as_ref() != Some(&mark) {
            known.mark = Some(mark.clone());
            self.note(promise.run, mark);
        }
    }

    /// Notes that nothing is owed of a file at this length of its run's log.
    pub(crate) fn note_nothing_owed(&self, run: RunId, path: String, length: u64) {
        let (owed, written, sha256, size, modified) = (length, length, String::new(), 0, 0);
        self.note(run, FileMark { path, owed, written, sha256, size, modified });
    }

    pub(crate) fn note(&self, run: RunId, mark: FileMark) {
        let store = Arc::clone(&self.store);
        let keeping = tokio::spawn(async move {
            if let Err(error) = store.touch(Touch::Files(run, vec![mark])).await {
                tracing::debug!(%error, "a file's mark was not kept");
            }
        });
        let mut notes = self.promises.notes.lock();
        notes.retain(|it| !it.is_finished());
        notes.push(keeping);
    }

    /// Waits until the notes on files are kept. A process that ends without them leaves files behind
    /// of which nobody knows that they were written.
    pub(crate) async fn keep_notes(&self) {
        let notes = std::mem::take(&mut *self.promises.notes.lock());
        for note in notes {
            if let Err(error) = note.await {
                tracing::debug!(%error, "a file's mark was not kept");
            }
        }
    }

    /// Takes in what was appended to the log, unless it is known to a length that is enough.
    /// Returns the last length on the way at which the file was to say `bytes`.
    async fn catch_up(
        &self,
        known: &mut Known,
        run: RunId,
        enough: Option<u64>,
        bytes: Option<&[u8]>,
    ) -> Result<Option<u64>, ExecuteError> {
        if enough.is_some_and(|length| length <= known.length()) {
            return Ok(None);
        }
        let state = self.load(run).await?.state;
        let length = known.length();
        let is_newer = 0 < length && length < state.length;
        let met = bytes.filter(|it| is_newer && *it == known.text().as_bytes());
        let met = met.map(|_| length);
        if length < state.length {
            known.file.follow(state);
        }
        Ok(met)
    }

    async fn find_mark(&self, promise: &Promise<'_>) -> Result<Option<FileMark>, ExecuteError> {
        let filter = FileFilter { run: Some(promise.run), ..FileFilter::default() };
        let marks = self.store.files(filter).await.map_err(fault)?;
        let mark = marks.into_iter().map(|(_, it)| it).find(|it| it.path == promise.place.path);
        Ok(mark.filter(|it| 0 < it.written))
    }

    fn known_file(&self, promise: &Promise<'_>) -> Arc<tokio::sync::Mutex<Known>> {
        let mut files = self.promises.files.lock();
        if let Some(known) = files.find(&promise.run) {
            return known;
        }
        let (file, beside) = (promise.blank(), BTreeMap::new());
        let known = Known { file, mark: None, is_own: false, beside };
        let known = Arc::new(tokio::sync::Mutex::new(known));
        files.keep(promise.run, Arc::clone(&known), self.settings.states_max);
        known
    }

    /// Returns the runs of the project of which files are owed.
    pub async fn find_owing(&self) -> Result<BTreeSet<RunId>, ExecuteError> {
        let project = Some(self.settings.project.clone());
        let filter = FileFilter { project, is_owed: true, ..FileFilter::default() };
        let owed = self.store.files(filter).await.map_err(fault)?;
        Ok(owed.into_iter().map(|(run, _)| run).collect())
    }

    /// Writes the files that a run owes: what a process that ended in between left undone, and what
    /// could not be written before. Returns why some still are not.
    pub async fn write_owed(&self, run: RunId) -> Result<Option<String>, ExecuteError> {
        let view = self.load(run).await?;
        let mut notices = self.keep_side_files(&view).await;
        let is_undone = self.promises.unfinished.lock().contains(&run);
        let undone = if is_undone { notices.pop() } else { None };
        self.keep_untold(run, notices);
        let (_, problem) = self.sync_untold(view).await?;
        Ok(problem.or(undone))
    }
}

impl Known {
    /// The length of the log that the file is made from.
    fn length(&self) -> u64 {
        self.file.length()
    }

    fn text(&mut self) -> &str {
        self.file.text()
    }

    /// Whether the file that was left says what this release would write. One that an earlier
    /// release left may say the same in another order: it is written again before anyone edits it.
    fn is_current(&mut self) -> bool {
        if !self.is_own {
            let digest = Digest::of(self.file.text().as_bytes());
            self.is_own = self.mark.as_ref().is_some_and(|it| it.sha256 == digest.as_str());
        }
        self.is_own
    }

    /// Whether the file is just as it was left.
    fn is_as_left(&self, stat: &Result<Option<Stat>, String>) -> bool {
        self.mark.as_ref().is_some_and(|it| Ok(Some(told(it))) == *stat)
    }

    /// The length of the log that the file was last written from.
    fn written(&self) -> u64 {
        self.mark.as_ref().map_or(0, |it| it.written)
    }
}

fn told(mark: &FileMark) -> Stat {
    Stat { size: mark.size, modified: mark.modified }
}

fn place(projection: &dyn Projection, root: &str, path: String) -> Place {
    let folder = std::path::Path::new(root).join(projection.folder());
    Place { root: root.to_owned(), folder: folder.to_string_lossy().into_owned(), path }
}

fn shown(projection: &dyn Projection, path: &str) -> String {
    match projection.folder().trim_end_matches('/') {
        "" => path.to_owned(),
        folder => format!("{folder}/{path}"),
    }
}

/// Says why an edit is not taken in.
fn why(refusal: Refusal) -> String {
    if let Refusal::EditRefused { problem, .. } = refusal {
        return problem;
    }
    format!("{refusal} ({})", refusal.hint())
}

/// Refuses a file that cannot be read, and is left as it is.
fn unreadable(shown: &str, problem: String) -> Refusal {
    Refusal::FileUnreadable { path: shown.to_owned(), problem, is_corrupt: false }
}

/// Refuses a file that cannot be understood, and is left as it is.
fn corrupt(shown: &str, problem: String) -> Refusal {
    Refusal::FileUnreadable { path: shown.to_owned(), problem, is_corrupt: true }
}

/// What was seen of files in one scan, by path.
type Marks = HashMap<String, (RunId, FileMark)>;
