//! An agent says how a step went: it is done, it failed, or it goes on.

use alloc::{format, string::String, vec};

use definition::{Decider, Effect, PartSpec, Spent, Step};

use super::{
    Draft, EvalContext, answer_gate, ask_model,
    ask_model::Advice,
    change_context, complete_found_parts,
    complete_step::complete,
    due, fail_step, flow, gate, lease,
    mode::{Mode, Verdicts},
    open_parts, parts, route,
    then::Then,
};
use crate::{
    AnswerGate, Consent, Event, FailCause, GateReason, OpenGate, Outcome, Progress, Refusal,
    Report, ReportStep, Rigor, Standing, Stop,
};

pub(super) fn decide(draft: &mut Draft<'_>, mode: Mode, command: &ReportStep) -> Result<(), Stop> {
    let mode = Mode { at_end: command.terms.end, ..mode };
    let has_consent = match command.terms.consent {
        Consent::None | Consent::Needed => false,
        Consent::Implied => draft.state.sent_back().is_none(),
        Consent::Stated => true,
    };
    if has_consent {
        pass_on(draft, mode, command, GateReason::Early)?;
        // The work was reported before, and only the consent is new.
        if pass_on(draft, mode, command, GateReason::Gate)? {
            return choose_next(draft, mode, command);
        }
    }
    draft.check_running()?;
    flow::pass_left_out(draft, mode, &command.report.step_id)?;
    let step = draft.current_named(&command.report.step_id)?;
    if command.terms.is_begun && !draft.state.awaits_choice() {
        fail_step::check_begun(draft, step)?;
    }
    let then = take(draft, mode, step, (command, None))?;
    flow::run(draft, mode, then)?;
    // Where only a person's own answer counts, the run waits for it.
    if has_consent && is_relayed(draft) {
        pass_on(draft, mode, command, GateReason::Gate)?;
        return choose_next(draft, mode, command);
    }
    if command.terms.consent == Consent::Needed {
        check_unasked(draft, command)?;
    }
    Ok(())
}

/// Goes on to the step that a report names, once the gate before it has its answer.
fn choose_next(draft: &mut Draft<'_>, mode: Mode, command: &ReportStep) -> Result<(), Stop> {
    let next = command.next.as_deref().filter(|_| draft.state.awaits_choice());
    let Some(next) = next else { return Ok(()) };
    let step = draft.current()?;
    let then = route::choose_late(draft, mode, step, next)?;
    flow::run(draft, mode, then)
}

/// Refuses a report that would have a person asked before the step that it names comes next, if the
/// agent could have asked them. Where only a person's own answer counts, the run waits for it.
fn check_unasked(draft: &Draft<'_>, command: &ReportStep) -> Result<(), Refusal> {
    let of = draft.workflow.find_step_loosely(&command.report.step_id).map(|it| &it.name);
    let is_own =
        |it: &&OpenGate| it.why == GateReason::Gate && !it.is_personal() && Some(&it.step) == of;
    let open = draft.state.standing.open_gate().filter(is_own);
    let (Some(open), Some(next)) = (open, &command.next) else { return Ok(()) };
    let to = draft.workflow.find_step_loosely(next).ok_or_else(|| draft.step_unknown(next))?;
    Err(Refusal::GateNotAsked { step: open.step.clone(), to: to.name.clone() })
}

/// Passes the person's consent on to the gate of the step, if it is open for this reason. Returns
/// whether it is.
fn pass_on(
    draft: &mut Draft<'_>,
    mode: Mode,
    command: &ReportStep,
    why: GateReason,
) -> Result<bool, Stop> {
    let Standing::Waiting(open) = &draft.state.standing else { return Ok(false) };
    let named = draft.workflow.find_step_loosely(&command.report.step_id);
    if open.why != why || named.is_none_or(|it| it.name != open.step) {
        return Ok(false);
    }
    answer_gate::take(
        draft,
        mode,
        &AnswerGate::relayed(),
        command.terms.consent == Consent::Implied,
    )?;
    Ok(true)
}

