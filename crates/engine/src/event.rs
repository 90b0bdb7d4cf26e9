//! Everything that can have happened to a run. The stored format: a promise to every later release.
//!
//! An event holds what was decided and what mattered of the world when it was, so that a replay
//! never looks again. A new field needs a default; a changed meaning needs a new kind.

mod gate;
mod model;
mod report;
mod work;

use alloc::{boxed::Box, string::String, vec::Vec};

use definition::{Decider, Digest, Finding, PartId, PartSpec, StepName, WorkflowName};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    FailCause, FileClaim, GitDeed, JournalRotated, Pushed, ReopenCause, RunId, SkipCause, Timestamp,
};
pub use gate::{GateReason, How, OpenGate};
pub use model::{ModelAsked, ModelFailure, ModelFailureKind, Usage};
pub(crate) use report::says_success;
pub use report::{Outcome, Report};
pub use work::{
    Artifact, CheckRun, Choice, Entry, Git, Lease, PartPlaced, Ruling, SkipReason, StepCompleted,
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
        /// The agent completed the step, and said nothing of a person.
        #[serde(default, skip_serializing_if = "core::ops::Not::not")]
        is_implied: bool,
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
    /// Whether the run goes on from a node of a graph that leads to one other only.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub goes_on: bool,
}

/// Something that is to be done in a run, one after another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    pub id: u64,
    pub text: String,
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub is_done: bool,
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

/// The kinds of events, each of which is stored by its name.
macro_rules! kinds {
    ($($kind:ident,)*) => {
        /// Every kind there is in this release.
        const KINDS: &[&str] = &[$(stringify!($kind)),*];

        impl Event {
            /// Returns the stable name of this kind of event.
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Self::$kind { .. } => stringify!($kind),)*
                }
            }
        }
    };
}

kinds! {
    RunStarted, RunForked, RunResumed, StepEntered, StepStarted, StepReported, StepCompleted,
    StepFailed, StepSkipped, StepReopened, StepRetried, VerdictGiven, PartsPlanned, PartPlaced,
    FileLeft, FileReplaced, GateOpened, GateAnswered, GateWithdrawn, GateWaived, ContextChanged,
    VarsChanged, ModelAsked, EntryRecorded, LeaseTaken, LeaseReleased, DriftAccepted, RunPlaced,
    MoveMade, RuleFired, ItemAdded, ItemClosed, JournalRotated, LineInserted, ChoreDone, BranchSeen,
    ChoreFailed, WorkEnded, RunCompleted, RunFailed, RunCancelled, KeyGivenUp, RunReopened,
}
