//! Where a failed step may lead.

use alloc::string::String;

use definition::{Condition, Spent, Step, StepName, Successor, Target, Workflow};

use super::Violation;
use crate::{
    Outcome, Report, RunState,
    decide::{EvalContext, scope},
};

/// Refuses a failure that leads forward where no route is declared for it.
pub(super) fn check_failure(
    workflow: &Workflow,
    state: &RunState,
    (from, to): (StepName, StepName),
    report: &Report,
) -> Option<Violation> {
    let step = workflow.find_step(&from)?;
    let target = Target::Step(to.clone());
    let may_follow = may_follow_failure(workflow, state, step, (&target, report));
    (!may_follow).then_some(Violation::FailedForward { from, to })
}

/// Whether a failed step may lead to `target`: back, to the step that is there for failures, or where
/// a route is declared for just this failure.
pub(crate) fn may_follow_failure(
    workflow: &Workflow,
    state: &RunState,
    step: &Step,
    (target, report): (&Target, &Report),
) -> bool {
    let is_back = match target {
        Target::Step(to) => is_back(workflow, state, step, to),
        Target::Finish => false,
    };
    let is_for_failures = match target {
        Target::Step(to) => is_for_failures(workflow, step, to),
        Target::Finish => false,
    };
    let is_declared = |it: &Successor| {
        let is_for_failure = |it: &Condition| is_for_failure(workflow, state, it, report);
        it.to == *target && (it.fails || it.when.as_ref().is_some_and(is_for_failure))
    };
    is_back || is_for_failures || step.next.iter().any(is_declared)
}

/// Whether `to` is not ahead of a step, or the run was there before, on a way that did not need the
/// step.
fn is_back(workflow: &Workflow, state: &RunState, step: &Step, to: &StepName) -> bool {
    let entered_by = |name: &StepName| state.step(name).map_or(0, |it| it.entered_by);
    let was_there = 0 < entered_by(to) && entered_by(to) < entered_by(&step.name);
    step.name == *to
        || !workflow.is_ahead(&step.name, to)
        || was_there && !workflow.steps_before(to).contains(&&step.name)
}

/// Whether the definition leads failures of a step to another, whatever was reported.
pub(super) fn is_for_failures(workflow: &Workflow, step: &Step, to: &StepName) -> bool {
    let then = step.attempts.as_ref().map(|it| &it.then);
    workflow.guards().failure_step(&step.name) == Some(to)
        || then == Some(&Spent::Goto(to.clone()))
        || workflow.mentions_step(step, to)
}

/// Whether a condition holds for a report of failure, and would not if the report were of success.
pub(crate) fn is_for_failure(
    workflow: &Workflow,
    state: &RunState,
    condition: &Condition,
    report: &Report,
) -> bool {
    let success = Report { status: String::from("success"), ..report.clone() };
    let holds = |report: &Report| {
        let scope = scope(workflow, state, EvalContext::of_report(Some(report)));
        condition.evaluate(&scope).unwrap_or(false)
    };
    report.outcome() == Outcome::Failure && holds(report) && !holds(&success)
}
