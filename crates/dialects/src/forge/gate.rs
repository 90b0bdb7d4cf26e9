//! What a person is asked, in the dialect's words: a checkpoint, or a task that is theirs.

use definition::{Effect, GateOption};
use engine::{GateReason, OpenGate, RunState};
use serde_json::Value;

use super::intake::source::Source;

/// The phases whose checkpoints have names of their own.
const DESIGN_REVIEW: &str = "phase-3b";
const TASKS: &str = "phase-4";
const TASKS_REVIEW: &str = "phase-4b";
const DESIGN_CHECKPOINT: &str = "checkpoint-a";
/// The checkpoint at which a person may overrule a review that asks for more.
pub const DESIGN_APPROVED: &str = "design-approved";

/// Words in a title that speak of work in another repository.
const ELSEWHERE: [&str; 9] = [
    "proto",
    "external repo",
    "external pr",
    "dependency",
    "dependencies",
    "preview",
    "npm version",
    "package version",
    "upstream",
];

/// What to do for a task that lies in another repository.
const CHECKLIST: &str = "
This task seems to lie in another repository:
1. Open the pull request there.
2. Watch its checks until they pass.
3. Get a preview of what it releases.
4. Pin that here, and see that it works.
5. Only then answer `done`.";

/// Returns what a checkpoint is called.
pub fn name(state: &RunState, gate: &OpenGate) -> String {
    let part = gate.part.as_ref().map(ToString::to_string).unwrap_or_default();
    let is_capped = state.vars.get("design_revise_cap_reached") == Some(&Value::Bool(true));
    match (gate.step.as_str(), gate.why) {
        (_, GateReason::Part) => part,
        (_, GateReason::BudgetSpent) => "budget-spent".to_owned(),
        (DESIGN_REVIEW, GateReason::RevisionsSpent) => "design-retry-limit".to_owned(),
        (DESIGN_REVIEW, GateReason::VerdictUnknown) => "design-review-unknown".to_owned(),
        (TASKS, GateReason::RevisionsSpent) => "task-workflow-rules-retry-limit".to_owned(),
        (TASKS_REVIEW, GateReason::RevisionsSpent) => "task-retry-limit".to_owned(),
        (TASKS_REVIEW, GateReason::VerdictUnknown) => "task-review-unknown".to_owned(),
        (_, GateReason::RevisionsSpent) => format!("impl-retry-limit-{part}"),
        (DESIGN_CHECKPOINT, GateReason::Gate) if is_capped => DESIGN_APPROVED.to_owned(),
        (step, _) => step.to_owned(),
    }
}

/// Returns what the person reads.
pub fn present(state: &RunState, gate: &OpenGate, source: Option<&Source>) -> String {
    if let Some(source) = source {
        let label = source.tracker.label();
        return format!("Post `summary.md` to the {label} {}?", source.url);
    }
    if gate.why != GateReason::Part {
        return gate.ask.clone();
    }
    let mut parts = state.parts.values().flatten();
    let task = parts.find(|it| Some(&it.id) == gate.part.as_ref());
    let title = task.map(|it| it.title.clone()).unwrap_or_default();
    let part = gate.part.as_ref().map(ToString::to_string).unwrap_or_default();
    let lower = title.to_lowercase();
    let more = if ELSEWHERE.iter().any(|it| lower.contains(it)) { CHECKLIST } else { "" };
    format!("Task {part} is for a person to do: {title}{more}")
}

/// Returns the answers that are offered. Where the review is only overruled, giving up is not among
/// them, though it is taken.
pub fn options(gate: &OpenGate, name: &str) -> Vec<String> {
    let is_offered = |it: &&GateOption| name != DESIGN_APPROVED || it.effect != Effect::Cancel;
    gate.options.iter().filter(is_offered).map(|it| it.name.clone()).collect()
}
