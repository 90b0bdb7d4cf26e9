//! An agent says how a step went: it is done, it failed, or it goes on.

use alloc::{format, string::String, vec, vec::Vec};

use definition::{Decider, Effect, PartSpec, Spent, Step, Target};

use super::{
    Draft, EvalContext, answer_gate, ask_model,
    ask_model::Advice,
    change_context, complete_found_parts, due, enter, fail_step, files, gate, lease, left_out,
    mode::{Mode, Source, Verdicts},
    parts, review, route, rulebook, verdict,
};
use crate::{
    Answer, AnswerGate, Artifact, CompletedBy, Consent, Event, FailCause, GateReason, How, Outcome,
    Progress, ReopenCause, Report, ReportStep, Rigor, Standing, StepCompleted, Stop, guard,
};

pub(super) fn decide(draft: &mut Draft<'_>, mode: Mode, command: &ReportStep) -> Result<(), Stop> {
    let mode = Mode { at_end: command.terms.end, ..mode };
    let has_consent = match command.terms.consent {
        Consent::None => false,
        Consent::Implied => draft.state.sent_back().is_none(),
        Consent::Stated => true,
    };
    if has_consent {
        pass_on(draft, mode, &command.report.step_id, GateReason::Early)?;
        // The work was reported before, and only the consent is new.
        if pass_on(draft, mode, &command.report.step_id, GateReason::Gate)? {
            return Ok(());
        }
    }
    draft.check_running()?;
    enter::pass_left_out(draft, mode, &command.report.step_id)?;
    let step = draft.current_named(&command.report.step_id)?;
    if command.terms.is_begun && !draft.state.awaits_choice() {
        fail_step::check_begun(draft, step)?;
    }
    take(draft, mode, step, (command, None))?;
    // Where only a person's own answer counts, the run waits for it.
    if has_consent && is_relayed(draft) {
        pass_on(draft, mode, &command.report.step_id, GateReason::Gate)?;
        if let Some(next) = command.next.as_deref().filter(|_| draft.state.awaits_choice()) {
            let step = draft.current()?;
            return route::choose_late(draft, mode, step, next);
        }
    }
    Ok(())
}

/// Passes the person's consent on to the gate of the step, if it is open for this reason. Returns
/// whether it is.
fn pass_on(draft: &mut Draft<'_>, mode: Mode, named: &str, why: GateReason) -> Result<bool, Stop> {
    let Standing::Waiting(open) = &draft.state.standing else { return Ok(false) };
    let named = draft.workflow.find_step_loosely(named);
    if open.why != why || named.is_none_or(|it| it.name != open.step) {
        return Ok(false);
    }
    let answer = AnswerGate {
        answer: Answer::Approve,
        feedback: String::new(),
        by: String::from("the agent"),
        how: How::Relayed,
        digest: None,
    };
    answer_gate::decide(draft, mode, &answer)?;
    Ok(true)
}

fn is_relayed(draft: &Draft<'_>) -> bool {
    let open = draft.state.standing.open_gate();
    open.is_some_and(|it| !it.is_personal())
}

/// A report that completes a step.
pub(super) struct Taken<'a> {
    pub(super) by: CompletedBy,
    pub(super) command: &'a ReportStep,
    /// What a language model said to it, if it was asked already.
    pub(super) advice: Option<Advice>,
}

/// Who completes a step that is reported, or found to be done.
pub(super) fn completed_by(mode: Mode) -> CompletedBy {
    match mode.source {
        Source::Reported => CompletedBy::Report,
        Source::Found => CompletedBy::FoundReview,
    }
}

