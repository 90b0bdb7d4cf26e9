//! The toolset that is on by default: the five tools of the Workflow Orchestrator by their own
//! names, and in the same manner what a run needs besides.
//!
//! Its words for our things: an *instance* is a run, `SUSPENDED` is waiting. `words.rs` has them.

mod advance_workflow;
mod advice;
mod answer;
mod answer_gate;
mod cancel_workflow;
mod claim_step;
mod cut;
mod fork_run;
mod get_workflow_status;
mod history;
mod list_runs;
mod list_workflows;
mod next_step;
mod record_entry;
mod report;
mod resume_workflow;
mod run;
mod search_history;
mod start_workflow;
mod words;

use engine::{Recorded, Standing};
use serde_json::Value;

use crate::kit::{Entry, Snapshot, Toolset};

pub use advice::{WORDS, words as words_for};

/// What an agent is told before anything else.
const INSTRUCTIONS: &str = "\
Milepost keeps your place in long work: start, follow, report, repeat.
1. `list_workflows`, then `start_workflow`. Do exactly what `next_step.instructions` says.
2. Report each step with `advance_workflow`, honestly; it returns the next one, until `step_name` is FINISH.
3. After a break or a lost context, or when another agent began it: `list_runs`, then `resume_workflow`. Do not redo what its brief says is done.
4. With `choices`, name one as `next_step_name` in your next report. While SUSPENDED, call `answer_gate` without `answer`: your client asks the person. If it cannot, ask them what `waiting` asks and pass that on as `answer`; if only the person can answer, wait with `get_workflow_status` and `wait_seconds`.
5. An error has `refusal.hint`: the way out. Arguments are flat; `{\"input_data\": {…}}` works too.";

/// The tools.
pub const TOOLSET: Toolset = Toolset {
    name: "core",
    summary: "start, follow, resume and steer runs of any workflow",
    instructions: INSTRUCTIONS,
    tools: &[
        Entry::of::<list_workflows::ListWorkflows>(),
        Entry::of::<start_workflow::StartWorkflow>(),
        Entry::of::<get_workflow_status::GetWorkflowStatus>(),
        Entry::of::<advance_workflow::AdvanceWorkflow>(),
        Entry::of::<resume_workflow::ResumeWorkflow>(),
        Entry::of::<cancel_workflow::CancelWorkflow>(),
        Entry::of::<list_runs::ListRuns>(),
        Entry::of::<claim_step::ClaimStep>(),
        Entry::of::<record_entry::RecordEntry>(),
        Entry::of::<answer_gate::AnswerGate>(),
        Entry::of::<search_history::SearchHistory>(),
        Entry::of::<fork_run::ForkRun>(),
    ],
    prompts: &[],
    words: |_, _| None,
};

/// Returns the whole record of a run.
pub fn record(now: &Snapshot) -> Value {
    get_workflow_status::record(now)
}

/// Returns the rows of a part of a log that ends where the log ends.
pub fn history(events: &[Recorded]) -> Value {
    serde_json::to_value(history::rows(events)).unwrap_or_default()
}

/// Returns the word for how a run stands.
pub fn status_word(standing: &Standing) -> &'static str {
    words::Status::of(standing).word()
}
