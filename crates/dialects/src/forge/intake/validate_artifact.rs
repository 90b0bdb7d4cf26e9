//! `validate_artifact`: whether what a phase wrote can be gone on with.

use std::sync::Arc;

use definition::Workflow;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    super::{
        answer::{Answer, Failure},
        place,
    },
    artifact::{Files, Rules},
    flow::with_workflow,
};
use crate::kit::{Ask, Caller, Folder, Hints, Seeing, Tool};

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ValidateArtifact {
    /// The spec's folder
    workspace: String,
    /// Phase id
    phase: String,
}

impl Tool for ValidateArtifact {
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = "validate_artifact";
    const TITLE: &'static str = "Validate artifact";
    const DESCRIPTION: &'static str =
        "Check the files that a phase wrote, and read their verdicts.";
    const HINTS: Hints = Hints::READS;

    fn ask(self, caller: &Caller) -> Result<Ask, Failure> {
        let Self { workspace, phase } = self;
        for (name, value) in [("workspace", &workspace), ("phase", &phase)] {
            if value.trim().is_empty() {
                let message = format!("argument `{name}` is required");
                return Err(Failure::new("argument_invalid", message, "pass it, then call again"));
            }
        }
        let folder = place::reached(caller, &workspace)?;
        let parts_max = caller.bounds.parts_max;
        Ok(with_workflow::<Self>(move |workflow| {
            let workflow = Arc::new(workflow);
            load(folder, &workflow, &phase).then(move |files| {
                let rules = Rules::of(&workflow, &phase, parts_max);
                Self::tell(files.map(|it| Answer::json(&rules.check(&it)))).into()
            })
        }))
    }
}

/// Reads the files that count for a phase.
fn load(folder: Folder, workflow: &Arc<Workflow>, phase: &str) -> Seeing<Result<Files, Failure>> {
    let (workflow, phase) = (Arc::clone(workflow), phase.to_owned());
    let wanted = Arc::new(move |name: &str| Rules::of(&workflow, &phase, 0).wants(name));
    folder.names(vec![".".to_owned()], wanted).then(move |names| match names {
        Ok(names) => read(folder, names.into_iter().flatten().collect(), Files::new()),
        Err(problem) => Seeing::Seen(Err(unreadable(folder.as_str(), &problem))),
    })
}

fn read(folder: Folder, mut left: Vec<String>, mut files: Files) -> Seeing<Result<Files, Failure>> {
    let Some(name) = left.pop() else { return Seeing::Seen(Ok(files)) };
    folder.text(&name).then(move |text| match text {
        Ok(text) => {
            files.extend(text.map(|text| (name, text)));
            read(folder, left, files)
        }
        Err(problem) => Seeing::Seen(Err(unreadable(&name, &problem))),
    })
}

fn unreadable(what: &str, problem: &str) -> Failure {
    let message = format!("`{what}` cannot be read: {problem}");
    Failure::new("file_unreadable", message, "fix that, then call again")
}
