//! The prompt of an agent that is sent out: its file, and what is known besides.

use definition::{Finding, PartId, Review, Step, find_findings};
use engine::find_said;
use serde_json::Value;

use super::{
    super::{
        place,
        prompt::{self, AgentFile, Assignment, Budget, History, Layers, TOKENS_MAX, Task},
        records::{self, Past},
        workspace::Pipeline,
    },
    action::Action,
};
use crate::kit::{Caller, Seeing};

/// Writes the prompt into an action that sends an agent out. Returns it with what its sender should
/// know.
pub(super) fn add(
    caller: &Caller,
    pipeline: &Pipeline,
    mut action: Action,
) -> Seeing<(Action, Vec<String>)> {
    if action.agent.is_empty() {
        return Seeing::Seen((action, Vec::new()));
    }
    let past = records::past(caller, var(pipeline, "spec_name"));
    let findings = findings(pipeline, &action);
    let (friction, pipeline) = (caller.options.forge.friction_tokens, pipeline.clone());
    agent_file(caller, &action.agent).then(move |file| {
        past.then(move |past| {
            findings.map(move |findings| {
                let budget = Budget { all: TOKENS_MAX, friction };
                let (text, warnings) = write(&pipeline, &action, file, (past, findings), budget);
                action.prompt = text;
                (action, warnings)
            })
        })
    })
}

fn write(
    pipeline: &Pipeline,
    action: &Action,
    (path, text): (String, Option<String>),
    (past, findings): (Past, Vec<String>),
    budget: Budget,
) -> (String, Vec<String>) {
    let feedback = find_said(&pipeline.view.workflow, &pipeline.view.state);
    let steps = &pipeline.view.workflow.steps;
    let step = steps.iter().find(|it| it.name.as_str() == action.phase);
    let verdicts = step.and_then(|it| it.review.as_ref()).map(Review::words).unwrap_or_default();
    let earlier = step.map(|it| earlier(pipeline, action, it)).unwrap_or_default();
    let assignment = Assignment {
        agent: &action.agent,
        workspace: pipeline.folder.as_str(),
        branch: Some(var(pipeline, "branch")).filter(|it| !it.is_empty()),
        spec_name: var(pipeline, "spec_name"),
        input_files: &action.input_files,
        output_file: Some(action.output_file.as_str()).filter(|it| !it.is_empty()),
        verdicts: &verdicts,
        earlier: &earlier,
    };
    let history = History { task: task(pipeline, action), findings, ..past.history };
    let layers = Layers { profile: Some(&past.profile), history, feedback: feedback.as_deref() };
    let file = AgentFile { path: &path, text: text.as_deref() };
    let assembled = prompt::assemble(&assignment, &file, layers, budget);
    (assembled.text, assembled.warnings)
}

fn var<'a>(pipeline: &'a Pipeline, name: &str) -> &'a str {
    pipeline.view.state.vars.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Returns what a review found when it judged last, for anyone who judges again.
fn earlier(pipeline: &Pipeline, action: &Action, step: &Step) -> Vec<String> {
    let state = &pipeline.view.state;
    let lines = |part: Option<&PartId>| {
        let effort = state.effort(&step.name, part).filter(|_| step.review.is_some());
        let findings = effort.map(|it| it.findings.clone()).unwrap_or_default();
        let task = part.filter(|_| 1 < action.parallel_task_ids.len());
        let task = task.map(|it| format!("task {it}: ")).unwrap_or_default();
        let line = move |it: Finding| format!("{task}[{}] {}", it.severity, it.text);
        findings.into_iter().map(line).collect::<Vec<_>>()
    };
    if step.each.is_none() {
        return lines(None);
    }
    let ids = find_ids(action);
    let parts = state.parts_of(step).iter().map(|it| &it.id);
    parts
        .filter(|it| ids.iter().any(|id| id == it.as_str()))
        .flat_map(|it| lines(Some(it)))
        .collect()
}

/// Returns the tasks that agents are sent out for.
fn find_ids(action: &Action) -> Vec<String> {
    let one = prompt::task_of(&action.output_file).map(ToOwned::to_owned);
    one.into_iter().chain(action.parallel_task_ids.clone()).collect()
}

/// Returns the task that an agent is sent out for, or all of those that several are.
fn task(pipeline: &Pipeline, action: &Action) -> Option<Task> {
    let ids = find_ids(action);
    let parts = pipeline.view.state.parts.values().flatten();
    let mut parts = parts.filter(|it| ids.iter().any(|id| it.id.as_str() == id)).peekable();
    parts.peek()?;
    let mut task = Task::default();
    for part in parts {
        task.title = format!("{} {}", task.title, part.title).trim().to_owned();
        task.files.extend(part.files.iter().cloned());
    }
    Some(task)
}

/// Finds what the review found that an agent is to answer.
fn findings(pipeline: &Pipeline, action: &Action) -> Seeing<Vec<String>> {
    let review = action.input_files.iter().find(|it| it.starts_with("review-"));
    let Some(review) = review else { return Seeing::Seen(Vec::new()) };
    pipeline.folder.text(review).map(|text| {
        let text = text.ok().flatten().unwrap_or_default();
        find_findings(&text).into_iter().map(|it| it.text).collect()
    })
}

/// Finds where the file of an agent is looked for, and what it says.
fn agent_file(caller: &Caller, agent: &str) -> Seeing<(String, Option<String>)> {
    let name = format!("{agent}.md");
    let Some(folder) = &caller.options.forge.agents else {
        return Seeing::Seen((name, prompt::built_in(agent).map(ToOwned::to_owned)));
    };
    let folder = place::named(caller, folder);
    let path = format!("{}/{name}", folder.as_str());
    folder.text(&name).map(|text| (path, text.ok().flatten()))
}
