//! The state of a scene's generation: the JSON document that everyone reads.
//!
//! People and agents write it by hand too. So any field may be missing or of another type, which
//! is read as nothing; a step may go by its name instead of its number; and what nobody here knows
//! is kept. Whatever was read is brought into the numbered form at once.

mod canonical;
mod check;
mod recovery;

use engine::Timestamp;

use super::words::{ATTEMPTS_MAX, STEPS, STEPS_TOTAL, Status, Step, StepStatus};
use crate::{
    kit::json::{Json, Object},
    kit::moment,
};

pub(crate) use recovery::Recovery;

/// What is shown for what is not there.
pub(crate) const UNKNOWN: &str = "unknown";

/// The state of one scene, in the numbered form.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Document {
    object: Object,
}

/// What the document says of a step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StepRecord<'a> {
    /// `None` of a step that was never touched.
    record: Option<&'a Object>,
}

impl From<Object> for Document {
    fn from(object: Object) -> Self {
        let mut document = Self { object };
        document.canonicalise();
        document
    }
}

impl Document {
    /// Reads a text, or says what is wrong with it.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        match Json::parse(text).map_err(|error| error.to_string())? {
            Json::Object(object) => Ok(object.into()),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::Text(_) | Json::List(_) => {
                Err("expected an object at the top".to_owned())
            }
        }
    }

    /// Writes the document as its file has it.
    pub(crate) fn render(&self) -> String {
        serde_json::to_string_pretty(&self.object)
            .expect("its keys are text and its numbers JSON has")
    }

    /// Returns all of it.
    pub(crate) fn object(&self) -> &Object {
        &self.object
    }

    /// Returns a field that is a text, and not an empty one.
    pub(crate) fn find_text(&self, key: &str) -> Option<&str> {
        self.object.get(key).and_then(Json::as_text).filter(|it| !it.is_empty())
    }

    /// Returns a field as it is shown.
    pub(crate) fn shown(&self, key: &str) -> &str {
        self.find_text(key).unwrap_or(UNKNOWN)
    }

    /// Returns a field of an object that is a field: `completion_metrics`, `word_count`.
    pub(crate) fn find_in(&self, outer: &str, key: &str) -> Option<&Json> {
        self.object.get(outer)?.as_object()?.get(key)
    }

    /// Returns the status, if it is one.
    pub(crate) fn status(&self) -> Option<Status> {
        Status::parse(self.find_text("workflow_status")?)
    }

    /// Returns the step that it says to be at, if there is no such step.
    pub(crate) fn beyond_steps(&self) -> Option<u64> {
        let said = self.object.get("current_step").and_then(Json::as_count);
        said.filter(|it| u64::from(STEPS_TOTAL) < *it)
    }

    /// Returns the step where the generation is; 0 before the first.
    ///
    /// Where the field says nothing that can be used, it is the last step that was touched.
    pub(crate) fn current_step(&self) -> u8 {
        let said = self.object.get("current_step").and_then(Json::as_count);
        let said = said.and_then(|it| u8::try_from(it).ok()).filter(|it| *it <= STEPS_TOTAL);
        let touched = || {
            let is_touched = |it: &&Step| match self.step(it).status() {
                StepStatus::InProgress | StepStatus::Completed | StepStatus::Failed => true,
                StepStatus::Pending | StepStatus::Skipped => false,
            };
            STEPS.iter().rfind(is_touched).map_or(0, |it| it.number)
        };
        said.unwrap_or_else(touched)
    }

    /// Returns when it began, if that can be read.
    pub(crate) fn started_at(&self) -> Option<Timestamp> {
        moment(self.find_text("started_at")?)
    }

    /// Returns when it was last changed, if that can be read.
    pub(crate) fn updated_at(&self) -> Option<Timestamp> {
        moment(self.find_text("updated_at")?)
    }

    /// Returns what is said of a step.
    pub(crate) fn step(&self, step: &Step) -> StepRecord<'_> {
        let record = self.find_in("steps", step.key).and_then(Json::as_object);
        StepRecord { record }
    }

    /// Returns the steps that are completed.
    pub(crate) fn completed_steps(&self) -> impl Iterator<Item = &'static Step> {
        STEPS.iter().filter(|it| self.step(it).status() == StepStatus::Completed)
    }

    /// Returns the steps that are neither completed nor left out.
    pub(crate) fn missing_steps(&self) -> impl Iterator<Item = &'static Step> {
        STEPS.iter().filter(|it| !self.step(it).status().is_done())
    }

    /// Returns the artifacts that have a path.
    pub(crate) fn artifacts(&self) -> impl Iterator<Item = (&str, &str)> {
        let artifacts = self.object.get("artifacts").and_then(Json::as_object);
        let entries = artifacts.into_iter().flat_map(Object::iter);
        let paths = entries.filter_map(|(key, value)| Some((key, value.as_text()?)));
        paths.filter(|(_, path)| !path.is_empty())
    }

    /// Returns the messages of the errors, of which some have none.
    pub(crate) fn errors(&self) -> impl DoubleEndedIterator<Item = Option<&str>> {
        self.list("errors").iter().map(|entry| {
            let entry = entry.as_object()?;
            let message = |key| entry.get(key).and_then(Json::as_text).filter(|it| !it.is_empty());
            message("message").or_else(|| message("error_message"))
        })
    }

    /// Returns the entries of a list; none where there is no list.
    pub(crate) fn list(&self, key: &str) -> &[Json] {
        self.object.get(key).and_then(Json::as_list).unwrap_or_default()
    }

    /// Returns the attempts at the draft so far, and how many are meant to be enough.
    pub(crate) fn attempts(&self) -> Option<(u64, u64)> {
        let count = |key| self.find_in("generation_attempts", key).and_then(Json::as_count);
        Some((count("current_attempt")?, count("max_attempts")?))
    }

    /// Returns how many attempts at the draft are meant to be enough.
    pub(crate) fn attempts_max(&self) -> u64 {
        let stated = self.find_in("generation_attempts", "max_attempts").and_then(Json::as_count);
        stated.unwrap_or(ATTEMPTS_MAX)
    }

    /// Sets a field, or one inside others. What is in the way and no object becomes one.
    pub(crate) fn set(&mut self, path: &[&str], value: impl Into<Json>) {
        let Some((last, outer)) = path.split_last() else { return };
        self.object_mut(outer).set(last, value);
    }

    /// Removes a field, and returns what it had.
    pub(crate) fn remove(&mut self, key: &str) -> Option<Json> {
        self.object.remove(key)
    }

    /// Adds an entry to a list, which is made if it is not there.
    pub(crate) fn push(&mut self, path: &[&str], entry: impl Into<Json>) {
        let Some((last, outer)) = path.split_last() else { return };
        self.object_mut(outer).entry(last).make_list().push(entry.into());
    }

    /// Returns the entries of a list, which is made if it is not there.
    pub(crate) fn list_mut(&mut self, path: &[&str]) -> Option<&mut Vec<Json>> {
        let (last, outer) = path.split_last()?;
        Some(self.object_mut(outer).entry(last).make_list())
    }

    /// Returns the record of a step, which is made if it is not there.
    pub(crate) fn step_mut(&mut self, step: &Step) -> &mut Object {
        self.object_mut(&["steps", step.key])
    }

    /// Returns the object at a path, which is made if it is not there.
    pub(crate) fn object_mut(&mut self, path: &[&str]) -> &mut Object {
        let mut object = &mut self.object;
        for key in path {
            object = object.entry(key).make_object();
        }
        object
    }
}

