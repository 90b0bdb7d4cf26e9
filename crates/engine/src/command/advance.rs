//! A call that says how the action at hand went, or what a person said, and has the run go on.

use alloc::string::String;

use definition::StepName;
use serde_json::{Map, Value};

use super::Traits;
use crate::Refusal;

/// What a call says of a run, and how far the run then goes. All of it is one decision.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Advance {
    pub report: Option<Done>,
    /// What a person said: the name of an option that is offered.
    pub answer: Option<String>,
    /// `None`: the run comes no further than to the next step.
    pub onward: Option<Onward>,
}

/// The work at hand is done.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Done {
    /// `None`: whatever was handed out last.
    pub step: Option<String>,
    /// Whether something was only prepared, and the step goes on.
    pub is_setup: bool,
    /// What it took.
    pub tokens: u64,
    pub duration_ms: u64,
    pub model: String,
}

/// The run goes on: steps that are left out are passed, parts are planned, a review that is there
/// is taken, and work is begun.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Onward {
    /// Variables that were found out.
    pub set: Map<String, Value>,
    /// What is said of the attempts that begin.
    pub details: Map<String, Value>,
    /// A file in which a person may have left something for the next agent. It is taken away.
    pub message: Option<String>,
}

/// What a decision tells its caller besides what it led to. It is not stored.
#[derive(Debug, Clone, PartialEq)]
pub enum Note {
    /// A report does not answer for the person who is asked.
    ReportAtGate,
    /// The last action was reported before, at this step.
    AlreadyReported {
        step: StepName,
    },
    /// There is nothing to show for the work, so it goes on. The first file that is missing; empty
    /// where every part is done.
    NothingFound {
        path: String,
    },
    AnswerNotTaken(Refusal),
    /// An answer was passed on, and nobody is asked anything.
    NobodyAsked,
    /// An answer was passed on before the person was asked.
    NotAskedYet,
    /// Nothing is taken any more.
    RunOver,
}

impl Advance {
    pub(super) fn traits(&self) -> Traits {
        Traits {
            waits_for_chores: self.report.is_some(),
            leaves_chores: self.onward.is_none(),
            speaks_of_place: self.report.is_some() || self.answer.is_some(),
            is_aside: false,
        }
    }
}
