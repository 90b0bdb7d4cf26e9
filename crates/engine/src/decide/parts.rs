//! The parts of a fanned-out step: how they are planned, which are ready, and whom they are for.

use alloc::{
    format,
    string::{String, ToString as _},
    vec,
    vec::Vec,
};

use definition::{Each, Effect, PartId, PartSource, PartSpec, Step, StepName};

use super::{
    Draft, EvalContext, gate, left_out,
    left_out::LeftOut,
    mode::{Mode, Reach},
    open_parts,
    part_list::{check_parts, find_parts, own_text, source, written},
};
use crate::{
    Artifact, Event, FileFact, GateReason, How, PartPlaced, Progress, Refusal, ReopenCause,
    SkipCause, SkipReason, Standing, Stop, invariant,
};

/// Finds out what the parts of `step` are, and records them if they are news.
pub(super) fn plan(draft: &mut Draft<'_>, step: &Step) -> Result<(), Stop> {
    let Some(each) = &step.each else { return Ok(()) };
    let is_kept = each.keeps && open_parts::is_planned(&draft.state, step);
    if (!is_kept || is_untouched(draft, step))
        && let Some(gate) = find_replaced(draft, step)?
    {
        return gate::ask_now(draft, gate, GateReason::Owed);
    }
    if !matches!(each.from, PartSource::Shared) && !is_kept {
        let Some(parts) = find_parts(draft, step, each)? else { return Ok(()) };
        check_parts(draft, step, &parts)?;
        check_still_there(draft, step, &parts)?;
        if draft.state.parts.get(&each.parts) != Some(&parts) {
            let set = each.parts.clone();
            draft.push(Event::PartsPlanned { set, parts, by_hand: false });
        }
    }
    Ok(leave_out(draft, step, each)?)
}

/// Plans the parts for which a person approved the list, if one of them is for a person. From then on
/// the run knows of it, whatever becomes of the file.
pub(super) fn plan_approved(
    draft: &mut Draft<'_>,
    gate: &Step,
    approved: &[Artifact],
) -> Result<(), Stop> {
    if !invariant::asks_person(draft.workflow, draft.known.gates) {
        return Ok(());
    }
    for step in draft.workflow.work_steps() {
        let is_guarded = draft.workflow.guards().before(&step.name).any(|it| *it == gate.name);
        let Some((each, path)) = step.each.as_ref().zip(source(draft, step)?) else { continue };
        if !is_guarded || !approved.iter().any(|it| it.path == path) {
            continue;
        }
        let (parts, known) = (written(draft, step)?, draft.state.parts_of(step).to_vec());
        let is_due =
            parts.iter().any(|it| open_parts::is_personal(draft.workflow, &draft.state, step, it));
        let is_news = known != parts && is_untouched(draft, step)
            || parts.iter().any(|it| is_lost(draft, step, it, &known));
        if is_due && is_news {
            reset(draft, &each.parts);
            draft.push(Event::PartsPlanned { set: each.parts.clone(), parts, by_hand: false });
            // It was left out or done when the list had nothing for a person.
            if draft.state.progress(&step.name).is_settled() {
                let (step, cause) = (step.name.clone(), Some(ReopenCause::Owed));
                draft.push(Event::StepReopened {
                    step,
                    part: None,
                    feedback: String::new(),
                    cause,
                });
            }
        }
    }
    Ok(())
}

/// Whether nothing was done with the parts of a step.
fn is_untouched(draft: &Draft<'_>, step: &Step) -> bool {
    let is_idle = |it: &PartSpec| draft.state.part_progress(&step.name, &it.id) == Progress::Idle;
    draft.state.parts_of(step).iter().all(is_idle)
}

/// Returns the gate whose answer does not cover the list that the parts of a step come from.
fn find_replaced<'a>(draft: &Draft<'a>, step: &Step) -> Result<Option<&'a Step>, Stop> {
    let Some((path, each)) = source(draft, step)?.zip(step.each.as_ref()) else { return Ok(None) };
    gate::find_replaced(draft, &step.name, (&path, own_text(each)))
}

