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

/// Whether a failed step may lead to `target`: the same step or one that is listed before it, the
/// step that is there for failures, or where a route is declared for just this failure.
pub(crate) fn may_follow_failure(
    workflow: &Workflow,
    state: &RunState,
    step: &Step,
    (target, report): (&Target, &Report),
) -> bool {
    let place = |name: &StepName| workflow.steps.iter().position(|it| it.name == *name);
    let is_back = match target {
        Target::Step(to) => place(to) <= place(&step.name),
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
