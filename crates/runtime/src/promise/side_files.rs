//! Other files that events have written or changed: each event once, at least once, in order.
//!
//! How far that was done is kept under a name of its own. A writer holds its lock, and
//! looks at that only then, so that two who run it at once do not do the same twice.

use definition::Digest;
use engine::{Event, Recorded, RunId};
use store::{FileFilter, FileMark, Touch};

use super::{place, shown, telling::TOLD};
use crate::{
    ExecuteError, FileSystem, Outcome, Place, Projection, Runtime, SideFileWrite, View, fault,
};

/// How many runs are remembered to have been looked at.
const LOOKED_MAX: usize = 10_000;

impl Runtime {
    /// Returns whether a command asked for other files to be changed, or an earlier one did and
    /// they were not.
    pub(crate) fn has_side_files(&self, outcome: &Outcome) -> bool {
        let (view, events) = (&outcome.view, &outcome.events);
        let projection = self.find_covering(&view.workflow).map(|it| &**it);
        let is_told = projection.is_some_and(|it| it.layout().event_log.is_some());
        events.iter().any(|it| is_told || find_name(projection, it).is_some())
            || self.promises.unfinished.lock().contains(&view.state.run)
    }

    /// Notes that a run has other files changed, no matter who sees to it.
    pub(crate) fn note_side_files(&self, run: RunId) {
        self.promises.unfinished.lock().insert(run);
    }

    /// Changes the other files as the log of a run has it. Returns what the caller should know:
    /// what is committed is committed, and what cannot be done stays owed.
    pub(crate) async fn keep_side_files(&self, view: &View) -> Vec<String> {
        let run = view.state.run;
        let mut notices = Vec::new();
        // What is committed from here on may not be seen, and says so itself.
        self.promises.unfinished.lock().remove(&run);
        let is_finished = match self.write_side_files(view, &mut notices).await {
            Ok(is_finished) => is_finished,
            Err(error) => {
                tracing::warn!(%run, %error, "other files were not changed");
                notices.push(format!("other files are changed later: {error}"));
                false
            }
        };
        if !is_finished {
            self.promises.unfinished.lock().insert(run);
        }
        notices
    }

    /// Changes the other files that a process that is gone has left undone. It is looked once.
    pub(crate) async fn finish_left(&self, view: &View) -> Vec<String> {
        let run = view.state.run;
        if self.promises.looked.lock().find(&run).is_some() {
            return Vec::new();
        }
        let notices = self.keep_side_files(view).await;
        self.promises.looked.lock().keep(run, (), LOOKED_MAX);
        notices
    }

    async fn write_side_files(
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

    async fn write_side_file(
        &self,
        view: &View,
        side_files: &SideFileWrites<'_>,
        mut mark: FileMark,
        notices: &mut Vec<String>,
    ) -> Result<bool, ExecuteError> {
        let run = view.state.run;
        let log = self.store.load(run, mark.written).await.map_err(fault)?;
        let Some(log) = log else { return Ok(true) };
        let mut events = log.events;
        // What a copy has from its original was done by that.
        let copied = events.iter().rposition(|it| matches!(it.event, Event::RunForked { .. }));
        events.drain(..copied.unwrap_or_default());
        for recorded in &events {
            if find_name(side_files.projection, recorded) != Some(mark.path.as_str()) {
                continue;
            }
            match side_files.run(recorded).await {
                Ok(notice) => notices.extend(notice),
                Err(problem) => {
                    notices.push(problem);
                    return Ok(false);
                }
            }
            mark.written = recorded.seq;
            self.store.touch(Touch::Files(run, vec![mark.clone()])).await.map_err(fault)?;
        }
        mark.written = log.length;
        self.store.touch(Touch::Files(run, vec![mark])).await.map_err(fault)?;
        Ok(true)
    }
}

/// What the names begin with under which is kept how far other files are.
pub(crate) const SIDE_FILE: &str = "errand:";

/// The name under which is kept how far the files are that a run leaves or takes away.
const FILES: &str = "errand:files";

/// Returns the name of what an event has done to other files, if it does anything to any.
pub(super) fn find_name(
    projection: Option<&dyn Projection>,
    recorded: &Recorded,
) -> Option<&'static str> {
    if let Event::FileLeft { .. } = recorded.event {
        return Some(FILES);
    }
    projection?.side_file(recorded).map(|it| it.name)
}