/// Refuses a list of parts that takes one from the person it is for, as it was planned or by the file
/// that the parts come from.
pub(super) fn check_kept(draft: &Draft<'_>, step: &Step, given: &[PartSpec]) -> Result<(), Stop> {
    if !invariant::asks_person(draft.workflow, draft.known.gates) {
        return Ok(());
    }
    let written = if given.is_empty() { Vec::new() } else { written(draft, step)? };
    let planned = draft.before.parts_of(step);
    match planned.iter().chain(&written).find(|it| is_lost(draft, step, it, given)) {
        Some(lost) => {
            let problem =
                format!("part `{}` is for a person: keep its mode and its title", lost.id);
            Err(Refusal::PartsInvalid { step: step.name.clone(), problem, back: None }.into())
        }
        None => Ok(()),
    }
}

/// Refuses a list that replaces the known one and drops a part for a person, unless a gate shows the
/// new list to them.
fn check_still_there(draft: &Draft<'_>, step: &Step, parts: &[PartSpec]) -> Result<(), Stop> {
    let is_shown = match source(draft, step)? {
        Some(path) => gate::shows(draft, &step.name, &path)?,
        None => false,
    };
    if is_shown { Ok(()) } else { check_kept(draft, step, parts) }
}

/// Plans parts as their file says, where a run that was begun elsewhere has come to them or past them
/// and does not know that some are for a person.
pub(super) fn restore_personal(draft: &mut Draft<'_>) -> Result<(), Stop> {
    if !invariant::asks_person(draft.workflow, draft.known.gates) {
        return Ok(());
    }
    let place = |name: &StepName| draft.workflow.steps.iter().position(|it| it.name == *name);
    for step in draft.workflow.work_steps() {
        let Some(each) = &step.each else { continue };
        let given = draft.state.parts_of(step).to_vec();
        let is_reached = draft.state.progress(&step.name).is_settled()
            || place(&step.name) <= draft.state.current.as_ref().and_then(place);
        if given.is_empty() && !is_reached {
            continue;
        }
        let parts = written(draft, step)?;
        if parts.iter().any(|it| is_lost(draft, step, it, &given)) {
            let others = parts
                .iter()
                .filter(|it| !open_parts::is_personal(draft.workflow, &draft.state, step, it));
            let others: Vec<PartId> = others.map(|it| it.id.clone()).collect();
            let set = each.parts.clone();
            draft.push(Event::PartsPlanned { set, parts, by_hand: false });
            follow_step(draft, step, &others);
        }
    }
    Ok(())
}

/// Has parts that nobody spoke of as far as their step is, if that is settled.
fn follow_step(draft: &mut Draft<'_>, step: &Step, parts: &[PartId]) {
    let progress = draft.state.progress(&step.name);
    let is_open = |it: &&PartId| !draft.state.part_progress(&step.name, it).is_settled();
    let open: Vec<PartId> = parts.iter().filter(is_open).cloned().collect();
    for part in open.into_iter().filter(|_| progress.is_settled()) {
        let placed = PartPlaced::of(step.name.clone(), part);
        draft.push(Event::PartPlaced(PartPlaced { progress: Some(progress), ..placed }));
    }
}

/// Returns why a step is left out, if it is. One with a part for a person is not, where a caller may
/// have set what leaves it out.
pub(super) fn find_skip(draft: &Draft<'_>, step: &Step) -> Result<Option<LeftOut>, Stop> {
    let skip = left_out::find_skip(draft, step)?;
    let is_due = skip.is_some()
        && !invariant::is_left_out_for_sure(draft.workflow, &draft.state, step)
        && is_for_person(draft, step)?;
    Ok(skip.filter(|_| !is_due))
}

