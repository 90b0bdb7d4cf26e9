//! A run goes from step to step, up to one where there is something to do or a person to ask.
//!
//! A step may be left out, be only a gate, or fan out into parts. What is done at one step says what
//! comes next, and [`run`] is the only loop that follows it.

use alloc::{format, string::String, vec, vec::Vec};

use definition::{Decider, Effect, PartSpec, Step, StepName, Work};

use super::{
    Draft, EvalContext, ask_model, budget, due, gate,
    left_out::LeftOut,
    mode::{Mode, Reach},
    open_parts, parts, react, review, route,
    then::Then,
};
use crate::{
    Choice, CompletedBy, Event, GateReason, Progress, ReopenCause, Report, SkipReason, Standing,
    StepCompleted, Stop,
};

/// Takes the run from step to step, until it stays at one.
pub(super) fn run(draft: &mut Draft<'_>, mode: Mode, mut then: Then) -> Result<(), Stop> {
    let mut ends = Vec::new();
    while let Then::Enter { step, choice, end } = then {
        ends.extend(end.map(|end| (step.clone(), end)));
        then = enter(draft, mode, step, choice)?;
    }
    while let Some((step, end)) = ends.pop() {
        let is_running = draft.state.standing == Standing::Running;
        if is_running && draft.state.current == Some(step) {
            draft.push(*end);
        }
    }
    Ok(())
}

/// Enters a step, unless it is left out.
fn enter(
    draft: &mut Draft<'_>,
    mode: Mode,
    name: StepName,
    decision: Option<Choice>,
) -> Result<Then, Stop> {
    draft.hop(&name)?;
    if draft.state.awaits_choice() && gate::ask_current(draft)? {
        return Ok(Then::Stay);
    }
    let Some(step) = draft.workflow.find_step(&name) else {
        return Err(draft.step_unknown(name.as_str()).into());
    };
    let skip = parts::find_skip(draft, step)?;
    let is_passed = skip.is_some() && mode.reach == Reach::Through;
    if let Some(skip) = skip.clone().filter(|_| is_passed && !gate::is_due_anyway(draft, step)) {
        return leave_out(draft, mode, step, skip);
    }
    draft.push(Event::StepEntered { step: name, decision });
    if gate::ask_owed(draft)? {
        return Ok(Then::Stay);
    }
    if skip.is_some() {
        if is_passed {
            gate::ask_done(draft, step)?;
        }
        return Ok(Then::Stay);
    }
    react::react(draft, step, &step.on.enter, EvalContext::default())?;
    let (name, visits) = (&step.name, draft.state.step(&step.name).map_or(0, |it| it.visits));
    if draft.workflow.limits.visits_max < visits {
        let ask = format!("Step `{name}` was entered {visits} times. Does the run go in circles?");
        let options = vec![("continue", Effect::Approve), ("abandon", Effect::Cancel)];
        gate::ask(draft, step, None, GateReason::VisitsSpent, (ask, options))?;
        return Ok(Then::Stay);
    }
    if mode.reach != Reach::Through {
        return Ok(Then::Stay);
    }
    let then = arrive(draft, mode, step)?;
    if matches!(then, Then::Stay) {
        budget::settle(draft)?;
    }
    Ok(then)
}

/// What happens at a step once it was entered.
pub(super) fn arrive(draft: &mut Draft<'_>, mode: Mode, step: &Step) -> Result<Then, Stop> {
    if mode.reach == Reach::RecordOnly {
        return Ok(Then::Stay);
    }
    if step.each.is_some() {
        parts::begin_again(draft, step)?;
        parts::plan(draft, step)?;
        return settle_parts(draft, mode, step);
    }
    if step.work == Work::None {
        return complete(
            draft,
            mode,
            step,
            (CompletedBy::NoWork, "the step has no work of its own"),
        );
    }
    Ok(Then::Stay)
}

