//! The server says how a chore went. Where it went wrong the chore stays due, or the run goes on
//! all the same: the definition says which.

use alloc::format;

use definition::{OnFailure, Step};

use super::{Draft, EvalContext, complete_step, due, flow, mode::Mode, react, stretch};
use crate::{
    Chore, ChoreOutcome, CompletedBy, Event, Refusal, Report, ReportChore, ReportStep, Standing,
    Stop,
};

pub(super) fn decide(draft: &mut Draft<'_>, mode: Mode, report: &ReportChore) -> Result<(), Stop> {
    draft.check_live()?;
    // Anyone who was faster has reported it, or the run has moved on.
    let is_same = |it: &Chore| it.name == report.name && it.deed == report.deed;
    let Some(due) = due::find_due(draft)?.filter(is_same) else {
        return Err(Refusal::ChoreNotDue { chore: report.name.clone() }.into());
    };
    let (name, deed) = (due.name.clone(), due.deed.clone());
    match &report.outcome {
        ChoreOutcome::Done { detail, warnings, pushed } => {
            let (detail, warnings, pushed) = (detail.clone(), warnings.clone(), pushed.clone());
            draft.push(Event::ChoreDone { name, deed, detail, warnings, pushed });
        }
        ChoreOutcome::Failed { reason } => {
            let is_passed = due.on_failure == OnFailure::Warn;
            // The same failure once more is not news.
            if !is_passed && due.failure.as_ref() == Some(reason) {
                return Ok(());
            }
            draft.push(Event::ChoreFailed { name, deed, reason: reason.clone(), is_passed });
            if !is_passed {
                return Ok(());
            }
        }
    }
    go_on(draft, mode, &due)
}

/// What follows from a chore that is done, or counts as such.
fn go_on(draft: &mut Draft<'_>, mode: Mode, due: &Chore) -> Result<(), Stop> {
    let Some(chore) = draft.workflow.find_chore(&due.name) else { return Ok(()) };
    let step = draft.current()?;
    react::react(draft, step, &chore.actions, EvalContext::default())?;
    // Where a person is asked the work is done already.
    let is_open = draft.state.standing == Standing::Running
        && !draft.state.progress(&step.name).is_settled()
        && step.each.is_none();
    if chore.completes && is_open {
        return complete(draft, mode, step, &due.name);
    }
    // A run that goes only a part of the way was left open for its chores.
    let is_over = draft.state.is_work_done && draft.state.standing == Standing::Running;
    let is_confined = draft.workflow.stretch.until.is_some();
    if is_over && is_confined && due::find_due(draft)?.is_none() {
        stretch::end(draft, mode.at_end);
    }
    Ok(())
}

fn complete(draft: &mut Draft<'_>, mode: Mode, step: &Step, chore: &str) -> Result<(), Stop> {
    let report = Report::passed(&step.name, &format!("chore `{chore}` is done"));
    let command = ReportStep { report, ..ReportStep::default() };
    let mode = Mode { by: CompletedBy::Chore, ..mode };
    let then = complete_step::complete(draft, mode, step, None, (&command, None))?;
    flow::run(draft, mode, then)
}