/// Whether a step has a part that only a person settles, by an answer of their own.
pub(super) fn is_for_person(draft: &Draft<'_>, step: &Step) -> Result<bool, Stop> {
    Ok(invariant::asks_person(draft.workflow, draft.known.gates) && has_personal(draft, step)?)
}

/// Whether a part of a step is for a person who has not answered.
fn has_personal(draft: &Draft<'_>, step: &Step) -> Result<bool, Stop> {
    let is_personal =
        |it: &PartSpec| open_parts::is_personal(draft.workflow, &draft.state, step, it);
    if !open_parts::is_planned(&draft.state, step) {
        // What another list than the approved one leaves out may be a person's part.
        return Ok(is_list_unknown(draft, step)? || written(draft, step)?.iter().any(is_personal));
    }
    let is_answered = |it: &PartSpec| {
        let effort = draft.state.effort(&step.name, Some(&it.id));
        effort.and_then(|it| it.answered) == Some(How::Verified)
    };
    Ok(draft.state.parts_of(step).iter().any(|it| is_personal(it) && !is_answered(it)))
}

/// Whether the list of parts is not the one that a person approved or that a step left: what it does
/// not say may be for a person.
fn is_list_unknown(draft: &Draft<'_>, step: &Step) -> Result<bool, Stop> {
    let Some(path) = source(draft, step)? else { return Ok(false) };
    let is_gone = draft.known.file(&path)? == &FileFact::Missing;
    Ok(is_gone && draft.state.artifacts.contains_key(&path)
        || find_replaced(draft, step)?.is_some())
}

/// Makes the parts of a step known that a caller leaves out, where one may be for a person.
pub(super) fn find_before_skip(draft: &mut Draft<'_>, step: &Step) -> Result<(), Stop> {
    let asks_person = invariant::asks_person(draft.workflow, draft.known.gates);
    let Some(each) = step.each.as_ref().filter(|_| asks_person) else { return Ok(()) };
    if open_parts::is_planned(&draft.state, step) {
        return Ok(());
    }
    if is_list_unknown(draft, step)? {
        return Err(Refusal::PartsUnknown { step: step.name.clone() }.into());
    }
    let parts = written(draft, step)?;
    if parts.iter().any(|it| open_parts::is_personal(draft.workflow, &draft.state, step, it)) {
        draft.push(Event::PartsPlanned { set: each.parts.clone(), parts, by_hand: false });
    }
    Ok(())
}

/// Makes the parts of a step known that is reported as a whole, where one may be for a person.
/// Returns whether the report can be taken; otherwise a person is asked first.
pub(super) fn find_before_whole(draft: &mut Draft<'_>, step: &Step) -> Result<bool, Stop> {
    let asks_person = invariant::asks_person(draft.workflow, draft.known.gates);
    if !asks_person || open_parts::is_planned(&draft.state, step) {
        return Ok(true);
    }
    plan(draft, step)?;
    if draft.state.standing != Standing::Running {
        return Ok(false);
    }
    if !open_parts::is_planned(&draft.state, step) {
        let path = source(draft, step)?.unwrap_or_default();
        return Err(Refusal::NeedMissing { step: step.name.clone(), path }.into());
    }
    Ok(true)
}

/// Refuses a report on all parts at once while one is for a person who has not answered.
pub(super) fn check_whole(draft: &Draft<'_>, step: &Step) -> Result<(), Refusal> {
    let parts = open_parts::open(&draft.state, step);
    let personal =
        parts.iter().find(|it| open_parts::is_personal(draft.workflow, &draft.state, step, it));
    let Some(personal) = personal else { return Ok(()) };
    let (step, part) = (step.name.clone(), personal.id.clone());
    Err(Refusal::PartNeedsPerson { step, part, is_asked: false, is_begun: true })
}

