//! What conditions and templates may look at.

use alloc::{collections::BTreeMap, string::String, vec::Vec};

use definition::{PartSpec, Scope, Step, StepName, Workflow};
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

/// The roots of a scope. They are read where they are: a decision evaluates dozens of conditions.
#[derive(Serialize)]
struct Roots<'a> {
    context: &'a Map<String, Value>,
    settings: &'a Map<String, Value>,
    vars: &'a Map<String, Value>,
    flow: Option<&'a str>,
    key: Option<&'a str>,
    report: Value,
    artifacts: BTreeMap<&'a str, FileSeen<'a>>,
    steps: BTreeMap<&'a str, StepSeen>,
    part: Value,
    parts: Map<String, Value>,
    verdict: &'a str,
    args: Option<&'a Map<String, Value>>,
    step: &'a str,
    items: Value,
    journal: Value,
    gate: &'a str,
    usage: Value,
    run: Value,
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

pub(crate) fn scope(workflow: &Workflow, state: &RunState, sight: EvalContext<'_>) -> Scope {
    let artifacts = state.artifacts.iter().map(|(path, seen)| {
        let Artifact { sha256, size, .. } = &seen.artifact;
        (path.as_str(), FileSeen { sha256: sha256.as_str(), size: *size })
    });
    let steps = workflow.steps.iter().map(|step| {
        let known = state.step(&step.name);
        let seen = StepSeen {
            progress: state.progress(&step.name).as_str(),
            attempts: known.map_or(0, |it| it.effort.attempts),
            visits: known.map_or(0, |it| it.visits),
            revisions: known.map_or(0, |it| it.effort.revisions),
        };
        (step.name.as_str(), seen)
    });
    Scope::new(Roots {
        context: &state.context,
        settings: &workflow.settings,
        vars: &state.vars,
        flow: state.flow(),
        key: state.key(),
        report: sight.report.map_or_else(no_report, report),
        artifacts: artifacts.collect(),
        steps: steps.collect(),
        part: sight.part.map_or(Value::Null, |it| part_here(workflow, state, it)),
        parts: sets(workflow, state),
        verdict: sight.verdict.unwrap_or_default(),
        args: sight.args,
        step: state.current.as_ref().map_or("", StepName::as_str),
        items: items(state),
        journal: json!({ "chars": state.journal.text().chars().count() }),
        gate: state.standing.open_gate().map_or("", |it| it.step.as_str()),
        usage: json!({ "tokens": state.usage.total(), "duration_ms": state.usage.duration_ms }),
        run: json!({ "id": alloc::format!("{}", state.run) }),
    })
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
fn sets(workflow: &Workflow, state: &RunState) -> Map<String, Value> {
    let named = workflow.steps.iter().filter_map(|it| it.each.as_ref());
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
