//! `validate_workflow_file`: whether a file can be started as a workflow, and if not, why.

use definition::Severity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{answer::Failure, library};
use crate::kit::{self, Ask, Caller, Hints, Look, ReadGraph, Tool};

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "Parameters")]
pub(super) struct ValidateWorkflowFile {
    /// The file, seen from the project's root
    workflow_path: String,
}

/// What is known of a file.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct Verdict {
    valid: bool,
    errors: Vec<String>,
    /// What is doubtful, and lets it be started all the same.
    doubts: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    workflow_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    node_count: Option<usize>,
}

impl kit::Answer for Verdict {}

impl Tool for ValidateWorkflowFile {
    type Answer = Verdict;
    type Failure = Failure;
    const NAME: &'static str = "validate_workflow_file";
    const TITLE: &'static str = "Validate a workflow file";
    const DESCRIPTION: &'static str = "Check a workflow's YAML file: every mistake with its place, \
                                       and what is doubtful.";
    const HINTS: Hints = Hints::READS;

    fn ask(self, caller: &Caller) -> Result<Ask, Failure> {
        let path = library::inside(caller, &self.workflow_path).map_err(|problem| {
            let content = format!("❌ **Error:** {problem}");
            Failure::new("PATH_OUTSIDE", content, "name a file inside the project")
        })?;
        let missing = format!("Workflow file not found: {path}");
        let judged = |read: Result<Option<ReadGraph>, String>| match read {
            Ok(Some(read)) => judge(read),
            Ok(None) => broken(missing),
            Err(problem) => broken(format!("Could not read file: {problem}")),
        };
        Ok(Look::Graph(path, Box::new(|read| Self::say(judged(read)).into())).into())
    }
}

fn judge(read: ReadGraph) -> Verdict {
    match read {
        Ok((workflow, doubts)) => Verdict {
            valid: true,
            errors: Vec::new(),
            doubts: library::told(&doubts),
            workflow_name: Some(workflow.name.to_string()),
            node_count: Some(workflow.work_steps().count()),
        },
        Err(error) => {
            let of = |severity| {
                let found = error.diagnostics.iter().filter(|it| it.severity == severity);
                library::told(&found.cloned().collect::<Vec<_>>())
            };
            let (errors, doubts) = (of(Severity::Error), of(Severity::Warning));
            Verdict { errors, doubts, ..Verdict::default() }
        }
    }
}

fn broken(problem: String) -> Verdict {
    Verdict { errors: vec![problem], ..Verdict::default() }
}