/// Whether a part is for a person, and not so in a list.
fn is_lost(draft: &Draft<'_>, step: &Step, part: &PartSpec, given: &[PartSpec]) -> bool {
    let is_same =
        |it: &PartSpec| (&it.id, &it.mode, &it.title) == (&part.id, &part.mode, &part.title);
    open_parts::is_personal(draft.workflow, &draft.state, step, part) && !given.iter().any(is_same)
}

/// Leaves out the parts that the step is not for, and takes those up again that it is for by now.
fn leave_out(draft: &mut Draft<'_>, step: &Step, each: &Each) -> Result<(), Refusal> {
    let Some(only) = &each.only else { return Ok(()) };
    for part in draft.state.parts_of(step).to_vec() {
        let is_meant = draft.holds(Some(only), step, EvalContext::of_part(Some(&part)))?
            || is_due_anyway(draft, step, &part);
        let progress = draft.state.part_progress(&step.name, &part.id);
        let (step, part) = (step.name.clone(), Some(part.id));
        let is_open = !progress.is_settled() && progress != Progress::Rejected;
        if !is_meant && is_open {
            let reason = format!("`{}` does not hold", only.source());
            let why = SkipReason::Definition;
            let cause = Some(SkipCause::NotMeant);
            draft.push(Event::StepSkipped { step, part, reason, why, cause });
        } else if is_meant && progress == Progress::Skipped {
            // It was left out before, and is meant now.
            let (feedback, cause) = (String::new(), Some(ReopenCause::NowMeant));
            draft.push(Event::StepReopened { step, part, feedback, cause });
        }
    }
    Ok(())
}

/// Whether a part is for a person who has not answered, although its step is not for it: a caller may
/// have set what leaves it out.
fn is_due_anyway(draft: &Draft<'_>, step: &Step, part: &PartSpec) -> bool {
    let (workflow, state) = (draft.workflow, &draft.state);
    let is_answered =
        state.effort(&step.name, Some(&part.id)).is_some_and(|it| it.answered.is_some());
    invariant::asks_person(workflow, draft.known.gates)
        && !is_answered
        && open_parts::is_personal(workflow, state, step, part)
        && !invariant::is_part_left_out_for_sure(workflow, state, step, part)
}

