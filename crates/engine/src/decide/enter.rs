//! A run arrives at a step: it may be left out, be full, be only a gate, or fan out into parts.

use alloc::{
    format,
    string::{String, ToString as _},
    vec,
};

use definition::{Effect, EvaluationError, Step, Target, Work, Workflow};

use super::{Draft, Reach, Sight, budget, condition_failed, gate, parts, route, scope};
use crate::{
    AtEnd, Choice, Event, GateReason, Refusal, Report, RunState, SkipReason, Standing,
    StepCompleted, Stop,
};

/// Goes to `target`, past every step that is left out or has no work of its own.
pub(super) fn enter(
    draft: &mut Draft<'_>,
    target: Target,
    decision: Option<Choice>,
) -> Result<(), Stop> {
    let Target::Step(name) = target else {
        let details = serde_json::Map::new();
        draft.push(match draft.end {
            AtEnd::Completes => Event::RunCompleted { details },
            AtEnd::StaysOpen => Event::WorkEnded,
        });
        return Ok(());
    };
    draft.hop(&name)?;
    let Some(step) = draft.workflow.find_step(&name) else {
        return Err(draft.step_unknown(name.as_str()).into());
    };
    let skip = find_skip(draft, step)?;
    let is_passed = skip.is_some() && draft.reach == Reach::Full;
    if let Some(reason) = skip.clone().filter(|_| is_passed && !gate::is_due_anyway(draft, step)) {
        return leave_out(draft, step, reason);
    }
    draft.push(Event::StepEntered { step: name.clone(), decision });
    if gate::ask_owed(draft)? {
        return Ok(());
    }
    if skip.is_some() {
        return if is_passed { gate::ask_done(draft, step) } else { Ok(()) };
    }
    route::set_vars(draft, step, &step.enter, Sight::default())?;
    let visits = draft.state.step(&name).map_or(0, |it| it.visits);
    if draft.workflow.limits.visits_max < visits {
        let ask = format!("Step `{name}` was entered {visits} times. Does the run go in circles?");
        let options = vec![("continue", Effect::Approve), ("abandon", Effect::Cancel)];
        return gate::ask(draft, step, None, GateReason::VisitsSpent, (ask, options));
    }
    if draft.reach != Reach::Full {
        return Ok(());
    }
    arrive(draft, step)?;
    budget::settle(draft)
}

/// What happens at a step once it was entered.
pub(super) fn arrive(draft: &mut Draft<'_>, step: &Step) -> Result<(), Stop> {
    if draft.reach == Reach::Next {
        return Ok(());
    }
    if step.each.is_some() {
        parts::begin_anew(draft, step)?;
        parts::plan(draft, step)?;
        return parts::settle(draft, step);
    }
    if step.work == Work::None {
        let report = passed(step, "the step has no work of its own");
        let completed = StepCompleted::unseen(step.name.clone(), None, report.clone());
        draft.push(Event::StepCompleted(completed.into()));
        return after_work(draft, step, &report, None);
    }
    Ok(())
}

/// What happens once a step's own work is done: a person is asked, or the run goes on.
pub(super) fn after_work(
    draft: &mut Draft<'_>,
    step: &Step,
    report: &Report,
    next: Option<&str>,
) -> Result<(), Stop> {
    if gate::open(draft, step, report)? {
        return Ok(());
    }
    route::onward(draft, step, Some(report), next)
}

/// The report on work that nobody had to do.
pub(super) fn passed(step: &Step, message: &str) -> Report {
    Report {
        step_id: step.name.to_string(),
        status: String::from("success"),
        message: Some(message.to_string()),
        by_server: true,
        ..Report::default()
    }
}

/// Passes the steps that are left out on the way to the one that is named, where nothing else lies
/// between.
pub(super) fn pass_left_out(draft: &mut Draft<'_>, named: &str) -> Result<(), Stop> {
    let Some(named) = draft.workflow.find_step_loosely(named) else { return Ok(()) };
    let from = draft.current()?;
    let place = |step: &Step| draft.workflow.steps.iter().position(|it| it.name == step.name);
    let (first, last) = (place(from).unwrap_or_default(), place(named).unwrap_or_default());
    if last <= first {
        return Ok(());
    }
    for step in draft.workflow.steps.iter().take(last).skip(first) {
        if find_skip(draft, step)?.is_none() {
            return Ok(());
        }
    }
    while draft.state.standing == Standing::Running {
        let step = draft.current()?;
        let Some(reason) = find_skip(draft, step)?.filter(|_| step.name != named.name) else {
            return Ok(());
        };
        skip(draft, step, reason)?;
    }
    Ok(draft.check_running()?)
}

/// Leaves the step out that the run is at. A gate that holds the run back does so here too.
pub(super) fn skip(draft: &mut Draft<'_>, step: &Step, reason: String) -> Result<(), Stop> {
    gate::check_free(draft, step)?;
    if gate::is_due_anyway(draft, step) {
        return gate::ask_done(draft, step);
    }
    leave_out(draft, step, reason)
}

fn leave_out(draft: &mut Draft<'_>, step: &Step, reason: String) -> Result<(), Stop> {
    let (name, why) = (step.name.clone(), SkipReason::Definition);
    draft.push(Event::StepSkipped { step: name, part: None, reason, why });
    route::onward(draft, step, None, None)
}

pub(super) fn find_skip(draft: &Draft<'_>, step: &Step) -> Result<Option<String>, Refusal> {
    let found = left_out(draft.workflow, &draft.state, step);
    found.map_err(|error| condition_failed(step, &error))
}

/// Returns why a step is left out, if it is.
pub(crate) fn left_out(
    workflow: &Workflow,
    state: &RunState,
    step: &Step,
) -> Result<Option<String>, EvaluationError> {
    let flow = state.flow();
    let skips = flow.and_then(|flow| workflow.flows.get(flow)).map(|it| &it.skips);
    if skips.is_some_and(|skips| skips.contains(&step.name)) {
        return Ok(flow.map(|flow| format!("flow `{flow}` leaves it out")));
    }
    let Some(condition) = &step.skip_when else { return Ok(None) };
    let is_skipped = condition.evaluate(&scope(workflow, state, Sight::default()))?;
    Ok(is_skipped.then(|| format!("`{}` holds", condition.source())))
}
