//! The tools that only look at the state: one field of it, what the phases took, and what an agent
//! needs to go on.

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::{
    answer::{Answer, Failure},
    state_file::StateFile,
    workspace,
};
use crate::kit::{Ask, Caller, Done, Hints, Tool};

#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::forge) struct Get {
    /// Its folder
    workspace: String,
    /// Such as `currentPhase` or `revisions.designRevisions`
    field: String,
}

impl Tool for Get {
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = "get";
    const TITLE: &'static str = "Get a field";
    const DESCRIPTION: &'static str = "Read one field of the state.";
    const HINTS: Hints = Hints::READS;

    fn ask(self, caller: &Caller) -> Result<Ask, Failure> {
        let field = self.field;
        read::<Self>(caller, &self.workspace, move |file| {
            let unknown = || {
                let known = format!("there are: {}", StateFile::readable().join(", "));
                Failure::new("field_unknown", format!("get: unknown field `{field}`"), known)
            };
            file.get(&field).map(Answer::text).ok_or_else(unknown)
        })
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::forge) struct PhaseStats {
    /// Its folder
    workspace: String,
}

impl Tool for PhaseStats {
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = "phase_stats";
    const TITLE: &'static str = "Sum the log up";
    const DESCRIPTION: &'static str = "Tell what the phases took, each and in all.";
    const HINTS: Hints = Hints::READS;

    fn ask(self, caller: &Caller) -> Result<Ask, Failure> {
        read::<Self>(caller, &self.workspace, |file| Ok(Answer::json(&file.phase_stats())))
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::forge) struct ResumeInfo {
    /// Its folder
    workspace: String,
}

impl Tool for ResumeInfo {
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = "resume_info";
    const TITLE: &'static str = "Tell how to go on";
    const DESCRIPTION: &'static str = "Tell where the pipeline is, and what is left of its tasks.";
    const HINTS: Hints = Hints::READS;

    fn ask(self, caller: &Caller) -> Result<Ask, Failure> {
        read::<Self>(caller, &self.workspace, |file| Ok(Answer::json(&file.resume_info())))
    }
}

/// Answers from what the state file says. The text is the answer as the contract has it; what was
/// found and done to the file on the way is beside it.
fn read<T: Tool<Answer = Answer, Failure = Failure>>(
    caller: &Caller,
    workspace: &str,
    told: impl FnOnce(&StateFile) -> Result<Answer, Failure> + Send + 'static,
) -> Result<Ask, Failure> {
    workspace::open::<T>(caller, workspace, |pipeline| {
        let warnings = pipeline.notices.clone();
        let answer = told(&pipeline.file()).map_err(|it| it.noting(&warnings))?;
        let done: Done<Answer> = Done { warnings, ..answer.into() };
        Ok(T::say(done).into())
    })
}
