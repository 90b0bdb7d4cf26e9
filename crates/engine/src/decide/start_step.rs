//! An agent takes a step up: an attempt begins. Asking again while it is under way changes nothing,
//! unless it is to begin again.

use alloc::{string::String, vec::Vec};

use definition::{PartSpec, Presence, Step, Target};
use serde_json::{Map, Value};

use super::{
    Draft, EvalContext, check_depth, check_size, condition_failed, flow, gate, lease,
    mode::{Mode, Reach},
    open_parts, parts, route, scope,
    then::Then,
};
use crate::{
    Artifact, AttemptStatus, Choice, Event, GateReason, Progress, Refusal, ReopenCause, Standing,
    StartStep, Stop, guard,
};

pub(super) fn decide(draft: &mut Draft<'_>, mode: Mode, start: &StartStep) -> Result<(), Stop> {
    let is_asked = settle_early(draft, start);
    if !is_asked {
        draft.check_running()?;
    }
    if draft.state.awaits_choice() {
        let step = draft.current()?;
        return Err(route::choice_open(draft, step).into());
    }
    if let Some(earlier) =
        find_way_back(draft, &start.step).or_else(|| find_gap(draft, &start.step))
    {
        go_back(draft, mode, earlier)?;
    }
    let step = draft.current_named(&start.step)?;
    let part = open_parts::find_reported(draft.workflow, &draft.state, step, start.part.as_ref())?;
    lease::check(draft, step, part.as_ref().map(|it| &it.id), None)?;
    guard::check_needs(draft, step, part.as_ref())?;
    check_details(draft, &start.details)?;
    if !open_parts::is_planned(&draft.state, step) {
        if mode.reach != Reach::RecordOnly {
            parts::plan(draft, step)?;
        }
        if draft.state.standing.open_gate().is_some() {
            return Ok(());
        }
        if !open_parts::is_planned(&draft.state, step) {
            return Err(Refusal::PartsUnknown { step: step.name.clone() }.into());
        }
    }
    begin(draft, step, part.as_ref(), start)?;
    if start.asks && !is_asked {
        gate::ask_early(draft, step)?;
    }
    Ok(())
}

/// Takes back what was asked before the work on this step was reported, unless it is to be asked
/// still. Returns whether it is.
fn settle_early(draft: &mut Draft<'_>, start: &StartStep) -> bool {
    let Standing::Waiting(open) = &draft.state.standing else { return false };
    let named = draft.workflow.find_step_loosely(&start.step);
    let is_same = named.is_some_and(|it| it.name == open.step);
    if open.why != GateReason::Early || !is_same {
        return false;
    }
    if !start.asks {
        let step = open.step.clone();
        draft.push(Event::GateWithdrawn { step });
    }
    start.asks
}

/// Returns the earlier step that is named, if the current one was taken up and may lead back there.
fn find_way_back<'a>(draft: &Draft<'a>, named: &str) -> Option<&'a Step> {
    let current = draft.current().ok()?;
    let step = draft.workflow.find_step_loosely(named)?;
    let is_way = current.next.iter().any(|it| it.to == Target::Step(step.name.clone()));
    let effort = draft.state.effort(&current.name, None)?;
    let is_begun = 0 < effort.attempts && !effort.progress.is_settled();
    let is_done = draft.state.progress(&step.name).is_settled();
    (step.name != current.name && is_way && is_begun && is_done).then_some(step)
}

/// Returns the step that is named, if a file passed it over and every step before it is done.
fn find_gap<'a>(draft: &Draft<'a>, named: &str) -> Option<&'a Step> {
    let step = draft.workflow.find_step_loosely(named)?;
    let is_open = |it: &&Step| !draft.state.progress(&it.name).is_settled();
    let first = draft.workflow.work_steps().find(is_open)?;
    let place = |step: &Step| draft.workflow.steps.iter().position(|it| it.name == step.name);
    let is_passed =
        draft.state.history.placed.is_some() && place(first) < place(draft.current().ok()?);
    (first.name == step.name && is_passed).then_some(step)
}

fn go_back(draft: &mut Draft<'_>, mode: Mode, to: &Step) -> Result<(), Stop> {
    let from = draft.current()?;
    let (step, feedback) = (from.name.clone(), String::new());
    let cause = Some(ReopenCause::GoneBack);
    draft.push(Event::StepReopened { step, part: None, feedback, cause });
    let reasoning = Some(String::from("the agent went back to it"));
    let choice = Some(Choice { by: definition::Decider::Client, reasoning });
    flow::run(draft, mode, Then::enter(&to.name, choice))
}

fn check_details(draft: &Draft<'_>, details: &Map<String, Value>) -> Result<(), Refusal> {
    check_depth("the details", details.values())?;
    let bytes = serde_json::to_string(details).map_or(0, |it| it.len());
    check_size("the details", bytes, draft.known.bounds.report_bytes_max)
}

/// Begins an attempt, unless one is under way.
pub(super) fn begin(
    draft: &mut Draft<'_>,
    step: &Step,
    part: Option<&PartSpec>,
    start: &StartStep,
) -> Result<(), Stop> {
    let id = part.map(|it| &it.id);
    let effort = draft.state.effort(&step.name, id).cloned().unwrap_or_default();
    let is_active = effort.progress == Progress::Active;
    if is_active && !start.again {
        return Ok(());
    }
    let is_same = is_active && effort.trouble != AttemptStatus::Faulty;
    let attempt = if is_same { effort.attempts } else { effort.attempts + 1 };
    let seen = look(draft, step, part)?;
    let (step, part, details) = (step.name.clone(), id.cloned(), start.details.clone());
    draft.push(Event::StepStarted { step, part, attempt, details, seen });
    Ok(())
}

/// Returns what the work is begun with: the file that a review judges, and those that count only
/// where they are found.
fn look(draft: &Draft<'_>, step: &Step, part: Option<&PartSpec>) -> Result<Vec<Artifact>, Stop> {
    let scope = scope(draft.workflow, &draft.state, EvalContext::of_part(part));
    let fails = |error| condition_failed(step, &error);
    let mut paths: Vec<String> = Vec::new();
    let judges = step.review.as_ref().and_then(|it| it.judges.as_ref());
    if let Some(judges) = judges {
        paths.push(judges.render(&scope).map_err(fails)?);
    }
    for need in step.needs.iter().filter(|it| it.presence == Presence::Found) {
        if draft.holds(need.when.as_ref(), step, EvalContext::of_part(part))? {
            paths.push(need.path.render(&scope).map_err(fails)?);
        }
    }
    draft.artifacts(paths.iter().map(String::as_str))
}
