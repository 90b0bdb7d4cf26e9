//! Everything that can have happened to a run. The stored format: a promise to every later release.
//!
//! An event holds what was decided and what mattered of the world when it was, so that a replay
//! never looks again. A new field needs a default; a changed meaning needs a new kind.

use alloc::{boxed::Box, string::String, vec::Vec};

use definition::{
    Answers, Decider, Digest, Finding, GateOption, PartId, PartSpec, StepName, WorkflowName,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    CompletedBy, FailCause, FileClaim, GitDeed, JournalRotated, Progress, Pushed, ReopenCause,
    RunId, SkipCause, Timestamp,
};

/// The version of the format that this release writes.
pub const EVENT_VERSION: u32 = 1;

/// One thing that happened to a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind")]
pub enum Event {
    RunStarted(Box<RunStarted>),
    /// The run was copied from another one's log up to `seq`, and goes on by itself.
    RunForked {
        from: RunId,
        seq: u64,
    },
    /// An agent came back, told where it believed to be, and was set right.
    RunResumed {
        assumed: String,
        report: Report,
        reasoning: String,
    },
    /// A step became the current one.
    StepEntered {
        step: StepName,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        decision: Option<Choice>,
    },
    /// An attempt was begun.
    StepStarted {
        step: StepName,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        part: Option<PartId>,
        attempt: u32,
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        details: Map<String, Value>,
        /// What it works from, where a later change to that would make it worthless.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        seen: Vec<Artifact>,
    },
    /// An agent told how far it is, without being done.
    StepReported {
        step: StepName,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        part: Option<PartId>,
        report: Report,
    },
    StepCompleted(Box<StepCompleted>),
    /// An attempt came to nothing.
    StepFailed {
        step: StepName,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        part: Option<PartId>,
        reason: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        report: Option<Report>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<FailCause>,
    },
    StepSkipped {
        step: StepName,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        part: Option<PartId>,
        reason: String,
        #[serde(default, skip_serializing_if = "SkipReason::is_default")]
        why: SkipReason,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<SkipCause>,
    },
    /// Work that was done must be done again.
    StepReopened {
        step: StepName,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        part: Option<PartId>,
        feedback: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<ReopenCause>,
    },
    /// A step whose attempt came to nothing is ready for another.
    StepRetried {
        step: StepName,
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        details: Map<String, Value>,
    },
    /// A review judged a step's work.
    VerdictGiven {
        step: StepName,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        part: Option<PartId>,
        of: StepName,
        verdict: String,
        ruling: Ruling,
        /// What the review found, in the order in which it says so; the first of them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        findings: Vec<Finding>,
    },
    /// A set of parts was made known.
    PartsPlanned {
        set: String,
        parts: Vec<PartSpec>,
        /// Whether a caller named them, rather than the definition.
        #[serde(default, skip_serializing_if = "core::ops::Not::not")]
        by_hand: bool,
    },
    /// Someone said how far a part is.
    PartPlaced(PartPlaced),
    /// The server writes a file of the run; without a text it removes it.
    FileLeft {
        path: String,
        /// What it said then. A file that says something else by now stays as it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        was: Option<Digest>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    /// The run's file said what the run does not take in. It is written from the log again.
    FileReplaced {
        /// As people name it.
        path: String,
        /// What was found there.
        problem: String,
        /// Where that text is kept. `None`: it was empty, so that there was nothing to keep.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kept: Option<String>,
    },
    GateOpened(Box<OpenGate>),
    GateAnswered {
        step: StepName,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        part: Option<PartId>,
        answer: String,
        how: How,
        /// Who said so, as far as is known.
        by: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        feedback: String,
        digest: Digest,
    },
    /// What was asked is not asked any more.
    GateWithdrawn {
        step: StepName,
    },
    /// An agent went on without an answer at a gate where it may answer for the person.
    GateWaived {
        step: StepName,
    },
    ContextChanged {
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        set: Map<String, Value>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        removed: Vec<String>,
    },
    VarsChanged {
        set: Map<String, Value>,
    },
    ModelAsked(Box<ModelAsked>),
    EntryRecorded {
        step: StepName,
        entry: Entry,
    },
    LeaseTaken(Lease),
    LeaseReleased {
        step: StepName,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        part: Option<PartId>,
        generation: u64,
    },
    /// Someone who knew of the difference said to go on with the files as they are now.
    DriftAccepted {
        artifacts: Vec<Artifact>,
        /// Files that are no longer there, and no longer missed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        gone: Vec<String>,
    },
    /// A file said where the work is.
    RunPlaced(Box<FileClaim>),
    /// A caller asked for a change by its name.
    MoveMade {
        name: String,
        /// Why it should not have been, where that was overlooked.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        warnings: Vec<String>,
    },
    /// The condition of a rule came true.
    RuleFired {
        rule: String,
    },
    ItemAdded {
        item: Item,
    },
    ItemClosed {
        id: u64,
    },
    JournalRotated(Box<JournalRotated>),
    /// A line is to stand first under a heading of a file.
    LineInserted {
        path: String,
        heading: String,
        line: String,
    },
    /// The server did something for the run.
    ChoreDone {
        name: String,
        deed: GitDeed,
        /// What was done, in a line.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        detail: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        warnings: Vec<String>,
        /// What was pushed, if anything was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pushed: Option<Pushed>,
    },
    /// The server saw for the first time where the branch of the run stands.
    BranchSeen {
        name: String,
        /// The last commit that was there before the run: of the branch, or of what was checked out
        /// where the branch was not made yet.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        base: Option<String>,
        /// Whether the run began without it: it was there, and not checked out, or the run was under
        /// way.
        #[serde(default, skip_serializing_if = "core::ops::Not::not")]
        is_taken: bool,
    },
    /// The server could not do something for the run.
    ChoreFailed {
        name: String,
        deed: GitDeed,
        reason: String,
        /// Whether the run goes on as if it were done.
        #[serde(default, skip_serializing_if = "core::ops::Not::not")]
        is_passed: bool,
    },
    /// Every step is done, and the run stays open until it is completed.
    WorkEnded,
    RunCompleted {
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        details: Map<String, Value>,
    },
    RunFailed {
        reason: String,
        /// Where, if that was said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        step: Option<StepName>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<FailCause>,
    },
    RunCancelled {
        reason: String,
    },
    /// Another run may begin with the key.
    KeyGivenUp,
    /// A run that had ended, or waited, goes on.
    RunReopened {
        reason: String,
        #[serde(default, skip_serializing_if = "core::ops::Not::not")]
        forced: bool,
    },
}

/// How a run began.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunStarted {
    pub workflow: WorkflowName,
    /// Of the definition that the run is pinned to.
    pub digest: Digest,
    /// The decider that was resolved.
    pub decider: Decider,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
    #[serde(default)]
    pub context: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub vars: Map<String, Value>,
    /// The folder that artifact paths are relative to.
    #[serde(default)]
    pub root: String,
    /// Whether notes make up a journal.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub journal: bool,
}

