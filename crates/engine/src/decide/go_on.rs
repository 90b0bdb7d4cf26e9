//! The run goes on with whatever is next: steps that are left out are passed, parts are planned, a
//! review that is there already is taken, and what is to be worked on is begun. Asked again while
//! the work is under way it begins again, for anyone who asks has lost it.

use alloc::string::{String, ToString as _};

use definition::{Step, Whole, Work};
use serde_json::{Map, Value};

use super::{
    Draft, budget, due, enter, gate,
    mode::{Mode, Reach, Source, Verdicts},
    parts, report_step, review, route, rulebook, start_step, verdict,
};
use crate::{ContextChange, Report, ReportOptions, ReportStep, Standing, StartStep, Stop, guard};

pub(super) fn decide(
    draft: &mut Draft<'_>,
    mode: Mode,
    details: &Map<String, Value>,
) -> Result<(), Stop> {
    let mode = Mode { reach: Reach::OneStep, ..mode };
    gate::reconsider(draft, mode)?;
    draft.check_running()?;
    go_on(draft, mode, details)
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
    if let Some(reason) = parts::find_skip(draft, step)? {
        enter::skip(draft, mode, step, reason)?;
        return Ok(true);
    }
    if draft.state.progress(&step.name).is_settled() {
        route::onward(draft, mode, step, None, None)?;
        return Ok(true);
    }
    if step.work == Work::None {
        enter::arrive(draft, mode, step)?;
        return Ok(true);
    }
    if rulebook::ask_spent(draft, step)? {
        return Ok(true);
    }
    let before = draft.mark();
    parts::prepare(draft, step)?;
    if !draft.has_moved(before) && step.each.is_some() && parts::is_planned(&draft.state, step) {
        parts::settle(draft, mode, step)?;
    }
    if !draft.has_moved(before) {
        take_review(draft, mode, step)?;
    }
    Ok(draft.has_moved(before))
}

/// Takes a review that was written and not reported, as if it had been.
fn take_review(draft: &mut Draft<'_>, mode: Mode, step: &Step) -> Result<(), Stop> {
    if step.review.is_none() || !is_written(draft, step)? || review::resume(draft, mode, step)? {
        return Ok(());
    }
    let was_begun = draft.state.effort(&step.name, None).is_some_and(|it| !it.seen.is_empty());
    // What a file speaks of was counted before that was written.
    let counts = was_begun || draft.state.history.placed.is_none();
    let verdicts = if counts { Verdicts::Count } else { Verdicts::Counted };
    let mode = Mode { verdicts, source: Source::Found, ..mode };
    let command = ReportStep {
        part: None,
        report: Report {
            step_id: step.name.to_string(),
            status: String::from("success"),
            message: Some(String::from("the review was there already")),
            by_server: true,
            ..Report::default()
        },
        context: ContextChange::default(),
        next: None,
        holder: None,
        terms: ReportOptions::default(),
    };
    report_step::take(draft, mode, step, (&command, None))
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
