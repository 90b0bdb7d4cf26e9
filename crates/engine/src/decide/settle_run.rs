//! A copy of a run begins where its log was cut: what the original did at that point is done again
//! for the copy, so that it stands at a place where an agent can go on.

use alloc::string::String;

use definition::Decider;

use super::{Draft, flow, gate, mode::Mode, parts, start_run, then::Then};
use crate::{Progress, Report, Standing, Stop};

pub(super) fn decide(draft: &mut Draft<'_>, mode: Mode, goes_on: bool) -> Result<(), Stop> {
    let key = draft.state.key().map(String::from);
    start_run::check_key(draft, key.as_deref())?;
    let is_running = draft.state.standing == Standing::Running;
    if is_running {
        parts::restore_personal(draft)?;
        parts::take_up_owed(draft);
    }
    if is_running && (gate::ask_changed(draft, gate::Among::All)? || gate::ask_owed(draft)?) {
        return Ok(());
    }
    if !goes_on {
        return parts::ask_owed(draft, mode);
    }
    match draft.state.standing.clone() {
        Standing::Waiting(open) => Ok(gate::ask_again(draft, *open)?),
        Standing::Running => settle(draft, mode),
        Standing::New
        | Standing::Completed
        | Standing::Failed { .. }
        | Standing::Cancelled { .. } => Ok(()),
    }
}

fn settle(draft: &mut Draft<'_>, mode: Mode) -> Result<(), Stop> {
    if draft.state.current.is_none() {
        return start_run::enter_first(draft, mode);
    }
    let step = draft.current()?;
    let then = match draft.state.progress(&step.name) {
        Progress::Idle => Then::enter(&step.name, None),
        Progress::Ready => flow::arrive(draft, mode, step)?,
        Progress::Done | Progress::Skipped if draft.state.decider() == Decider::Declared => {
            let report = draft.state.step(&step.name).and_then(|it| it.effort.report.clone());
            let report = report.unwrap_or_else(|| Report::passed(&step.name, "as in the original"));
            flow::after_work(draft, mode, step, &report, None)?
        }
        Progress::Done | Progress::Skipped | Progress::Active | Progress::Rejected => Then::Stay,
    };
    flow::run(draft, mode, then)
}
