//! How a command is decided: how far it takes the run, and what counts on the way.
//!
//! Each command has a mode of its own. It is an argument, so that nothing of it is left over for the
//! next command of the same decision.

use crate::{AtEnd, CompletedBy};

/// How a command is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mode {
    pub(crate) reach: Reach,
    /// What happens after the last step.
    pub(crate) at_end: AtEnd,
    pub(crate) verdicts: Verdicts,
    /// Who completes a step.
    pub(crate) by: CompletedBy,
}

/// How far a command takes the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// To a step at which there is something to do, or a person to ask.
    Through,
    /// From one step to the next, with a look at each.
    OneStep,
    /// To the next step, whatever is to be found there.
    RecordOnly,
}

/// Whether a verdict to revise counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdicts {
    Count,
    /// It was counted before.
    Counted,
}

impl Default for Mode {
    fn default() -> Self {
        Self {
            reach: Reach::Through,
            at_end: AtEnd::default(),
            verdicts: Verdicts::Count,
            by: CompletedBy::Report,
        }
    }
}