/// Something that is to be done in a run, one after another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    pub id: u64,
    pub text: String,
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub is_done: bool,
}

/// How far a part of a step is, as someone said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartPlaced {
    pub step: StepName,
    pub part: PartId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<Progress>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revisions: Option<u32>,
    /// What a review says of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// What it is called from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// How it is worked on from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
}

impl PartPlaced {
    /// Says nothing yet of a part.
    pub fn of(step: StepName, part: PartId) -> Self {
        Self { step, part, progress: None, revisions: None, verdict: None, title: None, mode: None }
    }
}

/// A step, or one part of it, was done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepCompleted {
    pub step: StepName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<PartId>,
    /// What the agent claims.
    pub report: Report,
    /// What the server saw itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Artifact>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<CheckRun>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<Git>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Read it by [`StepCompleted::completed_by`], which knows older events too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<CompletedBy>,
}

impl StepCompleted {
    /// Work that left nothing for the server to look at.
    pub(crate) fn unseen(
        step: StepName,
        part: Option<PartId>,
        report: Report,
        by: CompletedBy,
    ) -> Self {
        Self {
            step,
            part,
            report,
            artifacts: Vec::new(),
            checks: Vec::new(),
            git: None,
            warnings: Vec::new(),
            by: Some(by),
        }
    }
}