/// Takes a report on the current step, and what a language model said to it, if it was asked
/// already.
pub(super) fn take(
    draft: &mut Draft<'_>,
    mode: Mode,
    step: &Step,
    (command, advice): (&ReportStep, Option<Advice>),
) -> Result<(), Stop> {
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
            (None, None) => route::onward(draft, mode, step, Some(report), None),
        };
    }
    if complete_found_parts::is_meant(step, command) {
        return complete_found_parts::take(draft, mode, step, command);
    }
    let part = parts::find_reported(draft, step, command.part.as_ref())?;
    if part.is_none() && command.terms.rigor == Rigor::Full {
        parts::check_whole(draft, step)?;
    }
    let part_id = part.as_ref().map(|it| &it.id);
    lease::check(draft, step, part_id, command.holder.as_ref())?;
    change_context::apply(draft, &command.context)?;
    let by = completed_by(mode);
    match report.outcome() {
        Outcome::Success => {
            due::check_none_due(draft)?;
            // A review that was reported before was counted then.
            let is_again = draft.state.progress(&step.name) == Progress::Rejected;
            let verdicts = if is_again { Verdicts::Counted } else { mode.verdicts };
            let mode = Mode { verdicts, ..mode };
            complete(draft, mode, step, part.as_ref(), Taken { by, command, advice })
        }
        Outcome::Failure => fail(draft, mode, step, part.as_ref(), (command, advice)),
        Outcome::Open => match leave(draft, step, part.as_ref(), (command, advice))? {
            Leaving::Yes(advice) => {
                due::check_none_due(draft)?;
                complete(draft, mode, step, part.as_ref(), Taken { by, command, advice })
            }
            Leaving::No(advice) => {
                let (name, part) = (step.name.clone(), part.map(|it| it.id));
                draft.push(Event::StepReported { step: name, part, report: report.clone() });
                advice.map_or(Ok(()), |advice| ask_model::stay(draft, advice))
            }
        },
    }
}

/// Whether a step is left, and what a language model said to that, if it was asked.
enum Leaving {
    No(Option<Advice>),
    Yes(Option<Advice>),
}

/// Whether a report that is neither success nor failure leaves the step all the same: the
/// definition has a way for just this report, the agent that decides names the next step, or the
/// model names another one.
fn leave(
    draft: &mut Draft<'_>,
    step: &Step,
    part: Option<&PartSpec>,
    (command, advice): (&ReportStep, Option<Advice>),
) -> Result<Leaving, Stop> {
    let is_left = if draft.state.decider() == Decider::Declared {
        route::find_by_report(draft, step, &command.report)?.is_some()
    } else if command.next.is_some() || part.is_some() || !draft.has_model() {
        command.next.is_some()
    } else {
        let advice = match advice {
            Some(advice) => advice,
            None => ask_model::ask(draft, step, &command.report, None)?,
        };
        let is_left = advice.leaves(step);
        let advice = Some(advice);
        return Ok(if is_left { Leaving::Yes(advice) } else { Leaving::No(advice) });
    };
    Ok(if is_left { Leaving::Yes(advice) } else { Leaving::No(advice) })
}

/// Completes the current step, or a part of it, if its guards let it be left.
pub(super) fn complete(
    draft: &mut Draft<'_>,
    mode: Mode,
    step: &Step,
    part: Option<&PartSpec>,
    taken: Taken<'_>,
) -> Result<(), Stop> {
    let Taken { by, command, advice } = taken;
    if finish(draft, mode, step, part, (by, command))? == review::Judged::Moved {
        return Ok(());
    }
    if part.is_some() {
        return parts::settle(draft, mode, step);
    }
    let report = &command.report;
    let Some(advice) = advice.filter(|_| command.next.is_none() && draft.has_model()) else {
        return enter::after_work(draft, mode, step, report, command.next.as_deref());
    };
    if gate::open(draft, step, report)? {
        return Ok(());
    }
    ask_model::follow(draft, mode, step, advice, EvalContext::of_report(Some(report)))
}

