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
mod task;
mod task_init;
mod task_update;

use self::change::Changing;
use super::dialect::Spoken;
use crate::tool::Entry;

/// The tools on the state.
pub(super) const TOOLS: [Entry; 24] = [
    Entry::of::<Spoken<init::Init>>(),
    Entry::of::<Spoken<reading::Get>>(),
    Entry::of::<Spoken<Changing<phase_start::PhaseStart>>>(),
    Entry::of::<Spoken<Changing<phase_complete::PhaseComplete>>>(),
    Entry::of::<Spoken<Changing<phase_fail::PhaseFail>>>(),
    Entry::of::<Spoken<Changing<checkpoint::Checkpoint>>>(),
    Entry::of::<Spoken<abandon::Abandon>>(),
    Entry::of::<Spoken<Changing<skip_phase::SkipPhase>>>(),
    Entry::of::<Spoken<task_init::TaskInit>>(),
    Entry::of::<Spoken<Changing<task_update::TaskUpdate>>>(),
    Entry::of::<Spoken<Changing<settings::RevisionBump>>>(),
    Entry::of::<Spoken<Changing<settings::InlineRevisionBump>>>(),
    Entry::of::<Spoken<Changing<settings::SetBranch>>>(),
    Entry::of::<Spoken<Changing<settings::SetEffort>>>(),
    Entry::of::<Spoken<Changing<settings::SetFlowTemplate>>>(),
    Entry::of::<Spoken<Changing<settings::SetAutoApprove>>>(),
    Entry::of::<Spoken<Changing<settings::SetSkipPr>>>(),
    Entry::of::<Spoken<Changing<settings::SetDebug>>>(),
    Entry::of::<Spoken<Changing<settings::SetUseCurrentBranch>>>(),
    Entry::of::<Spoken<Changing<settings::SetRevisionPending>>>(),
    Entry::of::<Spoken<Changing<settings::ClearRevisionPending>>>(),
    Entry::of::<Spoken<Changing<phase_log::PhaseLog>>>(),
    Entry::of::<Spoken<reading::PhaseStats>>(),
    Entry::of::<Spoken<reading::ResumeInfo>>(),
];
