//! What the tools have in common that change one thing: the pipeline is opened, a command is made and
//! executed, and a no of the engine is worded.

use engine::{Command, Refusal, Standing, Status};
use runtime::ExecuteError;
use schemars::JsonSchema;
use serde::{Deserialize, de::DeserializeOwned};

use super::super::{
    answer::{Answer, Failure},
    dialect::DialectTool,
    way_out,
    workspace::{self, Pipeline},
};
use crate::tool::{Call, Done, Effect, Hints};

/// What sets something to a value: the same again changes nothing.
pub(super) const SETS: Hints = Hints { is_idempotent: true, ..Hints::ADDS };
/// What ends something, or decides in a person's name.
pub(super) const ENDS: Hints = Hints { effect: Effect::Ends, ..Hints::ADDS };

/// Arguments that name a workspace.
pub(super) trait InWorkspace {
    fn workspace(&self) -> &str;
}

/// Makes arguments name their workspace.
macro_rules! in_workspace {
    ($($name:ty),*) => { $(
        impl $crate::toolsets::forge::state::change::InWorkspace for $name {
            fn workspace(&self) -> &str {
                &self.workspace
            }
        }
    )* };
}
pub(super) use in_workspace;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct OnWorkspace {
    /// Its folder
    workspace: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct OnPhase {
    /// Its folder
    workspace: String,
    /// Its id
    pub(super) phase: String,
}

in_workspace!(OnWorkspace, OnPhase);

/// One small change.
pub(super) trait Change {
    /// What the agent passes in.
    type Parameters: InWorkspace + DeserializeOwned + JsonSchema + Send + Sync;
    const NAME: &'static str;
    const TITLE: &'static str;
    const DESCRIPTION: &'static str;
    const HINTS: Hints;

    /// Returns what is asked of the pipeline.
    fn command(parameters: &Self::Parameters, pipeline: &Pipeline) -> Result<Command, Failure>;

    /// Returns what to mind, seen from how the pipeline stood before.
    fn warnings(_parameters: &Self::Parameters, _pipeline: &Pipeline) -> Vec<String> {
        Vec::new()
    }

    /// Returns the words of the guard that a refusal is, if it is one.
    fn guard(
        _parameters: &Self::Parameters,
        _pipeline: &Pipeline,
        _refusal: &Refusal,
    ) -> Option<String> {
        None
    }
}

/// Makes a [`DialectTool`] of a [`Change`].
pub(super) struct Changing<T>(std::marker::PhantomData<T>);

impl<T: Change> DialectTool for Changing<T> {
    type Parameters = T::Parameters;
    const NAME: &'static str = T::NAME;
    const TITLE: &'static str = T::TITLE;
    const DESCRIPTION: &'static str = T::DESCRIPTION;
    const HINTS: Hints = T::HINTS;

    async fn call(call: &Call<'_>, parameters: T::Parameters) -> Result<Done<Answer>, Failure> {
        let pipeline = workspace::open(call, parameters.workspace()).await?;
        let command = T::command(&parameters, &pipeline)?;
        let mut warnings = T::warnings(&parameters, &pipeline);
        warnings.extend(pipeline.notices.iter().cloned());
        match pipeline.execute(call, command).await {
            Ok(changed) => {
                warnings.extend(changed.pipeline.notices);
                Ok(Answer::ok_with(&warnings).into())
            }
            Err(error) => {
                let guard = |it: &Refusal| T::guard(&parameters, &pipeline, it);
                Err(refused(T::NAME, &pipeline, &error, guard).noting(&pipeline.notices))
            }
        }
    }
}

/// Words why a change led to nothing: as the guard that stands in its way, else plainly.
pub(super) fn refused(
    tool: &str,
    pipeline: &Pipeline,
    error: &ExecuteError,
    guard: impl FnOnce(&Refusal) -> Option<String>,
) -> Failure {
    let ExecuteError::Refused(refusal) = error else { return workspace::failure(tool, error) };
    if let Some(message) = guard(refusal) {
        return workspace::blocked(refusal, &message);
    }
    if let Refusal::StepNotCurrent { step, current } = refusal {
        return not_current(tool, step, current);
    }
    if let Refusal::PartsInvalid { problem, .. } = refusal {
        let message = format!("{tool}: {problem}");
        return Failure::new(refusal.code(), message, "fix the tasks, then call again");
    }
    if let Refusal::RunEnded { status } = refusal {
        let message = format!("{tool}: the pipeline is {}", ended(*status));
        return Failure::new(refusal.code(), message, way_out::hint_at(refusal, &pipeline.view));
    }
    pipeline.failure(tool, error)
}

/// Says that a phase is not the current one.
pub(super) fn not_current(tool: &str, phase: &str, current: &str) -> Failure {
    let message = format!("{tool}: `{phase}` is not the current phase, which is `{current}`");
    Failure::new("step_not_current", message, format!("go on with `{current}`"))
}

/// Returns how a pipeline that is over stands, in the dialect's word.
fn ended(status: Status) -> &'static str {
    if status == Status::Cancelled { "abandoned" } else { status.as_str() }
}

/// Has a failed pipeline taken up again before anything else.
pub(super) fn taken_up(pipeline: &Pipeline, commands: Vec<Command>) -> Command {
    let mut all = Vec::new();
    if let Standing::Failed { .. } = pipeline.view.state.standing {
        // The files may well have been fixed since.
        let reason = "the phase is taken up again".to_owned();
        all.push(Command::ReopenRun { reason, force: true });
    }
    all.extend(commands);
    Command::All(all)
}
