//! What the events of a step and its parts hold.

use alloc::{string::String, vec::Vec};

use definition::{Decider, Digest, PartId, StepName};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Report;
use crate::{CompletedBy, Progress, Timestamp};

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
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
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
