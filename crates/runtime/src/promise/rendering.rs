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
        let projection = Arc::clone(&self.projection);
        projection.basis(self.text(), text)
    }

    pub(crate) fn stamp(&mut self) -> Option<String> {
        if let Source::Events(file_text) = &self.source {
            return file_text.stamp();
        }
        let projection = Arc::clone(&self.projection);
        projection.stamp(self.text())
    }

    pub(crate) fn is_torn(&self, beginning: &[u8]) -> bool {
        self.file_text().is_none_or(|it| it.is_torn(beginning))
    }

    pub(crate) fn distance(&self, text: &str) -> Option<usize> {
        self.file_text()?.distance(text)
    }

    pub(crate) fn is_seen(&self, text: &str) -> bool {
        self.file_text().is_none_or(|it| it.is_seen(text))
    }

    pub(crate) fn is_base(&self, base: &str, text: &str) -> bool {
        self.file_text().is_none_or(|it| it.is_base(base, text))
    }

    pub(crate) fn rebase(&self, base: &str, text: &str) -> Option<String> {
        self.file_text()?.rebase(base, text)
    }

    pub(crate) fn beside(&self) -> Vec<(String, String)> {
        self.file_text().map(|it| it.beside()).unwrap_or_default()
    }

    fn file_text(&self) -> Option<&dyn FileText> {
        match &self.source {
            Source::Events(file_text) => Some(&**file_text),
            Source::State(_) => None,
        }
    }
}
