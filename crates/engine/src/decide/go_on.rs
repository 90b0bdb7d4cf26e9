//! The run goes on with whatever is next: steps that are left out are passed, parts are planned, a
//! review that is there already is taken, and what is to be worked on is begun. Asked again while
//! the work is under way it begins again, for anyone who asks has lost it.

use alloc::string::String;

use definition::{Step, Whole, Work};
use serde_json::{Map, Value};

use super::{
    Draft, EvalContext, budget, due, flow, gate, left_out,
    mode::{Mode, Reach, Verdicts},
    parts, report_step, review,
    review::Judged,
    rulebook, start_step, verdict,
};
use crate::{CompletedBy, Event, GateReason, Report, ReportStep, Standing, StartStep, Stop, guard};

pub(super) fn decide(
    draft: &mut Draft<'_>,
    mode: Mode,
    details: &Map<String, Value>,
) -> Result<(), Stop> {
    let mode = Mode { reach: Reach::OneStep, ..mode };
    reconsider(draft, mode)?;
    draft.check_running()?;
    go_on(draft, mode, details)
}

/// Does not ask any more at a gate that is left out by now, or that would be passed by itself.
fn reconsider(draft: &mut Draft<'_>, mode: Mode) -> Result<(), Stop> {
    let open = draft.state.standing.open_gate().filter(|it| it.why == GateReason::Gate);
    let step = open.and_then(|it| draft.workflow.find_step(&it.step));
    let Some((step, own)) = step.and_then(|it| Some((it, it.gate.as_ref()?))) else {
        return Ok(());
    };
    if gate::is_personal(draft, own) {
        // Nobody but the person ends that.
        return Ok(());
    }
    let is_left_out = left_out::find_skip(draft, step)?.is_some();
    let unless = own.unless.is_some()
        && draft.holds(own.unless.as_ref(), step, EvalContext::default())?
        && gate::is_reviewed(draft, own)?;
    if !is_left_out && !unless || gate::check_free(draft, step).is_err() {
        return Ok(());
    }
    draft.push(Event::GateWithdrawn { step: step.name.clone() });
    if is_left_out {
        return Ok(());
    }
    let report = Report::passed(&step.name, gate::APPROVED.1);
    let then = flow::after_work(draft, mode, step, &report, None)?;
    flow::run(draft, mode, then)
}

fn go_on(draft: &mut Draft<'_>, mode: Mode, details: &Map<String, Value>) -> Result<(), Stop> {
    while draft.state.standing == Standing::Running {
        // The server does its part first, and goes on then.
        if due::find_due(draft)?.is_some() {
            return Ok(());
        }
        let step = draft.current()?;
        if !pass(draft, mode, step)? {
            budget::settle(draft)?;
            if draft.state.standing != Standing::Running {
                return Ok(());
            }
            return begin(draft, step, details);
        }
        draft.hop(&step.name)?;
    }
    Ok(())
}

/// Whether there was anything to do at a step before it can be worked on.
fn pass(draft: &mut Draft<'_>, mode: Mode, step: &Step) -> Result<bool, Stop> {
    let skip = parts::find_skip(draft, step)?;
    let is_settled = draft.state.progress(&step.name).is_settled();
    if skip.is_some() || is_settled || step.work == Work::None {
        let then = match skip {
            Some(skip) => flow::skip(draft, mode, step, skip)?,
            None if is_settled => flow::onward(draft, mode, step, None, None)?,
            None => flow::arrive(draft, mode, step)?,
        };
        flow::run(draft, mode, then)?;
        return Ok(true);
    }
    if rulebook::ask_spent(draft, step)? {
        return Ok(true);
    }
    let before = draft.mark();
    parts::plan(draft, step)?;
    if !draft.has_moved(before) && step.each.is_some() && parts::is_planned(&draft.state, step) {
        let then = flow::settle_parts(draft, mode, step)?;
        flow::run(draft, mode, then)?;
    }
    if !draft.has_moved(before) {
        take_review(draft, mode, step)?;
    }
    Ok(draft.has_moved(before))
}

/// Takes a review that was written and not reported, as if it had been.
fn take_review(draft: &mut Draft<'_>, mode: Mode, step: &Step) -> Result<(), Stop> {
    if step.review.is_none() || !is_written(draft, step)? {
        return Ok(());
    }
    if let Some(judged) = review::resume(draft, step)? {
        let then = match judged {
            Judged::Moved(then) => then,
            Judged::Passed => {
                let report = draft.state.step(&step.name).and_then(|it| it.effort.report.clone());
                let report =
                    report.unwrap_or_else(|| Report::passed(&step.name, "it was overruled"));
                flow::after_work(draft, mode, step, &report, None)?
            }
        };
        return flow::run(draft, mode, then);
    }
    let was_begun = draft.state.effort(&step.name, None).is_some_and(|it| !it.seen.is_empty());
    // What a file speaks of was counted before that was written.
    let counts = was_begun || draft.state.history.placed.is_none();
    let verdicts = if counts { Verdicts::Count } else { Verdicts::Counted };
    let mode = Mode { verdicts, by: CompletedBy::FoundReview, ..mode };
    let report = Report::passed(&step.name, "the review was there already");
    let command = ReportStep { report, ..ReportStep::default() };
    let then = report_step::take(draft, mode, step, (&command, None))?;
    flow::run(draft, mode, then)
}

/// Whether there is a review to be taken: the step's own, or one of an open part.
fn is_written(draft: &Draft<'_>, step: &Step) -> Result<bool, Stop> {
    let Some(each) = &step.each else { return verdict::is_given(draft, step, None) };
    if each.whole != Whole::Found {
        return Ok(false);
    }
    let mut is_any = false;
    for part in parts::open(&draft.state, step) {
        is_any |= verdict::is_given(draft, step, Some(&part))?;
    }
    Ok(is_any)
}

fn begin(draft: &mut Draft<'_>, step: &Step, details: &Map<String, Value>) -> Result<(), Stop> {
    let ready = parts::ready(draft.workflow, &draft.state, step);
    let start = StartStep { details: details.clone(), again: true, ..StartStep::default() };
    if ready.is_empty() {
        // Parts that are open and none of which can be begun wait for each other.
        parts::check_parts(draft, step, draft.state.parts_of(step))?;
        guard::check_needs(draft, step, None)?;
    }
    start_step::begin(draft, step, None, &start)?;
    for part in &ready {
        guard::check_needs(draft, step, Some(part))?;
        start_step::begin(draft, step, Some(part), &start)?;
    }
    Ok(())
}
