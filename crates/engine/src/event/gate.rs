//! What the events of a gate hold.

use alloc::{string::String, vec::Vec};

use definition::{Answers, Digest, GateOption, PartId, StepName};
use serde::{Deserialize, Serialize};

use super::Artifact;
use crate::Timestamp;

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
    /// Over what the answer is about beside that, where the definition names anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<Digest>,
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
    pub fn is_own(self) -> bool {
        matches!(self, Self::Gate | Self::Early | Self::Owed)
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
