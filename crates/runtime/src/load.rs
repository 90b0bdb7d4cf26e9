//! Loads runs: the log is folded once, and from then on only what was appended since.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt::{self, Write as _},
    sync::{Arc, Weak},
};

use definition::{MemoryFiles, Source, Workflow, WorkflowName, parse};
use engine::{Recorded, Refusal, RunId, RunState, evolve, fold};
use parking_lot::Mutex;

use crate::{ExecuteError, Runtime, Settings, View, cards, fault};

/// How many definitions are kept parsed.
const WORKFLOWS_MAX: usize = 16;

/// What was loaded before. Nothing in it is ever wrong: a log only grows, and a definition is
/// named by its digest.
#[derive(Default)]
pub(crate) struct Loaded {
    states: Mutex<States>,
    workflows: Mutex<Kept<String, Arc<Workflow>>>,
    /// Where commands of this process wait for each other that lost a race for a run. Without it
    /// hundreds of them at one run would all try again at once, and all but one in vain.
    queues: Queues<RunId>,
    /// Where calls of this process wait that have the same id.
    pub(crate) calls: Queues<String>,
    /// The built-in workflows that runs were begun with, by name.
    pub(crate) builtin: Mutex<BTreeMap<String, Arc<Workflow>>>,
    pub(crate) cards: Mutex<BTreeMap<WorkflowName, cards::Kept>>,
}

impl Loaded {
    /// Returns where commands wait for each other that lost a race for a run.
    pub(crate) fn queue(&self, run: RunId) -> Arc<tokio::sync::Mutex<()>> {
        self.queues.find(run)
    }
}

/// What tasks of this process wait in for each other, by a key.
pub(crate) struct Queues<K>(Mutex<BTreeMap<K, Weak<tokio::sync::Mutex<()>>>>);

impl<K> Default for Queues<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Ord> Queues<K> {
    /// Returns the queue of a key. It is there as long as someone has it.
    pub(crate) fn find(&self, key: K) -> Arc<tokio::sync::Mutex<()>> {
        let mut queues = self.0.lock();
        if let Some(queue) = queues.get(&key).and_then(Weak::upgrade) {
            return queue;
        }
        queues.retain(|_, it| 0 < it.strong_count());
        let queue = Arc::default();
        queues.insert(key, Arc::downgrade(&queue));
        queue
    }
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
            drop(self.drop_oldest());
        }
    }

    pub(crate) fn remove(&mut self, key: &K) {
        self.values.remove(key);
        self.order.retain(|it| it != key);
    }

    /// Lets the oldest value go.
    fn drop_oldest(&mut self) -> Option<V> {
        let oldest = self.order.pop_front()?;
        self.values.remove(&oldest)
    }
}

/// The states of the runs that were changed last, up to a number of them and of bytes.
#[derive(Default)]
struct States {
    kept: Kept<RunId, Measured>,
    /// What all of them take together.
    bytes: usize,
}

/// A state, and about how much memory it takes.
#[derive(Clone)]
struct Measured {
    state: Arc<RunState>,
    bytes: usize,
    /// How long the log was when the state was measured.
    at: u64,
}

impl States {
    fn find(&self, run: &RunId) -> Option<Arc<RunState>> {
        self.kept.values.get(run).map(|it| Arc::clone(&it.state))
    }

    /// Keeps a state, and lets the oldest go that there is no room for. The newest always stays:
    /// to fold a long log again for each call would cost more than the memory that it takes.
    fn keep(&mut self, state: &Arc<RunState>, settings: &Settings) {
        let known = self.kept.values.get(&state.run);
        if known.is_some_and(|it| state.length <= it.state.length) {
            return;
        }
        let measured = Measured::new(state, known);
        self.bytes = self.bytes + measured.bytes - known.map_or(0, |it| it.bytes);
        self.kept.order.retain(|it| *it != state.run);
        self.kept.values.remove(&state.run);
        self.kept.keep(state.run, measured, usize::MAX);
        while settings.states_max < self.kept.order.len()
            || settings.states_bytes_max < self.bytes && 1 < self.kept.order.len()
        {
            let Some(oldest) = self.kept.drop_oldest() else { break };
            self.bytes -= oldest.bytes;
        }
    }
}

impl Measured {
    /// Measures a state again only when its log is a quarter longer, so that a long run does not
    /// pay for its length with each write.
    fn new(state: &Arc<RunState>, known: Option<&Self>) -> Self {
        let state = Arc::clone(state);
        match known {
            Some(known) if state.length <= known.at + known.at / 4 => {
                Self { state, bytes: known.bytes, at: known.at }
            }
            Some(_) | None => Self { bytes: measure(&state), at: state.length, state },
        }
    }
}

/// Returns about how many bytes a state takes: as many as it has letters when it is written out.
fn measure(state: &RunState) -> usize {
    struct Counter(usize);
    impl fmt::Write for Counter {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0 += text.len();
            Ok(())
        }
    }
    let mut counter = Counter(0);
    write!(counter, "{state:?}").map_or(0, |()| counter.0)
}

