//! The toolset that is on by default: the five tools of the Workflow Orchestrator by their own
//! names, and in the same manner what a run needs besides.
//!
//! Its words for our things: an *instance* is a run, `SUSPENDED` is waiting. `words.rs` has them.

mod advance_workflow;
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

use crate::{tool::Entry, toolsets::Toolset};

pub(super) const TOOLSET: Toolset = Toolset {
    name: "core",
    summary: "start, follow, resume and steer runs of any workflow",
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
};
