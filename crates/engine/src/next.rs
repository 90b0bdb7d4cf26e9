//! What the agent should do now. A pure reading of the state.

use alloc::{boxed::Box, format, string::String, vec::Vec};

use definition::{
    Need, Otherwise, PartSource, PartSpec, Presence, Product, Step, StepName, Target, Workflow,
};

use crate::{
    Chore, OpenGate, RunState, Standing,
    decide::{EvalContext, open_parts, route, scope},
    find_chore,
};

/// What the agent should do now.
#[derive(Debug, Clone)]
pub enum Action<'a> {
    /// Work on a step, or on these parts of it, and report.
    Work { step: &'a Step, parts: Vec<PartSpec> },
    /// Name the step that comes next.
    Choose { after: &'a Step, choices: Vec<Target> },
    /// Nothing yet: the server has something to do first. Whatever is called next tries it again.
    Chore { chore: Box<Chore> },
    /// Wait for a person.
    Wait { gate: Box<OpenGate> },
    /// Nothing: the run is completed.
    Done,
    /// Nothing, until the run is reopened.
    Stopped { reason: String },
}

/// Returns what the agent should do now.
pub fn next<'a>(workflow: &'a Workflow, state: &RunState) -> Action<'a> {
    let stopped = |reason: &str| Action::Stopped { reason: String::from(reason) };
    match &state.standing {
        Standing::New => stopped("the run has not begun"),
        Standing::Completed => Action::Done,
        Standing::Failed { reason, .. } | Standing::Cancelled { reason, .. } => stopped(reason),
        Standing::Waiting(gate) => Action::Wait { gate: gate.clone() },
        Standing::Running => {
            let current = state.current.as_ref().and_then(|it| workflow.find_step(it));
            let Some(step) = current else { return stopped("the run has no current step") };
            // A condition that has no value is told when it stands in someone's way.
            if let Ok(Some(chore)) = find_chore(workflow, state) {
                return Action::Chore { chore: chore.into() };
            }
            if state.awaits_choice() {
                return Action::Choose { after: step, choices: choices(workflow, state, step) };
            }
            Action::Work { step, parts: open_parts::ready(workflow, state, step) }
        }
    }
}

/// Returns whether `step` is listed after the one that a run is at: what was done there is done again
/// when the run gets there.
pub fn comes_again(workflow: &Workflow, state: &RunState, step: &StepName) -> bool {
    let place = |name: &StepName| workflow.work_steps().position(|it| it.name == *name);
    let current = state.current.as_ref().and_then(place);
    current.is_some_and(|it| place(step).is_some_and(|at| it < at))
}

/// Returns the files that `step`, or one part of it, must leave behind, as far as is known now.
pub fn find_promised(
    workflow: &Workflow,
    state: &RunState,
    step: &Step,
    part: Option<&PartSpec>,
) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    for (path, _) in find_products(workflow, state, step, part) {
        // A file can be promised twice, each time with other checks.
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}

/// Returns what the guards will look for in those files: a line for each file that must be more than
/// there.
pub fn find_required(
    workflow: &Workflow,
    state: &RunState,
    step: &Step,
    part: Option<&PartSpec>,
) -> Vec<String> {
    let scope = scope(workflow, state, EvalContext::of_part(part));
    let line = |(path, product): (String, &Product)| {
        let wanted: Vec<String> = product.checks.iter().map(|it| it.describe(&scope)).collect();
        (!wanted.is_empty()).then(|| format!("`{path}`: {}", wanted.join("; ")))
    };
    find_products(workflow, state, step, part).into_iter().filter_map(line).collect()
}

fn find_products<'s>(
    workflow: &Workflow,
    state: &RunState,
    step: &'s Step,
    part: Option<&PartSpec>,
) -> Vec<(String, &'s Product)> {
    if step.produces.is_empty() {
        return Vec::new();
    }
    let scope = scope(workflow, state, EvalContext::of_part(part));
    // What cannot be told yet is told by the guard, when the step is reported.
    let is_promised =
        |it: &&Product| it.when.as_ref().is_none_or(|when| when.evaluate(&scope).unwrap_or(false));
    let products = step.produces.iter().filter(is_promised);
    products.filter_map(|it| Some((it.path.render(&scope).ok()?, it))).collect()
}

/// Returns the files that `step`, or one part of it, is worked on from, as far as is known now.
///
/// One that counts only where it is found is among them if a step left it, or if it was there when
/// the work was begun.
pub fn find_needed(
    workflow: &Workflow,
    state: &RunState,
    step: &Step,
    part: Option<&PartSpec>,
) -> Vec<String> {
    let scope = scope(workflow, state, EvalContext::of_part(part));
    let is_needed =
        |it: &&Need| it.when.as_ref().is_none_or(|when| when.evaluate(&scope).unwrap_or(false));
    let effort = state.effort(&step.name, part.map(|it| &it.id));
    let begun = effort.map(|it| it.seen.as_slice()).unwrap_or_default();
    let is_there = |path: &String| {
        state.artifacts.contains_key(path) || begun.iter().any(|it| it.path == *path)
    };
    let path = |it: &Need| {
        let path = it.path.render(&scope).ok();
        path.filter(|path| it.presence != Presence::Found || is_there(path))
    };
    step.needs.iter().filter(is_needed).filter_map(path).collect()
}

/// Returns the kind of agent that `step` is meant for now.
pub fn find_agent(workflow: &Workflow, state: &RunState, step: &Step) -> Option<String> {
    let agent = step.agent.as_ref()?;
    agent.render(&scope(workflow, state, EvalContext::default())).ok()
}

/// Returns the file that must be written before the parts of `step` can be planned, and what it is
/// to say.
pub fn find_starter(
    workflow: &Workflow,
    state: &RunState,
    step: &Step,
) -> Option<(String, String)> {
    let each = step.each.as_ref().filter(|it| !state.parts.contains_key(&it.parts))?;
    let PartSource::File { path, otherwise: Otherwise::Text(text) } = &each.from else {
        return None;
    };
    let scope = scope(workflow, state, EvalContext::default());
    let when = each.otherwise_when.as_ref();
    let is_meant = when.is_none_or(|it| it.evaluate(&scope).unwrap_or(false));
    let path = path.render(&scope).ok().filter(|_| is_meant)?;
    Some((path, text.clone()))
}

fn choices(workflow: &Workflow, state: &RunState, step: &Step) -> Vec<Target> {
    let report = state.step(&step.name).and_then(|it| it.effort.report.as_ref());
    route::allowed(workflow, state, step, EvalContext::of_report(report))
}