/// What an agent says of its work.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Report {
    pub step_id: String,
    #[serde(default)]
    pub result: Value,
    pub status: String,
    #[serde(default)]
    pub details: Value,
    #[serde(default)]
    pub message: Option<String>,
    #[serde(default)]
    pub error: Option<String>,
    /// Nobody reported: the server noted that the work is done, and the words are its own.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub by_server: bool,
}

/// A file, as the server saw it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Artifact {
    pub path: String,
    pub sha256: Digest,
    pub size: u64,
}

/// A command that the server ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckRun {
    pub run: Vec<String>,
    pub exit: i32,
}

/// The state of the version control that the root lies in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Git {
    pub head: String,
    pub branch: String,
    /// How many files differ from the head.
    pub dirty: u64,
}

/// Why a step was entered: who chose it, and what for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    pub by: Decider,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
}

/// A language model was asked what comes next, and this came of it. What it cost is here and
/// nowhere else: a decision that ends the run, or stays at a step, enters none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelAsked {
    /// The step that the run was at.
    pub step: StepName,
    /// What it chose: the name of a step, `FINISH` or `FAILED`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// Why the choice fell to the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<ModelFailure>,
    pub usage: Usage,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Why a language model's word could not be had, or not be taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelFailure {
    pub kind: ModelFailureKind,
    /// Without secrets.
    pub message: String,
}

/// What went wrong with a language model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelFailureKind {
    Timeout,
    /// It could not be reached, or refused.
    Api,
    /// What it said is not an answer.
    InvalidResponse,
    /// It would not answer.
    Safety,
    /// It named a step that there is not, or that may not follow.
    InvalidStep,
}

/// What asking a language model took.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    pub model: String,
    #[serde(default)]
    pub tokens_in: u64,
    #[serde(default)]
    pub tokens_out: u64,
    #[serde(default)]
    pub latency_ms: u64,
    /// How often it was asked, tries after a failure among them.
    #[serde(default)]
    pub tries: u32,
}

impl ModelFailureKind {
    /// Returns the stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Api => "api",
            Self::InvalidResponse => "invalid_response",
            Self::Safety => "safety",
            Self::InvalidStep => "invalid_step",
        }
    }
}

impl Usage {
    /// Adds what asking once more took.
    pub(crate) fn add(&mut self, more: &Self) {
        self.model.clone_from(&more.model);
        self.tokens_in = self.tokens_in.saturating_add(more.tokens_in);
        self.tokens_out = self.tokens_out.saturating_add(more.tokens_out);
        self.latency_ms = self.latency_ms.saturating_add(more.latency_ms);
        self.tries = self.tries.saturating_add(more.tries);
    }
}

/// What a verdict led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ruling {
    Approved,
    Revised,
    /// The verdict was to revise, but the allowance was spent.
    Promoted,
    /// A person is asked.
    Asked,
    Failed,
}

/// A gate that waits for a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenGate {
    pub step: StepName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<PartId>,
    /// More parts that the answer counts for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<PartId>,
    pub why: GateReason,
    /// What is asked, as it was shown.
    pub ask: String,
    pub options: Vec<GateOption>,
    pub answers: Answers,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Artifact>,
    /// Over run, step, part, attempt, text and artifacts: what an answer is bound to.
    pub digest: Digest,
    pub opened_at: Timestamp,
}

impl OpenGate {
    /// Whether only a person's own answer counts.
    #[must_use]
    pub fn is_personal(&self) -> bool {
        self.answers == Answers::Verified
    }

    /// Has only a person's own answer count, where the settings say so by now.
    pub(crate) fn harden(&mut self, gates: Option<Answers>) {
        if gates == Some(Answers::Verified) {
            self.answers = Answers::Verified;
        }
    }
}