/// Goes on with a fanned-out step: to the person a part is for, back to the judged step, or away
/// once every part is settled.
pub(super) fn settle_parts(draft: &mut Draft<'_>, mode: Mode, step: &Step) -> Result<Then, Stop> {
    if !open_parts::is_planned(&draft.state, step) {
        return Ok(Then::Stay);
    }
    let parts = draft.state.parts_of(step).to_vec();
    let progress = |it: &PartSpec| draft.state.part_progress(&step.name, &it.id);
    if parts.iter().all(|it| progress(it).is_settled()) {
        if mode.reach == Reach::RecordOnly && due::find_due(draft)?.is_some() {
            // What the server has to do for them comes first, by anyone who goes on.
            return Ok(Then::Stay);
        }
        if mode.reach == Reach::OneStep {
            let message = "nothing of it is left to do";
            return complete(draft, mode, step, (CompletedBy::NothingLeft, message));
        }
        let message = format!("all {} parts are done", parts.len());
        return complete(draft, mode, step, (CompletedBy::Parts, &message));
    }
    let is_judged = |it: &PartSpec| progress(it).is_settled() || progress(it) == Progress::Rejected;
    if parts.iter().all(is_judged) {
        if mode.reach == Reach::RecordOnly || review::ask_spent(draft, step)? {
            return Ok(Then::Stay);
        }
        return go_back(draft, step, &parts);
    }
    parts::ask_personal(draft, mode, step)?;
    Ok(Then::Stay)
}

/// Sends the parts that a review found wanting back to the step that it judges.
fn go_back(draft: &mut Draft<'_>, step: &Step, parts: &[PartSpec]) -> Result<Then, Stop> {
    for part in parts {
        if draft.state.part_progress(&step.name, &part.id) == Progress::Rejected {
            review::send_back(draft, step, part)?;
            draft.push(Event::StepReopened {
                step: step.name.clone(),
                part: Some(part.id.clone()),
                feedback: String::new(),
                cause: Some(ReopenCause::Again),
            });
        }
    }
    Ok(step.review.as_ref().map_or(Then::Stay, |review| Then::enter(&review.of, None)))
}

/// Has a step done that nobody reported.
fn complete(
    draft: &mut Draft<'_>,
    mode: Mode,
    step: &Step,
    (by, message): (CompletedBy, &str),
) -> Result<Then, Stop> {
    let report = Report::passed(&step.name, message);
    let completed = StepCompleted::unseen(step.name.clone(), None, report.clone(), by);
    draft.push(Event::StepCompleted(completed.into()));
    after_work(draft, mode, step, &report, None)
}

/// What happens once a step's own work is done: a person is asked, or the run goes on.
pub(super) fn after_work(
    draft: &mut Draft<'_>,
    mode: Mode,
    step: &Step,
    report: &Report,
    next: Option<&str>,
) -> Result<Then, Stop> {
    if gate::open(draft, step, report)? {
        return Ok(Then::Stay);
    }
    onward(draft, mode, step, Some(report), next)
}

/// Goes on from a step whose work is done, or leaves the choice to the agent.
pub(super) fn onward(
    draft: &mut Draft<'_>,
    mode: Mode,
    step: &Step,
    report: Option<&Report>,
    next: Option<&str>,
) -> Result<Then, Stop> {
    let sight = EvalContext::of_report(report);
    match (draft.state.decider(), next, report) {
        (Decider::Declared, next, _) => route::declared(draft, mode, step, next, sight),
        (Decider::Client | Decider::Ai, Some(next), _) => {
            route::choose(draft, mode, step, next, sight)
        }
        (Decider::Client | Decider::Ai, None, Some(report)) if draft.has_model() => {
            let advice = ask_model::ask(draft, step, report, None)?;
            ask_model::follow(draft, mode, step, advice, sight)
        }
        (Decider::Client | Decider::Ai, None, Some(_)) if route::is_for_agent(draft, step) => {
            Ok(Then::Stay)
        }
        // Nobody reported on a step that was left out, so nobody can choose either.
        (Decider::Client | Decider::Ai, None, _) => route::declared(draft, mode, step, None, sight),
    }
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
        let then = skip(draft, mode, step, found)?;
        run(draft, mode, then)?;
    }
    Ok(draft.check_running()?)
}

/// Leaves the step out that the run is at, unless its gate must be answered all the same.
pub(super) fn skip(
    draft: &mut Draft<'_>,
    mode: Mode,
    step: &Step,
    skip: LeftOut,
) -> Result<Then, Stop> {
    if gate::is_due_anyway(draft, step) {
        gate::ask_done(draft, step)?;
        return Ok(Then::Stay);
    }
    leave_out(draft, mode, step, skip)
}

fn leave_out(draft: &mut Draft<'_>, mode: Mode, step: &Step, skip: LeftOut) -> Result<Then, Stop> {
    draft.push(skip.event(step, SkipReason::Definition));
    onward(draft, mode, step, None, None)
}
