//! What the tools `phase_stats` and `resume_info` say of a document.

use super::{StateFile, Task};
use crate::kit::json::{Json, Object};

/// The fields that are passed on as they are, those that begin and the one that ends the answer.
const FIRST: [&str; 13] = [
    "currentPhase",
    "currentPhaseStatus",
    "completedPhases",
    "skippedPhases",
    "effort",
    "flowTemplate",
    "autoApprove",
    "skipPr",
    "useCurrentBranch",
    "branch",
    "specName",
    "revisions",
    "error",
];

impl StateFile {
    /// Returns what the phases took in all, and each entry of the log.
    pub fn phase_stats(&self) -> Json {
        let duration_ms = self.logged("duration_ms");
        let mut stats = Object::new();
        stats.set("totalTokens", self.logged("tokens"));
        stats.set("totalDurationMs", duration_ms);
        stats.set("totalDuration", duration(duration_ms));
        stats.set("entries", self.list("phaseLog").to_vec());
        stats.into()
    }

    /// Returns what an agent needs to go on with the pipeline.
    pub fn resume_info(&self) -> Json {
        let field = |key: &str| self.object.get(key).cloned().unwrap_or_default();
        let mut told: Object = FIRST.into_iter().map(|key| (key, field(key))).collect();
        let tasks = self.tasks();
        let is_pending = |it: &&Task<'_>| !it.is_implemented() || it.is_rejected();
        told.set("pendingTasks", keys(tasks.iter().filter(is_pending)));
        told.set("completedTasks", keys(tasks.iter().filter(|it| it.is_passed())));
        told.set("totalTasks", count(tasks.len()));
        told.set("phaseLogEntries", count(self.list("phaseLog").len()));
        told.set("totalTokens", self.logged("tokens"));
        told.set("totalDuration_ms", self.logged("duration_ms"));
        told.set("debug", field("debug"));
        told.set("tasksWithRetries", tasks.iter().filter_map(retries).collect::<Vec<Json>>());
        told.set("checkpointRevisionPending", field("checkpointRevisionPending"));
        told.into()
    }

    /// Adds up a number of each entry of the log.
    fn logged(&self, key: &str) -> u64 {
        let number = |it: &Json| it.as_object()?.get(key)?.as_count();
        self.list("phaseLog").iter().filter_map(number).fold(0, u64::saturating_add)
    }
}

fn keys<'a>(tasks: impl Iterator<Item = &'a Task<'a>>) -> Vec<Json> {
    tasks.map(|it| it.key.into()).collect()
}

fn retries(task: &Task<'_>) -> Option<Json> {
    let [implemented, reviewed] = ["implRetries", "reviewRetries"].map(|it| task.count(it));
    if implemented == 0 && reviewed == 0 {
        return None;
    }
    let mut told = Object::new();
    told.set("task", task.key);
    told.set("implRetries", implemented);
    told.set("reviewRetries", reviewed);
    Some(told.into())
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// Says how long something took: `45s`, `1m 30s`, `1h 1m 1s`.
fn duration(milliseconds: u64) -> String {
    let whole = milliseconds / 1000;
    let (hours, minutes, seconds) = (whole / 3600, whole / 60 % 60, whole % 60);
    match (hours, minutes) {
        (0, 0) => format!("{seconds}s"),
        (0, _) => format!("{minutes}m {seconds}s"),
        (_, _) => format!("{hours}h {minutes}m {seconds}s"),
    }
}
