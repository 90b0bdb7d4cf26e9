//! The tasks of a document.

use super::{
    StateFile,
    fields::{Kind, arrange},
};
use crate::kit::json::{Json, Object};

/// How far the work on a task may be.
pub const WORK: [&str; 4] = ["pending", "in_progress", "completed", ""];
/// How far the review of a task may be.
pub const REVIEWS: [&str; 5] =
    ["pending", "completed_pass", "completed_pass_with_notes", "completed_fail", ""];

const FIELDS: [(&str, Kind); 8] = [
    ("title", Kind::Text),
    ("executionMode", Kind::Text),
    ("depends_on", Kind::List),
    ("files", Kind::List),
    ("implStatus", Kind::Text),
    ("reviewStatus", Kind::Text),
    ("implRetries", Kind::Count),
    ("reviewRetries", Kind::Count),
];

/// A task, as a document has it.
#[derive(Debug, Clone, Copy)]
pub struct Task<'a> {
    pub key: &'a str,
    object: &'a Object,
}

impl<'a> Task<'a> {
    /// Returns a field that is a text.
    pub fn text(self, field: &str) -> &'a str {
        self.object.get(field).and_then(Json::as_text).unwrap_or_default()
    }

    /// Returns a field that is a number.
    pub fn count(self, field: &str) -> u64 {
        self.object.get(field).and_then(Json::as_count).unwrap_or_default()
    }

    /// Returns the entries of a field that is a list; numbers as they are written.
    pub fn list(self, field: &str) -> Vec<String> {
        listed(self.object.get(field)).unwrap_or_default()
    }

    /// Returns whether its work is done, whatever a review says of it.
    pub fn is_implemented(self) -> bool {
        self.text("implStatus") == "completed"
    }

    /// Returns whether a review let it pass.
    pub fn is_passed(self) -> bool {
        matches!(self.text("reviewStatus"), "completed_pass" | "completed_pass_with_notes")
    }

    /// Returns whether a review found it wanting.
    pub fn is_rejected(self) -> bool {
        self.text("reviewStatus") == "completed_fail"
    }
}

impl StateFile {
    /// Returns the tasks: numbers in their order, then everything else by its letters.
    pub fn tasks<'a>(&'a self) -> Vec<Task<'a>> {
        let tasks = self.object.get("tasks").and_then(Json::as_object);
        let tasks = tasks.into_iter().flat_map(Object::iter);
        let task =
            |(key, value): (&'a str, &'a Json)| Some(Task { key, object: value.as_object()? });
        let mut tasks: Vec<Task<'a>> = tasks.filter_map(task).collect();
        tasks.sort_by_cached_key(|it| order(it.key));
        tasks
    }
}

/// Returns the tasks with all their fields.
pub(super) fn complete(tasks: &Object) -> Result<Object, String> {
    let task = |(key, task): (&str, &Json)| match task {
        Json::Object(task) => {
            let task = arrange(task.clone(), &FIELDS, &format!("tasks.{key}."))?;
            Ok((key.to_owned(), Json::Object(task)))
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Text(_) | Json::List(_) => {
            Err(format!("`tasks.{key}` is not an object"))
        }
    };
    let tasks: Vec<(String, Json)> = tasks.iter().map(task).collect::<Result<_, _>>()?;
    Ok(tasks.into_iter().collect())
}

/// Returns the entries of a list; numbers as they are written.
pub(super) fn listed(list: Option<&Json>) -> Option<Vec<String>> {
    let text = |it: &Json| it.as_text().map_or_else(|| it.compact(), str::to_owned);
    Some(list?.as_list()?.iter().map(text).collect())
}

/// What keys are sorted by.
fn order(key: &str) -> (bool, u64, String) {
    let number = key.parse::<u64>().ok();
    (number.is_none(), number.unwrap_or_default(), key.to_owned())
}
