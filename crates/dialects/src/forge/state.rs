//! The tools on the state of a pipeline, one small change or look each.
//!
//! Each makes one command of what it is told; whether that may be, the engine says. Here a no of the
//! engine is put into the words of the dialect's guards.

mod abandon;
mod change;
mod checkpoint;
mod init;
mod moves;
mod phase;
mod phase_complete;
mod phase_fail;
mod phase_log;
mod phase_start;
mod reading;
mod settings;
mod skip_phase;
mod task;
mod task_init;
mod task_update;

pub(super) use moves::{Move, plan_one};
pub(super) use phase::pending_at;

use crate::kit::Entry;

/// The tools on the state.
pub const TOOLS: [Entry; 24] = [
    Entry::of::<init::Init>(),
    Entry::of::<reading::Get>(),
    Entry::of::<phase_start::PhaseStart>(),
    Entry::of::<phase_complete::PhaseComplete>(),
    Entry::of::<phase_fail::PhaseFail>(),
    Entry::of::<checkpoint::Checkpoint>(),
    Entry::of::<abandon::Abandon>(),
    Entry::of::<skip_phase::SkipPhase>(),
    Entry::of::<task_init::TaskInit>(),
    Entry::of::<task_update::TaskUpdate>(),
    Entry::of::<settings::RevisionBump>(),
    Entry::of::<settings::InlineRevisionBump>(),
    Entry::of::<settings::SetBranch>(),
    Entry::of::<settings::SetEffort>(),
    Entry::of::<settings::SetFlowTemplate>(),
    Entry::of::<settings::SetAutoApprove>(),
    Entry::of::<settings::SetSkipPr>(),
    Entry::of::<settings::SetDebug>(),
    Entry::of::<settings::SetUseCurrentBranch>(),
    Entry::of::<settings::SetRevisionPending>(),
    Entry::of::<settings::ClearRevisionPending>(),
    Entry::of::<phase_log::PhaseLog>(),
    Entry::of::<reading::PhaseStats>(),
    Entry::of::<reading::ResumeInfo>(),
];
