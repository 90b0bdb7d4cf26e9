//! Opens the pipeline of a workspace: finds its run by the folder, with its state file in step.
//!
//! Nothing is kept from one call to the next, so any number of workspaces can be worked on at once.

use engine::{Command, Known, Probe, RunFile, View, probe};

use super::{
    STATE_FILE, StateFile, WORKFLOW,
    answer::{Answer, Failure},
    place, way_out,
};
use crate::kit::{Ask, Caller, Folder, Look, Outcome, Reports, Snapshot, Stopped, Tool};

/// A pipeline as it is now.
#[derive(Clone)]
pub(super) struct Pipeline {
    /// The workspace as people see it from the project's root; the key of the run.
    pub(super) key: String,
    pub(super) folder: Folder,
    pub(super) view: View,
    pub(super) known: Known,
    /// What was found and done to the state file on the way.
    pub(super) notices: Vec<String>,
}

impl Pipeline {
    /// Returns what the state file says.
    pub(super) fn file(&self) -> StateFile {
        StateFile::of(&self.view.workflow, &self.view.state)
    }

    /// Returns how it is after a change.
    pub(super) fn after(&self, outcome: &Outcome) -> Self {
        let Snapshot { view, known, .. } = outcome.now.clone();
        let (key, folder) = (self.key.clone(), self.folder.clone());
        Self { key, folder, view, known, notices: notices(outcome) }
    }

    /// Tries a command, so that nothing is advised that would be refused.
    pub(super) fn try_on(&self, command: &Command) -> Probe {
        probe(&self.view.workflow, &self.view.state, &self.known, command)
    }
}

/// Returns what was done besides a change, for the caller to know.
pub(super) fn notices(outcome: &Outcome) -> Vec<String> {
    let undone = outcome.undone.as_ref().map(|it| format!("{it} ({})", way_out::hint(it)));
    let file = outcome.file.iter().flat_map(|it| &it.notices);
    file.chain(&outcome.notices).cloned().chain(undone).collect()
}

/// Names the action that a call on a workspace reports.
pub(super) fn reports(workspace: &str, action: Option<u64>) -> Reports {
    let workspace = workspace.to_owned();
    let key = move |caller: &Caller| Some(place::find_key(caller, &workspace).ok()?.1);
    Reports { workflow: WORKFLOW, key: Box::new(key), action }
}

/// Opens a workspace that has a pipeline.
pub(super) fn open<T: Tool<Answer = Answer, Failure = Failure>>(
    caller: &Caller,
    workspace: &str,
    then: impl FnOnce(Pipeline) -> Result<Ask, Failure> + Send + 'static,
) -> Result<Ask, Failure> {
    let (folder, key) = place::find_key(caller, workspace)?;
    let keys = vec![key.clone()];
    let opened = move |found: Result<Option<(Snapshot, RunFile)>, Stopped>| match found {
        Ok(Some((seen, file))) => {
            let Snapshot { view, known, .. } = seen;
            then(Pipeline { key, folder, view, known, notices: file.notices })
        }
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
