//! Takes over a run from elsewhere, with its history.

use std::sync::Arc;

use definition::Workflow;
use engine::{Actor, Command, Recorded, RunId, Standing, Surface, fold, summary};
use store::{Append, StoreError};

use crate::{
    ExecuteError, Runtime, View,
    execute::{Checks, definition_of},
    fault,
};

/// A run that comes from elsewhere.
#[derive(Debug, Clone)]
pub struct Import {
    pub run: RunId,
    /// What it is pinned to from now on.
    pub workflow: Workflow,
    /// Its whole log: it begins with a start that names this workflow's digest, and is numbered
    /// from 1.
    pub events: Vec<Recorded>,
}

impl Runtime {
    /// Stores a run with its log, and returns whether it was taken: a run that is there already is
    /// left as it is.
    pub async fn import(&self, import: Import) -> Result<bool, ExecuteError> {
        let Import { run, workflow, mut events } = import;
        if self.store.load(run, u64::MAX).await.map_err(fault)?.is_some() {
            return Ok(false);
        }
        let mut state = fold(run, &events);
        let workflow = Arc::new(workflow);
        if state.standing == Standing::Running {
            // A history from elsewhere takes no run past a gate.
            let view = View {
                project: self.settings.project.clone(),
                workflow: Arc::clone(&workflow),
                state: Arc::new(state),
                leases: Vec::new(),
            };
            let settle = Command::SettleRun { goes_on: false };
            let settled = self.decide(&view, &settle, &mut Checks::new()).await?;
            let by = Actor { surface: Surface::Timer, ..Actor::default() };
            let (at, steady) = (settled.state.updated_at, settled.state.steady);
            let record = |(seq, event)| Recorded { seq, at, steady, by: by.clone(), event };
            events.extend((view.state.length + 1..).zip(settled.events).map(record));
            state = fold(run, &events);
        }
        let append = Append {
            project: self.settings.project.clone(),
            run,
            expected: 0,
            summary: summary(&workflow, &state),
            definition: Some(definition_of(&workflow)),
            events,
            request: None,
            leases: Vec::new(),
            owes: Vec::new(),
        };
        match self.write(append).await {
            Ok(()) => {
                if self.find_covering(&workflow).is_some_and(|it| it.layout().event_log.is_some()) {
                    self.mark_told(run, state.length).await?;
                }
                Ok(true)
            }
            // Someone else took it over in between.
            Err(StoreError::Conflict { .. }) => Ok(false),
            Err(error) => Err(fault(error)),
        }
    }
}
