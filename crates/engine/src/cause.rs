//! Why something happened, as a value. Events also say it in words, for people; rules and dialects go
//! by the value, and nothing compares the words.

use alloc::string::String;

use serde::{Deserialize, Serialize};

use crate::{Event, StepCompleted, legacy};

/// Why a step, or a part of it, was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkipCause {
    /// The run's flow has it not.
    Flow,
    /// The step's own condition holds.
    Condition,
    /// A caller named it.
    Named,
    /// It lies before the step that the run was to begin with.
    Range,
    /// The step is not for this part.
    NotMeant,
    /// A person answered so.
    Person,
}

/// Why work is to be done again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ReopenCause {
    /// A person sent it back.
    Person,
    /// A review wants it changed.
    Review,
    /// It breaks rules of the project.
    Rules,
    /// It is a review of something that has changed since.
    ReviewStale,
    /// A file that it left is not there any more.
    FileGone { path: String },
    /// The agent went back to an earlier step.
    GoneBack,
    /// The run came to it again.
    Again,
    /// The part was left out before, and the step is for it now.
    NowMeant,
    /// A person allowed another attempt.
    Failed,
    /// It is for a person to do, and none has said that it is done.
    Owed,
}

/// Who or what completed a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompletedBy {
    /// An agent reported it.
    #[default]
    Report,
    /// The step has no work of its own.
    NoWork,
    /// The last of its parts was completed.
    Parts,
    /// The run came to it, and each of its parts was settled before.
    NothingLeft,
    /// A person did it.
    Person,
    /// A person approved it without a report.
    Approved,
    /// The server did it.
    Chore,
    /// The review was written already when the run came to it.
    FoundReview,
    /// A caller took the run on to a later step.
    PassedOver,
}

/// Why an attempt or a run failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailCause {
    /// An agent reported it.
    Report,
    /// The time was over.
    Timeout,
    /// The last allowed attempt failed.
    AttemptsSpent,
    /// A review was not met as often as is allowed.
    Review,
    /// The definition leads there.
    Route,
    /// A language model said so.
    Model,
    /// A person answered so.
    Person,
    /// A caller ended the run.
    Caller,
}

impl Event {
    /// Returns why a step or part was left out, if that is what happened.
    pub fn skip_cause(&self) -> Option<SkipCause> {
        let Self::StepSkipped { cause, reason, why, .. } = self else { return None };
        cause.or_else(|| legacy::skip_cause(reason, *why))
    }

    /// Returns why work is to be done again, if that is what happened and it is known.
    pub fn reopen_cause(&self) -> Option<ReopenCause> {
        let Self::StepReopened { cause, feedback, .. } = self else { return None };
        cause.clone().or_else(|| legacy::reopen_cause(feedback))
    }

    /// Returns why an attempt or the run failed, if that is what happened and it is known.
    #[expect(clippy::wildcard_enum_match_arm, reason = "nothing else is a failure")]
    pub fn fail_cause(&self) -> Option<FailCause> {
        match self {
            Self::StepFailed { cause, report, .. } => {
                cause.or_else(|| Some(legacy::step_fail_cause(report.as_ref())))
            }
            Self::RunFailed { cause, reason, .. } => {
                cause.or_else(|| legacy::run_fail_cause(reason))
            }
            _ => None,
        }
    }
}

impl StepCompleted {
    /// Returns who or what completed the step.
    pub fn completed_by(&self) -> CompletedBy {
        self.by.unwrap_or_else(|| legacy::completed_by(&self.report))
    }
}
