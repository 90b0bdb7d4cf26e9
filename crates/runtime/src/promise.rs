//! Promised files: written from the log after each commit, and taken in where others wrote.
//!
//! The log is the truth. A file that is missing, torn or behind is written again; one that says
//! something that no length of the log ever said was edited, and becomes an event. A file that
//! cannot be taken in is put aside before it is written over, so nothing is ever lost.

mod intake;
mod looking;
mod moved;
mod places;
mod rendering;
mod replacing;
mod writing;

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use definition::{Digest, Workflow};
use engine::{Command, Refusal, RunId, Surface};
use parking_lot::Mutex;
use store::{FileFilter, FileMark};

use self::looking::{Edit, Found, Left, Made};
use crate::{
    Edits, ExecuteError, FileSystem, Held, Place, Projection, Request, RunFile, Runtime, Stat,
    View, fault, load::Kept,
};

pub(crate) use places::{place, shown};
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
    scanned: Mutex<intake::Scanned>,
    /// What was noticed of the files of runs while nobody was there to be told.
    untold: Mutex<BTreeMap<RunId, Vec<String>>>,
}

impl Promises {
    pub(crate) fn of(projections: Vec<Arc<dyn Projection>>) -> Self {
        Self { projections, ..Self::default() }
    }

    /// Returns what nobody was told of so far.
    pub(crate) fn take_untold(&self, run: RunId) -> Vec<String> {
        self.untold.lock().remove(&run).unwrap_or_default()
    }

    /// Keeps what was noticed of a run's file for the next answer about it.
    pub(crate) fn keep_untold(&self, run: RunId, notices: Vec<String>) {
        let mut untold = self.untold.lock();
        for notice in notices {
            let kept = untold.entry(run).or_default();
            // What is tried again may fail again.
            if !kept.contains(&notice) {
                kept.push(notice);
            }
        }
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
            file.notices.splice(0..0, self.promises.take_untold(promise.run));
            file.notices.extend(problem);
            self.note_heard(promise.run, &file.notices);
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

    async fn bring_into_step(
        &self,
        view: View,
        promise: &Promise<'_>,
        known: &mut Known,
    ) -> Result<Synced, ExecuteError> {
        if known.mark.is_none() {
            known.mark = self.find_mark(promise).await?;
        }
        // A live run's file that lacks what happened since is looked at once, under its lock.
        let is_owed = (1..view.state.length).contains(&known.written());
        if !(is_owed && view.state.standing.is_live()) {
            let stat = promise.file_system.stat(&promise.place).await;
            if let Some(synced) = self.find_settled(&view, promise, known, &stat).await? {
                return Ok(synced);
            }
        }
        let lock = promise.file_system.lock(&promise.place).await;
        if lock.is_err() && !promise.file_system.has_folder(&promise.place.root).await {
            return Ok(Synced::without_file(view, false));
        }
        self.set_right(view, promise, known, lock).await
    }

    /// Returns what there is to a file that needs no more than a look.
    async fn find_settled(
        &self,
        view: &View,
        promise: &Promise<'_>,
        known: &mut Known,
        stat: &Result<Option<Stat>, String>,
    ) -> Result<Option<Synced>, ExecuteError> {
        let length = view.state.length;
        let is_as_left = known.is_as_left(stat);
        if is_as_left && known.written() == length {
            self.catch_up(known, promise.run, Some(length), None).await?;
        }
        let is_whole = length <= known.length() && known.written() == known.length();
        // A run that is over keeps the file that an earlier release left.
        let is_live = view.state.standing.is_live();
        if is_as_left && is_whole && (!is_live || known.is_current()) {
            let (path, text) = (promise.shown.clone(), known.text().to_owned());
            // Someone else may have taken in meanwhile what was written into it.
            let is_behind = length < known.length();
            let view = if is_behind { self.load(promise.run).await? } else { view.clone() };
            let file = RunFile { path, text, notices: Vec::new() };
            return Ok(Some(Synced { view, file: Some(file), problem: None, is_moot: false }));
        }
        let is_gone = *stat == Ok(None) && 0 < known.written();
        // The file may be that of the run that began with the key since.
        let is_moot = is_gone && promise.ends_with_file()
            || !is_live && !self.is_newest(view, promise).await?;
        Ok(is_moot.then(|| Synced::without_file(view.clone(), true)))
    }

    /// Returns the file of a run that is over, if it is there and is not that of a later run.
    pub(crate) async fn find_left(&self, view: &View) -> Result<Option<String>, ExecuteError> {
        let Some(promise) = self.promise(view) else { return Ok(None) };
        let is_there = promise.file_system.stat(&promise.place).await != Ok(None);
        let is_own = is_there && self.is_newest(view, &promise).await?;
        Ok(is_own.then_some(promise.shown))
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
                Found::Gone if promise.ends_with_file() => {
                    return Ok(Synced::without_file(view, true));
                }
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
            Made::Now if promise.projection.layout().edits == Edits::Stamped => {}
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
        let request = Request::own(run, Command::All(commands), Surface::File);
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
        let command = Command::TakeEdit(Box::new(placement));
        let taken = self.commit_unless_moved(&view, command, Surface::File).await?;
        Ok(taken.is_some())
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
