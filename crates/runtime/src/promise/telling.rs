//! What others are told of runs: lines in a file that many share, each event in order, whichever
//! process and surface it came from.
//!
//! It is a side file like any other: the append says that it is owed, and how far it was done is kept.
//! Only a crash between the two can have a line told again.

use std::{path::Path, sync::Arc};

use engine::{Event, Recorded, RunId};
use parking_lot::Mutex;
use store::{FileMark, Touch};

use crate::{EventLog, ExecuteError, FileSystem, LineFormatter, Place, Runtime, View, fault};

/// The name under which is kept how far others were told.
pub(super) const TOLD: &str = "errand:told";

/// Who words what others are told of a run, and how much of its log they know.
pub(super) struct Told {
    length: u64,
    formatter: Box<dyn LineFormatter>,
}

impl Runtime {
    /// Tells of what happened to a run since others were told last. Returns whether it could be.
    pub(super) async fn tell(
        &self,
        view: &View,
        file_system: &dyn FileSystem,
        mut mark: FileMark,
    ) -> Result<bool, ExecuteError> {
        let run = view.state.run;
        let projection = self.find_covering(&view.workflow);
        let Some(event_log) = projection.and_then(|it| it.event_log()) else { return Ok(true) };
        let Some(told) = self.find_told(view, mark.written) else { return Ok(true) };
        let known = told.lock().length;
        let Some(log) = self.store.load(run, known).await.map_err(fault)? else { return Ok(true) };
        let lines = told.lock().take_in(&log.events, mark.written);
        if let Err(problem) = add(file_system, event_log, lines).await {
            tracing::warn!(%run, problem, "`{}` could not be added to", event_log.path);
            self.forget_told(run);
            return Ok(false);
        }
        mark.written = log.length;
        self.store.touch(Touch::Files(run, vec![mark])).await.map_err(fault)?;
        Ok(true)
    }

    /// Takes all of a run's log, which comes from elsewhere, as told there.
    pub(crate) async fn mark_told(&self, run: RunId, length: u64) -> Result<(), ExecuteError> {
        let (path, sha256) = (TOLD.to_owned(), String::new());
        let mark = FileMark { path, owed: length, written: length, sha256, size: 0, modified: 0 };
        self.store.touch(Touch::Files(run, vec![mark])).await.map(drop).map_err(fault)
    }

    /// Returns who tells of a run, knowing no more of it than others were told.
    fn find_told(&self, view: &View, written: u64) -> Option<Arc<Mutex<Told>>> {
        let run = view.state.run;
        let mut formatters = self.promises.formatters.lock();
        if let Some(told) = formatters.find(&run).filter(|it| it.lock().length <= written) {
            return Some(told);
        }
        let formatter = self.find_covering(&view.workflow)?.formatter(&view.workflow, run)?;
        let told = Arc::new(Mutex::new(Told { length: 0, formatter }));
        formatters.keep(run, Arc::clone(&told), self.settings.states_max);
        Some(told)
    }

    fn forget_told(&self, run: RunId) {
        if let Some(told) = self.promises.formatters.lock().find(&run) {
            // It knows more than others do now.
            told.lock().length = u64::MAX;
        }
    }
}

impl Told {
    /// Takes in what is new in the log, and returns the lines about what comes after `written`.
    fn take_in(&mut self, events: &[Recorded], written: u64) -> Vec<String> {
        let new = events.iter().position(|it| self.length < it.seq).unwrap_or(events.len());
        let (_, events) = events.split_at(new);
        // What a copy has from its original was told of that.
        let copied = events.iter().rfind(|it| matches!(it.event, Event::RunForked { .. }));
        let silent = copied.map_or(written, |it| written.max(it.seq.saturating_sub(1)));
        let mut lines = Vec::new();
        // Events of one append have one time.
        let is_together = |one: &Recorded, two: &Recorded| one.at == two.at && one.seq != silent;
        for change in events.chunk_by(is_together) {
            let told = self.formatter.tell(change);
            let Some(last) = change.last() else { continue };
            self.length = last.seq;
            if silent < last.seq {
                lines.extend(told);
            }
        }
        lines
    }
}

async fn add(
    file_system: &dyn FileSystem,
    event_log: &EventLog,
    lines: Vec<String>,
) -> Result<(), String> {
    let path = Path::new(&event_log.path);
    let text = |it: Option<&Path>| it.map(|it| it.to_string_lossy().into_owned());
    let place = Place {
        // The root is never made, so it must be one that is there.
        root: "/".to_owned(),
        folder: text(path.parent()).unwrap_or_default(),
        path: text(path.file_name().map(Path::new)).unwrap_or_default(),
    };
    for line in lines {
        file_system.append(&place, line, event_log.bytes_max).await?;
    }
    Ok(())
}