fn is_relayed(draft: &Draft<'_>) -> bool {
    let open = draft.state.standing.open_gate();
    open.is_some_and(|it| !it.is_personal())
}

/// Takes a report on the current step, and what a language model said to it, if it was asked
/// already.
pub(super) fn take(
    draft: &mut Draft<'_>,
    mode: Mode,
    step: &Step,
    (command, advice): (&ReportStep, Option<Advice>),
) -> Result<Then, Stop> {
    let report = &command.report;
    draft.check_report(report)?;
    if draft.state.awaits_choice() {
        if command.next.is_none() && !draft.has_model() {
            return Err(route::choice_open(draft, step).into());
        }
        lease::check(draft, step, None, command.holder.as_ref())?;
        change_context::apply(draft, &command.context)?;
        return match (&command.next, advice) {
            (Some(next), _) => route::choose_late(draft, mode, step, next),
            (None, Some(advice)) => {
                ask_model::follow(draft, mode, step, advice, EvalContext::of_report(Some(report)))
            }
            // The model did not choose the last time. It may now.
            (None, None) => flow::onward(draft, mode, step, Some(report), None),
        };
    }
    if complete_found_parts::is_meant(step, command) {
        return complete_found_parts::take(draft, mode, step, command);
    }
    let part =
        open_parts::find_reported(draft.workflow, &draft.state, step, command.part.as_ref())?;
    if part.is_none() && command.terms.rigor == Rigor::Full {
        parts::check_whole(draft, step)?;
    }
    if part.is_none() && !parts::find_before_whole(draft, step)? {
        return Ok(Then::Stay);
    }
    let part_id = part.as_ref().map(|it| &it.id);
    lease::check(draft, step, part_id, command.holder.as_ref())?;
    change_context::apply(draft, &command.context)?;
    match report.outcome() {
        Outcome::Success => {
            due::check_none_due(draft)?;
            // A review that was reported before was counted then.
            let is_again = draft.state.progress(&step.name) == Progress::Rejected;
            let verdicts = if is_again { Verdicts::Counted } else { mode.verdicts };
            let mode = Mode { verdicts, ..mode };
            complete(draft, mode, step, part.as_ref(), (command, advice))
        }
        Outcome::Failure => fail(draft, mode, step, part.as_ref(), (command, advice)),
        Outcome::Open => {
            let (is_left, advice) = leave(draft, step, part.as_ref(), (command, advice))?;
            if is_left {
                due::check_none_due(draft)?;
                return complete(draft, mode, step, part.as_ref(), (command, advice));
            }
            let (name, part) = (step.name.clone(), part.map(|it| it.id));
            draft.push(Event::StepReported { step: name, part, report: report.clone() });
            if let Some(advice) = advice {
                ask_model::stay(draft, advice);
            }
            Ok(Then::Stay)
        }
    }
}

/// Whether a report that is neither success nor failure leaves the step all the same: the
/// definition has a way for just this report, the agent that decides names the next step, or the
/// model names another one. Also returns what the model said, if it was asked.
fn leave(
    draft: &mut Draft<'_>,
    step: &Step,
    part: Option<&PartSpec>,
    (command, advice): (&ReportStep, Option<Advice>),
) -> Result<(bool, Option<Advice>), Stop> {
    if draft.state.decider() == Decider::Declared {
        return Ok((route::find_by_report(draft, step, &command.report)?.is_some(), advice));
    }
    if command.next.is_some() || part.is_some() || !draft.has_model() {
        return Ok((command.next.is_some(), advice));
    }
    let advice = advice.map_or_else(|| ask_model::ask(draft, step, &command.report, None), Ok)?;
    Ok((advice.leaves(step), Some(advice)))
}

