//! Copies a run from some point on.

mod files;

use std::sync::Arc;

use engine::{Actor, Command, Event, ForkPoint, Recorded, RunId, RunState, fold, fork, summary};
use serde_json::{Map, Value};
use store::Append;

use crate::{
    ExecuteError, Outcome, Runtime, View,
    execute::{Checks, definition_of, refuse_taken_key},
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
        let key = self.next_key(request.request_id, &asked)?;
        if let Some(mut outcome) = self.find_repeated(key.as_ref()).await? {
            let notices = self.finish_files(outcome.view.state.run).await;
            outcome.file = self.keep_promise(&outcome.view, notices).await;
            return Ok(outcome);
        }
        let (view, log) = self.load_at(request.run, None).await?;
        if let Some(key) = &request.key {
            self.release_taken_away(view.workflow.name.as_str(), key).await?;
        }
        let run = self.world.new_run();
        let now = self.world.now().max(view.state.updated_at);
        let steady = self.world.steady().max(view.state.steady);
        let by = (now, steady, request.actor.clone());
        let mut events: Vec<Recorded> =
            fork(request.run, &log, &request.point, request.key.as_deref(), by)?;
        let state = Arc::new(fold(run, &events));
        let cut = View { state, leases: Vec::new(), ..view.clone() };
        // The files go first: what the copy does next is decided by them.
        let mut notices = self.copy_files(&view, &cut).await?;
        let cut = match self.vars_of_copy(&cut, &view.state).filter(|_| request.key.is_some()) {
            None => cut,
            Some(set) => {
                let (seq, by) = (cut.state.length + 1, request.actor.clone());
                events.push(Recorded {
                    seq,
                    at: now,
                    steady,
                    by,
                    event: Event::VarsChanged { set },
                });
                View { state: Arc::new(fold(run, &events)), ..cut }
            }
        };
        let settled =
            self.decide(&cut, &Command::SettleRun { goes_on: true }, &mut Checks::new()).await?;
        let by = || request.actor.clone();
        let record = |(seq, event)| Recorded { seq, at: now, steady, by: by(), event };
        events.extend((cut.state.length + 1..).zip(settled.events).map(record));
        // The copy is what its log says, to the microsecond.
        let view = View { state: Arc::new(fold(run, &events)), ..cut };
        let append = Append {
            project: view.project.clone(),
            run,
            expected: 0,
            events: events.clone(),
            summary: summary(&view.workflow, &view.state),
            definition: Some(definition_of(&view.workflow)),
            request: key.clone(),
            leases: Vec::new(),
            owes: self.owed_by(&view, view.state.key(), own_of(&events)),
        };
        let appended = self.write(append).await.map_err(refuse_taken_key);
        if appended.is_ok() {
            self.note_commit(key.as_ref());
            self.remember(&view);
        }
        let outcome = match appended {
            Ok(()) => {
                notices.extend(self.keep_side_files(&view).await);
                let file = self.keep_promise(&view, notices).await;
                Ok(Outcome { events, file, ..Outcome::unchanged(view) })
            }
            Err(error) => Err(error),
        };
        self.or_repeated(outcome, key.as_ref()).await
    }

    /// Returns the variables that are not those of the original, if there are any.
    fn vars_of_copy(&self, copy: &View, of: &RunState) -> Option<Map<String, Value>> {
        let projection = self.find_covering(&copy.workflow)?;
        let set = projection.vars_of_copy(copy.state.key()?, &self.home_of(copy), of);
        (!set.is_empty()).then_some(set)
    }
}

/// Returns what is not in the log of the original.
fn own_of(events: &[Recorded]) -> &[Recorded] {
    let copied = events.iter().rposition(|it| matches!(it.event, Event::RunForked { .. }));
    copied.and_then(|it| events.get(it..)).unwrap_or_default()
}
