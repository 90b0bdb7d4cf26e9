//! What settings say about workflows. The engine is told with every decision, no matter who asks for it.

use std::collections::BTreeMap;

use definition::{Form, Workflow};
use engine::Policy;

/// What settings say about workflows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Policies {
    /// About every graph.
    pub graphs: Policy,
    /// About workflows by their names.
    pub named: BTreeMap<String, Policy>,
}

impl Policies {
    /// Returns what settings say about the runs of `workflow`.
    pub fn of(&self, workflow: &Workflow) -> Policy {
        match self.named.get(workflow.name.as_str()) {
            Some(policy) => policy.clone(),
            None if workflow.form == Form::Graph => self.graphs.clone(),
            None => Policy::default(),
        }
    }
}
