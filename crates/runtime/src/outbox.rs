//! What a commit leads to outside of the log: git chores, side files, event lines, and the run's
//! own file. All of it is done at least once.
//!
//! ```text
//! append: events and what they owe ──► perform ──► mark how far it was done
//! ```
//!
//! The append itself says what is owed, under a name for each run: the path of its own file, or
//! the name of what is done to other files. A mark says up to which event that was done. This call,
//! a later one or the background keeper goes on from the mark. Each takes a lock before it reads
//! the mark, so two processes do not do the same at once.
//!
//! A chore owes nothing: it is due while its condition is true.

mod chores;
mod event_lines;
mod side_files;

use std::{collections::BTreeSet, sync::Arc};

use definition::Workflow;
use engine::RunId;
use parking_lot::Mutex;
use store::{FileFilter, FileMark, Touch};

use self::{
    event_lines::TOLD,
    side_files::{SideFileWrites, find_name},
};
use crate::{Appended, ExecuteError, Outcome, Request, RunFile, Runtime, View, fault, load::Kept};

pub use chores::Chores;

/// What the names begin with under which is kept how far other files are.
const SIDE_FILE: &str = "errand:";

/// How many runs are remembered to owe nothing.
const SETTLED_MAX: usize = 10_000;

/// What this process knows of what is owed. Never more than a shortcut: the store counts.
#[derive(Default)]
pub(crate) struct Outbox {
    /// The runs that owe nothing but their own file.
    settled: Mutex<Kept<RunId, ()>>,
    tellers: Mutex<Kept<RunId, Arc<Mutex<event_lines::Told>>>>,
    /// Marks that are being kept.
    notes: Mutex<Vec<tokio::task::JoinHandle<()>>>,
}

/// What is to be performed after a command.
pub(crate) struct Done {
    pub(crate) outcome: Outcome,
    /// What came of the chores before it. `None`: no chores are done after it either.
    pub(crate) chores: Option<Chores>,
    /// For the caller to know.
    pub(crate) notices: Vec<String>,
}

impl Runtime {
    /// Returns the paths and names of the files that are owed with a change of a run: its own file
    /// comes first, if it has one.
    pub(crate) fn owed_by(&self, workflow: &Workflow, change: &Appended<'_>) -> Vec<String> {
        let projection = self.find_covering(workflow).map(|it| &**it);
        let own = projection.zip(change.after.key());
        let own = own.and_then(|(projection, key)| projection.path(key));
        let mut owed: Vec<String> = own.into_iter().collect();
        for name in change.events.iter().filter_map(|it| find_name(projection, it)) {
            if !owed.iter().any(|it| it == name) {
                owed.push(name.to_owned());
            }
        }
        let teller = projection.filter(|it| it.layout().event_log.is_some());
        if teller.is_some_and(|it| !it.tell(workflow, change).is_empty()) {
            owed.push(TOLD.to_owned());
        }
        owed
    }

    /// Notes that a run owes what an append says.
    pub(crate) fn note_owed(&self, run: RunId, owes: &[String]) {
        if owes.iter().any(|it| it.starts_with(SIDE_FILE)) {
            self.outbox.settled.lock().remove(&run);
        }
    }

    /// Performs what a command leads to. What is committed is committed: what cannot be done stays
    /// owed or due, and the caller is told.
    pub(crate) async fn perform(
        &self,
        request: &Request,
        done: Done,
    ) -> Result<Outcome, ExecuteError> {
        let Done { outcome, chores, mut notices } = done;
        let run = outcome.view.state.run;
        let acted = match chores {
            Some(before) => self.chores_after(request, outcome, before).await,
            None => Ok(outcome),
        };
        let mut outcome = match acted {
            Ok(outcome) => outcome,
            Err(error) => {
                self.keep_untold(run, notices);
                return Err(error);
            }
        };
        if self.pinned(run).is_some() {
            // A process that died after the commit left it undone, and the run is further by now.
            let plain = self.apart();
            if let Ok(view) = plain.load(run).await {
                notices.extend(plain.write_side_files(&view).await);
                let file = plain.write_file(&view, Vec::new()).await;
                notices.extend(file.map(|it| it.notices).unwrap_or_default());
            }
        } else if self.has_side_files(&outcome) {
            for notice in self.write_side_files(&outcome.view).await {
                // What was tried before the command may fail again.
                if !notices.contains(&notice) {
                    notices.push(notice);
                }
            }
        }
        outcome.file = self.write_file(&outcome.view, notices).await;
        Ok(outcome)
    }

    /// Writes the run's file. What is committed is committed: a file that cannot be written stays
    /// owed, and the caller is told.
    pub(crate) async fn write_file(
        &self,
        view: &View,
        mut notices: Vec<String>,
    ) -> Option<RunFile> {
        match self.sync(view.clone()).await {
            Ok((_, file)) => file.map(|mut file| {
                notices.append(&mut file.notices);
                RunFile { notices, ..file }
            }),
            Err(error) => {
                tracing::warn!(run = %view.state.run, %error, "a file was not written");
                None
            }
        }
    }

