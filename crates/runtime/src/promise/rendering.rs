//! What the file of a run says: rendered from the state of the run, and only when someone asks.

use std::sync::Arc;

use definition::Workflow;
use engine::{Recorded, RunId, RunState, evolve};

use crate::{Basis, Projection};

/// The file of one run, at one length of its log.
pub(crate) struct Rendering {
    projection: Arc<dyn Projection>,
    workflow: Arc<Workflow>,
    state: Arc<RunState>,
    /// What it says, once that was asked for.
    text: Option<String>,
}

impl Rendering {
    /// Returns the file of a run of which nothing is known yet.
    pub(crate) fn blank(
        projection: &Arc<dyn Projection>,
        workflow: &Arc<Workflow>,
        run: RunId,
    ) -> Self {
        Self::of(projection, workflow, Arc::new(RunState::new(run)))
    }

    /// Returns the file of a run in this state.
    pub(crate) fn of(
        projection: &Arc<dyn Projection>,
        workflow: &Arc<Workflow>,
        state: Arc<RunState>,
    ) -> Self {
        let (projection, workflow) = (Arc::clone(projection), Arc::clone(workflow));
        Self { projection, workflow, state, text: None }
    }

    /// Returns how long the log is that it is made from.
    pub(crate) fn length(&self) -> u64 {
        self.state.length
    }

    /// Takes the next event of the log in.
    pub(crate) fn apply(&mut self, recorded: &Recorded) {
        let blank = Arc::new(RunState::new(self.state.run));
        let before = std::mem::replace(&mut self.state, blank);
        self.follow(Arc::new(evolve(Arc::unwrap_or_clone(before), recorded)));
    }

    /// Says from now on what is so in this state.
    pub(crate) fn follow(&mut self, now: Arc<RunState>) {
        self.state = now;
        self.text = None;
    }

    pub(crate) fn text(&mut self) -> &str {
        let Self { projection, workflow, state, text } = self;
        text.get_or_insert_with(|| projection.render(workflow, state))
    }

    pub(crate) fn basis(&mut self, text: &str) -> Basis {
        let (projection, workflow) = (Arc::clone(&self.projection), Arc::clone(&self.workflow));
        projection.basis(&workflow, self.text(), text)
    }

    /// Returns what another text must say to count as made from this one.
    pub(crate) fn stamp(&mut self) -> Option<String> {
        let projection = Arc::clone(&self.projection);
        projection.read(self.text()).ok()?.stamp
    }

    pub(crate) fn beside(&self) -> Vec<(String, String)> {
        self.projection.beside(&self.workflow, &self.state)
    }
}
