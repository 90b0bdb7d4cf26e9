//! Opens the pipeline of a workspace: finds its run by the folder, with its state file in step.
//!
//! Nothing is kept from one call to the next, so any number of workspaces can be worked on at once.

use engine::{Command, Note, Recorded, Refusal};
use runtime::{ExecuteError, Outcome, Request, RunFile, Target, View};

use super::{STATE_FILE, WORKFLOW, answer::Failure, place::Folder, state_file::StateFile, way_out};
use crate::tool::{Call, Unasked};

/// A pipeline as it is now.
#[derive(Clone)]
pub(in crate::toolsets::forge) struct Pipeline {
    /// The workspace as people see it from the project's root; the key of the run.
    pub(in crate::toolsets::forge) key: String,
    pub(in crate::toolsets::forge) folder: Folder,
    pub(in crate::toolsets::forge) view: View,
    /// What was found and done to the state file on the way.
    pub(in crate::toolsets::forge) notices: Vec<String>,
}

/// What a change led to.
pub(in crate::toolsets::forge) struct Changed {
    pub(in crate::toolsets::forge) pipeline: Pipeline,
    pub(in crate::toolsets::forge) events: Vec<Recorded>,
    /// What the engine tells besides.
    pub(in crate::toolsets::forge) notes: Vec<Note>,
    /// Why the run did not go on, although what was said of it was taken.
    pub(in crate::toolsets::forge) halted: Option<Refusal>,
}

/// Returns the folder that an agent names, and the key of its run.
pub(in crate::toolsets::forge) fn find_key(
    call: &Call<'_>,
    workspace: &str,
) -> Result<(Folder, String), Failure> {
    let key = dialects::forge::workspace::find_key(&call.runtime.settings().root, workspace)?;
    Ok((Folder::named(call, workspace.trim()), key))
}

/// Opens a workspace that has a pipeline.
pub(in crate::toolsets::forge) async fn open(
    call: &Call<'_>,
    workspace: &str,
) -> Result<Pipeline, Failure> {
    let (folder, key) = find_key(call, workspace)?;
    match call.runtime.find_file(WORKFLOW, &key).await {
        Ok(Some((view, file))) => Ok(Pipeline::new(folder, key, view, Some(file))),
        Ok(None) => {
            let message = format!("load state: there is no `{key}/{STATE_FILE}`");
            let hint = "begin with `pipeline_init`, or name another workspace";
            Err(Failure::new("workspace_unknown", message, hint))
        }
        Err(error) => Err(failure("load state", &error)),
    }
}

impl Pipeline {
    fn new(folder: Folder, key: String, view: View, file: Option<RunFile>) -> Self {
        let notices = file.map(|it| it.notices).unwrap_or_default();
        Self { key, folder, view, notices }
    }

    /// Returns what the state file says.
    pub(in crate::toolsets::forge) fn file(&self) -> StateFile {
        StateFile::of(&self.view.workflow, &self.view.state)
    }

    /// Asks for a change.
    pub(in crate::toolsets::forge) async fn execute(
        &self,
        call: &Call<'_>,
        command: Command,
    ) -> Result<Changed, ExecuteError> {
        let request = Request {
            target: Target::Run(self.view.state.run),
            command,
            actor: call.actor.clone(),
            request_id: None,
        };
        let outcome = call.runtime.execute(request).await?;
        let Outcome { view, events, file, chores, notes, halted } = outcome;
        let (folder, key) = (self.folder.clone(), self.key.clone());
        let mut pipeline = Self::new(folder, key, view, file);
        pipeline.notices.extend(chores.warnings);
        let failure = chores.failure.map(|it| format!("{it} ({})", way_out::hint(&it)));
        pipeline.notices.extend(failure);
        Ok(Changed { pipeline, events, notes, halted })
    }
}

impl Pipeline {
    /// Words why a change of this pipeline led to nothing.
    pub(in crate::toolsets::forge) fn failure(&self, what: &str, error: &ExecuteError) -> Failure {
        let ExecuteError::Refused(refusal) = error else { return failure(what, error) };
        Failure::new(
            error.code(),
            format!("{what}: {error}"),
            way_out::hint_at(refusal, &self.view),
        )
    }
}

/// Words why a change led to nothing.
pub(in crate::toolsets::forge) fn failure(what: &str, error: &ExecuteError) -> Failure {
    let hint = match error {
        ExecuteError::Refused(refusal) => way_out::hint(refusal),
        ExecuteError::Store(_) | ExecuteError::Busy { .. } | ExecuteError::Endless => error.hint(),
    };
    Failure::new(error.code(), format!("{what}: {error}"), hint)
}

/// Words a refusal of a guard.
pub(in crate::toolsets::forge) fn blocked(refusal: &Refusal, message: &str) -> Failure {
    Failure::new(refusal.code(), format!("BLOCKED: {message}"), "")
}

impl From<Unasked> for Failure {
    fn from(unasked: Unasked) -> Self {
        failure(unasked.tool, &unasked.error)
    }
}
