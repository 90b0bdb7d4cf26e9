//! What conditions and templates may look at.

use alloc::{collections::BTreeMap, string::String, vec::Vec};

use definition::{Members, PartSpec, Root, Scope, Step, StepName, Workflow};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::{Artifact, Outcome, Report, RunState};

/// What there is to see beside the run's state.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct EvalContext<'a> {
    pub(crate) report: Option<&'a Report>,
    pub(crate) part: Option<&'a PartSpec>,
    pub(crate) verdict: Option<&'a str>,
    pub(crate) args: Option<&'a Map<String, Value>>,
}

impl<'a> EvalContext<'a> {
    pub(crate) fn of_part(part: Option<&'a PartSpec>) -> Self {
        Self { part, ..Self::default() }
    }

    pub(crate) fn of_args(args: &'a Map<String, Value>) -> Self {
        Self { args: Some(args), ..Self::default() }
    }

    pub(crate) fn of_report(report: Option<&'a Report>) -> Self {
        Self { report, ..Self::default() }
    }
}

/// What conditions and templates see of a run. It borrows what it is read from.
#[derive(Clone, Copy)]
pub(crate) struct RunScope<'a> {
    workflow: &'a Workflow,
    state: &'a RunState,
    seen: EvalContext<'a>,
}

#[derive(Serialize)]
struct FileSeen<'a> {
    sha256: &'a str,
    size: u64,
}

#[derive(Serialize)]
struct StepSeen {
    progress: &'static str,
    attempts: u32,
    visits: u32,
    revisions: u32,
}

/// Returns what conditions and templates see of a run, and of `seen` beside it.
pub(crate) fn scope<'a>(
    workflow: &'a Workflow,
    state: &'a RunState,
    seen: EvalContext<'a>,
) -> RunScope<'a> {
    RunScope { workflow, state, seen }
}

impl Scope for RunScope<'_> {
    fn find(&self, name: &str, members: &Members) -> Option<Root> {
        let Self { workflow, state, seen } = *self;
        Some(match name {
            "context" => members.of(&state.context),
            "settings" => members.of(&workflow.settings),
            "vars" => members.of(&state.vars),
            "flow" => Root::new(state.flow()),
            "key" => Root::new(state.key()),
            "report" => Root::new(seen.report.map_or_else(no_report, report)),
            "artifacts" => Root::new(artifacts(state)),
            "steps" => Root::new(steps(workflow, state, members)),
            "part" => Root::new(seen.part.map(|it| part_here(workflow, state, it))),
            "parts" => Root::new(sets(workflow, state, members)),
            "verdict" => Root::new(seen.verdict.unwrap_or_default()),
            "args" => seen.args.map_or_else(|| Root::new(()), |it| members.of(it)),
            "step" => Root::new(state.current.as_ref().map_or("", StepName::as_str)),
            "items" => Root::new(items(state)),
            "journal" => Root::new(json!({ "chars": state.journal.text().chars().count() })),
            "gate" => Root::new(state.standing.open_gate().map_or("", |it| it.step.as_str())),
            "usage" => {
                let (tokens, duration) = (state.usage.total(), state.usage.duration_ms);
                Root::new(json!({ "tokens": tokens, "duration_ms": duration }))
            }
            "run" => Root::new(json!({ "id": alloc::format!("{}", state.run) })),
            _ => return None,
        })
    }
}

fn artifacts(state: &RunState) -> BTreeMap<&str, FileSeen<'_>> {
    let seen = state.artifacts.iter().map(|(path, it)| {
        let Artifact { sha256, size, .. } = &it.artifact;
        (path.as_str(), FileSeen { sha256: sha256.as_str(), size: *size })
    });
    seen.collect()
}

fn steps<'a>(
    workflow: &'a Workflow,
    state: &RunState,
    members: &Members,
) -> BTreeMap<&'a str, StepSeen> {
    let named = workflow.steps.iter().filter(|it| members.include(it.name.as_str()));
    let seen = |step: &'a Step| {
        let known = state.step(&step.name);
        let seen = StepSeen {
            progress: state.progress(&step.name).as_str(),
            attempts: known.map_or(0, |it| it.effort.attempts),
            visits: known.map_or(0, |it| it.visits),
            revisions: known.map_or(0, |it| it.effort.revisions),
        };
        (step.name.as_str(), seen)
    };
    named.map(seen).collect()
}

/// A part, and how far it is in each step that goes through its set.
fn part_here(workflow: &Workflow, state: &RunState, spec: &PartSpec) -> Value {
    let of_set = |it: &&Step| state.parts_of(it).iter().any(|other| other.id == spec.id);
    let progress = |step: &Step| {
        let progress = state.part_progress(&step.name, &spec.id).as_str();
        (String::from(step.name.as_str()), Value::from(progress))
    };
    let progress: Map<_, _> = workflow.steps.iter().filter(of_set).map(progress).collect();
    let mut part = part(spec);
    if let Value::Object(members) = &mut part {
        members.insert(String::from("progress"), Value::Object(progress));
    }
    part
}

fn part(part: &PartSpec) -> Value {
    json!({
        "id": part.id.as_str(),
        "title": part.title,
        "mode": part.mode,
        "files": part.files,
    })
}

/// The sets of parts by their names. One that was not planned is empty.
fn sets(workflow: &Workflow, state: &RunState, members: &Members) -> Map<String, Value> {
    let named = workflow.steps.iter().filter_map(|it| it.each.as_ref());
    let named = named.filter(|it| members.include(it.parts.as_str()));
    let set = |name: &String| {
        let parts = state.parts.get(name).map(Vec::as_slice).unwrap_or_default();
        (name.clone(), Value::Array(parts.iter().map(part).collect()))
    };
    named.map(|it| set(&it.parts)).collect()
}

fn items(state: &RunState) -> Value {
    let done = state.items.iter().filter(|it| it.is_done).count();
    let texts: Vec<&str> = state.items.iter().map(|it| it.text.as_str()).collect();
    let next = state.items.iter().find(|it| !it.is_done).map_or("", |it| it.text.as_str());
    let (total, open) = (state.items.len(), state.items.len() - done);
    json!({ "total": total, "done": done, "open": open, "next": next, "texts": texts })
}

fn report(report: &Report) -> Value {
    json!({
        "step_id": report.step_id,
        "status": report.status,
        "outcome": match report.outcome() {
            Outcome::Success => "success",
            Outcome::Failure => "failure",
            Outcome::Open => "open",
        },
        "result": report.result,
        "details": report.details,
        "message": report.message,
        "error": report.error,
    })
}

fn no_report() -> Value {
    report(&Report::default())
}
