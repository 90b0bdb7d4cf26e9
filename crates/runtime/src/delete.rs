//! Deletes runs that are over, for a person. No tool of an agent leads here.

use engine::{Refusal, RunId};
use store::{Deletion, Filter, Order, StoreError};

use crate::{ExecuteError, Runtime, View, fault};

/// What goes when a run is deleted, and what stays.
#[derive(Debug, Clone)]
pub struct Deletable {
    pub view: View,
    /// The run's file, if it is there. It stays.
    pub file: Option<LeftFile>,
}

/// A file that outlives its run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftFile {
    /// As people name it.
    pub path: String,
    /// Whether a new run begins from it when it is read next. Otherwise it names its run, and no
    /// run begins from it again.
    pub begins_run: bool,
}

/// Why a run is not deleted.
#[derive(Debug, Clone, thiserror::Error)]
pub enum DeleteError {
    /// It goes on.
    #[error("the run is {}", .0.state.standing.as_str())]
    Live(Box<View>),
    /// It stands between its file and an earlier run.
    #[error("the earlier run `{}` has the same key, and would take `{file}` for its own", .run.short())]
    Followed { run: RunId, file: String },
    #[error(transparent)]
    Failed(#[from] ExecuteError),
}

impl Runtime {
    /// Returns what would go with a run, or why it may not be deleted.
    pub async fn find_deletable(&self, run: RunId) -> Result<Deletable, DeleteError> {
        let view = self.load(run).await?;
        if view.state.standing.is_live() {
            return Err(DeleteError::Live(view.into()));
        }
        let begins_run = self.find_projection(view.workflow.name.as_str()).is_some();
        let file = self.find_left(&view).await?.map(|path| LeftFile { path, begins_run });
        // The file would look edited to an earlier run, which would take the edit in.
        if let Some(file) = &file
            && let Some(run) = self.find_earlier(&view).await?
        {
            return Err(DeleteError::Followed { run, file: file.path.clone() });
        }
        Ok(Deletable { view, file })
    }

    /// Deletes a run with everything that belongs to it in the store, unless something happened to
    /// it since it was looked at.
    pub async fn delete(&self, deletable: &Deletable) -> Result<(), ExecuteError> {
        let state = &deletable.view.state;
        let (at, steady) = (self.world.now(), self.world.steady());
        let deletion = Deletion { run: state.run, expected: state.length, at, steady };
        match self.store.delete(deletion).await {
            Err(StoreError::Conflict { .. }) => {
                let current = state.current.as_ref().map(ToString::to_string).unwrap_or_default();
                Err(Refusal::RunMoved { current }.into())
            }
            done => done.map_err(fault),
        }
    }

    /// Returns the earlier run that would have the key of a run without it, and its file.
    async fn find_earlier(&self, view: &View) -> Result<Option<RunId>, ExecuteError> {
        let filter = Filter {
            project: Some(view.project.clone()),
            workflow: Some(view.workflow.name.to_string()),
            root: Some(view.state.root().to_owned()),
            key: view.state.key().map(ToOwned::to_owned),
            order: Order::Started,
            limit: 2,
            ..Filter::default()
        };
        let rows = self.store.list(filter).await.map_err(fault)?.rows;
        let earlier = rows.into_iter().map(|it| it.run).find(|it| *it != view.state.run);
        let Some(earlier) = earlier else { return Ok(None) };
        Ok((!self.load(earlier).await?.state.gave_up_key).then_some(earlier))
    }
}
