//! Where the dialect's files are: the specs' folder, and the folders that an agent names.

use super::answer::Failure;
use crate::kit::{Caller, Folder};

/// Returns the project's root.
pub fn project(caller: &Caller) -> Folder {
    named(caller, "")
}

/// Returns the folder that an agent names, seen from the project's root.
pub fn named(caller: &Caller, path: &str) -> Folder {
    Folder::resolve(&caller.root, path)
}

/// Returns the folder of the specs.
pub fn specs(caller: &Caller) -> Folder {
    named(caller, &caller.options.forge.specs)
}

/// Returns which of the folders that are reached holds this one: the project, or those that the
/// settings name.
pub fn reach(caller: &Caller, folder: &Folder) -> Result<Folder, String> {
    let options = &caller.options.forge;
    let set = [Some(options.specs.as_str()), options.agents.as_deref()];
    let set = set.into_iter().flatten().map(|it| named(caller, it));
    let project = project(caller);
    let problem = format!("`{}` is outside of the project `{}`", folder.as_str(), project.as_str());
    let mut roots = std::iter::once(project).chain(set);
    roots.find(|it| it.holds(folder)).ok_or(problem)
}

/// Returns the folder that an agent names, if it is one that is reached from here.
pub fn reached(caller: &Caller, path: &str) -> Result<Folder, Failure> {
    let folder = named(caller, path);
    let outside = |it| Failure::new("path_outside", it, "name a folder in the project");
    reach(caller, &folder).map_err(outside).map(|_| folder)
}

/// Returns the workspace that an agent names, and the key of its run.
pub fn find_key(caller: &Caller, workspace: &str) -> Result<(Folder, String), Failure> {
    if workspace.trim().is_empty() {
        let hint = "pass the workspace that `pipeline_init` answered";
        return Err(Failure::new("argument_invalid", "argument `workspace` is empty", hint));
    }
    let folder = named(caller, workspace.trim());
    let project = project(caller);
    let key = folder.seen_from(&project);
    if key.starts_with('/') || key.is_empty() {
        let message = format!("load state: workspace `{workspace}` is not in the project");
        let hint = format!("the project is `{}`; start the server in another", project.as_str());
        return Err(Failure::new("workspace_outside", message, hint));
    }
    Ok((folder, key))
}
