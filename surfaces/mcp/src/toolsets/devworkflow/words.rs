//! The dialect's words, and ours.

use super::{options::Options, text::Guidance};

/// The phases, which are the steps of the workflow.
pub(super) const PHASES: [&str; 5] = ["INIT", "ANALYZE", "BLUEPRINT", "CONSTRUCT", "VALIDATE"];
/// The words for how a phase stands.
pub(super) const STATUSES: [&str; 5] =
    ["READY", "RUNNING", "NEEDS_PLAN_APPROVAL", "COMPLETED", "ERROR"];
/// The words for an item.
pub(super) const PENDING: &str = "pending";
pub(super) const COMPLETED: &str = "completed";
/// The file with the state of the work.
pub const STATE_FILE: &str = "workflow_state.md";
/// The file with the project's commands and changelog.
pub const CONFIG_FILE: &str = "project_config.md";
/// The state file in its older form.
pub const STATE_JSON: &str = "workflow_state.json";

/// The tools that are moves of the workflow.
const MOVES: [(Guidance, &str); 15] = [
    (Guidance::Init, "init"),
    (Guidance::CreateState, "init"),
    (Guidance::Analyze, "analyze"),
    (Guidance::Blueprint, "blueprint"),
    (Guidance::Construct, "construct"),
    (Guidance::Validate, "validate"),
    (Guidance::Revise, "revise"),
    (Guidance::Complete, "complete"),
    (Guidance::Iterate, "iterate"),
    (Guidance::Finalize, "finalize"),
    (Guidance::ErrorRecovery, "error"),
    (Guidance::FixValidation, "fix"),
    (Guidance::Escalate, "escalate"),
    (Guidance::Changelog, "changelog"),
    (Guidance::Update, "update"),
];

/// The move in place of taking the next item, which a rule has taken already.
const STAY: &str = "stay";

/// Returns the move that a tool asks for. Tools that only look have none.
pub(super) fn move_of(tool: Guidance) -> &'static str {
    MOVES.iter().find(|(it, _)| *it == tool).map_or("", |(_, name)| name)
}

/// Returns the tools that ask for these moves. A task can always be taken up, if only as an item,
/// and an update is judged by what it says.
pub(super) fn tools_of(moves: &[String]) -> Vec<Guidance> {
    let is_legal = |tool: Guidance, name: &str| {
        let is_open = matches!(tool, Guidance::Init | Guidance::Update);
        let is_meant = |it: &String| it == name || (tool == Guidance::Iterate && it == STAY);
        is_open || (tool != Guidance::CreateState && moves.iter().any(is_meant))
    };
    MOVES.iter().filter(|(tool, name)| is_legal(*tool, name)).map(|(tool, _)| *tool).collect()
}

/// Returns where `workflow_state.md` may be, in the order it is looked for.
pub(super) fn state_paths(options: &Options) -> Vec<String> {
    paths(options, &options.state_file, STATE_FILE)
}

/// Returns where `project_config.md` may be, in the order it is looked for.
pub(super) fn config_paths(options: &Options) -> Vec<String> {
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
