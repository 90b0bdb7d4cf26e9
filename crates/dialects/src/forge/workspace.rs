//! Opens the pipeline of a workspace: finds its run by the folder, with its state file in step.
//!
//! Nothing is kept from one call to the next, so any number of workspaces can be worked on at once.

use engine::{RunFile, View};

use super::{
    STATE_FILE, StateFile, WORKFLOW,
    answer::{Answer, Failure},
    place,
};
use crate::kit::{Ask, Caller, Look, Snapshot, Stopped, Tool};

/// A pipeline as it is now.
pub(super) struct Pipeline {
    pub(super) view: View,
    /// What was found and done to the state file on the way.
    pub(super) notices: Vec<String>,
}

impl Pipeline {
    /// Returns what the state file says.
    pub(super) fn file(&self) -> StateFile {
        StateFile::of(&self.view.workflow, &self.view.state)
    }
}

/// Opens a workspace that has a pipeline.
pub(super) fn open<T: Tool<Answer = Answer, Failure = Failure>>(
    caller: &Caller,
    workspace: &str,
    then: impl FnOnce(Pipeline) -> Result<Ask, Failure> + Send + 'static,
) -> Result<Ask, Failure> {
    let (_, key) = place::find_key(caller, workspace)?;
    let keys = vec![key.clone()];
    let opened = move |found: Result<Option<(Snapshot, RunFile)>, Stopped>| match found {
        Ok(Some((seen, file))) => then(Pipeline { view: seen.view, notices: file.notices }),
        Ok(None) => {
            let message = format!("load state: there is no `{key}/{STATE_FILE}`");
            let hint = "begin with `pipeline_init`, or name another workspace";
            Err(Failure::new("workspace_unknown", message, hint))
        }
        Err(stopped) => Err(Failure::of("load state", &stopped)),
    };
    let asked = move |found| opened(found).unwrap_or_else(|it| T::fail(it).into());
    Ok(Look::File(WORKFLOW, keys, Box::new(asked)).into())
}
