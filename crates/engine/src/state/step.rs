//! How far a step is, and each part of it.
//!
//! What the commands on a step `a` lead to, by how far it is (a test draws it; the step may be tried
//! twice, and `b` comes next):
//!
//! ```text
//! ready                begin a   StepStarted(a)
//! ready                success a StepCompleted(a) StepEntered(b)
//! ready                failure a StepFailed(a)
//! ready                fail a    refused step_not_begun
//! ready                retry a   refused step_not_failed
//! active               begin a   nothing
//! active               success a StepCompleted(a) StepEntered(b)
//! active               failure a StepFailed(a)
//! active               fail a    StepFailed(a)
//! active               retry a   refused step_not_failed
//! active, faulty       begin a   nothing
//! active, faulty       success a StepCompleted(a) StepEntered(b)
//! active, faulty       failure a StepFailed(a)
//! active, faulty       fail a    StepFailed(a)
//! active, faulty       retry a   refused step_not_failed
//! held                 begin a   refused step_held
//! held                 success a refused step_held
//! held                 failure a refused step_held
//! held                 fail a    refused step_held
//! held                 retry a   refused step_not_failed
//! failed attempt       begin a   StepStarted(a)
//! failed attempt       success a StepCompleted(a) StepEntered(b)
//! failed attempt       failure a StepFailed(a) GateOpened(a attempts_spent)
//! failed attempt       fail a    refused step_not_begun
//! failed attempt       retry a   StepRetried(a)
//! retried              begin a   StepStarted(a)
//! retried              success a StepCompleted(a) StepEntered(b)
//! retried              failure a StepFailed(a) GateOpened(a attempts_spent)
//! retried              fail a    StepFailed(a)
//! retried              retry a   refused step_not_failed
//! attempts spent       begin a   refused gate_open
//! attempts spent       success a refused gate_open
//! attempts spent       failure a refused gate_open
//! attempts spent       fail a    refused gate_open
//! attempts spent       retry a   StepRetried(a)
//! ```

use alloc::{collections::BTreeMap, string::String, vec::Vec};

use definition::{Digest, Finding, PartId};
use serde::{Deserialize, Serialize};

use crate::{
    Artifact, CompletedBy, Git, How, ReopenCause, Report, Ruling, SkipCause, SkipReason, Timestamp,
};

/// What is known of a step.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StepState {
    pub effort: Effort,
    /// How often it was entered.
    pub visits: u32,
    /// How often a person sent its work back.
    pub rounds: u32,
    pub entered_at: Option<Timestamp>,
    /// What a person agreed to before the work was reported.
    pub agreed: Option<Digest>,
    /// The event by which it was last entered.
    pub entered_by: u64,
    /// How the run got past the step's gate since the step was last entered.
    pub passage: Passage,
    /// The event by which it did.
    pub passed_by: u64,
    /// The files that were shown when the gate was last approved.
    pub approved: Vec<Artifact>,
    /// Over what the gate was about then.
    pub approved_about: Option<Digest>,
    /// What came of its last verdict, where it is a review.
    pub ruling: Option<Ruling>,
    /// How far each part is, where the step is fanned out.
    pub parts: BTreeMap<PartId, Effort>,
}

/// How a run got past a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Passage {
    /// It did not: an answer is owed.
    #[default]
    Owed,
    /// An answer let it pass.
    Answered(How),
    /// The step was left out.
    LeftOut(SkipReason),
    /// An agent or a file claimed so, without an answer.
    Claimed,
}

