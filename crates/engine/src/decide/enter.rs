//! A run arrives at a step: it may be left out, be full, be only a gate, or fan out into parts.

use alloc::{format, vec};

use definition::{Effect, Step, Target, Work};

use super::{
    Draft, EvalContext, budget, change_context, gate,
    left_out::LeftOut,
    mode::{Mode, Reach},
    parts, route,
};
use crate::{
    AtEnd, Choice, CompletedBy, Event, GateReason, Report, SkipReason, Standing, StepCompleted,
    Stop,
};

/// Goes to `target`, past every step that is left out or has no work of its own.
pub(super) fn enter(
    draft: &mut Draft<'_>,
    mode: Mode,
    target: Target,
    decision: Option<Choice>,
) -> Result<(), Stop> {
    let Target::Step(name) = target else {
        let details = serde_json::Map::new();
        draft.push(match mode.at_end {
            AtEnd::Completes => Event::RunCompleted { details },
            AtEnd::StaysOpen => Event::WorkEnded,
        });
        return Ok(());
    };
    draft.hop(&name)?;
    if draft.state.awaits_choice() && gate::ask_current(draft)? {
        return Ok(());
    }
    let Some(step) = draft.workflow.find_step(&name) else {
        return Err(draft.step_unknown(name.as_str()).into());
    };
    let skip = parts::find_skip(draft, step)?;
    let is_passed = skip.is_some() && mode.reach == Reach::Through;
    if let Some(skip) = skip.clone().filter(|_| is_passed && !gate::is_due_anyway(draft, step)) {
        return leave_out(draft, mode, step, skip);
    }
    draft.push(Event::StepEntered { step: name.clone(), decision });
    if gate::ask_owed(draft)? {
        return Ok(());
    }
    if skip.is_some() {
        return if is_passed { gate::ask_done(draft, step) } else { Ok(()) };
    }
    change_context::assign(draft, step, &step.enter, EvalContext::default())?;
    let visits = draft.state.step(&name).map_or(0, |it| it.visits);
    if draft.workflow.limits.visits_max < visits {
        let ask = format!("Step `{name}` was entered {visits} times. Does the run go in circles?");
        let options = vec![("continue", Effect::Approve), ("abandon", Effect::Cancel)];
        return gate::ask(draft, step, None, GateReason::VisitsSpent, (ask, options));
    }
    if mode.reach != Reach::Through {
        return Ok(());
    }
    arrive(draft, mode, step)?;
    budget::settle(draft)
}

/// What happens at a step once it was entered.
pub(super) fn arrive(draft: &mut Draft<'_>, mode: Mode, step: &Step) -> Result<(), Stop> {
    if mode.reach == Reach::RecordOnly {
        return Ok(());
    }
    if step.each.is_some() {
        parts::begin_again(draft, step)?;
        parts::plan(draft, step)?;
        return parts::settle(draft, mode, step);
    }
    if step.work == Work::None {
        let report = Report::passed(&step.name, "the step has no work of its own");
        let by = CompletedBy::NoWork;
        let completed = StepCompleted::unseen(step.name.clone(), None, report.clone(), by);
        draft.push(Event::StepCompleted(completed.into()));
        return after_work(draft, mode, step, &report, None);
    }
    Ok(())
}

/// What happens once a step's own work is done: a person is asked, or the run goes on.
pub(super) fn after_work(
    draft: &mut Draft<'_>,
    mode: Mode,
    step: &Step,
    report: &Report,
    next: Option<&str>,
) -> Result<(), Stop> {
    if gate::open(draft, step, report)? {
        return Ok(());
    }
    route::onward(draft, mode, step, Some(report), next)
}

/// Passes the steps that are left out on the way to the one that is named, where nothing else lies
/// between.
pub(super) fn pass_left_out(draft: &mut Draft<'_>, mode: Mode, named: &str) -> Result<(), Stop> {
    let Some(named) = draft.workflow.find_step_loosely(named) else { return Ok(()) };
    let from = draft.current()?;
    let place = |step: &Step| draft.workflow.steps.iter().position(|it| it.name == step.name);
    let (first, last) = (place(from).unwrap_or_default(), place(named).unwrap_or_default());
    if last <= first {
        return Ok(());
    }
    for step in draft.workflow.steps.iter().take(last).skip(first) {
        if parts::find_skip(draft, step)?.is_none() {
            return Ok(());
        }
    }
    while draft.state.standing == Standing::Running {
        let step = draft.current()?;
        let Some(found) = parts::find_skip(draft, step)?.filter(|_| step.name != named.name) else {
            return Ok(());
        };
        skip(draft, mode, step, found)?;
    }
    Ok(draft.check_running()?)
}

/// Leaves the step out that the run is at. A gate that holds the run back does so here too.
pub(super) fn skip(
    draft: &mut Draft<'_>,
    mode: Mode,
    step: &Step,
    skip: LeftOut,
) -> Result<(), Stop> {
    gate::check_free(draft, step)?;
    if gate::is_due_anyway(draft, step) {
        return gate::ask_done(draft, step);
    }
    leave_out(draft, mode, step, skip)
}

fn leave_out(draft: &mut Draft<'_>, mode: Mode, step: &Step, skip: LeftOut) -> Result<(), Stop> {
    draft.push(skip.event(step, SkipReason::Definition));
    route::onward(draft, mode, step, None, None)
}
