//! One field of a document, as the tool `get` answers it.

use super::StateFile;

/// The fields that may be asked for. `a.b` is `b` inside `a`.
const FIELDS: [&str; 30] = [
    "version",
    "forge-state-mcp-version",
    "specName",
    "workspace",
    "branch",
    "effort",
    "flowTemplate",
    "autoApprove",
    "skipPr",
    "useCurrentBranch",
    "debug",
    "skippedPhases",
    "currentPhase",
    "currentPhaseStatus",
    "completedPhases",
    "revisions",
    "revisions.designRevisions",
    "revisions.taskRevisions",
    "revisions.designInlineRevisions",
    "revisions.taskInlineRevisions",
    "checkpointRevisionPending",
    "tasks",
    "phaseLog",
    "timestamps",
    "timestamps.created",
    "timestamps.lastUpdated",
    "timestamps.phaseStarted",
    "error",
    "status",
    "phases",
];

impl StateFile {
    /// Returns the fields that may be asked for.
    pub fn readable() -> &'static [&'static str] {
        &FIELDS
    }

    /// Returns a field as text: a text or number as it is, a list or object as JSON in one line.
    /// `None` where it may not be asked for.
    pub fn get(&self, field: &str) -> Option<String> {
        if !FIELDS.contains(&field) {
            return None;
        }
        let value = match field.split_once('.') {
            Some((outer, key)) => self.inside(outer, key),
            None => self.object.get(field),
        };
        Some(match value {
            Some(value) => value.as_text().map_or_else(|| value.compact(), str::to_owned),
            None => String::new(),
        })
    }
}
