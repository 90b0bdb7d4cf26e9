//! Where a run goes from a step.

use alloc::{
    format,
    string::{String, ToString as _},
    vec,
    vec::Vec,
};

use definition::{Choices, Decider, FINISH, Step, StepName, Successor, Target, Workflow};

use super::{Draft, EvalContext, gate, mode::Mode, react, scope, stretch, then::Then, waive_gate};
use crate::{Choice, Event, FailCause, Outcome, Refusal, Report, RunState, Stop, invariant};

/// A way out of a step.
struct Way<'a> {
    target: Target,
    by: Decider,
    reasoning: String,
    successor: Option<&'a Successor>,
}

/// Whether an agent has to choose what follows a step. Nobody has to where nothing but the end does, or
/// one other node in a run that goes on by itself, or where the agent decides only because there is no model, and the guidance leaves no choice.
pub(super) fn is_for_agent(draft: &Draft<'_>, step: &Step) -> bool {
    let workflow = draft.workflow;
    let is_stand_in = workflow.decider.is_none() && draft.state.decider() == Decider::Client;
    let is_plain = is_stand_in && step.next.is_empty();
    !has_only_end(workflow, step)
        && !has_one_way(draft, step)
        && (!is_plain || workflow.leaves_choice(step))
}

fn has_one_way(draft: &Draft<'_>, step: &Step) -> bool {
    let goes_on = draft.state.origin.as_ref().is_some_and(|it| it.goes_on);
    goes_on && step.next.len() == 1
}

fn has_only_end(workflow: &Workflow, step: &Step) -> bool {
    workflow.choices == Choices::Listed
        && !step.next.is_empty()
        && step.next.iter().all(|it| it.to == Target::Finish)
}

/// Goes where the definition says for this very report, if it says so: a condition on the report
/// holds.
pub(super) fn by_report(
    draft: &mut Draft<'_>,
    mode: Mode,
    step: &Step,
    report: &Report,
) -> Result<Option<Then>, Stop> {
    let sight = EvalContext::of_report(Some(report));
    let Some(successor) = find_by_report(draft, step, report)? else { return Ok(None) };
    follow(draft, mode, step, way_of(successor), sight).map(Some)
}

/// Returns the successor whose condition speaks of the report and holds.
pub(super) fn find_by_report<'s>(
    draft: &Draft<'_>,
    step: &'s Step,
    report: &Report,
) -> Result<Option<&'s Successor>, Refusal> {
    for successor in &step.next {
        let Some(condition) = &successor.when else { continue };
        let sight = EvalContext::of_report(Some(report));
        let is_meant = report.outcome() != Outcome::Failure
            || successor.fails
            || invariant::is_for_failure(draft.workflow, &draft.state, condition, report);
        if condition.mentions("report") && draft.holds(Some(condition), step, sight)? && is_meant {
            return Ok(Some(successor));
        }
    }
    Ok(None)
}

/// Goes to the step that the agent names, if it may follow.
pub(super) fn choose(
    draft: &mut Draft<'_>,
    mode: Mode,
    step: &Step,
    next: &str,
    sight: EvalContext<'_>,
) -> Result<Then, Stop> {
    let target = find_target(draft.workflow, next);
    let allowed = allowed(draft.workflow, &draft.state, step, sight);
    let Some(target) = target.filter(|target| allowed.contains(target)) else {
        return Err(not_allowed(step, next, &allowed).into());
    };
    let successor = step.next.iter().find(|it| it.to == target);
    let (by, reasoning) = (Decider::Client, String::from("the agent chose it"));
    follow(draft, mode, step, Way { target, by, reasoning, successor }, sight)
}

/// Refuses a step that can never follow, before anything is made of the report that names it. Which
/// of the others may follow now is judged once the work is taken in.
pub(super) fn check_named(
    draft: &Draft<'_>,
    step: &Step,
    next: &str,
    report: &Report,
) -> Result<(), Refusal> {
    let target = find_target(draft.workflow, next);
    let is_listed = step.next.iter().any(|it| Some(&it.to) == target.as_ref());
    // Where a person is asked first, nobody goes anywhere yet.
    if is_listed || step.gate.is_some() {
        return Ok(());
    }
    let sight = EvalContext::of_report(Some(report));
    let allowed = match draft.state.decider() {
        Decider::Declared if draft.is_lax() => return Ok(()),
        Decider::Declared => vec![find_declared(draft, step, sight)?.target],
        Decider::Client | Decider::Ai => allowed(draft.workflow, &draft.state, step, sight),
    };
    match target.filter(|it| allowed.contains(it)) {
        Some(_) => Ok(()),
        None => Err(not_allowed(step, next, &allowed)),
    }
}