impl<'a> StepRecord<'a> {
    /// Whether the step was ever touched.
    pub(crate) fn is_present(self) -> bool {
        self.record.is_some()
    }

    /// Returns how the step stands. A word that nobody knows is as good as none.
    pub(crate) fn status(self) -> StepStatus {
        self.find_text("status").and_then(StepStatus::parse).unwrap_or(StepStatus::Pending)
    }

    /// Returns how long the step took; nothing where that is not said.
    pub(crate) fn duration_seconds(self) -> f64 {
        self.find("duration_seconds").and_then(Json::as_f64).unwrap_or_default().max(0.0)
    }

    /// Returns when the step last began, if that can be read.
    pub(crate) fn started_at(self) -> Option<Timestamp> {
        moment(self.find_text("started_at")?)
    }

    /// Whether a retry was asked for, which counts as its start.
    pub(crate) fn is_retried(self) -> bool {
        self.status() == StepStatus::Pending && self.find("retry_metadata").is_some()
    }

    /// Returns a field.
    pub(crate) fn find(self, key: &str) -> Option<&'a Json> {
        self.record?.get(key)
    }

    /// Returns a field that is a text, and not an empty one.
    pub(crate) fn find_text(self, key: &str) -> Option<&'a str> {
        self.find(key)?.as_text().filter(|it| !it.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::{Document, Step};

    #[test]
    fn what_nobody_knows_survives_a_change_in_its_place() {
        let text = "{\n  \"mine\": [\n    1\n  ],\n  \"steps\": {\n    \"step_1_file_check\": {\n      \"note\": \"да\",\n      \"status\": \"PENDING\"\n    }\n  }\n}";
        let mut document = Document::parse(text).unwrap();
        assert_eq!(document.render(), text);
        document.step_mut(Step::find(1).unwrap()).set("status", "COMPLETED");
        assert_eq!(document.render(), text.replace("PENDING", "COMPLETED"));
    }

    #[test]
    fn fields_of_another_type_are_read_as_nothing() {
        let text = r#"{"steps": 3, "errors": {}, "artifacts": [], "current_step": "x", "workflow_status": 7}"#;
        let mut document = Document::parse(text).unwrap();
        assert_eq!((document.current_step(), document.status()), (0, None));
        assert_eq!((document.artifacts().count(), document.errors().count()), (0, 0));
        document.push(&["errors"], "x");
        document.step_mut(Step::find(2).unwrap()).set("status", "FAILED");
        assert_eq!((document.current_step(), document.list("errors").len()), (2, 1));
    }

    #[test]
    fn what_is_no_object_is_corrupted() {
        for text in ["", "{", "[]", "null", "\"x\"", "{} {}"] {
            assert!(Document::parse(text).is_err(), "{text}");
        }
    }
}
