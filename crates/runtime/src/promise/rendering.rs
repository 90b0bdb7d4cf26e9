//! What the file of a run says: rendered from the state, or written event by event.

use std::sync::Arc;

use definition::Workflow;
use engine::{Recorded, RunId, RunState, evolve};

use crate::{Basis, FileText, Projection};

/// The file of one run, at one length of its log.
pub(crate) struct Rendering {
    projection: Arc<dyn Projection>,
    workflow: Arc<Workflow>,
    source: Source,
    /// What it says, once that was asked for.
    text: Option<String>,
}

/// What a file is made from.
enum Source {
    State(Arc<RunState>),
    Events(Box<dyn FileText>),
}

impl Rendering {
    /// Returns the file of a run of which nothing is known yet.
    pub(crate) fn blank(
        projection: &Arc<dyn Projection>,
        workflow: &Arc<Workflow>,
        run: RunId,
    ) -> Self {
        let source = match projection.blank(workflow) {
            Some(file_text) => Source::Events(file_text),
            None => Source::State(Arc::new(RunState::new(run))),
        };
        let (projection, workflow) = (Arc::clone(projection), Arc::clone(workflow));
        Self { projection, workflow, source, text: None }
    }

    /// Whether a state is all that it needs.
    pub(crate) fn is_of_state(&self) -> bool {
        matches!(self.source, Source::State(_))
    }

    /// Takes the next event of the log in.
    pub(crate) fn apply(&mut self, recorded: &Recorded) {
        self.text = None;
        match &mut self.source {
            Source::Events(file_text) => file_text.apply(recorded),
            Source::State(state) => {
                let before = std::mem::replace(state, Arc::new(RunState::new(state.run)));
                *state = Arc::new(evolve(Arc::unwrap_or_clone(before), recorded));
            }
        }
    }

    /// Says from now on what is so in this state.
    pub(crate) fn follow(&mut self, now: &Arc<RunState>) {
        if let Source::State(state) = &mut self.source {
            *state = Arc::clone(now);
            self.text = None;
        }
    }

    pub(crate) fn text(&mut self) -> &str {
        let Self { projection, workflow, source, text } = self;
        text.get_or_insert_with(|| match source {
            Source::State(state) => projection.render(workflow, state),
            Source::Events(file_text) => file_text.text(),
        })
    }

    pub(crate) fn basis(&mut self, text: &str) -> Basis {
        if let Source::Events(file_text) = &self.source {
            return file_text.basis(text);
        }
        let (projection, workflow) = (Arc::clone(&self.projection), Arc::clone(&self.workflow));
        projection.basis(&workflow, self.text(), text)
    }

    pub(crate) fn stamp(&mut self) -> Option<String> {
        if let Source::Events(file_text) = &self.source {
            return file_text.stamp();
        }
        let projection = Arc::clone(&self.projection);
        projection.stamp(self.text())
    }

    pub(crate) fn beside(&self) -> Vec<(String, String)> {
        match &self.source {
            Source::State(state) => self.projection.beside(&self.workflow, state),
            Source::Events(_) => Vec::new(),
        }
    }
}
