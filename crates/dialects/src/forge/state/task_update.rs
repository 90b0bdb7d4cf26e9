//! `task_update`: one field of a task is set.

use definition::PartId;
use engine::{Command, PartPlaced, Refusal};

use super::{
    super::{answer::Failure, way_out, workspace::Pipeline},
    change::{Card as _, Change, SETS, card},
    settings::one_of,
    task,
};

/// What can be set.
const FIELDS: [&str; 6] =
    ["implStatus", "reviewStatus", "executionMode", "title", "implRetries", "reviewRetries"];

card! {
    TaskUpdate "task_update" "Update a task"
    "Set a field of a task. It passes its review \
                                       (completed_pass) only with its review file."
    SETS;
    /// The task's number
    task_num: String,
    /// implStatus, reviewStatus, executionMode, title, implRetries or reviewRetries
    field: String,
    /// What it is to be
    value: String,
}

impl Change for TaskUpdate {
    fn command(&self, pipeline: &Pipeline) -> Result<Command, Failure> {
        let task = find(pipeline, &self.task_num)?;
        Ok(Command::PlacePart(placed(&task, self)?))
    }

    fn guard(&self, pipeline: &Pipeline, refusal: &Refusal) -> Option<(String, String)> {
        let Refusal::ArtifactMissing { path, .. } = refusal else { return None };
        let task = &self.task_num;
        let message = format!("`{path}` must exist before task {task} is marked as passed");
        Some((message, way_out::hint_at(refusal, pipeline)))
    }
}

fn placed(task: &PartId, asked: &TaskUpdate) -> Result<PartPlaced, Failure> {
    let value = asked.value.as_str();
    let word = |known: &[&str]| one_of(TaskUpdate::NAME, &asked.field, value, known);
    match one_of(TaskUpdate::NAME, "field", &asked.field, &FIELDS)? {
        "implStatus" => Ok(task::worked(task, word(&task::WORK)?)),
        "reviewStatus" => Ok(task::reviewed(task, word(&task::REVIEWS)?)),
        "executionMode" => {
            let mode = Some(word(&task::MODES)?.to_owned());
            Ok(PartPlaced { mode, ..task::work_on(task) })
        }
        "title" => Ok(PartPlaced { title: Some(value.to_owned()), ..task::work_on(task) }),
        "implRetries" => Ok(PartPlaced { revisions: Some(count(asked)?), ..task::work_on(task) }),
        _ => Ok(PartPlaced { revisions: Some(count(asked)?), ..task::review_of(task) }),
    }
}

fn count(asked: &TaskUpdate) -> Result<u32, Failure> {
    asked.value.trim().parse().map_err(|_| {
        let TaskUpdate { field, value, .. } = asked;
        let message = format!("{}: `{field}` cannot be `{value}`", TaskUpdate::NAME);
        Failure::new("argument_invalid", message, "give a whole number")
    })
}

/// Returns the task with this number.
fn find(pipeline: &Pipeline, number: &str) -> Result<PartId, Failure> {
    let tasks = pipeline.view.state.parts.get(task::SET).map(Vec::as_slice).unwrap_or_default();
    let found = tasks.iter().map(|it| &it.id).find(|it| it.as_str() == number.trim());
    found.cloned().ok_or_else(|| {
        let ids: Vec<&str> = tasks.iter().map(|it| it.id.as_str()).collect();
        let message = format!("{}: there is no task `{number}`", TaskUpdate::NAME);
        let hint = match ids.as_slice() {
            [] => way_out::way_to_init(pipeline),
            ids => format!("there are: {}", ids.join(", ")),
        };
        Failure::new("part_unknown", message, hint)
    })
}