fn fail(
    draft: &mut Draft<'_>,
    mode: Mode,
    step: &Step,
    part: Option<&PartSpec>,
    (command, advice): (&ReportStep, Option<Advice>),
) -> Result<Then, Stop> {
    let report = &command.report;
    draft.push(Event::StepFailed {
        step: step.name.clone(),
        part: part.map(|it| it.id.clone()),
        reason: report.reason(),
        report: Some(report.clone()),
        cause: Some(FailCause::Report),
    });
    let is_again = |next: &String| {
        draft.workflow.find_step_loosely(next).is_some_and(|it| it.name == step.name)
    };
    let elsewhere = command.next.as_ref().filter(|next| !is_again(next));
    if let (Decider::Client | Decider::Ai, Some(next)) = (draft.state.decider(), elsewhere) {
        return route::choose(draft, mode, step, next, EvalContext::of_report(Some(report)));
    }
    if command.next.is_none() && part.is_none() && draft.has_model() {
        let advice = advice.map_or_else(|| ask_model::ask(draft, step, report, None), Ok)?;
        if advice.leaves(step) {
            let sight = EvalContext::of_report(Some(report));
            return ask_model::follow(draft, mode, step, advice, sight);
        }
        ask_model::stay(draft, advice);
        if draft.state.standing != Standing::Running {
            return Ok(Then::Stay);
        }
    }
    after_failure(draft, mode, step, part, report)
}

/// Where an attempt that came to nothing leads.
pub(super) fn after_failure(
    draft: &mut Draft<'_>,
    mode: Mode,
    step: &Step,
    part: Option<&PartSpec>,
    report: &Report,
) -> Result<Then, Stop> {
    let is_declared = draft.state.decider() == Decider::Declared;
    if is_declared
        && part.is_none()
        && let Some(then) = route::by_report(draft, mode, step, report)?
    {
        return Ok(then);
    }
    let part_id = part.map(|it| &it.id);
    let attempts = draft.state.effort(&step.name, part_id).map_or(0, |it| it.attempts);
    match &step.attempts {
        Some(allowed) if attempts < allowed.max => Ok(Then::Stay),
        Some(allowed) => spent(draft, step, part, (&allowed.then, report)),
        // The agent that decides may try again or go elsewhere; a part is tried again.
        None if part.is_some() || !is_declared => Ok(Then::Stay),
        None => match draft.workflow.guards().failure_step(&step.name) {
            Some(name) => Ok(Then::enter(name, None)),
            None => {
                let (reason, cause) = (report.reason(), Some(FailCause::Report));
                draft.push(Event::RunFailed { reason, step: None, cause });
                Ok(Then::Stay)
            }
        },
    }
}

fn spent(
    draft: &mut Draft<'_>,
    step: &Step,
    part: Option<&PartSpec>,
    (then, report): (&Spent, &Report),
) -> Result<Then, Stop> {
    let attempts = step.attempts.as_ref().map_or(0, |it| it.max);
    match then {
        Spent::Warn | Spent::Approve => {}
        Spent::Fail => {
            let last = report.reason();
            let reason = format!("step `{}` failed on its last attempt: {last}", step.name);
            let cause = Some(FailCause::AttemptsSpent);
            draft.push(Event::RunFailed { reason, step: None, cause });
        }
        Spent::Goto(target) => return Ok(Then::enter(target, None)),
        Spent::Ask => {
            let what = part.map_or(String::new(), |it| format!("part `{}` of ", it.id));
            let ask = format!(
                "The {attempts} allowed attempts at {what}step `{}` failed, the last with: {}. \
                 Try once more?",
                step.name,
                report.reason()
            );
            let options = vec![("retry", Effect::Approve), ("abandon", Effect::Cancel)];
            let part = part.map(|it| it.id.clone());
            gate::ask(draft, step, part, GateReason::AttemptsSpent, (ask, options))?;
        }
    }
    Ok(Then::Stay)
}
