//! Where a run is, as a file says that is made from it. Stored within an event.

use alloc::{collections::BTreeMap, string::String, vec::Vec};

use definition::{Digest, PartId, PartSpec, StepName};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Item, Progress, Timestamp};

/// Where the work on a run is, as a file says that is made from it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileClaim {
    /// The file, as people name it.
    pub path: String,
    pub sha256: Digest,
    /// What it says, letter by letter.
    pub text: String,
    pub stood: ClaimedStatus,
    /// Why the run failed or was cancelled.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Those that are not named were not reached.
    pub steps: BTreeMap<StepName, ClaimedProgress>,
    /// Where the file itself says that the run is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated: Option<StepName>,
    /// The step that the run is at, where the file is to be believed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<StepName>,
    /// `at`, else the step that is under way, else the first that is not done. Found by the engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<StepName>,
    /// Whether every step is done, and the run is open all the same.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub is_work_done: bool,
    /// Variables that it gives a value.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub vars: Map<String, Value>,
    /// The sets of parts that it says to be planned.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parts: BTreeMap<String, Vec<PartSpec>>,
    /// `None` where it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<Vec<Item>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journal: Option<String>,
    /// `None` where nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Timestamp>,
}

/// Whether a run goes on, as a file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClaimedStatus {
    Running,
    Waiting,
    Completed,
    Failed,
    Cancelled,
}

/// How far a step is, as a file says.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ClaimedProgress {
    pub progress: Progress,
    #[serde(default)]
    pub attempts: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// Why its last attempt came to nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Whether it was made ready for another attempt.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub is_retried: bool,
    /// How often a review asked for it to be done again.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub revisions: u32,
    /// How far its parts are.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parts: BTreeMap<PartId, ClaimedPart>,
}

/// How far a part of a step is, as a file says.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ClaimedPart {
    pub progress: Progress,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub revisions: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference in")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}
