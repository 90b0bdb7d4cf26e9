//! `next_step`: what the agent is to do now, and what it must leave behind.

use std::collections::BTreeMap;

use definition::{FINISH, Step};
use engine::{
    Action, Effort, Event, Progress, Recorded, Standing, View, find_agent, find_promised,
    find_required, last_step, next,
};
use schemars::JsonSchema;
use serde::Serialize;

/// A step to work on.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct NextStep {
    step_name: String,
    instructions: String,
    /// The kind of agent it is meant for.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    /// What a person or a review wants changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    feedback: Option<String>,
    /// The files that it must leave behind; where it has parts, each says its own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    produces: Vec<String>,
    /// What the server will look for in them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    requires: Vec<String>,
    /// What `report.details.evidence` must show, by its key.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    criteria: BTreeMap<String, String>,
}

/// Returns what to work on; for a run that is over, its last words.
pub(super) fn next_step(view: &View, events: &[Recorded]) -> Option<NextStep> {
    let last = |step_name: String, instructions: String| {
        Some(NextStep { step_name, instructions, ..NextStep::default() })
    };
    let current = || view.state.current.as_ref().map(ToString::to_string).unwrap_or_default();
    match next(&view.workflow, &view.state) {
        Action::Work { step, .. } => Some(work(view, step)),
        Action::Choose { .. } | Action::Chore { .. } | Action::Wait { .. } => None,
        Action::Done => {
            let is_news = events.iter().any(|it| matches!(it.event, Event::RunCompleted { .. }));
            let plain =
                if is_news { "Workflow Completed successfully." } else { "Workflow Completed." };
            let instructions = view.workflow.finish_instructions().unwrap_or(plain);
            let step = if is_news { last_step(&view.state) } else { FINISH };
            last(step.to_owned(), instructions.to_owned())
        }
        Action::Stopped { .. } => match view.state.standing {
            Standing::Cancelled { .. } => last(current(), "Workflow Cancelled.".to_owned()),
            Standing::New
            | Standing::Running
            | Standing::Waiting(_)
            | Standing::Completed
            | Standing::Failed { .. } => last(current(), failed(view)),
        },
    }
}

fn work(view: &View, step: &Step) -> NextStep {
    let effort = view.state.effort(&step.name, None);
    let (produces, requires) = match step.each {
        Some(_) => (Vec::new(), Vec::new()),
        None => (
            find_promised(&view.workflow, &view.state, step, None),
            find_required(&view.workflow, &view.state, step, None),
        ),
    };
    let fill = |text: &str| view.workflow.fill(text, &view.state.context).into_owned();
    let criteria = step.criteria.iter().map(|it| (it.key.clone(), fill(&it.text)));
    NextStep {
        step_name: step.name.to_string(),
        instructions: view.workflow.instructions(step, &view.state.context).into_owned(),
        agent: find_agent(&view.workflow, &view.state, step),
        feedback: effort.and_then(Effort::sent_back).map(str::to_owned),
        produces,
        requires,
        criteria: criteria.collect(),
    }
}

/// The line that says so, and the instructions of a step that was entered because of it. A step
/// that failed itself has nothing more to say.
fn failed(view: &View) -> String {
    let line = "Workflow Failed.";
    let current = view.state.current.as_ref();
    let effort = current.and_then(|it| view.state.effort(it, None));
    let is_fresh = |it: &Effort| it.progress == Progress::Ready && it.failure.is_none();
    match current.and_then(|it| view.workflow.find_step(it)) {
        Some(step) if effort.is_some_and(is_fresh) => {
            format!("{line}\n{}", view.workflow.instructions(step, &view.state.context))
        }
        Some(_) | None => line.to_owned(),
    }
}
