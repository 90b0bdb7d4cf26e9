//! How an agent is told to go on, in the words of the tools that it has.

use alloc::string::String;

use crate::RunState;

/// Phrases for what an agent does with a run. `{key}` in them is the run's key, `{step}` the step
/// that it is at, and `{call}` what a run is begun with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Idiom {
    /// How a run is begun.
    pub start: &'static str,
    /// How one that was begun before is gone on with.
    pub resume: &'static str,
    /// What comes after the work on a step.
    pub report: &'static str,
    /// How the step that comes next is chosen.
    pub choose: &'static str,
    /// How a run is ended that has nothing left to do. Empty: the end is chosen like a step.
    pub finish: &'static str,
    /// How a person's answer is passed on, …
    pub relay: &'static str,
    /// … and what to do where only the person may give it.
    pub wait: &'static str,
    /// How a run that was stopped goes on.
    pub reopen: &'static str,
    /// Where there is more than a brief has.
    pub more: &'static str,
}

impl Default for Idiom {
    /// The words of the tools that any workflow can be gone through with.
    fn default() -> Self {
        Self {
            start: "Call `start_workflow` with {call}. Then do exactly what \
                    `next_step.instructions` says, report each step with `advance_workflow`, and \
                    go on until `step_name` is FINISH.",
            resume: "call `resume_workflow` with it, do what its brief says comes next, and report \
                     each step with `advance_workflow`",
            report: "report with `advance_workflow` (`step_id` `{step}`)",
            choose: "Choose the next one and name it as `next_step_name`:",
            finish: "",
            relay: "Call `answer_gate` without `answer`, so that your client asks the person; or \
                    ask them, then pass the answer on with it.",
            wait: "Only a person can answer: tell them to use `milepost gate`, do not run it \
                   yourself, and wait with `get_workflow_status` and `wait_seconds`; a client that \
                   shows forms asks them when you call `answer_gate` without `answer`.",
            reopen: "`resume_workflow` with `reopen` goes on with it.",
            more: "`get_workflow_status` with `include_history` has it all.",
        }
    }
}

impl Idiom {
    /// Returns a phrase about a run.
    pub(crate) fn say(phrase: &str, state: &RunState) -> String {
        let step = state.current.as_ref().map(definition::StepName::as_str).unwrap_or_default();
        phrase.replace("{key}", state.key().unwrap_or_default()).replace("{step}", step)
    }
}
