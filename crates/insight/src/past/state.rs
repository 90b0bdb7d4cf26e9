//! `state.json` as far as it matters afterwards. What is missing or of another kind is as good as
//! empty: old files must not hide the others.

use serde_json::Value;

use super::{prices::Usage, record::Outcome};

/// Where a run is, and what it took.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SpecState {
    pub spec_name: String,
    pub effort: String,
    pub flow_template: String,
    /// The step it is at: `currentPhase`.
    pub step: String,
    /// How that stands: `currentPhaseStatus`.
    pub status: String,
    pub completed_steps: Vec<String>,
    pub skipped_steps: Vec<String>,
    pub design_revisions: u64,
    pub task_revisions: u64,
    /// How often work was done or reviewed again, over all parts.
    pub retries: u64,
    pub log: Vec<LogEntry>,
    pub created: String,
    pub last_updated: String,
}

/// A row of `phaseLog`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LogEntry {
    pub step: String,
    pub duration_ms: u64,
    pub usage: Usage,
}

impl SpecState {
    /// Reads `state.json`; `None` where it is not a JSON object.
    pub fn parse(text: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(text).ok()?;
        value.is_object().then(|| Self::of(&value))
    }

    fn of(value: &Value) -> Self {
        let (revisions, times) = (&value["revisions"], &value["timestamps"]);
        let status = Some(text(value, "currentPhaseStatus")).filter(|it| !it.is_empty());
        let tasks = value["tasks"].as_object();
        let retries = tasks.into_iter().flat_map(|it| it.values());
        let retries =
            retries.flat_map(|it| ["implRetries", "reviewRetries"].map(|key| count(it, key)));
        Self {
            spec_name: text(value, "specName"),
            effort: text(value, "effort"),
            flow_template: text(value, "flowTemplate"),
            step: text(value, "currentPhase"),
            status: status.unwrap_or_else(|| text(value, "status")),
            completed_steps: texts(value, "completedPhases"),
            skipped_steps: texts(value, "skippedPhases"),
            design_revisions: count(revisions, "designRevisions"),
            task_revisions: count(revisions, "taskRevisions"),
            retries: retries.fold(0, u64::saturating_add),
            log: list(value, "phaseLog").map(LogEntry::of).collect(),
            created: text(times, "created"),
            last_updated: text(times, "lastUpdated"),
        }
    }

    /// Returns how the run ended, or that it did not. Giving up leaves the step as it was, so the
    /// status counts first.
    pub fn outcome(&self) -> Outcome {
        match (self.step.as_str(), self.status.as_str()) {
            ("abandoned", _) | (_, "abandoned") => Outcome::Abandoned,
            (_, "failed") => Outcome::Failed,
            ("completed", _) | ("post-to-source", "completed") => Outcome::Completed,
            _ => Outcome::InProgress,
        }
    }

    /// Returns how many tokens it took.
    pub fn tokens(&self) -> u64 {
        self.log.iter().fold(0, |sum, it| sum.saturating_add(it.usage.tokens))
    }

    /// Returns how long its steps took together.
    pub fn duration_ms(&self) -> u64 {
        self.log.iter().fold(0, |sum, it| sum.saturating_add(it.duration_ms))
    }

    /// Returns what the model calls of each step took.
    pub fn usages(&self) -> impl Iterator<Item = &Usage> {
        self.log.iter().map(|it| &it.usage)
    }
}

impl LogEntry {
    fn of(value: &Value) -> Self {
        let (input, output) = (count(value, "input_tokens"), count(value, "output_tokens"));
        let usage = Usage {
            model: text(value, "model"),
            tokens: count(value, "tokens").max(input.saturating_add(output)),
            split: (0 < input + output).then_some((input, output)),
        };
        Self { step: text(value, "phase"), duration_ms: count(value, "duration_ms"), usage }
    }
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}

fn list<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    value[name].as_array().into_iter().flatten()
}

fn texts(value: &Value, name: &str) -> Vec<String> {
    list(value, name).filter_map(Value::as_str).map(ToOwned::to_owned).collect()
}

/// Returns a count, also if it is written with a fraction; nothing for what cannot be counted.
fn count(value: &Value, name: &str) -> u64 {
    let number = &value[name];
    let whole = |it: f64| format!("{:.0}", it.trunc()).parse().ok();
    number.as_u64().or_else(|| number.as_f64().and_then(whole)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::SpecState;
    use crate::past::Outcome;

    #[test]
    fn what_is_missing_or_null_is_empty() {
        let state = SpecState::parse(r#"{"tasks":null,"phaseLog":null,"effort":null}"#).unwrap();
        assert_eq!(state, SpecState::default());
        assert_eq!(SpecState::parse("[]"), None);
        assert_eq!(SpecState::parse("{"), None);
    }

    #[test]
    fn counts_may_have_fractions() {
        let text =
            r#"{"phaseLog":[{"tokens":2.9,"duration_ms":"x","model":"opus"},{"tokens":-3}]}"#;
        let state = SpecState::parse(text).unwrap();
        assert_eq!((state.tokens(), state.duration_ms()), (2, 0));
        assert_eq!(state.log[0].usage.model, "opus");
    }

    #[test]
    fn what_is_too_much_to_add_up_is_the_most_there_is() {
        let entry = format!(r#"{{"tokens":{0},"duration_ms":{0}}}"#, u64::MAX);
        let tasks = format!(r#"{{"1":{{"implRetries":{0},"reviewRetries":{0}}}}}"#, u64::MAX);
        let text = format!(r#"{{"phaseLog":[{entry},{entry}],"tasks":{tasks}}}"#);
        let state = SpecState::parse(&text).unwrap();
        assert_eq!((state.tokens(), state.duration_ms()), (u64::MAX, u64::MAX));
        assert_eq!(state.retries, u64::MAX);
    }

    #[test]
    fn retries_are_summed_over_all_parts() {
        let text = r#"{"tasks":{"1":{"implRetries":2,"reviewRetries":1},"2":{"implRetries":4}}}"#;
        assert_eq!(SpecState::parse(text).unwrap().retries, 7);
    }

    #[test]
    fn an_abandoned_run_is_told_by_its_status() {
        let outcome = |step: &str, status: &str| {
            let text = format!(r#"{{"currentPhase":"{step}","currentPhaseStatus":"{status}"}}"#);
            SpecState::parse(&text).unwrap().outcome()
        };
        assert_eq!(outcome("phase-3", "abandoned"), Outcome::Abandoned);
        assert_eq!(outcome("abandoned", ""), Outcome::Abandoned);
        assert_eq!(outcome("phase-3", "failed"), Outcome::Failed);
        assert_eq!(outcome("completed", "completed"), Outcome::Completed);
        assert_eq!(outcome("completed", "pending"), Outcome::Completed);
        assert_eq!(outcome("phase-5", "pending"), Outcome::InProgress);
        let other = SpecState::parse(r#"{"currentPhase":"phase-1","status":"abandoned"}"#);
        assert_eq!(other.unwrap().outcome(), Outcome::Abandoned);
    }
}