/// Why a person is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateReason {
    /// The step has a gate.
    Gate,
    /// The step has a gate, and the person is asked before its work is reported.
    Early,
    /// A part is for a person to do.
    Part,
    /// A review ended without a verdict that is known.
    VerdictUnknown,
    AttemptsSpent,
    /// Reviews kept asking for more.
    RevisionsSpent,
    /// The run goes in circles.
    VisitsSpent,
    /// The run took as many tokens as it may.
    BudgetSpent,
    /// The run is past the gate of the step, and nobody has answered there.
    Owed,
}

impl GateReason {
    /// Whether the question is the one that the step's own gate asks.
    pub(crate) fn is_own(self) -> bool {
        matches!(self, Self::Gate | Self::Early | Self::Owed)
    }
}

/// Who left a step out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// The definition: the run's flow, or a condition.
    #[default]
    Definition,
    /// A caller, by name or by where it had the run begin.
    Caller,
    /// A person, by an answer at the gate.
    Person,
}

impl SkipReason {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// How an answer at a gate came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum How {
    /// By a way that only a person can take.
    Verified,
    /// Passed on by an agent.
    Relayed,
    /// By the definition's own condition.
    Automatic,
}

/// Something worth keeping that moves nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Entry {
    Error {
        message: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        severity: Option<String>,
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        details: Map<String, Value>,
    },
    Question {
        question: String,
        answer: String,
        /// When it was answered, if that was said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answered_at: Option<String>,
    },
    Metric {
        name: String,
        value: f64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unit: Option<String>,
    },
    /// What an attempt took.
    Usage {
        #[serde(default)]
        tokens: u64,
        #[serde(default)]
        duration_ms: u64,
        /// As it is called by anyone who says so.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        model: String,
    },
    Note {
        text: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tags: Vec<String>,
    },
}

/// Who holds a step, and until when unless a heartbeat comes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    pub step: StepName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<PartId>,
    pub holder: String,
    /// Grows with each lease of the run. A report with an older number is refused.
    pub generation: u64,
    pub until: Timestamp,
}

/// Who asked for something, and by which way.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Actor {
    /// The name it gives itself, or the person's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The client program, such as `claude-code 2.1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    #[serde(default)]
    pub surface: Surface,
}

/// The way by which something was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Surface {
    #[default]
    Mcp,
    Cli,
    Web,
    /// The server itself, when a time came.
    Timer,
    Import,
    /// A file that was written by hand.
    File,
}

/// An event in its place in a run's log.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// From 1, without gaps.
    pub seq: u64,
    /// By the wall clock. For people.
    pub at: Timestamp,
    /// By the steady clock, which durations are measured with. An event of an earlier release has
    /// only `at`, and this is the same.
    pub steady: Timestamp,
    pub by: Actor,
    pub event: Event,
}

impl Recorded {
    /// Whether two events were decided together: those have one time and one actor.
    pub(crate) fn is_together(&self, other: &Self) -> bool {
        (self.at, self.steady, &self.by) == (other.at, other.steady, &other.by)
    }
}

/// Why a stored event could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// A later release wrote it.
    #[error("event kind `{kind}` (version {version}) is newer than this release")]
    Newer { kind: String, version: u32 },
    #[error("a stored event cannot be read: {0}")]
    Corrupt(String),
}

impl Event {
    /// Whether it reports or answers the action that was handed out.
    pub fn is_answer(&self) -> bool {
        matches!(
            self,
            Self::StepReported { .. }
                | Self::StepCompleted(_)
                | Self::StepFailed { .. }
                | Self::StepSkipped { .. }
                | Self::GateAnswered { .. }
        )
    }

