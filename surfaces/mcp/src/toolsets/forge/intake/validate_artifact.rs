//! `validate_artifact`: whether what a phase wrote can be gone on with.

use std::sync::Arc;

use definition::Workflow;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    super::{
        answer::{Answer, Failure},
        dialect::DialectTool,
        place::Folder,
    },
    artifact::{Files, Rules},
    pipeline_init_with_context::find_workflow,
};
use crate::tool::{Call, Done, Hints};

pub(super) struct ValidateArtifact;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// The spec's folder
    workspace: String,
    /// Phase id
    phase: String,
}

impl DialectTool for ValidateArtifact {
    type Parameters = Parameters;
    const NAME: &'static str = "validate_artifact";
    const TITLE: &'static str = "Validate artifact";
    const DESCRIPTION: &'static str =
        "Check the files that a phase wrote, and read their verdicts.";
    const HINTS: Hints = Hints::READS;

    async fn call(call: &Call<'_>, parameters: Parameters) -> Result<Done<Answer>, Failure> {
        let Parameters { workspace, phase } = parameters;
        for (name, value) in [("workspace", &workspace), ("phase", &phase)] {
            if value.trim().is_empty() {
                let message = format!("argument `{name}` is required");
                return Err(Failure::new("argument_invalid", message, "pass it, then call again"));
            }
        }
        let folder = Folder::reach(call, &workspace)?;
        let workflow = Arc::new(find_workflow(call)?);
        let files = load(call, &folder, &workflow, &phase).await?;
        let parts_max = call.runtime.settings().bounds.parts_max;
        let rules = Rules::of(&workflow, &phase, parts_max);
        Ok(Answer::json(&rules.check(&files)).into())
    }
}

/// Reads the files that count for a phase.
async fn load(
    call: &Call<'_>,
    folder: &Folder,
    workflow: &Arc<Workflow>,
    phase: &str,
) -> Result<Files, Failure> {
    let (workflow, phase) = (Arc::clone(workflow), phase.to_owned());
    let wanted = Arc::new(move |name: &str| Rules::of(&workflow, &phase, 0).wants(name));
    let unreadable = |what: &str, problem: &str| {
        let message = format!("`{what}` cannot be read: {problem}");
        Failure::new("file_unreadable", message, "fix that, then call again")
    };
    let names = folder.names(call, wanted).await;
    let names = names.map_err(|problem| unreadable(folder.as_str(), &problem))?;
    let mut files = Files::new();
    for name in names {
        let text = folder.read(call, &name).await.map_err(|it| unreadable(&name, &it))?;
        files.extend(text.map(|text| (name, text)));
    }
    Ok(files)
}
