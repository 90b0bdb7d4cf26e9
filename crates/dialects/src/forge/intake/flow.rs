//! Which phases each effort leaves out, as the workflow's flows say.

use definition::{Flow, Workflow};
use engine::Refusal;
use serde::Serialize;

use super::{
    super::{
        WORKFLOW,
        answer::{Answer, Failure},
        way_out,
    },
    effort::Effort,
};
use crate::kit::{Ask, Look, Tool};

/// A phase that is left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Phase {
    pub(super) phase_id: String,
    pub(super) label: String,
}

/// Returns the phases that an effort leaves out, in the order they would come.
pub(super) fn skipped(workflow: &Workflow, effort: Effort) -> Vec<Phase> {
    let Some(Flow { skips }) = workflow.flows.get(effort.flow()) else { return Vec::new() };
    let steps = workflow.steps.iter().filter(|it| skips.contains(&it.name));
    let phase = steps.map(|it| Phase { phase_id: it.name.to_string(), label: it.title.clone() });
    phase.collect()
}

/// Goes on with the workflow of new pipelines.
pub(super) fn with_workflow<T: Tool<Answer = Answer, Failure = Failure>>(
    next: impl FnOnce(Workflow) -> Ask + Send + 'static,
) -> Ask {
    let then = move |workflow: Result<Workflow, Refusal>| match workflow {
        Ok(workflow) => next(workflow),
        Err(refusal) => {
            let hint = way_out::hint(&refusal);
            T::fail(Failure::new(refusal.code(), refusal.to_string(), hint)).into()
        }
    };
    Ask::Look(Look::Workflow(WORKFLOW, Box::new(then)))
}
