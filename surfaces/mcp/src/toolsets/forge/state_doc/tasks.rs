//! The tasks of a document.

use definition::PartSpec;

use super::{
    SpecDocument,
    fields::{Kind, arrange},
};
use crate::toolsets::json::{Json, Object};

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
pub(in crate::toolsets::forge) struct Task<'a> {
    pub(in crate::toolsets::forge) key: &'a str,
    object: &'a Object,
}

impl<'a> Task<'a> {
    /// Returns a field that is a text.
    pub(in crate::toolsets::forge) fn text(self, field: &str) -> &'a str {
        self.object.get(field).and_then(Json::as_text).unwrap_or_default()
    }

    /// Returns a field that is a number.
    pub(in crate::toolsets::forge) fn count(self, field: &str) -> u64 {
        self.object.get(field).and_then(Json::as_count).unwrap_or_default()
    }

    /// Returns the entries of a field that is a list; numbers as they are written.
    pub(in crate::toolsets::forge) fn list(self, field: &str) -> Vec<String> {
        let items = self.object.get(field).and_then(Json::as_list).unwrap_or_default();
        items.iter().map(|it| it.as_text().map_or_else(|| it.compact(), str::to_owned)).collect()
    }

    /// Returns whether its work is done, whatever a review says of it.
    pub(in crate::toolsets::forge) fn is_implemented(self) -> bool {
        self.text("implStatus") == "completed"
    }

    /// Returns whether a review let it pass.
    pub(in crate::toolsets::forge) fn is_passed(self) -> bool {
        matches!(self.text("reviewStatus"), "completed_pass" | "completed_pass_with_notes")
    }

    /// Returns whether a review found it wanting.
    pub(in crate::toolsets::forge) fn is_rejected(self) -> bool {
        self.text("reviewStatus") == "completed_fail"
    }
}

impl SpecDocument {
    /// Returns the tasks: numbers in their order, then everything else by its letters.
    pub(in crate::toolsets::forge) fn tasks<'a>(&'a self) -> Vec<Task<'a>> {
        let tasks = self.object.get("tasks").and_then(Json::as_object);
        let tasks = tasks.into_iter().flat_map(Object::iter);
        let task =
            |(key, value): (&'a str, &'a Json)| Some(Task { key, object: value.as_object()? });
        let mut tasks: Vec<Task<'a>> = tasks.filter_map(task).collect();
        tasks.sort_by_cached_key(|it| order(it.key));
        tasks
    }

    /// Puts these tasks in the place of those there are. One that was there already keeps how far
    /// it is, unless a caller names them again.
    pub(in crate::toolsets::forge) fn plan_tasks(&mut self, parts: &[PartSpec], by_hand: bool) {
        let known = std::mem::take(self.object.entry("tasks").make_object());
        let status = if by_hand { "" } else { "pending" };
        let mut tasks = Object::new();
        for part in parts {
            let old = known.get(part.id.as_str()).and_then(Json::as_object).filter(|_| !by_hand);
            let mut task = old.cloned().unwrap_or_else(|| fresh(status));
            task.set("title", part.title.as_str());
            task.set("executionMode", part.mode.as_str());
            let after = part.after.iter().map(|it| number(it.as_str()));
            task.set("depends_on", after.collect::<Vec<Json>>());
            let files = part.files.iter().map(|it| Json::from(it.as_str()));
            task.set("files", files.collect::<Vec<Json>>());
            tasks.set(part.id.as_str(), task);
        }
        self.object.set("tasks", tasks);
    }

    /// Sets a field of a task, if there is that task.
    pub(in crate::toolsets::forge) fn set_task(
        &mut self,
        key: &str,
        field: &str,
        value: impl Into<Json>,
    ) {
        if let Some(task) = self.object.entry("tasks").make_object().get_mut(key) {
            task.make_object().set(field, value);
        }
    }

    /// Returns a task.
    pub(in crate::toolsets::forge) fn find_task(&self, key: &str) -> Option<Task<'_>> {
        let tasks = self.object.get("tasks")?.as_object()?;
        let (key, value) = tasks.iter().find(|(known, _)| *known == key)?;
        Some(Task { key, object: value.as_object()? })
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

fn fresh(status: &str) -> Object {
    let mut task = Object::new();
    for field in ["title", "executionMode", "depends_on", "files"] {
        task.set(field, Json::Null);
    }
    task.set("implStatus", status);
    task.set("reviewStatus", status);
    task.set("implRetries", 0_u64);
    task.set("reviewRetries", 0_u64);
    task
}

/// Returns a number where the text is one.
fn number(text: &str) -> Json {
    text.parse::<u64>().map_or_else(|_| text.into(), Json::from)
}

/// What keys are sorted by.
fn order(key: &str) -> (bool, u64, String) {
    let number = key.parse::<u64>().ok();
    (number.is_none(), number.unwrap_or_default(), key.to_owned())
}