    /// Returns the stable name of this kind of event.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::RunStarted(_) => "RunStarted",
            Self::RunForked { .. } => "RunForked",
            Self::RunResumed { .. } => "RunResumed",
            Self::StepEntered { .. } => "StepEntered",
            Self::StepStarted { .. } => "StepStarted",
            Self::StepReported { .. } => "StepReported",
            Self::StepCompleted(_) => "StepCompleted",
            Self::StepFailed { .. } => "StepFailed",
            Self::StepSkipped { .. } => "StepSkipped",
            Self::StepReopened { .. } => "StepReopened",
            Self::StepRetried { .. } => "StepRetried",
            Self::VerdictGiven { .. } => "VerdictGiven",
            Self::PartsPlanned { .. } => "PartsPlanned",
            Self::PartPlaced(_) => "PartPlaced",
            Self::FileLeft { .. } => "FileLeft",
            Self::FileReplaced { .. } => "FileReplaced",
            Self::GateOpened(_) => "GateOpened",
            Self::GateAnswered { .. } => "GateAnswered",
            Self::GateWithdrawn { .. } => "GateWithdrawn",
            Self::GateWaived { .. } => "GateWaived",
            Self::ContextChanged { .. } => "ContextChanged",
            Self::VarsChanged { .. } => "VarsChanged",
            Self::ModelAsked(_) => "ModelAsked",
            Self::EntryRecorded { .. } => "EntryRecorded",
            Self::LeaseTaken(_) => "LeaseTaken",
            Self::LeaseReleased { .. } => "LeaseReleased",
            Self::DriftAccepted { .. } => "DriftAccepted",
            Self::RunPlaced(_) => "RunPlaced",
            Self::MoveMade { .. } => "MoveMade",
            Self::RuleFired { .. } => "RuleFired",
            Self::ItemAdded { .. } => "ItemAdded",
            Self::ItemClosed { .. } => "ItemClosed",
            Self::JournalRotated(_) => "JournalRotated",
            Self::LineInserted { .. } => "LineInserted",
            Self::ChoreDone { .. } => "ChoreDone",
            Self::BranchSeen { .. } => "BranchSeen",
            Self::ChoreFailed { .. } => "ChoreFailed",
            Self::WorkEnded => "WorkEnded",
            Self::RunCompleted { .. } => "RunCompleted",
            Self::RunFailed { .. } => "RunFailed",
            Self::RunCancelled { .. } => "RunCancelled",
            Self::KeyGivenUp => "KeyGivenUp",
            Self::RunReopened { .. } => "RunReopened",
        }
    }

    /// Returns the event as it is stored: JSON with its `kind`.
    pub fn encode(&self) -> String {
        serde_json::to_string(self).expect("an event has only string keys and finite numbers")
    }

    /// Reads a stored event of format `version`.
    pub fn decode(version: u32, text: &str) -> Result<Self, DecodeError> {
        let error = match serde_json::from_str(text) {
            Ok(event) if version <= EVENT_VERSION => return Ok(event),
            Ok::<Self, _>(_) => String::from("its version is newer"),
            Err(error) => alloc::format!("{error}"),
        };
        #[derive(Deserialize)]
        struct Kind {
            kind: String,
        }
        match serde_json::from_str::<Kind>(text) {
            Ok(Kind { kind }) if EVENT_VERSION < version || !KINDS.contains(&kind.as_str()) => {
                Err(DecodeError::Newer { kind, version })
            }
            Ok(_) | Err(_) => Err(DecodeError::Corrupt(error)),
        }
    }
}

/// Every kind there is in this release.
const KINDS: &[&str] = &[
    "RunStarted",
    "RunForked",
    "RunResumed",
    "StepEntered",
    "StepStarted",
    "StepReported",
    "StepCompleted",
    "StepFailed",
    "StepSkipped",
    "StepReopened",
    "StepRetried",
    "VerdictGiven",
    "PartsPlanned",
    "PartPlaced",
    "FileLeft",
    "FileReplaced",
    "GateOpened",
    "GateAnswered",
    "GateWithdrawn",
    "GateWaived",
    "ContextChanged",
    "VarsChanged",
    "ModelAsked",
    "EntryRecorded",
    "LeaseTaken",
    "LeaseReleased",
    "DriftAccepted",
    "RunPlaced",
    "MoveMade",
    "RuleFired",
    "ItemAdded",
    "ItemClosed",
    "JournalRotated",
    "LineInserted",
    "ChoreDone",
    "BranchSeen",
    "ChoreFailed",
    "WorkEnded",
    "RunCompleted",
    "RunFailed",
    "RunCancelled",
    "KeyGivenUp",
    "RunReopened",
];