impl Runtime {
    /// Returns a run as it is now.
    pub(crate) async fn load(&self, run: RunId) -> Result<View, ExecuteError> {
        if let Some(pin) = self.pinned(run) {
            return self.load_pinned(run, pin).await;
        }
        let kept = self.loaded.states.lock().find(&run);
        let after = kept.as_ref().map_or(0, |it| it.length);
        let log = self.store.load(run, after).await.map_err(fault)?;
        let Some(log) = log.filter(|it| it.project == self.settings.project) else {
            return Err(Refusal::RunUnknown(run.to_string()).into());
        };
        let state = match kept {
            Some(state) if log.events.is_empty() => state,
            Some(state) => {
                self.hardened(log.events.iter().fold(Arc::unwrap_or_clone(state), evolve))
            }
            None => self.hardened(fold(run, &log.events)),
        };
        let workflow = self.workflow_of(&state).await?;
        let view = View { project: log.project, workflow, state, leases: log.leases };
        self.remember(&view);
        Ok(view)
    }

    /// Returns a run as a call saw it that is made again.
    async fn load_pinned(&self, run: RunId, pin: u64) -> Result<View, ExecuteError> {
        if pin == 0 {
            return Err(Refusal::RunUnknown(run.to_string()).into());
        }
        Ok(self.load_at(run, Some(pin)).await?.0)
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
        if let Some(seq) = seq.or_else(|| self.pinned(run)) {
            if seq == 0 || log.length < seq {
                return Err(Refusal::SeqUnknown { seq, length: log.length }.into());
            }
            log.events.retain(|it| it.seq <= seq);
        }
        let state = self.hardened(fold(run, &log.events));
        let workflow = self.workflow_of(&state).await?;
        let view = View { project: log.project, workflow, state, leases: log.leases };
        Ok((view, log.events))
    }

    /// Returns a state as the settings of now have it.
    fn hardened(&self, mut state: RunState) -> Arc<RunState> {
        state.harden(self.settings.gates);
        Arc::new(state)
    }

    pub(crate) fn remember(&self, view: &View) {
        self.loaded.states.lock().keep(&view.state, &self.settings);
    }

    /// Returns the definition that a run is pinned to.
    pub(crate) async fn workflow_of(
        &self,
        state: &RunState,
    ) -> Result<Arc<Workflow>, ExecuteError> {
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
        if workflow.digest.as_str() != digest {
            return Err(unreadable(format!("definition `{digest}` is not as it was stored")));
        }
        let workflow = Arc::new(workflow);
        let mut workflows = self.loaded.workflows.lock();
        workflows.keep(digest, Arc::clone(&workflow), WORKFLOWS_MAX);
        Ok(workflow)
    }
}

#[cfg(test)]
mod tests {
    use engine::{Bounds, Entry, Event, Recorded};

    use super::*;

    fn settings(states_bytes_max: usize) -> Settings {
        Settings {
            project: String::new(),
            root: String::new(),
            bounds: Bounds::default(),
            gates: None,
            policies: crate::Policies::default(),
            has_model: false,
            fail_on_model_error: false,
            brief_tokens: 0,
            wait_max: std::time::Duration::ZERO,
            states_max: 100,
            states_bytes_max,
        }
    }

    fn state(number: u8, notes: u64) -> Arc<RunState> {
        let run = RunId::from_bytes([number; 16]);
        let note = |seq| {
            let step = definition::StepName::parse("plan").unwrap();
            let entry = Entry::Note { text: "x".repeat(1_000), tags: Vec::new() };
            let event = Event::EntryRecorded { step, entry };
            Recorded {
                seq,
                at: engine::Timestamp(0),
                steady: engine::Timestamp(0),
                by: engine::Actor::default(),
                event,
            }
        };
        Arc::new(fold(run, (1..=notes).map(note).collect::<Vec<_>>().iter()))
    }

    #[test]
    fn states_are_kept_up_to_a_number_of_bytes() {
        let (mut states, settings) = (States::default(), settings(30_000));
        for number in 1..=10 {
            states.keep(&state(number, 9), &settings);
        }
        assert_eq!(states.kept.values.len(), 2, "{} bytes", states.bytes);
        assert!(states.bytes <= 30_000);
        // One that is larger than all the room stays alone.
        states.keep(&state(11, 100), &settings);
        assert_eq!(states.kept.values.len(), 1);
        assert!(100_000 < states.bytes);
    }

    #[test]
    fn a_run_that_is_used_stays() {
        let (mut states, settings) = (States::default(), settings(30_000));
        for number in 2..=10 {
            states.keep(&state(1, u64::from(number)), &settings);
            states.keep(&state(number, 2), &settings);
        }
        assert!(states.find(&RunId::from_bytes([1; 16])).is_some());
        assert!(states.find(&RunId::from_bytes([2; 16])).is_none());
    }
}