/// Takes work in that is done, and what a review says. Nothing follows from it yet.
pub(super) fn finish(
    draft: &mut Draft<'_>,
    mode: Mode,
    step: &Step,
    part: Option<&PartSpec>,
    (by, command): (CompletedBy, &ReportStep),
) -> Result<review::Judged, Stop> {
    let report = &command.report;
    let is_left_out =
        command.terms.rigor == Rigor::Presence && left_out::find_skip(draft, step)?.is_some();
    let seen = if is_left_out {
        guard::Verified::default()
    } else {
        guard::check(draft, step, part, command)?
    };
    let is_judged = command.terms.rigor == Rigor::Full;
    if is_judged && let Some(path) = verdict::find_stale(draft, step, part)? {
        files::remove(draft, path)?;
        let (step, part) = (step.name.clone(), part.map(|it| it.id.clone()));
        let (feedback, cause) = (String::new(), Some(ReopenCause::ReviewStale));
        draft.push(Event::StepReopened { step, part, feedback, cause });
        return Ok(review::Judged::Moved);
    }
    let changed = find_changed(draft, &seen.artifacts);
    draft.push(Event::StepCompleted(
        StepCompleted {
            step: step.name.clone(),
            part: part.map(|it| it.id.clone()),
            report: report.clone(),
            artifacts: seen.artifacts,
            checks: seen.checks,
            git: seen.git,
            warnings: seen.warnings,
            by: Some(by),
        }
        .into(),
    ));
    // Those of a part go with the report on it.
    if step.each.is_none() || part.is_some() {
        files::drop(draft, step, part, &step.drops)?;
    }
    if let Some(each) = step.each.as_ref().filter(|_| part.is_some()) {
        change_context::assign(draft, step, &each.set, EvalContext::of_part(part))?;
    }
    parts::forget(draft, &changed)?;
    if !is_judged {
        return Ok(review::Judged::Passed);
    }
    if rulebook::judge(draft, mode, step)? == review::Judged::Moved {
        return Ok(review::Judged::Moved);
    }
    review::judge(draft, mode, step, part, report)
}

/// Returns the files that are not what they were when a step left them last.
fn find_changed(draft: &Draft<'_>, artifacts: &[Artifact]) -> Vec<String> {
    let is_changed = |it: &&Artifact| {
        draft.state.artifacts.get(&it.path).is_some_and(|seen| seen.artifact != **it)
    };
    artifacts.iter().filter(is_changed).map(|it| it.path.clone()).collect()
}

fn fail(
    draft: &mut Draft<'_>,
    mode: Mode,
    step: &Step,
    part: Option<&PartSpec>,
    (command, advice): (&ReportStep, Option<Advice>),
) -> Result<(), Stop> {
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
        let advice = match advice {
            Some(advice) => advice,
            None => ask_model::ask(draft, step, report, None)?,
        };
        if advice.leaves(step) {
            return ask_model::follow(
                draft,
                mode,
                step,
                advice,
                EvalContext::of_report(Some(report)),
            );
        }
        ask_model::stay(draft, advice)?;
        if draft.state.standing != Standing::Running {
            return Ok(());
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
) -> Result<(), Stop> {
    let is_declared = draft.state.decider() == Decider::Declared;
    if is_declared && part.is_none() && route::by_report(draft, mode, step, report)? {
        return Ok(());
    }
    let part_id = part.map(|it| &it.id);
    let attempts = draft.state.effort(&step.name, part_id).map_or(0, |it| it.attempts);
    match &step.attempts {
        Some(allowed) if attempts < allowed.max => Ok(()),
        Some(allowed) => spent(draft, mode, step, part, (&allowed.then, report)),
        // The agent that decides may try again or go elsewhere; a part is tried again.
        None if part.is_some() || !is_declared => Ok(()),
        None => match draft.workflow.guards().failure_step(&step.name) {
            Some(name) => enter::enter(draft, mode, Target::Step(name.clone()), None),
            None => {
                let (reason, cause) = (report.reason(), Some(FailCause::Report));
                draft.push(Event::RunFailed { reason, step: None, cause });
                Ok(())
            }
        },
    }
}

fn spent(
    draft: &mut Draft<'_>,
    mode: Mode,
    step: &Step,
    part: Option<&PartSpec>,
    (then, report): (&Spent, &Report),
) -> Result<(), Stop> {
    let attempts = step.attempts.as_ref().map_or(0, |it| it.max);
    match then {
        Spent::Warn | Spent::Approve => Ok(()),
        Spent::Fail => {
            let last = report.reason();
            let reason = format!("step `{}` failed on its last attempt: {last}", step.name);
            let cause = Some(FailCause::AttemptsSpent);
            draft.push(Event::RunFailed { reason, step: None, cause });
            Ok(())
        }
        Spent::Goto(target) => enter::enter(draft, mode, Target::Step(target.clone()), None),
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
            gate::ask(draft, step, part, GateReason::AttemptsSpent, (ask, options))
        }
    }
}
