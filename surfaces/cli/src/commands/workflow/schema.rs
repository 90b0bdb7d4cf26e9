//! `milepost workflow schema`: JSON Schemas for editors, as the reference has them.

use serde_json::{Value, json};

use crate::output::Reply;

const INDEX: &str = include_str!("../../../../../docs/reference/workflow-index.schema.json");
const STEP: &str = include_str!("../../../../../docs/reference/workflow-step.schema.json");
const GRAPH: &str = include_str!("../../../../../docs/reference/workflow-graph.schema.json");

/// What a schema describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum Of {
    /// The front matter of `index.md`
    #[default]
    Index,
    /// The front matter of a step
    Step,
    /// A graph in YAML
    Graph,
}

impl Of {
    /// Returns the schema.
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Index => INDEX,
            Self::Step => STEP,
            Self::Graph => GRAPH,
        }
    }

    pub(super) fn print(self) -> Reply {
        let schema: Value = serde_json::from_str(self.text()).unwrap_or_default();
        Reply::new(json!({ "schema": schema }), self.text())
    }
}
