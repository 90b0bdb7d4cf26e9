//! A caller says where a run is to be, step by step, rather than what was done: to go to a step, to
//! leave one out, to put one to a person, and what its parts are and how far.
//!
//! To go somewhere does not get a run past a gate that nobody was asked at; to leave a step out or to
//! put a later one to a person does, where an agent may answer for the person.

use alloc::{
    format,
    string::{String, ToString as _},
    vec,
};

use definition::{Decider, Effect, PartSource, PartSpec, Step};

use super::{
    Draft, EvalContext, flow, gate, left_out, mode::Mode, part_list, parts, react, rules, stretch,
    then::Then, waive_gate,
};
use crate::{
    AttemptStatus, Choice, Event, GatePolicy, GateReason, PartPlaced, Refusal, Rigor, SkipCause,
    SkipReason, Stop, guard, invariant,
};

/// Goes to a step, whatever leads there.
pub(super) fn go_to(
    draft: &mut Draft<'_>,
    mode: Mode,
    named: &str,
    passing: GatePolicy,
) -> Result<(), Stop> {
    draft.check_live()?;
    let step = find(draft, named)?;
    if passing == GatePolicy::Anything {
        guard::check_left_behind(draft.known, draft.workflow, &draft.state, &step.name)?;
        return rules::go(draft, mode, step);
    }
    check_order(draft, step)?;
    let is_here = draft.state.current.as_ref() == Some(&step.name);
    if is_here && !draft.state.progress(&step.name).is_settled() {
        return Ok(());
    }
    jump(draft, step)?;
    let then = flow::arrive(draft, mode, step)?;
    flow::run(draft, mode, then)
}

/// Leaves a step out, and goes on with the one after it.
pub(super) fn skip(draft: &mut Draft<'_>, mode: Mode, named: &str) -> Result<(), Stop> {
    draft.check_live()?;
    let step = find(draft, named)?;
    let from = draft.current()?;
    if place(draft, step) < place(draft, from) {
        return Err(Refusal::StepPassed { step: step.name.clone() }.into());
    }
    gate::check_free(draft, step)?;
    check_free_between(draft, step)?;
    gate::check_dismissible(draft, false)?;
    parts::find_before_skip(draft, step)?;
    withdraw(draft);
    let reason = String::from("a caller asked for it");
    let (name, why) = (step.name.clone(), SkipReason::Caller);
    let cause = Some(SkipCause::Named);
    draft.push(Event::StepSkipped { step: name, part: None, reason, why, cause });
    let Some(following) = draft.workflow.find_following(&step.name) else {
        stretch::end(draft, mode.at_end);
        return Ok(());
    };
    waive_gate::before(draft, following)?;
    let reasoning = Some(format!("`{}` is left out", step.name));
    let choice = Some(Choice { by: Decider::Client, reasoning });
    flow::run(draft, mode, Then::enter(&following.name, choice))
}

/// Puts a step to a person: the one that the run is at, or one whose gate may be asked ahead.
pub(super) fn ask(draft: &mut Draft<'_>, named: &str) -> Result<(), Stop> {
    draft.check_live()?;
    let step = find(draft, named)?;
    let current = draft.current()?;
    let may_be_ahead = step.gate.as_ref().is_some_and(|it| it.ahead);
    if !may_be_ahead && step.name != current.name {
        let (step, current) = (step.name.to_string(), current.name.to_string());
        return Err(Refusal::StepNotCurrent { step, current }.into());
    }
    let is_asked = draft.state.standing.open_gate().is_some_and(|it| it.step == step.name);
    if is_asked {
        return Ok(());
    }
    if step.name != current.name {
        let effort = draft.state.effort(&current.name, None);
        if effort.is_some_and(|it| it.trouble == AttemptStatus::Failed) {
            let (from, to) = (current.name.clone(), step.name.clone());
            return Err(Refusal::FailedForward { from, to }.into());
        }
        check_free_between(draft, step)?;
        waive_gate::before(draft, step)?;
        hop(draft, step)?;
    }
    if step.gate.is_some() {
        return gate::ask_done(draft, step);
    }
    // A yes to the whole would not settle such a part, and it would not be asked about meanwhile.
    parts::check_whole(draft, step)?;
    let ask = format!("Step `{}` is put to you. Go on with it as it is?", step.name);
    let options = vec![("approve", Effect::Approve), ("abandon", Effect::Cancel)];
    gate::ask(draft, step, None, GateReason::Gate, (ask, options))
}

/// Makes the parts of a set known, in place of those there are.
pub(super) fn plan(draft: &mut Draft<'_>, set: &str, given: &[PartSpec]) -> Result<(), Stop> {
    draft.check_live()?;
    let plans = |step: &&Step| {
        let each = step.each.as_ref().filter(|it| !matches!(it.from, PartSource::Shared));
        each.is_some_and(|it| it.parts == set)
    };
    let Some(step) = draft.workflow.work_steps().find(plans) else {
        return Err(Refusal::PartSetUnknown { set: set.to_string() }.into());
    };
    if given.is_empty() {
        return Err(Refusal::Empty { what: "the list of parts".into() }.into());
    }
    check_gate_before(draft, step)?;
    if invariant::asks_person(draft.workflow, draft.known.gates) {
        gate::check_dismissible(draft, true)?;
    }
    let parts = part_list::as_ruled(draft, step, given)?;
    parts::check_kept(draft, step, &parts)?;
    part_list::check_parts(draft, step, &parts)?;
    let set_name = set.to_string();
    draft.push(Event::PartsPlanned { set: set_name, parts, by_hand: true });
    parts::reset(draft, set);
    Ok(())
}