/// Goes to the step that the agent names after work that was reported before.
pub(super) fn choose_late(
    draft: &mut Draft<'_>,
    mode: Mode,
    step: &Step,
    next: &str,
) -> Result<Then, Stop> {
    if gate::ask_current(draft)? {
        return Ok(Then::Stay);
    }
    let report = draft.state.step(&step.name).and_then(|it| it.effort.report.clone());
    choose(draft, mode, step, next, EvalContext::of_report(report.as_ref()))
}

/// Goes to the step that a language model chose, which may follow.
pub(super) fn advised(
    draft: &mut Draft<'_>,
    mode: Mode,
    step: &Step,
    (target, reasoning): (Target, String),
    sight: EvalContext<'_>,
) -> Result<Then, Stop> {
    let successor = step.next.iter().find(|it| it.to == target);
    follow(draft, mode, step, Way { target, by: Decider::Ai, reasoning, successor }, sight)
}

/// Returns the steps that an agent may choose from: those that `next` lists and whose condition
/// holds (else the step listed next), and the same step again; or all where `next` lists none.
pub(crate) fn allowed(
    workflow: &Workflow,
    state: &RunState,
    step: &Step,
    sight: EvalContext<'_>,
) -> Vec<Target> {
    let mut allowed = listed(workflow, state, step, sight);
    if let Some(report) = sight.report.filter(|it| it.outcome() == Outcome::Failure) {
        let again = Target::Step(step.name.clone());
        allowed.retain(|it| invariant::may_follow_failure(workflow, state, step, (it, report)));
        if !allowed.contains(&again) {
            allowed.push(again);
        }
    }
    // What is behind a gate is not to be chosen before the gate. Its own step opens it.
    let is_owed = |target: &Target| match target {
        Target::Step(to) => invariant::owed_before(workflow, state, to, None),
        Target::Finish => invariant::owed_before_end(workflow, state, &step.name, None),
    };
    let is_free = |target: &Target| is_owed(target).iter().all(|it| **it == step.name);
    allowed.retain(is_free);
    allowed
}

fn listed(
    workflow: &Workflow,
    state: &RunState,
    step: &Step,
    sight: EvalContext<'_>,
) -> Vec<Target> {
    if step.next.is_empty() {
        let steps = workflow.work_steps().map(|it| Target::Step(it.name.clone()));
        return steps.chain([Target::Finish]).collect();
    }
    let scope = scope(workflow, state, sight);
    // A condition that cannot be evaluated yet does not hold.
    let holds = |it: &&Successor| {
        it.when.as_ref().is_none_or(|when| when.evaluate(&scope).unwrap_or(false))
    };
    let mut allowed: Vec<Target> = step.next.iter().filter(holds).map(|it| it.to.clone()).collect();
    if allowed.is_empty() {
        let following = workflow.find_following(&step.name);
        allowed.push(following.map_or(Target::Finish, |it| Target::Step(it.name.clone())));
    }
    let again = Target::Step(step.name.clone());
    if workflow.choices == Choices::Open && !allowed.contains(&again) {
        allowed.push(again);
    }
    allowed
}

/// Returns the name of a target as tools show it.
pub fn target_name(target: &Target) -> &str {
    match target {
        Target::Step(step) => step.as_str(),
        Target::Finish => FINISH,
    }
}

/// Returns why nothing but a choice is taken while one is open.
pub(super) fn choice_open(draft: &Draft<'_>, step: &Step) -> Refusal {
    let report = draft.state.step(&step.name).and_then(|it| it.effort.report.as_ref());
    let allowed = allowed(draft.workflow, &draft.state, step, EvalContext::of_report(report));
    let choices = allowed.iter().map(|it| String::from(target_name(it))).collect();
    Refusal::ChoiceOpen { step: step.name.clone(), choices }
}

