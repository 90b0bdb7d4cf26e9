//! Finds the state file and the run that it is made from, and the file with the project's commands.

use runtime::{ExecuteError, RunFile, View};

use super::super::{
    WORKFLOW,
    answer::{Failure, Place},
    config_file,
    state_file::StateFile,
    text::Guidance,
    words::{config_paths, state_paths},
};
use super::told::Shows;
use crate::tool::Call;

/// A run, and its file as it is now.
pub(super) struct Found {
    pub(super) view: View,
    pub(super) file: RunFile,
}

impl Found {
    /// Returns what an answer is made from.
    pub(super) fn shows(&self) -> Shows<'_> {
        Shows { path: &self.file.path, text: &self.file.text, view: Some(&self.view) }
    }

    /// Returns where the work is.
    pub(super) fn place(&self) -> Place {
        place(&self.file.path, &StateFile::parse(&self.file.text))
    }
}

/// Returns what was found and done on the way to a file.
pub(super) fn notices(found: Option<&Found>) -> Vec<String> {
    found.map(|it| it.file.notices.clone()).unwrap_or_default()
}

/// Returns where the work is, as a file says.
pub(super) fn place(path: &str, file: &StateFile) -> Place {
    Place {
        file: Some(path.to_owned()),
        phase: Some(file.phase().to_owned()),
        status: Some(file.status().to_owned()),
        current_item: file.current_item(),
    }
}

/// Finds the run of the project; one is begun where there is only the file.
pub(super) async fn find(call: &Call<'_>) -> Result<Option<Found>, ExecuteError> {
    let mut keys = state_paths(&call.options.devworkflow);
    // A run that there is goes before a file that appeared beside its own.
    for at in 0..keys.len() {
        let Some(key) = keys.get(at) else { break };
        if call.runtime.find_live(WORKFLOW, key).await? {
            let key = keys.remove(at);
            keys.insert(0, key);
            break;
        }
    }
    for key in keys {
        if let Some((view, file)) = call.runtime.take_in_file(WORKFLOW, &key).await? {
            return Ok(Some(Found { view, file }));
        }
    }
    Ok(None)
}

/// The file with the project's commands.
pub(super) struct Config {
    pub(super) path: String,
    /// `None` where there is none.
    pub(super) text: Result<Option<String>, String>,
}

impl Config {
    /// Looks for the file where `named` says, or where it usually is.
    pub(super) async fn find(call: &Call<'_>, named: &str) -> Self {
        let mut paths = config_paths(&call.options.devworkflow);
        if !named.is_empty() {
            paths = vec![named.to_owned()];
        }
        let mut found = Self { path: String::new(), text: Ok(None) };
        for path in paths {
            let text = call.runtime.read_beside(WORKFLOW, &path).await;
            if text != Ok(None) {
                return Self { path, text };
            }
            // A new one is made at the first place whose folder is there.
            let folder = path.rsplit_once('/').map_or("", |it| it.0);
            let has_folder = folder.is_empty() || call.runtime.has_beside(WORKFLOW, folder).await;
            if found.path.is_empty() && has_folder {
                found.path = path;
            }
        }
        found
    }

    /// Returns what is wrong with it.
    pub(super) fn issues(&self) -> Vec<String> {
        match &self.text {
            Ok(Some(text)) => config_file::issues(text),
            Ok(None) => vec!["project_config.md file does not exist".to_owned()],
            Err(problem) => vec![format!("Could not read file: {problem}")],
        }
    }

    /// Whether it has this line of the changelog. What cannot be read has none.
    pub(super) fn has_line(&self, line: &str) -> bool {
        let first = line.lines().next().unwrap_or_default().trim();
        matches!(&self.text, Ok(Some(text)) if text.contains(first))
    }

    /// Returns its commands for tests, and those for builds.
    pub(super) fn commands(&self) -> (Vec<String>, Vec<String>) {
        match &self.text {
            Ok(Some(text)) => (config_file::test_commands(text), config_file::build_commands(text)),
            Ok(None) | Err(_) => (Vec::new(), Vec::new()),
        }
    }
}

/// Refuses a named file that cannot be looked at, such as one that a link leads to from outside.
pub(super) async fn check_config(
    call: &Call<'_>,
    tool: Guidance,
    path: &str,
) -> Result<(), Failure> {
    if path.is_empty() {
        return Ok(());
    }
    let Err(problem) = call.runtime.read_beside(WORKFLOW, path).await else { return Ok(()) };
    let message = format!("`{path}` cannot be read: {problem}");
    let hint = "name a text file in the project, seen from its root";
    Err(Failure::new(tool.name(), "INVALID_PATH", &message, hint))
}

/// Returns what is wrong with the state file as it lies there. Nothing is taken in or written.
pub(super) async fn state_issues(call: &Call<'_>) -> Vec<String> {
    for path in state_paths(&call.options.devworkflow) {
        match call.runtime.read_beside(WORKFLOW, &path).await {
            Ok(None) => {}
            Ok(Some(text)) if text.contains('\0') => {
                return vec!["Could not read file: it is not text".to_owned()];
            }
            Ok(Some(text)) => return StateFile::parse(&text).issues(),
            Err(problem) => return vec![format!("Could not read file: {problem}")],
        }
    }
    vec!["workflow_state.md file does not exist".to_owned()]
}
