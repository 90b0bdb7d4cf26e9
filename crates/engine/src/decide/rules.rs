//! What a run does by itself: a rule fires as soon as its condition comes true, and at most once
//! for each command. Moves consist of the same deeds, which are done here for both.

use alloc::{string::String, vec::Vec};

use definition::{Action, Condition, Decider, Deed, Step};
use serde_json::{Map, Value};

use super::{
    Draft, EvalContext, condition_failed, flow, gate, mode::Mode, react, scope, waive_gate,
};
use crate::{
    Choice, CompletedBy, Event, GateReason, PendingRules, Report, RunState, Standing, Stop,
};

/// Fires the rules whose conditions a command made true, in their order, and brings gates that are
/// open while a condition holds into step.
pub(super) fn settle(draft: &mut Draft<'_>, before: &RunState) -> Result<(), Stop> {
    if draft.events.is_empty() || !draft.state.standing.is_live() {
        return Ok(());
    }
    let mode = Mode::default();
    settle_gates(draft, mode)?;
    // What a file says on its first day is taken as it is; the rules fire with the first call.
    if before.origin.is_none() && draft.state.unasked == PendingRules::Placed {
        return Ok(());
    }
    if draft.workflow.rules.is_empty() {
        return Ok(());
    }
    let is_settled = before.origin.is_some() && before.unasked != PendingRules::Placed;
    let first = scope(draft.workflow, before, EvalContext::default());
    for rule in &draft.workflow.rules {
        let held = is_settled && rule.when.evaluate(&first).unwrap_or(false);
        let Ok(step) = draft.current() else { return Ok(()) };
        let now = scope(draft.workflow, &draft.state, EvalContext::default());
        let holds = rule.when.evaluate(&now).map_err(|error| condition_failed(step, &error))?;
        if held || !holds {
            continue;
        }
        draft.push(Event::RuleFired { rule: rule.name.clone() });
        perform(draft, mode, &rule.actions, &Map::new(), false)?;
    }
    settle_gates(draft, mode)
}

/// Brings the gates that are open while a condition holds into step with the state.
fn settle_gates(draft: &mut Draft<'_>, mode: Mode) -> Result<(), Stop> {
    if let Some(open) = draft.state.standing.open_gate().cloned() {
        let step = draft.workflow.find_step(&open.step);
        let Some((step, during)) = step.zip(step.and_then(during)) else { return Ok(()) };
        if open.why != GateReason::Gate {
            return Ok(());
        }
        let is_here = draft.state.current.as_ref() == Some(&open.step);
        // Work that was reported is asked about however the condition stands.
        let is_reported = draft.state.progress(&step.name).is_settled();
        let holds = is_here && draft.holds(Some(during), step, EvalContext::default())?;
        if (holds || is_reported) && gate::ask_of(draft, step)? == open.ask {
            return Ok(());
        }
        draft.push(Event::GateWithdrawn { step: open.step });
        if is_reported && is_here {
            return gate::ask_done(draft, step);
        }
    }
    if draft.state.standing != Standing::Running {
        return Ok(());
    }
    let Ok(step) = draft.current() else { return Ok(()) };
    let Some(during) = during(step) else { return Ok(()) };
    if !draft.holds(Some(during), step, EvalContext::default())? {
        return Ok(());
    }
    if gate::open(draft, step, &Report::default())? {
        return Ok(());
    }
    gate::settle_work(draft, step, gate::APPROVED)?;
    let then = flow::onward(draft, mode, step, None, None)?;
    flow::run(draft, mode, then)
}

fn during(step: &Step) -> Option<&Condition> {
    step.gate.as_ref()?.during.as_ref()
}

/// Does what a move or a rule consists of. Returns what was overlooked, where that is allowed.
pub(super) fn perform(
    draft: &mut Draft<'_>,
    mode: Mode,
    actions: &[Action],
    args: &Map<String, Value>,
    is_lax: bool,
) -> Result<Vec<String>, Stop> {
    let mut warnings = Vec::new();
    for action in actions {
        let step = draft.current()?;
        let sight = EvalContext::of_args(args);
        if !draft.holds(action.when.as_ref(), step, sight)? {
            continue;
        }
        let Deed::Goto(to) = &action.deed else {
            warnings.extend(react::act(draft, step, &action.deed, (sight, is_lax))?);
            continue;
        };
        let to = react::render(draft, step, to, sight)?;
        let Some(to) = draft.workflow.find_step_loosely(&to) else {
            return Err(draft.step_unknown(&to).into());
        };
        go(draft, mode, to)?;
    }
    Ok(warnings)
}

/// Goes to a step by name. What was done before it is done; what is asked is not asked any more.
pub(super) fn go(draft: &mut Draft<'_>, mode: Mode, to: &Step) -> Result<(), Stop> {
    let from = draft.current()?;
    if from.name == to.name && !draft.state.progress(&to.name).is_settled() {
        return Ok(());
    }
    let place = |step: &Step| draft.workflow.steps.iter().position(|it| it.name == step.name);
    if place(from) < place(to) {
        gate::check_dismissible(draft, false)?;
    }
    waive_gate::before(draft, to)?;
    if let Some(open) = draft.state.standing.open_gate() {
        let step = open.step.clone();
        draft.push(Event::GateWithdrawn { step });
    }
    if place(from) < place(to) {
        gate::settle_work(draft, from, (CompletedBy::PassedOver, "the run went on"))?;
    }
    let decision = Choice { by: Decider::Client, reasoning: None };
    draft.push(Event::StepEntered { step: to.name.clone(), decision: Some(decision) });
    draft.hop(&to.name)?;
    react::react(draft, to, &to.on.enter, EvalContext::default())?;
    let then = flow::arrive(draft, mode, to)?;
    flow::run(draft, mode, then)
}
