//! What is to be done next, in the dialect's words.

use std::collections::BTreeMap;

use definition::{Order, PartSpec, Step};
use engine::{
    Action as Next, GateReason, OpenGate, Ruling, RunState, Standing, find_agent, find_needed,
    find_promised, find_starter, next,
};
use serde::Serialize;
use serde_json::Value;

use super::super::{
    display, gate,
    intake::{
        branch::pr_title,
        source::{PostMethod, Source},
    },
    state_file::PR_CREATION,
    way_out,
    workspace::Pipeline,
};

/// The phase after which the source of a request is told.
const POST_TO_SOURCE: &str = "post-to-source";
/// The phase that cuts the design into tasks.
const TASKS: &str = "phase-4";
/// The flag that says that a review was overruled.
const CAP_REACHED: &str = "designReviseCapReached";
/// The file that the source is told.
const SUMMARY: &str = "summary.md";

/// What is to be done next. Only its kind is always there.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Action {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) agent: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) prompt: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) model: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) phase: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) input_files: Vec<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) output_file: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) parallel_task_ids: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parallel_tasks: Vec<Task>,
    #[serde(skip_serializing_if = "String::is_empty")]
    name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    present_to_user: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    options: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    commands: Vec<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    path: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    content: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    setup_only: bool,
    #[serde(skip_serializing_if = "String::is_empty")]
    summary: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    post_method: Option<PostMethod>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    flags: BTreeMap<&'static str, bool>,
}

/// A task that one of several agents works on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Task {
    id: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    input_files: Vec<String>,
    output_file: String,
}

impl Action {
    /// Returns what people read of it while it is done.
    pub(super) fn display(&self, pipeline: &Pipeline) -> Option<String> {
        if self.agent.is_empty() {
            return None;
        }
        let mut steps = pipeline.view.workflow.steps.iter();
        let step = steps.find(|it| it.name.as_str() == self.phase);
        let title = display::title(&self.phase, step.map_or("", |it| it.title.as_str()));
        let beside = (!self.parallel_tasks.is_empty()).then_some(self.parallel_tasks.len());
        Some(display::spawning(&title, &self.agent, beside))
    }
}

/// Returns what is to be done next.
pub(super) fn find(pipeline: &Pipeline, model: &str) -> Action {
    let view = &pipeline.view;
    let state = &*view.state;
    match next(&view.workflow, state) {
        Next::Work { step, parts } => work(pipeline, step, &parts, model),
        Next::Wait { gate } => wait(pipeline, &gate),
        Next::Done => done(completed(pipeline)),
        // A chore that could not be done was told as an error before.
        Next::Stopped { .. } | Next::Choose { .. } | Next::Chore { .. } => done(over(pipeline)),
    }
}

fn done(summary: String) -> Action {
    Action { kind: "done", summary, ..Action::default() }
}

/// Says that a pipeline is completed, and what was left open where it was to end.
fn completed(pipeline: &Pipeline) -> String {
    let state = &pipeline.view.state;
    let until = text(state, "until");
    let steps = &pipeline.view.workflow.steps;
    let last = steps.iter().find(|it| it.name.as_str() == until);
    let ruling = last.and_then(|it| state.step(&it.name)?.ruling);
    // The limit of its rounds lets a review pass that still wants something changed.
    let is_open = matches!(ruling, Some(Ruling::Revised | Ruling::Promoted));
    match last.and_then(|it| it.review.as_ref()).filter(|_| is_open) {
        Some(review) => {
            format!("pipeline completed at `{until}`, whose review wants `{}` changed", review.of)
        }
        None => "pipeline completed".to_owned(),
    }
}

/// Says how a pipeline ended that is not completed.
fn over(pipeline: &Pipeline) -> String {
    let state = &pipeline.view.state;
    let phase = state.current.as_ref().map(ToString::to_string).unwrap_or_default();
    match &state.standing {
        Standing::Cancelled { .. } => format!("pipeline abandoned at {phase}"),
        Standing::Failed { reason, .. } => {
            let phase = state.stated.as_ref().map_or(phase, ToString::to_string);
            let way_out = way_out::taken_up(pipeline);
            format!("pipeline failed at {phase}: {reason}; {way_out}")
        }
        Standing::New | Standing::Running | Standing::Waiting(_) | Standing::Completed => {
            format!("nothing is to be done at {phase}")
        }
    }
}

