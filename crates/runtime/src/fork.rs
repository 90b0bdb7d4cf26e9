//! Copies a run from some point on.

use std::sync::Arc;

use engine::{Actor, ForkPoint, Recorded, RunId, fold, fork, summary};
use store::Append;

use crate::{
    ExecuteError, Outcome, Runtime, View,
    execute::{definition_of, refuse_taken_key, request_key},
};

/// What to copy.
#[derive(Debug, Clone)]
pub struct Fork {
    pub run: RunId,
    pub point: ForkPoint,
    /// The copy's own key, where the original's is taken.
    pub key: Option<String>,
    pub actor: Actor,
    /// The same id with the same content is answered as it was the first time.
    pub request_id: Option<String>,
}

impl Runtime {
    /// Copies a run, and returns the copy.
    pub async fn fork(&self, request: Fork) -> Result<Outcome, ExecuteError> {
        let asked = format!("fork {} {:?} {:?}", request.run, request.point, request.key);
        let key = request_key(request.request_id, &asked);
        if let Some(outcome) = self.find_repeated(key.as_ref()).await? {
            return Ok(outcome);
        }
        let (view, log) = self.load_at(request.run, None).await?;
        let run = self.world.new_run();
        let now = self.world.now().max(view.state.updated_at);
        let by = (now, request.actor);
        let events: Vec<Recorded> =
            fork(request.run, &log, &request.point, request.key.as_deref(), by)?;
        let state = Arc::new(fold(run, &events));
        let view = View { state, leases: Vec::new(), ..view };
        let append = Append {
            project: view.project.clone(),
            run,
            expected: 0,
            events: events.clone(),
            summary: summary(&view.workflow, &view.state),
            definition: Some(definition_of(&view.workflow)),
            request: key,
            leases: Vec::new(),
        };
        self.store.append(append).await.map_err(refuse_taken_key)?;
        self.remember(&view);
        Ok(Outcome { view, events })
    }
}
