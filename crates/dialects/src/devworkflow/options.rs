//! What the configuration says of the dialect.

use core::time::Duration;
use std::collections::BTreeMap;

use definition::Evidence;

/// The variable by which plans are approved without a person.
pub(super) const AUTO_APPROVE: &str = "auto_approve_plans";

/// What the tools of the dialect are told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    pub mode: Mode,
    /// The folder of the dialect's own files, seen from the project's root.
    pub directory: String,
    /// Where `workflow_state.md` is. Empty: where it is found.
    pub state_file: String,
    /// Where `project_config.md` is. Empty: where it is found.
    pub project_config: String,
    pub transitions: Policy,
    pub evidence: Evidence,
    pub auto_approve: bool,
    /// From how many characters on the log is put into the archive.
    pub log_chars_max: u64,
    pub task_format: TaskFormat,
    pub changelog_date: bool,
    pub sessions: Sessions,
}

/// What is said of sessions on graphs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sessions {
    pub fallback: Fallback,
    /// Whether past sessions can be searched by meaning.
    pub cache: bool,
    pub format: SessionFormat,
    /// For how long a session that is over stays in the list.
    pub retention: Duration,
    /// Whether the files of such sessions are kept under another name.
    pub archiving: bool,
}

/// Who keeps the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The server.
    Managed,
    /// The agent, which is only told what to do.
    Advisory,
}

/// What a call that comes out of order leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// It is refused.
    Strict,
    /// It is done, with a warning.
    Warn,
}

/// How a task must be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskFormat {
    Free,
    /// `Action: Brief description`.
    Action,
}

/// Which session is meant by a call that names none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fallback {
    /// The only one that goes on.
    Single,
    /// The one that changed last.
    Latest,
    None,
}

/// What is written of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionFormat {
    Json,
    /// Markdown beside the JSON, to be looked at.
    Markdown,
}

impl Options {
    /// Returns what the engine is told of these settings about the runs of the state file.
    pub fn policy(&self) -> engine::Policy {
        engine::Policy {
            evidence: None,
            is_lax: self.transitions == Policy::Warn,
            approving: BTreeMap::from([(AUTO_APPROVE.to_owned(), self.auto_approve)]),
            ..self.policy_of_graphs()
        }
    }

    /// Returns what the engine is told of them about sessions on graphs.
    pub fn policy_of_graphs(&self) -> engine::Policy {
        let limit = ("log_chars_max".to_owned(), self.log_chars_max.into());
        let vars = BTreeMap::from([limit]);
        engine::Policy { evidence: Some(self.evidence), vars, ..engine::Policy::default() }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            mode: Mode::Managed,
            directory: ".accordo".to_owned(),
            state_file: String::new(),
            project_config: String::new(),
            transitions: Policy::Strict,
            evidence: Evidence::Warn,
            auto_approve: false,
            log_chars_max: 5000,
            task_format: TaskFormat::Free,
            changelog_date: false,
            sessions: Sessions::default(),
        }
    }
}

impl Default for Sessions {
    fn default() -> Self {
        Self {
            fallback: Fallback::Single,
            cache: false,
            format: SessionFormat::Json,
            retention: Duration::from_secs(168 * 60 * 60),
            archiving: true,
        }
    }
}
