//! A project in the middle of its work, and a usual call of each tool.

use super::super::{Facts, Guidance, Mode, Shown, Told};

pub(super) const TASK: &str = "Add: a login page";

/// What came with a call of each tool that takes more than the task.
fn detail(tool: Guidance) -> &'static str {
    match tool.detail_label() {
        Some("Requirements summary") => "Goal: people can log in.\n1. A wrong password is refused.",
        Some("Feedback") => "Use the session store that is there.\nAnd write the tests first.",
        Some("Error details") => "step 3: `cargo test` failed: `Session` is not `Send`",
        Some("Issues") => "- lint: unused import in login.rs\n- docs: README does not name /login",
        Some(_) | None => "",
    }
}

/// Returns the phase and status that a call of the tool leads to.
pub(super) fn led_to(tool: Guidance) -> (&'static str, &'static str) {
    match tool {
        Guidance::Init | Guidance::Finalize | Guidance::CreateState => ("INIT", "READY"),
        Guidance::Analyze => ("ANALYZE", "RUNNING"),
        Guidance::Complete | Guidance::Iterate => ("ANALYZE", "READY"),
        Guidance::Blueprint | Guidance::Revise => ("BLUEPRINT", "RUNNING"),
        Guidance::Validate => ("VALIDATE", "RUNNING"),
        Guidance::ErrorRecovery | Guidance::Escalate => ("CONSTRUCT", "ERROR"),
        Guidance::FixValidation => ("VALIDATE", "ERROR"),
        Guidance::Construct
        | Guidance::Changelog
        | Guidance::Update
        | Guidance::CheckConfig
        | Guidance::CreateConfig
        | Guidance::ValidateFiles
        | Guidance::Hello => ("CONSTRUCT", "RUNNING"),
    }
}

/// Everything that an answer is made of, owned.
pub(super) struct Fixture {
    pub(super) items: Vec<(u64, String, String)>,
    pub(super) tests: Vec<String>,
    pub(super) builds: Vec<String>,
    pub(super) log: String,
}

impl Fixture {
    pub(super) fn new() -> Self {
        let row = |id, text: &str, status: &str| (id, text.to_owned(), status.to_owned());
        Self {
            items: vec![
                row(1, "Fix: the build", "completed"),
                row(2, TASK, "pending"),
                row(3, "Add: a logout button", "pending"),
            ],
            tests: vec!["cargo test".to_owned(), "cargo clippy -- -D warnings".to_owned()],
            builds: vec!["cargo build".to_owned()],
            log: "[2025-05-28T19:17:37Z] Workflow initialized".to_owned(),
        }
    }

    pub(super) fn shown(&self, phase: &'static str, status: &'static str) -> Shown<'_> {
        Shown {
            path: "workflow_state.md",
            phase,
            status,
            current_item: Some(TASK),
            items: &self.items,
            log_tail: &self.log,
            test_commands: &self.tests,
            build_commands: &self.builds,
            rotated: None,
            whole: None,
        }
    }
}

/// Returns a call of the tool with the usual task, by an agent that keeps the file where there is
/// no state.
pub(super) fn told<'a>(tool: Guidance, state: Option<&'a Shown<'a>>) -> Told<'a> {
    let mode = if state.is_some() { Mode::Managed } else { Mode::Advisory };
    let task = if tool.takes_task() || tool.detail_label().is_some() { TASK } else { "" };
    let is_approved = tool == Guidance::Construct && state.is_some();
    let facts = Facts { is_approved, items_completed: 3, ..Facts::default() };
    Told { tool, mode, task, detail: detail(tool), state, warnings: &[], trial: None, facts }
}
