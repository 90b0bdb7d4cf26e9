//! `validate_workflow_file`: whether a file can be started as a workflow, and if not, why.

use definition::{Diagnostic, MemoryFiles, ParseError, Severity, Workflow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{answer::Failure, library};
use crate::tool::{Call, Done, Hints, Tool};

pub(super) struct ValidateWorkflowFile;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
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

impl Tool for ValidateWorkflowFile {
    type Parameters = Parameters;
    type Answer = Verdict;
    type Failure = Failure;
    const NAME: &'static str = "validate_workflow_file";
    const TITLE: &'static str = "Validate a workflow file";
    const DESCRIPTION: &'static str = "Check a workflow's YAML file: every mistake with its place, \
                                       and what is doubtful.";
    const HINTS: Hints = Hints::READS;

    async fn call(call: &Call<'_>, parameters: Parameters) -> Result<Done<Verdict>, Failure> {
        let path = library::inside(call, &parameters.workflow_path).map_err(|problem| {
            let content = format!("❌ **Error:** {problem}");
            Failure::new("PATH_OUTSIDE", content, "name a file inside the project")
        })?;
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
        let text = match call.runtime.read_text(&path).await {
            Ok(Some(text)) => text,
            Ok(None) => return Ok(broken(format!("Workflow file not found: {path}")).into()),
            Err(problem) => return Ok(broken(format!("Could not read file: {problem}")).into()),
        };
        let mut files = MemoryFiles([(name.to_owned(), text)].into());
        Ok(judge(library::parse_in(call, folder, name, &mut files).await).into())
    }
}

fn judge(read: Result<(Workflow, Vec<Diagnostic>), ParseError>) -> Verdict {
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
