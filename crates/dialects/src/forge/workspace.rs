//! Opens the pipeline of a workspace: finds its run by the folder, with its state file in step.
//!
//! Nothing is kept from one call to the next, so any number of workspaces can be worked on at once.

use engine::{RunFile, View};

use super::{
    STATE_FILE, StateFile, WORKFLOW,
    answer::{Answer, Failure},
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

/// Returns the key of the run in a folder that an agent names: how it is seen from the project's root.
pub fn find_key(root: &str, workspace: &str) -> Result<String, Failure> {
    if workspace.trim().is_empty() {
        let hint = "pass the workspace that `pipeline_init` answered";
        return Err(Failure::new("argument_invalid", "argument `workspace` is empty", hint));
    }
    let (project, folder) = (resolve(root, ""), resolve(root, workspace.trim()));
    let key = folder.strip_prefix(&project).and_then(|it| it.strip_prefix('/'));
    let key = key.filter(|it| !it.is_empty()).map(ToOwned::to_owned);
    key.ok_or_else(|| {
        let message = format!("load state: workspace `{workspace}` is not in the project");
        let hint = format!("the project is `{project}`; start the server in another");
        Failure::new("workspace_outside", message, hint)
    })
}

/// Returns the absolute path that `path` means, seen from `root`, by its words alone.
pub fn resolve(root: &str, path: &str) -> String {
    let joined = if path.starts_with('/') { path.to_owned() } else { format!("{root}/{path}") };
    let mut parts: Vec<&str> = Vec::new();
    for part in joined.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

/// Opens a workspace that has a pipeline.
pub(super) fn open<T: Tool<Answer = Answer, Failure = Failure>>(
    caller: &Caller,
    workspace: &str,
    then: impl FnOnce(Pipeline) -> Result<Ask, Failure> + Send + 'static,
) -> Result<Ask, Failure> {
    let key = find_key(&caller.root, workspace)?;
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
