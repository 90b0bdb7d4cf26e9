//! Loads runs: the log is folded once, and from then on only what was appended since.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use definition::{MemoryFiles, Source, Workflow, WorkflowName, parse};
use engine::{Lease, Recorded, Refusal, RunId, RunState, evolve, fold};
use parking_lot::Mutex;

use crate::{ExecuteError, Runtime, cards, fault};

/// How many definitions are kept parsed.
const WORKFLOWS_MAX: usize = 16;

/// A run, as far as it has come.
#[derive(Debug, Clone)]
pub struct View {
    pub project: String,
    pub workflow: Arc<Workflow>,
    pub state: Arc<RunState>,
    /// With the ends that heartbeats have moved, by the steady clock.
    pub leases: Vec<Lease>,
}

impl View {
    /// Returns a lease with its end by the wall clock, as it stood at the run's last event.
    #[must_use]
    pub fn shown(&self, lease: &Lease) -> Lease {
        let until = lease.until.translate(self.state.steady, self.state.updated_at);
        Lease { until, ..lease.clone() }
    }
}

/// What was loaded before. Nothing in it is ever wrong: a log only grows, and a definition is
/// named by its digest.
#[derive(Default)]
pub(crate) struct Loaded {
    states: Mutex<Kept<RunId, Arc<RunState>>>,
    workflows: Mutex<Kept<String, Arc<Workflow>>>,
    /// The built-in workflows that runs were begun with, by name.
    pub(crate) builtin: Mutex<BTreeMap<String, Arc<Workflow>>>,
    pub(crate) cards: Mutex<BTreeMap<WorkflowName, cards::Kept>>,
}

/// The most recently added values.
pub(crate) struct Kept<K, V> {
    values: BTreeMap<K, V>,
    order: VecDeque<K>,
}

impl<K, V> Default for Kept<K, V> {
    fn default() -> Self {
        Self { values: BTreeMap::new(), order: VecDeque::new() }
    }
}

impl<K: Ord + Clone, V: Clone> Kept<K, V> {
    pub(crate) fn find(&self, key: &K) -> Option<V> {
        self.values.get(key).cloned()
    }

    pub(crate) fn keep(&mut self, key: K, value: V, max: usize) {
        if self.values.insert(key.clone(), value).is_none() {
            self.order.push_back(key);
        }
        while max < self.order.len() {
            if let Some(oldest) = self.order.pop_front() {
                self.values.remove(&oldest);
            }
        }
    }
}

impl Runtime {
    /// Returns a run as it is now.
    pub(crate) async fn load(&self, run: RunId) -> Result<View, ExecuteError> {
        let kept = self.loaded.states.lock().find(&run);
        let after = kept.as_ref().map_or(0, |it| it.length);
        let log = self.store.load(run, after).await.map_err(fault)?;
        let Some(log) = log.filter(|it| it.project == self.settings.project) else {
            return Err(Refusal::RunUnknown(run.to_string()).into());
        };
        let state = match kept {
            Some(state) if log.events.is_empty() => state,
            Some(state) => Arc::new(log.events.iter().fold(Arc::unwrap_or_clone(state), evolve)),
            None => Arc::new(fold(run, &log.events)),
        };
        let workflow = self.workflow_of(&state).await?;
        let view = View { project: log.project, workflow, state, leases: log.leases };
        self.remember(&view);
        Ok(view)
    }

    /// Returns a run as it was after event `seq`, and its log up to there.
    pub(crate) async fn load_at(
        &self,
        run: RunId,
        seq: Option<u64>,
    ) -> Result<(View, Vec<Recorded>), ExecuteError> {
        let log = self.store.load(run, 0).await.map_err(fault)?;
        let Some(mut log) = log.filter(|it| it.project == self.settings.project) else {
            return Err(Refusal::RunUnknown(run.to_string()).into());
        };
        if let Some(seq) = seq {
            if seq == 0 || log.length < seq {
                return Err(Refusal::SeqUnknown { seq, length: log.length }.into());
            }
            log.events.retain(|it| it.seq <= seq);
        }
        let state = Arc::new(fold(run, &log.events));
        let workflow = self.workflow_of(&state).await?;
        let view = View { project: log.project, workflow, state, leases: log.leases };
        Ok((view, log.events))
    }

    pub(crate) fn remember(&self, view: &View) {
        let mut states = self.loaded.states.lock();
        let is_newer = states.find(&view.state.run).is_none_or(|it| it.length < view.state.length);
        if is_newer {
            states.keep(view.state.run, Arc::clone(&view.state), self.settings.states_max);
        }
    }

    /// Returns the definition that a run is pinned to.
    async fn workflow_of(&self, state: &RunState) -> Result<Arc<Workflow>, ExecuteError> {
        let unreadable = |why: String| ExecuteError::from(Refusal::DefinitionUnreadable(why));
        let (Some(name), Some(digest)) = (state.workflow(), state.definition()) else {
            return Err(unreadable("the log does not begin with a start".to_owned()));
        };
        let digest = digest.as_str().to_owned();
        if let Some(workflow) = self.loaded.workflows.lock().find(&digest) {
            return Ok(workflow);
        }
        let text = self.store.find_definition(&digest).await.map_err(fault)?;
        let text = text.ok_or_else(|| unreadable(format!("definition `{digest}` is not there")))?;
        let source: Source =
            serde_json::from_str(&text).map_err(|error| unreadable(error.to_string()))?;
        let workflow = parse(name, &MemoryFiles(source.files))
            .map_err(|error| unreadable(error.to_string()))?;
        let workflow = Arc::new(workflow);
        let mut workflows = self.loaded.workflows.lock();
        workflows.keep(digest, Arc::clone(&workflow), WORKFLOWS_MAX);
        Ok(workflow)
    }
}
