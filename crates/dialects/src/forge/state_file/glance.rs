//! What is taken from a state file that anyone may have written: what is missing or of another type is
//! as good as empty, and nothing is worked out.

use insight::past::{LogEntry, SpecState, Usage};

use super::{COMPLETED, StateFile, Task};
use crate::kit::json::{Json, Object};

/// The status of a pipeline that was given up.
const ABANDONED: &str = "abandoned";

impl StateFile {
    /// Reads what can be read; `None` where it is not a JSON object.
    pub fn glance(text: &str) -> Option<Self> {
        Self::parse(text).ok()
    }

    /// Returns the phase that it says to be at and how that stands, where it says both.
    pub fn stated(&self) -> Option<(&str, &str)> {
        let text = |key: &str| self.object.get(key).and_then(Json::as_text);
        text("currentPhase").zip(text("currentPhaseStatus"))
    }

    /// Returns whether the pipeline is neither completed nor abandoned. One that failed can be taken
    /// up again.
    pub fn is_active(&self) -> bool {
        let is_over = |it: &str| matches!(it, COMPLETED | ABANDONED);
        self.stated().is_some_and(|(phase, status)| !is_over(phase) && !is_over(status))
    }

    /// Returns what the pipeline is called.
    pub fn name(&self) -> &str {
        self.text("specName")
    }

    /// Returns the branch that it is worked on.
    pub fn branch(&self) -> Option<&str> {
        self.object.get("branch").and_then(Json::as_text)
    }

    /// Returns when it was last changed, as it is written.
    pub fn updated(&self) -> &str {
        self.inside("timestamps", "lastUpdated").and_then(Json::as_text).unwrap_or_default()
    }

    /// Returns the parallel tasks that an agent is working on.
    pub fn under_way(&self) -> Vec<String> {
        let is_meant = |it: &Task<'_>| {
            it.text("executionMode") == "parallel" && it.text("implStatus") == "in_progress"
        };
        self.tasks().into_iter().filter(is_meant).map(|it| it.key.to_owned()).collect()
    }

    /// Returns the model that was sent out last; `None` where none was.
    pub fn dispatched(&self) -> Option<&str> {
        let dispatch = self.object.get("lastDispatch")?.as_object()?;
        Some(dispatch.get("model").and_then(Json::as_text).unwrap_or_default())
    }

    /// Returns whether anything was logged of a phase.
    pub fn is_logged(&self, phase: &str) -> bool {
        let log = self.list("phaseLog").iter().filter_map(Json::as_object);
        log.filter_map(|it| it.get("phase")?.as_text()).any(|it| it == phase)
    }
}

/// What matters of a pipeline afterwards.
impl From<&StateFile> for SpecState {
    fn from(file: &StateFile) -> Self {
        let inside = |outer: &str, key: &str| file.inside(outer, key);
        let text =
            |value: Option<&Json>| value.and_then(Json::as_text).unwrap_or_default().to_owned();
        let texts = |key: &str| file.texts(key).map(str::to_owned).collect();
        let status = ["currentPhaseStatus", "status"].map(|it| file.text(it));
        let tasks = file.object.get("tasks").and_then(Json::as_object);
        let tasks = tasks.into_iter().flat_map(Object::iter).filter_map(|it| it.1.as_object());
        let retries =
            tasks.flat_map(|it| ["implRetries", "reviewRetries"].map(|key| count(it.get(key))));
        let log = file.list("phaseLog").iter().map(Json::as_object);
        Self {
            spec_name: file.text("specName").to_owned(),
            effort: file.text("effort").to_owned(),
            flow_template: file.text("flowTemplate").to_owned(),
            step: file.phase().to_owned(),
            status: status.into_iter().find(|it| !it.is_empty()).unwrap_or_default().to_owned(),
            completed_steps: texts("completedPhases"),
            skipped_steps: texts("skippedPhases"),
            design_revisions: count(inside("revisions", "designRevisions")),
            task_revisions: count(inside("revisions", "taskRevisions")),
            retries: retries.fold(0, u64::saturating_add),
            log: log.map(|it| it.map(entry).unwrap_or_default()).collect(),
            created: text(inside("timestamps", "created")),
            last_updated: text(inside("timestamps", "lastUpdated")),
        }
    }
}

fn entry(row: &Object) -> LogEntry {
    let text = |key: &str| row.get(key).and_then(Json::as_text).unwrap_or_default().to_owned();
    let [input, output] = ["input_tokens", "output_tokens"].map(|it| count(row.get(it)));
    let both = input.saturating_add(output);
    let usage = Usage {
        model: text("model"),
        tokens: count(row.get("tokens")).max(both),
        split: (0 < both).then_some((input, output)),
    };
    LogEntry { step: text("phase"), duration_ms: count(row.get("duration_ms")), usage }
}

/// Returns a count, also if it is written with a fraction; nothing for what cannot be counted.
fn count(value: Option<&Json>) -> u64 {
    let whole = |it: f64| format!("{:.0}", it.trunc()).parse().ok();
    let number = value.and_then(|it| it.as_count().or_else(|| it.as_f64().and_then(whole)));
    number.unwrap_or_default()
}
