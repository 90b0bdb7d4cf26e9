//! Takes over a run from elsewhere, with its history.

use definition::Workflow;
use engine::{Recorded, RunId, fold, summary};
use store::{Append, StoreError};

use crate::{ExecuteError, Runtime, execute::definition_of, fault};

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
        let Import { run, workflow, events } = import;
        if self.store.load(run, u64::MAX).await.map_err(fault)?.is_some() {
            return Ok(false);
        }
        let state = fold(run, &events);
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
                if self.find_covering(&workflow).is_some_and(|it| it.ledger().is_some()) {
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
