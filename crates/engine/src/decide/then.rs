//! What comes next for a run. The files of this folder return it, and `flow` does it.

use alloc::boxed::Box;

use definition::StepName;

use crate::{Choice, Event};

/// What comes next for a run.
#[derive(Debug)]
#[must_use = "nothing comes next unless `flow::run` gets it"]
pub(super) enum Then {
    /// It stays where it is: there is something to do, or a person to ask, or it is over.
    Stay,
    /// It goes to a step.
    Enter {
        step: StepName,
        choice: Option<Choice>,
        /// What ends the run there, if that is where it stays.
        end: Option<Box<Event>>,
    },
}

impl Then {
    pub(super) fn enter(step: &StepName, choice: Option<Choice>) -> Self {
        Self::Enter { step: step.clone(), choice, end: None }
    }
}