/// Takes someone's word on how far a part is. A review that passes it without reserve must be there.
pub(super) fn place_part(draft: &mut Draft<'_>, placed: &PartPlaced) -> Result<(), Stop> {
    draft.check_live()?;
    let step = find(draft, placed.step.as_str())?;
    let Some(part) = draft.state.parts_of(step).iter().find(|it| it.id == placed.part).cloned()
    else {
        let known = draft.state.parts_of(step).iter().map(|it| it.id.clone()).collect();
        let (step, part) = (step.name.clone(), placed.part.to_string());
        return Err(Refusal::PartUnknown { step, part, known }.into());
    };
    let first = step.review.as_ref().and_then(|it| it.approve.first());
    if placed.verdict.is_some() && placed.verdict.as_ref() == first {
        guard::check_products(draft, step, Some(&part), Rigor::Presence)?;
    }
    draft.push(Event::PartPlaced(placed.clone()));
    parts::check_kept(draft, step, draft.state.parts_of(step))
}

/// Makes a step the current one, with nothing done there yet.
fn jump(draft: &mut Draft<'_>, to: &Step) -> Result<(), Stop> {
    gate::check_dismissible(draft, false)?;
    check_asked(draft, to)?;
    waive_gate::before(draft, to)?;
    hop(draft, to)
}

fn hop(draft: &mut Draft<'_>, to: &Step) -> Result<(), Stop> {
    withdraw(draft);
    let decision = Choice { by: Decider::Client, reasoning: None };
    draft.push(Event::StepEntered { step: to.name.clone(), decision: Some(decision) });
    draft.hop(&to.name)?;
    react::react(draft, to, &to.on.enter, EvalContext::default())
}

/// What is asked is not asked any more.
fn withdraw(draft: &mut Draft<'_>) {
    if let Some(open) = draft.state.standing.open_gate() {
        let step = open.step.clone();
        draft.push(Event::GateWithdrawn { step });
    }
}

/// Refuses to pass a gate that nobody was asked at.
fn check_asked(draft: &Draft<'_>, to: &Step) -> Result<(), Refusal> {
    for step in gates_before(draft, to)? {
        if !is_settled(draft, step)? {
            let (step, to) = (step.name.clone(), to.name.clone());
            return Err(Refusal::GateNotAsked { step, to });
        }
    }
    Ok(())
}

/// Refuses to pass a gate that holds the run back, or a person who is asked right now.
fn check_free_between(draft: &Draft<'_>, to: &Step) -> Result<(), Refusal> {
    for step in gates_before(draft, to)? {
        gate::check_free(draft, step)?;
    }
    let open = draft.state.standing.open_gate();
    let asked = open.and_then(|it| draft.workflow.find_step(&it.step));
    match open.filter(|_| asked.is_some_and(|it| place(draft, it) < place(draft, to))) {
        Some(open) => Err(gate::refusal(open)),
        None => Ok(()),
    }
}

/// Returns the steps with a gate from the current one on to the one before `to`.
fn gates_before<'a>(
    draft: &Draft<'a>,
    to: &Step,
) -> Result<impl Iterator<Item = &'a Step> + use<'a>, Refusal> {
    let (first, last) = (place(draft, draft.current()?), place(draft, to));
    let between = draft.workflow.steps.iter().skip(first).take(last.saturating_sub(first));
    Ok(between.filter(|it| it.gate.is_some()))
}

/// Refuses to prepare a step while the last gate before it is not passed.
fn check_gate_before(draft: &Draft<'_>, step: &Step) -> Result<(), Refusal> {
    let before = draft.workflow.steps.iter().take(place(draft, step));
    let Some(gate) = before.rev().find(|it| it.gate.is_some()) else { return Ok(()) };
    let is_ahead = place(draft, draft.current()?) <= place(draft, gate);
    if is_ahead && !is_settled(draft, gate)? {
        return Err(Refusal::GateNotAsked { step: gate.name.clone(), to: step.name.clone() });
    }
    Ok(())
}

/// Refuses a step that lies ahead, unless the one before it is done.
fn check_order(draft: &Draft<'_>, step: &Step) -> Result<(), Refusal> {
    if place(draft, step) <= place(draft, draft.current()?) {
        return Ok(());
    }
    let before = place(draft, step).checked_sub(1).and_then(|it| draft.workflow.steps.get(it));
    let Some(before) = before else { return Ok(()) };
    if is_settled(draft, before)? {
        return Ok(());
    }
    Err(Refusal::StepOutOfOrder { step: step.name.clone(), before: before.name.clone() })
}

/// Whether a step is done or left out, and nobody is asked there.
fn is_settled(draft: &Draft<'_>, step: &Step) -> Result<bool, Refusal> {
    let is_asked = draft.state.standing.open_gate().is_some_and(|it| it.step == step.name);
    if draft.state.progress(&step.name).is_settled() {
        return Ok(!is_asked);
    }
    Ok(left_out::find_skip(draft, step)?.is_some())
}

fn find<'a>(draft: &Draft<'a>, named: &str) -> Result<&'a Step, Refusal> {
    draft.workflow.find_step_loosely(named).ok_or_else(|| draft.step_unknown(named))
}

fn place(draft: &Draft<'_>, step: &Step) -> usize {
    draft.workflow.steps.iter().position(|it| it.name == step.name).unwrap_or_default()
}
