//! How a dialect words what can be done next. Each dialect has one such table; the engine says what
//! helps, and names no call.

use engine::{Refusal, Remedy};

/// Phrases for what an agent does with a run.
///
/// They are parts of sentences, in lower case and without a full stop. `{key}` in them is the run's
/// key, `{step}` the step that it is at, and `{call}` what a run is started with.
#[derive(Debug, Clone, Copy)]
pub struct Words {
    /// How to start a run.
    pub start: &'static str,
    /// How to continue with one that was started before.
    pub resume: &'static str,
    /// What comes after the work on a step.
    pub report: &'static str,
    /// How to choose the next step.
    pub choose: &'static str,
    /// How to end a run that has nothing left to do. Empty: the end is chosen like a step.
    pub finish: &'static str,
    /// How to pass a person's answer on, …
    pub relay: &'static str,
    /// … and what to do where only the person may give it.
    pub wait: &'static str,
    /// How to continue with a run that failed or was cancelled.
    pub reopen: &'static str,
    /// Where there is more than a brief has.
    pub more: &'static str,
    /// Whether the tools take the `report` and `context_updates` that instructions may speak of.
    pub takes_reports: bool,
    /// The words for a remedy that name the dialect's calls, where there are any.
    pub remedy: fn(&Remedy) -> Option<String>,
}

impl Words {
    /// Returns what helps after a refusal.
    pub fn hint(&self, refusal: &Refusal) -> String {
        self.word(&refusal.remedy())
    }

    /// Words a remedy: by the dialect's calls, by a command for a person, or plainly.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the others need no command")]
    pub fn word(&self, remedy: &Remedy) -> String {
        if let Some(own) = (self.remedy)(remedy) {
            return own;
        }
        match remedy {
            Remedy::AskPerson { is_relayed: true } => self.relay.to_owned(),
            Remedy::AskPerson { is_relayed: false } => self.wait.to_owned(),
            Remedy::Reopen => self.reopen.to_owned(),
            Remedy::FixWorkflow { name } => {
                let check = name.as_ref().map(|it| format!(" {it}")).unwrap_or_default();
                format!("{remedy}; `milepost workflow check{check}` shows every problem")
            }
            Remedy::Trust => {
                "a person must allow what this project runs: tell them to run `milepost trust` in a \
                 terminal; do not run it yourself"
                    .to_owned()
            }
            other => other.to_string(),
        }
    }
}