/// The work on a step, or on one part of it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Effort {
    pub progress: Progress,
    pub attempts: u32,
    /// How often a review asked for it to be done again.
    pub revisions: u32,
    pub started_at: Option<Timestamp>,
    pub ended_at: Option<Timestamp>,
    /// When the time of the attempt began by the steady clock: at its start, or as the last ended.
    pub since: Option<Timestamp>,
    pub report: Option<Report>,
    /// Who or what completed it the last time.
    pub completed_by: Option<CompletedBy>,
    /// Why it was last left out.
    pub skipped: Option<SkipCause>,
    /// Why it was last to be done again.
    pub reopened: Option<ReopenCause>,
    pub git: Option<Git>,
    /// What a person or a review wants changed.
    pub feedback: Option<String>,
    /// Of a review: what it found when it judged last.
    pub findings: Vec<Finding>,
    /// Why the last attempt failed, until one succeeds.
    pub failure: Option<String>,
    pub trouble: AttemptStatus,
    /// What the attempt under way was begun with, where that was looked at.
    pub seen: Vec<Artifact>,
    /// How a person settled the part, where it is for one.
    pub answered: Option<How>,
    /// Of a review: its last verdict, until someone says otherwise.
    pub judged: Option<Judged>,
    /// The event that last said how far it is, other than that it was begun or that the step is not
    /// for it.
    pub told_by: u64,
    /// What someone said it is, where that is all there is.
    pub claimed: Option<Progress>,
    /// The event that last completed it.
    pub done_by: u64,
}

impl Effort {
    /// Returns what a person or a review wants changed, until it is done. One who said nothing of it
    /// still sent it back.
    pub fn sent_back(&self) -> Option<&str> {
        let silent = match &self.reopened {
            Some(ReopenCause::Person) => "a person sent it back without saying why",
            Some(ReopenCause::Review) => "a review sent it back without saying why",
            Some(
                ReopenCause::Rules
                | ReopenCause::ReviewStale
                | ReopenCause::FileGone { .. }
                | ReopenCause::GoneBack
                | ReopenCause::Again
                | ReopenCause::NowMeant
                | ReopenCause::Failed
                | ReopenCause::Owed,
            )
            | None => "",
        };
        let silent = Some(silent).filter(|it| !it.is_empty() && !self.progress.is_settled());
        self.feedback.as_deref().or(silent)
    }
}

/// What a review said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    pub verdict: String,
    /// Whether it let the work pass.
    pub is_passed: bool,
    pub by: u64,
}

/// What is wrong with the last attempt, or the one under way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AttemptStatus {
    #[default]
    None,
    /// It failed, and nobody has taken the step up since.
    Failed,
    /// It failed, and the step was made ready for another, which counts as having begun it.
    Retried,
    /// An error was recorded while it is under way: to begin again is a new attempt.
    Faulty,
}

/// How far a step or part is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Progress {
    /// It was not reached.
    #[default]
    Idle,
    /// It is there to be worked on.
    Ready,
    /// An attempt is under way.
    Active,
    Done,
    Skipped,
    /// A review found it wanting; it is on its way back.
    Rejected,
}

impl StepState {
    /// Whether anyone took it up, as a whole or a part of it.
    pub fn is_begun(&self) -> bool {
        let is_begun = |it: &Effort| 0 < it.attempts || it.progress.is_settled();
        is_begun(&self.effort) || self.parts.values().any(is_begun)
    }
}

impl Effort {
    /// Notes that an event says how far it is.
    pub(crate) fn tell(&mut self, seq: u64, claimed: Option<Progress>) {
        (self.told_by, self.claimed) = (seq, claimed);
    }

    /// Is there to be worked on, with nothing under way.
    pub(crate) fn await_attempt(&mut self, steady: Timestamp) {
        self.progress = Progress::Ready;
        self.ended_at = None;
        self.since = Some(steady);
        self.trouble = AttemptStatus::None;
    }
}

impl Progress {
    /// Returns whether nothing is left to do.
    pub fn is_settled(self) -> bool {
        matches!(self, Self::Done | Self::Skipped)
    }

    /// Returns the stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Ready => "ready",
            Self::Active => "active",
            Self::Done => "done",
            Self::Skipped => "skipped",
            Self::Rejected => "rejected",
        }
    }
}
