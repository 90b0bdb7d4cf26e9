//! The tools that only look at the state: one field of it, what the phases took, and what an agent
//! needs to go on.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    super::{
        answer::{Answer, Failure},
        dialect::DialectTool,
        state_file::StateFile,
        workspace,
    },
    change::{InWorkspace as _, OnWorkspace},
};
use crate::tool::{Call, Done, Hints};

pub(super) struct Get;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct OnField {
    /// Its folder
    workspace: String,
    /// Such as `currentPhase` or `revisions.designRevisions`
    field: String,
}

impl DialectTool for Get {
    type Parameters = OnField;
    const NAME: &'static str = "get";
    const TITLE: &'static str = "Get a field";
    const DESCRIPTION: &'static str = "Read one field of the state.";
    const HINTS: Hints = Hints::READS;

    async fn call(call: &Call<'_>, parameters: OnField) -> Result<Done<Answer>, Failure> {
        let (file, notices) = load(call, &parameters.workspace).await?;
        let field = &parameters.field;
        match file.get(field) {
            Some(text) => Ok(told(Answer::text(text), notices)),
            None => {
                let known = format!("there are: {}", StateFile::readable().join(", "));
                let message = format!("get: unknown field `{field}`");
                Err(Failure::new("field_unknown", message, known).noting(&notices))
            }
        }
    }
}

pub(super) struct PhaseStats;

impl DialectTool for PhaseStats {
    type Parameters = OnWorkspace;
    const NAME: &'static str = "phase_stats";
    const TITLE: &'static str = "Sum the log up";
    const DESCRIPTION: &'static str = "Tell what the phases took, each and in all.";
    const HINTS: Hints = Hints::READS;

    async fn call(call: &Call<'_>, parameters: OnWorkspace) -> Result<Done<Answer>, Failure> {
        let (file, notices) = load(call, parameters.workspace()).await?;
        Ok(told(Answer::json(&file.phase_stats()), notices))
    }
}

pub(super) struct ResumeInfo;

impl DialectTool for ResumeInfo {
    type Parameters = OnWorkspace;
    const NAME: &'static str = "resume_info";
    const TITLE: &'static str = "Tell how to go on";
    const DESCRIPTION: &'static str = "Tell where the pipeline is, and what is left of its tasks.";
    const HINTS: Hints = Hints::READS;

    async fn call(call: &Call<'_>, parameters: OnWorkspace) -> Result<Done<Answer>, Failure> {
        let (file, notices) = load(call, parameters.workspace()).await?;
        Ok(told(Answer::json(&file.resume_info()), notices))
    }
}

/// Returns what the state file says, and what was found and done to it on the way.
async fn load(call: &Call<'_>, workspace: &str) -> Result<(StateFile, Vec<String>), Failure> {
    let pipeline = workspace::open(call, workspace).await?;
    Ok((pipeline.file(), pipeline.notices))
}

/// The text is the answer as the contract has it. What was noticed is beside it.
fn told(answer: Answer, warnings: Vec<String>) -> Done<Answer> {
    Done { warnings, ..answer.into() }
}