/// Where side files are written.
struct SideFileWrites<'a> {
    projection: Option<&'a dyn Projection>,
    file_system: &'a dyn FileSystem,
    root: &'a str,
    home: String,
}

impl SideFileWrites<'_> {
    fn place(&self, path: String) -> Place {
        match self.projection {
            Some(projection) => place(projection, self.root, path),
            None => Place { root: self.root.to_owned(), folder: self.root.to_owned(), path },
        }
    }

    async fn run(&self, recorded: &Recorded) -> Result<Option<String>, String> {
        if let Event::FileLeft { path, was, text } = &recorded.event {
            return self.leave(path, was.as_ref(), text.as_ref()).await.map(|()| None);
        }
        let Some(projection) = self.projection else { return Ok(None) };
        let Some(side_file) = projection.side_file(recorded) else { return Ok(None) };
        let Some(place) = self.find(&side_file.paths).await? else { return Ok(None) };
        let named = |problem: String| self.not_changed(&place, &problem);
        let bytes = self.file_system.read(&place).await.map_err(named)?.map(|(bytes, _)| bytes);
        let text = bytes.map(String::from_utf8).transpose();
        let text = text.map_err(|_| named("it is not UTF-8 text".to_owned()))?;
        let SideFileWrite { text, notice } = (side_file.change)(text.as_deref());
        if let Some(text) = text {
            self.write(&place, text).await.map_err(named)?;
        }
        Ok(notice)
    }

    fn not_changed(&self, place: &Place, problem: &str) -> String {
        let name = self.projection.map_or_else(|| place.path.clone(), |it| shown(it, &place.path));
        format!("`{name}` could not be changed: {problem}")
    }

    /// Writes or removes a file of the run, unless someone wrote into it meanwhile.
    async fn leave(
        &self,
        path: &str,
        was: Option<&Digest>,
        text: Option<&String>,
    ) -> Result<(), String> {
        let named = |problem: String| format!("`{path}` could not be changed: {problem}");
        let place =
            Place { root: self.home.clone(), folder: self.home.clone(), path: path.to_owned() };
        let found = self.file_system.read(&place).await.map_err(named)?;
        let found = found.map(|(bytes, _)| Digest::of(&bytes));
        match text {
            _ if found.is_some() && found.as_ref() != was => Ok(()),
            Some(text) => self.write(&place, text.clone()).await.map_err(named),
            None => self.file_system.remove(&place).await.map_err(named),
        }
    }

    /// Writes a file, for its owner alone where the run's own file is.
    async fn write(&self, place: &Place, text: String) -> Result<(), String> {
        let is_private = self.projection.is_some_and(|it| it.layout().is_private);
        let written = if is_private {
            self.file_system.write_privately(place, text)
        } else {
            self.file_system.write_durably(place, text)
        };
        written.await.map(drop)
    }

    /// Returns the first of the files that is there, else where it is to be made.
    async fn find(&self, paths: &[String]) -> Result<Option<Place>, String> {
        let mut made = None;
        for path in paths {
            let place = self.place(path.clone());
            let stat = self.file_system.stat(&place).await;
            if stat.map_err(|problem| self.not_changed(&place, &problem))?.is_some() {
                return Ok(Some(place));
            }
            let whole = std::path::Path::new(&place.folder).join(path);
            let folder = whole.parent().map(|it| it.to_string_lossy().into_owned());
            let has_folder = self.file_system.has_folder(&folder.unwrap_or_default()).await;
            if made.is_none() && (has_folder || paths.len() == 1) {
                made = Some(place);
            }
        }
        Ok(made)
    }
}