    /// Whether a command asked for other files to be changed, or an earlier one did and this process
    /// does not know that they were.
    fn has_side_files(&self, outcome: &Outcome) -> bool {
        let (view, events) = (&outcome.view, &outcome.events);
        let projection = self.find_covering(&view.workflow).map(|it| &**it);
        let is_told = projection.is_some_and(|it| it.layout().event_log.is_some());
        events.iter().any(|it| is_told || find_name(projection, it).is_some())
            || !self.is_settled(view.state.run)
    }

    /// Whether a run is its log and nothing else: it has no file of its own and no chores, and no
    /// other file is owed. Then a command is its commit.
    pub(crate) fn is_log_alone(&self, view: &View) -> bool {
        view.workflow.chores.is_empty()
            && self.find_covering(&view.workflow).is_none()
            && self.is_settled(view.state.run)
    }

    fn is_settled(&self, run: RunId) -> bool {
        self.outbox.settled.lock().find(&run).is_some()
    }

    /// Changes the other files that an earlier command or a process that is gone left undone.
    pub(crate) async fn finish_left(&self, view: &View) -> Vec<String> {
        if self.is_settled(view.state.run) {
            return Vec::new();
        }
        self.write_side_files(view).await
    }

    /// Changes the other files as the log of a run has it. Returns what the caller should know.
    async fn write_side_files(&self, view: &View) -> Vec<String> {
        let run = view.state.run;
        let mut notices = Vec::new();
        // What is committed from here on may not be seen, and says so itself.
        self.outbox.settled.lock().keep(run, (), SETTLED_MAX);
        let is_finished = match self.try_side_files(view, &mut notices).await {
            Ok(is_finished) => is_finished,
            Err(error) => {
                tracing::warn!(%run, %error, "other files were not changed");
                notices.push(format!("other files are changed later: {error}"));
                false
            }
        };
        if !is_finished {
            self.outbox.settled.lock().remove(&run);
        }
        self.note_heard(run, &notices);
        notices
    }

    async fn try_side_files(
        &self,
        view: &View,
        notices: &mut Vec<String>,
    ) -> Result<bool, ExecuteError> {
        let Some(file_system) = self.world.file_system() else { return Ok(true) };
        let projection = self.find_covering(&view.workflow).map(|it| &**it);
        let (root, home) = (view.state.root(), self.home_of(view));
        let side_files = SideFileWrites { projection, file_system, root, home };
        let own = view.state.key().and_then(|it| projection?.path(it));
        let mut is_finished = true;
        for mark in self.owed_side_files(view, own.as_deref()).await? {
            let lock = side_files.place(mark.path.clone());
            let held = match file_system.lock(&lock).await {
                Ok(held) => held,
                Err(problem) => {
                    notices.push(format!("other files are changed later: {problem}"));
                    is_finished = false;
                    continue;
                }
            };
            // Someone else may have done it while this one waited.
            let marks = self.owed_side_files(view, own.as_deref()).await?;
            if let Some(mark) = marks.into_iter().find(|it| it.path == mark.path) {
                is_finished &= match mark.path.as_str() {
                    TOLD => self.tell(view, file_system, mark).await?,
                    _ => self.write_side_file(view, &side_files, mark, notices).await?,
                };
            }
            drop(held);
        }
        Ok(is_finished)
    }

    /// Returns what is owed of a run besides its own file.
    async fn owed_side_files(
        &self,
        view: &View,
        own: Option<&str>,
    ) -> Result<Vec<FileMark>, ExecuteError> {
        let run = Some(view.state.run);
        let filter = FileFilter { run, is_owed: true, ..FileFilter::default() };
        let marks = self.store.files(filter).await.map_err(fault)?;
        Ok(marks.into_iter().map(|(_, it)| it).filter(|it| Some(it.path.as_str()) != own).collect())
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
        let mut notes = self.outbox.notes.lock();
        notes.retain(|it| !it.is_finished());
        notes.push(keeping);
    }

    /// Waits until the notes on files are kept. A process that ends without them leaves files behind
    /// of which nobody knows that they were written.
    pub(crate) async fn keep_notes(&self) {
        let notes = std::mem::take(&mut *self.outbox.notes.lock());
        for note in notes {
            if let Err(error) = note.await {
                tracing::debug!(%error, "a file's mark was not kept");
            }
        }
    }

    /// Keeps a mark, and returns once it is kept.
    async fn keep_mark(&self, run: RunId, mark: FileMark) -> Result<(), ExecuteError> {
        self.store.touch(Touch::Files(run, vec![mark])).await.map(drop).map_err(fault)
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
        let mut notices = self.write_side_files(&view).await;
        let undone = if self.is_settled(run) { None } else { notices.pop() };
        self.keep_untold(run, notices);
        let (_, problem) = self.sync_untold(view).await?;
        Ok(problem.or(undone))
    }
}
