//! Which phases each effort leaves out, as the workflow's flows say.

use definition::{Flow, Workflow};
use serde::Serialize;

use super::effort::Effort;

/// A phase that is left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Phase {
    pub phase_id: String,
    pub label: String,
}

/// Returns the phases that an effort leaves out, in the order they would come.
pub fn skipped(workflow: &Workflow, effort: Effort) -> Vec<Phase> {
    let Some(Flow { skips }) = workflow.flows.get(effort.flow()) else { return Vec::new() };
    let steps = workflow.steps.iter().filter(|it| skips.contains(&it.name));
    let phase = steps.map(|it| Phase { phase_id: it.name.to_string(), label: it.title.clone() });
    phase.collect()
}