fn find_target(workflow: &Workflow, named: &str) -> Option<Target> {
    // A step that is called so, letter by letter, comes before a word that is only like it.
    if let Some(step) = workflow.work_steps().find(|it| it.name.as_str() == named) {
        return Some(Target::Step(step.name.clone()));
    }
    if StepName::parse(named).is_ok_and(|name| name.folded() == FINISH.to_lowercase()) {
        return Some(Target::Finish);
    }
    workflow.find_step_loosely(named).map(|step| Target::Step(step.name.clone()))
}

fn not_allowed(step: &Step, next: &str, allowed: &[Target]) -> Refusal {
    let allowed = allowed.iter().map(|it| target_name(it).to_string()).collect();
    Refusal::NextNotAllowed { step: step.name.clone(), next: next.to_string(), allowed }
}

/// Goes where the definition says, which is where an agent says if it says anything.
pub(super) fn declared(
    draft: &mut Draft<'_>,
    mode: Mode,
    step: &Step,
    next: Option<&str>,
    sight: EvalContext<'_>,
) -> Result<Then, Stop> {
    let declared = find_declared(draft, step, sight)?;
    let way = match next {
        Some(next) if find_target(draft.workflow, next).as_ref() != Some(&declared.target) => {
            out_of_order(draft, step, next, &declared.target)?
        }
        Some(_) | None => declared,
    };
    follow(draft, mode, step, way, sight)
}

/// Returns the way to a step that does not follow, where that is overlooked.
fn out_of_order<'s>(
    draft: &mut Draft<'_>,
    step: &Step,
    next: &str,
    declared: &Target,
) -> Result<Way<'s>, Stop> {
    let refusal = not_allowed(step, next, core::slice::from_ref(declared));
    let Some(to) = draft.workflow.find_step_loosely(next).filter(|_| draft.is_lax()) else {
        return Err(refusal.into());
    };
    waive_gate::before(draft, to)?;
    let (target, by) = (Target::Step(to.name.clone()), Decider::Client);
    Ok(Way { target, by, reasoning: format!("{refusal}; that is only a warning"), successor: None })
}

/// The first successor whose condition holds, else the step listed next.
fn find_declared<'s>(
    draft: &Draft<'_>,
    step: &'s Step,
    sight: EvalContext<'_>,
) -> Result<Way<'s>, Refusal> {
    for successor in &step.next {
        if draft.holds(successor.when.as_ref(), step, sight)? {
            return Ok(way_of(successor));
        }
    }
    let following = draft.workflow.find_following(&step.name);
    let target = following.map_or(Target::Finish, |it| Target::Step(it.name.clone()));
    let reasoning = format!("it is listed after `{}`", step.name);
    Ok(Way { target, by: Decider::Declared, reasoning, successor: None })
}

fn way_of(successor: &Successor) -> Way<'_> {
    let reasoning = match &successor.when {
        Some(condition) => format!("`{}` holds", condition.source()),
        None => String::from("the definition names it next"),
    };
    let (target, by) = (successor.to.clone(), Decider::Declared);
    Way { target, by, reasoning, successor: Some(successor) }
}

fn follow(
    draft: &mut Draft<'_>,
    mode: Mode,
    step: &Step,
    way: Way<'_>,
    sight: EvalContext<'_>,
) -> Result<Then, Stop> {
    if let Some(successor) = way.successor {
        react::react(draft, step, &successor.actions, sight)?;
    }
    let decision = Choice { by: way.by, reasoning: Some(way.reasoning) };
    if way.successor.is_some_and(|it| it.fails) {
        if let Target::Step(step) = way.target {
            draft.push(Event::StepEntered { step, decision: Some(decision) });
        }
        let reason = sight
            .report
            .map_or_else(|| format!("step `{}` leads to failure", step.name), Report::reason);
        let cause = Some(FailCause::Route);
        draft.push(Event::RunFailed { reason, step: None, cause });
        return Ok(Then::Stay);
    }
    match stretch::confine(draft, step, way.target, mode.at_end)? {
        (Target::Step(step), _) => Ok(Then::enter(&step, Some(decision))),
        (Target::Finish, at_end) => {
            stretch::end(draft, at_end);
            Ok(Then::Stay)
        }
    }
}
