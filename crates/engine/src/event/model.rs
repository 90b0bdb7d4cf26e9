//! What is kept of a language model that was asked.

use alloc::{string::String, vec::Vec};

use definition::StepName;
use serde::{Deserialize, Serialize};

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