/// Asks at the next part of a run that comes from elsewhere, if only a person's own answer settles it.
pub(super) fn ask_owed(draft: &mut Draft<'_>, mode: Mode) -> Result<(), Stop> {
    let is_meant = invariant::asks_person(draft.workflow, draft.known.gates);
    match draft.current() {
        Ok(step) if is_meant => ask_personal(draft, mode, step),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Asks the person whom the next part is for, if it is for one.
pub(super) fn ask_personal(draft: &mut Draft<'_>, mode: Mode, step: &Step) -> Result<(), Stop> {
    let is_running = draft.state.standing == Standing::Running;
    let personal = find_personal(draft, step).filter(|_| mode.reach != Reach::RecordOnly);
    let Some(first) = personal.filter(|_| is_running) else { return Ok(()) };
    let ask = format!("Part `{}` is for a person: {}", first.id, first.title);
    let options =
        vec![("done", Effect::Approve), ("skip", Effect::Skip), ("abandon", Effect::Cancel)];
    gate::ask(draft, step, Some(first.id), GateReason::Part, (ask, options))
}

/// Returns the part that is next and for a person to do.
fn find_personal(draft: &Draft<'_>, step: &Step) -> Option<PartSpec> {
    let first = open_parts::ready(draft.workflow, &draft.state, step).into_iter().next();
    first.filter(|it| open_parts::is_personal(draft.workflow, &draft.state, step, it))
}

/// Takes up the parts for a person again that a file or a history from elsewhere says to be done, or
/// that the run does not begin with. Returns the first step with one.
pub(super) fn take_up_owed(draft: &mut Draft<'_>) -> Option<StepName> {
    let owed = invariant::owed_parts(draft.workflow, &draft.state, draft.known.gates);
    let place = |name: &StepName| draft.workflow.steps.iter().position(|it| it.name == *name);
    let first = owed.first().map(|(step, _)| StepName::clone(step));
    let is_behind = first.as_ref().map(place) < draft.state.current.as_ref().map(place);
    let entered = first.clone().filter(|_| is_behind || draft.state.is_work_done);
    let reopen = |draft: &mut Draft<'_>, step: &StepName, part: Option<PartId>| {
        let (feedback, cause) = (String::new(), Some(ReopenCause::Owed));
        draft.push(Event::StepReopened { step: step.clone(), part, feedback, cause });
    };
    for (step, part) in &owed {
        reopen(draft, step, Some(part.clone()));
    }
    if let Some(step) = entered {
        draft.push(Event::StepEntered { step, decision: None });
    }
    // A step that the run comes to later is not done while such a part of it is open.
    for (step, _) in invariant::owed_parts(draft.workflow, &draft.state, draft.known.gates) {
        if draft.state.progress(step).is_settled() {
            reopen(draft, step, None);
        }
    }
    first
}

/// Reopens every part of a step that the run came back to, if all were settled before.
pub(super) fn begin_again(draft: &mut Draft<'_>, step: &Step) -> Result<(), Refusal> {
    let is_settled = open_parts::count_unsettled(&draft.state, step) == 0;
    if is_settled && !draft.state.parts_of(step).is_empty() {
        let is_known = draft.state.step(&step.name).is_some_and(|it| !it.parts.is_empty());
        if is_known {
            return reopen(draft, &step.name, None, ("", ReopenCause::Again));
        }
    }
    Ok(())
}

/// Has the work on `target` done again: on one part of it, or on all of it.
pub(super) fn reopen(
    draft: &mut Draft<'_>,
    target: &StepName,
    only: Option<&PartId>,
    (feedback, cause): (&str, ReopenCause),
) -> Result<(), Refusal> {
    let Some(step) = draft.workflow.find_step(target) else {
        return Err(draft.step_unknown(target.as_str()));
    };
    let parts = draft.state.parts_of(step).iter().map(|it| it.id.clone());
    let parts: Vec<_> = parts.filter(|it| only.is_none_or(|only| only == it)).map(Some).collect();
    let reopened = if parts.is_empty() { vec![None] } else { parts };
    for part in reopened {
        let (step, feedback) = (target.clone(), feedback.to_string());
        let cause = Some(cause.clone());
        draft.push(Event::StepReopened { step, part, feedback, cause });
    }
    Ok(())
}

/// Forgets parts that come from a file which was written again: they are planned from it once more.
pub(super) fn forget(draft: &mut Draft<'_>, changed: &[String]) -> Result<(), Stop> {
    if changed.is_empty() {
        return Ok(());
    }
    for step in draft.workflow.work_steps() {
        let Some(each) = step.each.as_ref().filter(|it| it.keeps) else { continue };
        let Some(path) = source(draft, step)? else { continue };
        if changed.contains(&path) && draft.state.parts.contains_key(&each.parts) {
            let parts = written(draft, step)?;
            check_still_there(draft, step, &parts)?;
            reset(draft, &each.parts);
            let (set, parts) = (each.parts.clone(), Vec::new());
            draft.push(Event::PartsPlanned { set, parts, by_hand: false });
        }
    }
    Ok(())
}

/// Has the parts of a set as if nothing had been done with them.
pub(super) fn reset(draft: &mut Draft<'_>, set: &str) {
    let of_set = |it: &&Step| it.each.as_ref().is_some_and(|each| each.parts == set);
    for step in draft.workflow.work_steps().filter(of_set) {
        let known = draft.state.step(&step.name).map(|it| it.parts.keys().cloned().collect());
        let known: Vec<PartId> = known.unwrap_or_default();
        for part in known {
            draft.push(Event::PartPlaced(PartPlaced {
                progress: Some(Progress::Idle),
                revisions: Some(0),
                ..PartPlaced::of(step.name.clone(), part)
            }));
        }
    }
}
