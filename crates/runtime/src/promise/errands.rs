//! Other files that events have written or changed: each event once, at least once, in order.
//!
//! How far that was done is kept under the name of the errand. Whoever runs one holds its lock, and
//! looks at that only then, so that two who run it at once do not do the same twice.

use engine::{Event, Recorded};
use store::{FileFilter, FileMark, Touch};

use super::{place, shown};
use crate::{Desk, Errand, ExecuteError, Goal, Outcome, Place, Projection, Runtime, View, fault};

impl Runtime {
    /// Returns whether a command asked for other files to be changed, or an earlier one did and
    /// they were not.
    pub(crate) fn has_errands(&self, outcome: &Outcome) -> bool {
        let Some(projection) = self.find_covering(&outcome.view.workflow) else { return false };
        let is_errand = |it: &Recorded| projection.errand(it).is_some();
        outcome.events.iter().any(is_errand)
            || self.promises.unfinished.lock().contains(&outcome.view.state.run)
    }

    /// Changes the other files as the log of a run has it. Returns what the caller should know:
    /// what is committed is committed, and what cannot be done stays owed.
    pub(crate) async fn keep_errands(&self, view: &View) -> Vec<String> {
        let run = view.state.run;
        let mut notices = Vec::new();
        let is_finished = match self.run_errands(view, &mut notices).await {
            Ok(is_finished) => is_finished,
            Err(error) => {
                tracing::warn!(%run, %error, "other files were not changed");
                notices.push(format!("other files are changed later: {error}"));
                false
            }
        };
        let mut unfinished = self.promises.unfinished.lock();
        if is_finished {
            unfinished.remove(&run);
        } else {
            unfinished.insert(run);
        }
        notices
    }

    async fn run_errands(
        &self,
        view: &View,
        notices: &mut Vec<String>,
    ) -> Result<bool, ExecuteError> {
        let projection = self.find_covering(&view.workflow);
        let (Some(projection), Some(desk)) = (projection, self.world.desk()) else {
            return Ok(true);
        };
        let errands = Errands { projection: &**projection, desk, root: view.state.root() };
        let own = view.state.key().and_then(|it| projection.path(it));
        let mut is_finished = true;
        for mark in self.owed_errands(view, own.as_deref()).await? {
            let lock = place(&**projection, errands.root, mark.path.clone());
            let held = match desk.lock(&lock).await {
                Ok(held) => held,
                Err(problem) => {
                    notices.push(format!("other files are changed later: {problem}"));
                    is_finished = false;
                    continue;
                }
            };
            // Someone else may have done it while this one waited.
            let marks = self.owed_errands(view, own.as_deref()).await?;
            if let Some(mark) = marks.into_iter().find(|it| it.path == mark.path) {
                is_finished &= self.run_errand(view, &errands, mark, notices).await?;
            }
            drop(held);
        }
        Ok(is_finished)
    }

    /// Returns what is owed of a run besides its own file.
    async fn owed_errands(
        &self,
        view: &View,
        own: Option<&str>,
    ) -> Result<Vec<FileMark>, ExecuteError> {
        let run = Some(view.state.run);
        let filter = FileFilter { run, is_owed: true, ..FileFilter::default() };
        let marks = self.store.files(filter).await.map_err(fault)?;
        Ok(marks.into_iter().map(|(_, it)| it).filter(|it| Some(it.path.as_str()) != own).collect())
    }

    async fn run_errand(
        &self,
        view: &View,
        errands: &Errands<'_>,
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
            let goal = errands.projection.errand(recorded);
            let Some(goal) = goal.filter(|it| it.name == mark.path) else { continue };
            match errands.run(recorded, &goal).await {
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

/// Where errands are run.
struct Errands<'a> {
    projection: &'a dyn Projection,
    desk: &'a dyn Desk,
    root: &'a str,
}

impl Errands<'_> {
    async fn run(&self, recorded: &Recorded, goal: &Goal) -> Result<Option<String>, String> {
        let Some(place) = self.find(goal).await? else { return Ok(None) };
        let name = shown(self.projection, &place.path);
        let named = |problem: String| format!("`{name}` could not be changed: {problem}");
        let bytes = self.desk.read(&place).await.map_err(named)?.map(|(bytes, _)| bytes);
        let text = bytes.map(String::from_utf8).transpose();
        let text = text.map_err(|_| named("it is not UTF-8 text".to_owned()))?;
        let Errand { text, notice } = self.projection.run_errand(recorded, text.as_deref());
        if let Some(text) = text {
            self.desk.write_durably(&place, text).await.map_err(named)?;
        }
        Ok(notice)
    }

    /// Returns the first of the files that is there, else where it is to be made.
    async fn find(&self, goal: &Goal) -> Result<Option<Place>, String> {
        let mut made = None;
        for path in &goal.paths {
            let place = place(self.projection, self.root, path.clone());
            if self.desk.stat(&place).await?.is_some() {
                return Ok(Some(place));
            }
            let whole = std::path::Path::new(&place.folder).join(path);
            let folder = whole.parent().map(|it| it.to_string_lossy().into_owned());
            let has_folder = self.desk.has_folder(&folder.unwrap_or_default()).await;
            if made.is_none() && (has_folder || goal.paths.len() == 1) {
                made = Some(place);
            }
        }
        Ok(made)
    }
}
