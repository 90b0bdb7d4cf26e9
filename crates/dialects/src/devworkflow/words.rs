//! The dialect's words, and ours.

use super::options::Options;

/// The phases, which are the steps of the workflow.
pub(super) const PHASES: [&str; 5] = ["INIT", "ANALYZE", "BLUEPRINT", "CONSTRUCT", "VALIDATE"];
/// The words for how a phase stands.
pub(super) const STATUSES: [&str; 5] = ["READY", "RUNNING", WAITING, "COMPLETED", "ERROR"];
/// The status while the plan waits for the user's answer.
pub(super) const WAITING: &str = "NEEDS_PLAN_APPROVAL";
/// The word for an item that is still to be done.
pub(super) const PENDING: &str = "pending";
/// The word for an item that is done.
pub(super) const COMPLETED: &str = "completed";
/// After how long a call that found the store busy may be tried again.
pub(super) const RETRY_MS: u64 = 500;
/// The file with the state of the work.
pub const STATE_FILE: &str = "workflow_state.md";
/// The file with the project's commands and changelog.
pub const CONFIG_FILE: &str = "project_config.md";
/// The state file in its older form.
pub const STATE_JSON: &str = "workflow_state.json";

/// Words of a row that say that nothing is left to do about it.
const DONE: [&str; 7] =
    [COMPLETED, "complete", "done", "closed", "skipped", "cancelled", "canceled"];

/// Whether something is left to do about a row with this word.
pub(super) fn is_pending(word: &str) -> bool {
    !DONE.iter().any(|it| it.eq_ignore_ascii_case(word.trim()))
}

/// Returns where `workflow_state.md` may be, in the order it is looked for.
pub fn state_paths(options: &Options) -> Vec<String> {
    paths(options, &options.state_file, STATE_FILE)
}

/// Returns where `project_config.md` may be, in the order it is looked for.
pub fn config_paths(options: &Options) -> Vec<String> {
    paths(options, &options.project_config, CONFIG_FILE)
}

fn paths(options: &Options, named: &str, file: &str) -> Vec<String> {
    if !named.is_empty() {
        return vec![named.to_owned()];
    }
    vec![format!("{}/{file}", options.directory.trim_end_matches('/')), file.to_owned()]
}

/// Whether a path may be that of the file with the project's commands: Markdown in the project, not
/// in a folder that belongs to other programs, and not the state file.
pub(super) fn is_config_path(path: &str, options: &Options) -> bool {
    let own = format!("{}/", options.directory.trim_end_matches('/'));
    let inside = path.strip_prefix(&own).unwrap_or(path);
    let name = path.rsplit('/').next().unwrap_or_default();
    inside.split('/').all(|it| !it.is_empty() && !it.starts_with('.'))
        && !path.contains(['\\', '~'])
        && !path.chars().any(char::is_control)
        && std::path::Path::new(path).extension().is_some_and(|it| it.eq_ignore_ascii_case("md"))
        && name != STATE_FILE
        && path != options.state_file
}
