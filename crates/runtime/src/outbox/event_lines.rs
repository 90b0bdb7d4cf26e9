//! What others are told of runs: lines in a file that many share, each event in order, whichever
//! process and surface it came from.
//!
//! Only a crash between a line and its mark can have the line told again.

use std::{path::Path, sync::Arc};

use definition::Workflow;
use engine::{Event, Recorded, RunId, RunState, evolve};
use parking_lot::Mutex;
use store::FileMark;

use crate::{
    Appended, EventLog, ExecuteError, FileSystem, Place, Projection, Runtime, View, fault,
};

/// The name under which is kept how far others were told.
pub(super) const TOLD: &str = "errand:told";

/// How much of a run others were told.
pub(super) struct Told {
    projection: Arc<dyn Projection>,
    workflow: Arc<Workflow>,
    state: RunState,
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
        let Some(event_log) = projection.and_then(|it| it.layout().event_log.as_ref()) else {
            return Ok(true);
        };
        let Some(told) = self.find_told(view, mark.written) else { return Ok(true) };
        let known = told.lock().state.length;
        let Some(log) = self.store.load(run, known).await.map_err(fault)? else { return Ok(true) };
        let lines = told.lock().take_in(&log.events, mark.written);
        if let Err(problem) = add(file_system, event_log, lines).await {
            tracing::warn!(%run, problem, "`{}` could not be added to", event_log.path);
            self.forget_told(run);
            return Ok(false);
        }
        mark.written = log.length;
        self.keep_mark(run, mark).await?;
        Ok(true)
    }

    /// Takes all of a run's log, which comes from elsewhere, as told there.
    pub(crate) async fn mark_told(&self, run: RunId, length: u64) -> Result<(), ExecuteError> {
        let (path, sha256) = (TOLD.to_owned(), String::new());
        let mark = FileMark { path, owed: length, written: length, sha256, size: 0, modified: 0 };
        self.keep_mark(run, mark).await
    }

    /// Returns who tells of a run, knowing no more of it than others were told.
    fn find_told(&self, view: &View, written: u64) -> Option<Arc<Mutex<Told>>> {
        let run = view.state.run;
        let mut formatters = self.outbox.tellers.lock();
        if let Some(told) = formatters.find(&run).filter(|it| it.lock().state.length <= written) {
            return Some(told);
        }
        let projection = Arc::clone(self.find_covering(&view.workflow)?);
        let (workflow, state) = (Arc::clone(&view.workflow), RunState::new(run));
        let told = Arc::new(Mutex::new(Told { projection, workflow, state }));
        formatters.keep(run, Arc::clone(&told), self.settings.states_max);
        Some(told)
    }

    fn forget_told(&self, run: RunId) {
        if let Some(told) = self.outbox.tellers.lock().find(&run) {
            // It knows more than others do now.
            told.lock().state.length = u64::MAX;
        }
    }
}

impl Told {
    /// Takes in what is new in the log, and returns the lines about what comes after `written`.
    fn take_in(&mut self, events: &[Recorded], written: u64) -> Vec<String> {
        let known = self.state.length;
        let new = events.iter().position(|it| known < it.seq).unwrap_or(events.len());
        let (_, events) = events.split_at(new);
        // What a copy has from its original was told of that.
        let copied = events.iter().rfind(|it| matches!(it.event, Event::RunForked { .. }));
        let silent = copied.map_or(written, |it| written.max(it.seq.saturating_sub(1)));
        let mut lines = Vec::new();
        // Events of one append have one time.
        let is_together = |one: &Recorded, two: &Recorded| one.at == two.at && one.seq != silent;
        for change in events.chunk_by(is_together) {
            let after = change.iter().fold(self.state.clone(), evolve);
            let before = std::mem::replace(&mut self.state, after);
            if silent < self.state.length {
                let appended = Appended { before: &before, after: &self.state, events: change };
                lines.extend(self.projection.tell(&self.workflow, &appended));
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
