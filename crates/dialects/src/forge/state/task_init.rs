//! `task_init`: says what the tasks are, in place of those there are.

use std::collections::BTreeMap;

use definition::{PartId, PartSpec};
use engine::{Command, PartPlaced, Refusal};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    super::{
        answer::{Answer, Failure},
        way_out,
        workspace::Pipeline,
    },
    change::{Card as _, Change, ENDS, card},
    moves,
    settings::{self, one_of},
    task,
};
use crate::kit::Hints;

/// A task as it is told.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Told {
    title: Option<String>,
    execution_mode: Option<String>,
    #[serde(rename = "depends_on")]
    depends_on: Option<Vec<Value>>,
    files: Option<Vec<String>>,
    impl_status: Option<String>,
    review_status: Option<String>,
    impl_retries: Option<u32>,
    review_retries: Option<u32>,
}

#[derive(Serialize)]
struct Warned {
    status: &'static str,
    warnings: Vec<String>,
}

card! {
    TaskInit "task_init" "Initialise the tasks"
    "Say what the tasks are, in place of those there are. Needs checkpoint-b done or skipped."
    Hints { is_idempotent: true, ..ENDS };
    /// By number: `title`, `executionMode`, `depends_on`, `files`
    tasks: Map<String, Value>,
}

impl Change for TaskInit {
    fn command(&self, pipeline: &Pipeline) -> Result<Command, Failure> {
        let (parts, placed): (Vec<PartSpec>, Vec<Vec<PartPlaced>>) =
            read(&self.tasks)?.into_values().unzip();
        let mut commands = vec![Command::PlanParts { set: task::SET.to_owned(), parts }];
        commands.extend(placed.into_iter().flatten().map(Command::PlacePart));
        Ok(moves::taken_up(&pipeline.view, commands))
    }

    fn warnings(&self, _: &Pipeline) -> Vec<String> {
        let tasks = read(&self.tasks).unwrap_or_default();
        warnings(&tasks.into_values().map(|(spec, _)| spec).collect::<Vec<_>>())
    }

    fn guard(&self, pipeline: &Pipeline, refusal: &Refusal) -> Option<(String, String)> {
        let message = if let Refusal::GateNotAsked { step, .. } = refusal {
            format!("`{step}` comes before the tasks are initialised")
        } else if let Refusal::ArtifactMissing { path, .. } = refusal {
            format!("`{path}` must exist before its task is marked as passed")
        } else {
            return None;
        };
        Some((message, way_out::hint_at(refusal, pipeline)))
    }

    fn answer(warnings: Vec<String>) -> Answer {
        match warnings.as_slice() {
            [] => Answer::ok(),
            _ => Answer::json(&Warned { status: "ok", warnings }),
        }
    }
}

/// Reads the tasks, in the order of their numbers: what each is, and how far.
fn read(
    tasks: &Map<String, Value>,
) -> Result<BTreeMap<PartId, (PartSpec, Vec<PartPlaced>)>, Failure> {
    if tasks.is_empty() {
        let message = format!("{}: there are no tasks", TaskInit::NAME);
        return Err(Failure::new("argument_invalid", message, "give at least one"));
    }
    let read = |(key, value): (&String, &Value)| {
        let id = PartId::parse(key).map_err(|error| invalid(key, &error.to_string()))?;
        if !value.is_object() {
            return Err(invalid(key, "it must be an object"));
        }
        let told = Told::deserialize(value).map_err(|error| invalid(key, &error.to_string()))?;
        let spec = told.spec(&id).map_err(|problem| invalid(key, &problem))?;
        Ok((id.clone(), (spec, told.placed(&id)?)))
    };
    tasks.iter().map(read).collect()
}

fn invalid(key: &str, problem: &str) -> Failure {
    let message = format!("{}: task `{key}`: {problem}", TaskInit::NAME);
    Failure::new("argument_invalid", message, "")
}

impl Told {
    fn spec(&self, id: &PartId) -> Result<PartSpec, String> {
        let mode = self.execution_mode.clone().unwrap_or_default();
        if !task::MODES.contains(&mode.as_str()) {
            let known = settings::listed(&task::MODES);
            return Err(format!("`executionMode` cannot be `{mode}`; one of: {known}"));
        }
        let number = |value: &Value| {
            let text = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
            PartId::parse(&text).map_err(|_| format!("`depends_on` cannot have `{text}`"))
        };
        let after = self.depends_on.iter().flatten().map(number).collect::<Result<_, _>>()?;
        let title = self.title.clone().unwrap_or_default();
        let files = self.files.clone().unwrap_or_default();
        Ok(PartSpec { id: id.clone(), title, mode, files, after })
    }

    /// Returns what is said of how far the task is.
    fn placed(&self, id: &PartId) -> Result<Vec<PartPlaced>, Failure> {
        let mut placed = Vec::new();
        let word = |field: &str, said: &Option<String>, known: &[&str]| -> Result<_, Failure> {
            let said = said.clone().filter(|it| !it.is_empty());
            said.iter().try_for_each(|it| one_of(TaskInit::NAME, field, it, known).map(drop))?;
            Ok(said)
        };
        if let Some(status) = word("implStatus", &self.impl_status, &task::WORK)? {
            placed.push(task::worked(id, &status));
        }
        if let Some(status) = word("reviewStatus", &self.review_status, &task::REVIEWS)? {
            placed.push(task::reviewed(id, &status));
        }
        let counted = |count: Option<u32>| count.filter(|it| *it != 0);
        if let Some(count) = counted(self.impl_retries) {
            placed.push(PartPlaced { revisions: Some(count), ..task::work_on(id) });
        }
        if let Some(count) = counted(self.review_retries) {
            placed.push(PartPlaced { revisions: Some(count), ..task::review_of(id) });
        }
        Ok(placed)
    }
}

/// Says what looks wrong about tasks, and does not stand in their way.
fn warnings(tasks: &[PartSpec]) -> Vec<String> {
    let is_known = |id: &PartId| tasks.iter().any(|it| it.id == *id);
    let missing = tasks.iter().flat_map(|task| {
        let unknown = task.after.iter().filter(|it| !is_known(it));
        unknown.map(|it| format!("task {} depends on task {it}, which does not exist", task.id))
    });
    let mut warnings: Vec<String> = missing.collect();
    for (at, task) in tasks.iter().enumerate() {
        for other in tasks.iter().skip(at + 1) {
            let is_parallel = |it: &PartSpec| it.mode == "parallel";
            let shared = task.files.iter().filter(|it| other.files.contains(it));
            for file in shared.filter(|_| is_parallel(task) && is_parallel(other)) {
                let (one, two) = (&task.id, &other.id);
                warnings.push(format!("parallel tasks {one} and {two} both list `{file}`"));
            }
        }
    }
    warnings
}