fn work(pipeline: &Pipeline, step: &Step, parts: &[PartSpec], model: &str) -> Action {
    let view = &pipeline.view;
    let (workflow, state) = (&view.workflow, &*view.state);
    let phase = step.name.to_string();
    if let Some((path, content)) = find_starter(workflow, state, step) {
        let path = format!("{}/{path}", pipeline.folder.as_str());
        return Action {
            kind: "write_file",
            phase,
            path,
            content,
            setup_only: true,
            ..Action::default()
        };
    }
    if step.name.as_str() == PR_CREATION {
        return Action { kind: "exec", phase, commands: open_pr(state), ..Action::default() };
    }
    let needed = |part: Option<&PartSpec>| find_needed(workflow, state, step, part);
    let promised =
        |part: Option<&PartSpec>| find_promised(workflow, state, step, part).into_iter().next();
    let action = Action {
        kind: "spawn_agent",
        agent: find_agent(workflow, state, step).unwrap_or_default(),
        model: model.to_owned(),
        flags: overruled(state, &phase),
        phase,
        ..Action::default()
    };
    match parts {
        [] => Action {
            input_files: needed(None),
            output_file: promised(None).unwrap_or_default(),
            ..action
        },
        [only] if !is_beside(step, parts, is_again(state, step, only)) => Action {
            input_files: needed(Some(only)),
            output_file: promised(Some(only)).unwrap_or_default(),
            ..action
        },
        parts => {
            let shared = needed(None);
            let task = |part: &PartSpec| Task {
                id: part.id.to_string(),
                input_files: needed(Some(part))
                    .into_iter()
                    .filter(|it| !shared.contains(it))
                    .collect(),
                output_file: promised(Some(part)).unwrap_or_default(),
            };
            Action {
                parallel_task_ids: parts.iter().map(|it| it.id.to_string()).collect(),
                parallel_tasks: parts.iter().map(task).collect(),
                input_files: shared,
                ..action
            }
        }
    }
}

/// Says that the review of the design was overruled, to anyone who goes on from it unasked.
fn overruled(state: &RunState, phase: &str) -> BTreeMap<&'static str, bool> {
    let is = |name: &str| state.vars.get(name) == Some(&Value::Bool(true));
    let is_told = phase == TASKS && is("design_revise_cap_reached") && is("auto_approve");
    is_told.then_some((CAP_REACHED, true)).into_iter().collect()
}

/// Whether a review sent a task back, so that it goes alone.
fn is_again(state: &RunState, step: &Step, part: &PartSpec) -> bool {
    state.effort(&step.name, Some(&part.id)).is_some_and(|it| 0 < it.revisions)
}

/// Whether several agents go side by side, though it may be one.
fn is_beside(step: &Step, parts: &[PartSpec], is_again: bool) -> bool {
    let order = step.each.as_ref().map(|it| it.order);
    let is_parallel = parts.first().is_some_and(|it| it.mode == "parallel");
    1 < parts.len() || (order == Some(Order::Declared) && is_parallel && !is_again)
}

fn wait(pipeline: &Pipeline, open: &OpenGate) -> Action {
    let state = &*pipeline.view.state;
    let is_part = open.why == GateReason::Part;
    let name = gate::name(state, open);
    let mut flags = BTreeMap::new();
    if name == gate::DESIGN_APPROVED {
        flags.insert(CAP_REACHED, true);
    }
    let options = gate::options(open, &name);
    let source = (open.step.as_str() == POST_TO_SOURCE).then(|| source(state)).flatten();
    let summary = format!("{}/{SUMMARY}", pipeline.folder.as_str());
    Action {
        kind: if is_part { "human_gate" } else { "checkpoint" },
        phase: if is_part { open.step.to_string() } else { String::new() },
        name,
        present_to_user: gate::present(state, open, source.as_ref()),
        options,
        post_method: source.map(|it| it.post_method(&summary)),
        flags,
        ..Action::default()
    }
}

/// Returns where the request came from, if that was an issue.
fn source(state: &RunState) -> Option<Source> {
    Source::parse(text(state, "source_url")).ok()
}

/// Returns the command that opens a pull request. No shell reads it.
fn open_pr(state: &RunState) -> Vec<String> {
    let spec = text(state, "spec_name");
    let mut body = format!("The pull request of `{spec}`. A summary follows.");
    if let Some(reference) = source(state).and_then(|it| it.closing_reference()) {
        body.push_str("\n\n");
        body.push_str(&reference);
    }
    let title = pr_title(text(state, "branch"), spec);
    ["gh", "pr", "create", "--title", &title, "--body", &body]
        .into_iter()
        .map(ToOwned::to_owned)
        .collect()
}

fn text<'a>(state: &'a RunState, name: &str) -> &'a str {
    state.vars.get(name).and_then(Value::as_str).unwrap_or_default()
}
