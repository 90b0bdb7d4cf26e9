//! The tools on the state of a pipeline, one small change or look each.
//!
//! Each makes one command of what it is told; whether that may be, the engine says. Here a no of the
//! engine is put into the words of the dialect's guards.

mod abandon;
mod change;
mod checkpoint;
mod init;
mod phase;
mod phase_complete;
mod phase_fail;
mod phase_log;
mod phase_start;
mod reading;
mod settings;
mod skip_phase;
pub(super) mod task;
mod task_init;
mod task_update;

use self::change::Changing;
use super::dialect::ToolAdapter;
use crate::tool::Entry;

/// The tools on the state.
pub(super) const TOOLS: [Entry; 24] = [
    Entry::of::<ToolAdapter<init::Init>>(),
    Entry::of::<ToolAdapter<reading::Get>>(),
    Entry::of::<ToolAdapter<Changing<phase_start::PhaseStart>>>(),
    Entry::of::<ToolAdapter<Changing<phase_complete::PhaseComplete>>>(),
    Entry::of::<ToolAdapter<Changing<phase_fail::PhaseFail>>>(),
    Entry::of::<ToolAdapter<Changing<checkpoint::Checkpoint>>>(),
    Entry::of::<ToolAdapter<abandon::Abandon>>(),
    Entry::of::<ToolAdapter<Changing<skip_phase::SkipPhase>>>(),
    Entry::of::<ToolAdapter<task_init::TaskInit>>(),
    Entry::of::<ToolAdapter<Changing<task_update::TaskUpdate>>>(),
    Entry::of::<ToolAdapter<Changing<settings::RevisionBump>>>(),
    Entry::of::<ToolAdapter<Changing<settings::InlineRevisionBump>>>(),
    Entry::of::<ToolAdapter<Changing<settings::SetBranch>>>(),
    Entry::of::<ToolAdapter<Changing<settings::SetEffort>>>(),
    Entry::of::<ToolAdapter<Changing<settings::SetFlowTemplate>>>(),
    Entry::of::<ToolAdapter<Changing<settings::SetAutoApprove>>>(),
    Entry::of::<ToolAdapter<Changing<settings::SetSkipPr>>>(),
    Entry::of::<ToolAdapter<Changing<settings::SetDebug>>>(),
    Entry::of::<ToolAdapter<Changing<settings::SetUseCurrentBranch>>>(),
    Entry::of::<ToolAdapter<Changing<settings::SetRevisionPending>>>(),
    Entry::of::<ToolAdapter<Changing<settings::ClearRevisionPending>>>(),
    Entry::of::<ToolAdapter<Changing<phase_log::PhaseLog>>>(),
    Entry::of::<ToolAdapter<reading::PhaseStats>>(),
    Entry::of::<ToolAdapter<reading::ResumeInfo>>(),
];
