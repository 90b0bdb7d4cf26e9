//! What must hold before a step may be left. One file a guard.
//!
//! Guards go by what the server saw itself, never by what an agent claims; the one exception is
//! evidence, which is a claim by nature and stored as one.

mod checks;
mod criteria;
mod needs;
mod produces;

use alloc::{string::String, vec::Vec};

use definition::{Evidence, Form, PartSpec, Step, StepName, Workflow};

use crate::{
    Artifact, CheckRun, Git, Known, Refusal, Report, ReportStep, Rigor, RunState, Stop,
    decide::Draft,
};

pub(crate) use needs::check as check_needs;
pub(crate) use produces::{check as check_products, find_files};

/// What the server saw while it checked.
#[derive(Debug, Default)]
pub(crate) struct Verified {
    pub(crate) artifacts: Vec<Artifact>,
    pub(crate) checks: Vec<CheckRun>,
    pub(crate) git: Option<Git>,
    pub(crate) warnings: Vec<String>,
}

/// Refuses to call a step done that nobody reported, where evidence is insisted on for each criterion
/// and `state` has none.
pub(crate) fn check_unreported(
    known: &Known,
    state: &RunState,
    step: &Step,
) -> Result<(), Refusal> {
    let policy = known.policy.evidence.unwrap_or(step.evidence);
    if policy != Evidence::Strict || state.progress(&step.name).is_settled() {
        return Ok(());
    }
    let kept = state.effort(&step.name, None).and_then(|it| it.report.clone());
    criteria::check(step, &kept.unwrap_or_default(), known.policy.evidence).map(drop)
}

/// The same for every step of a graph that no run can leave out on its way to `to`. The nodes of a graph
/// have no order of their own.
pub(crate) fn check_left_behind(
    known: &Known,
    workflow: &Workflow,
    state: &RunState,
    to: &StepName,
) -> Result<(), Refusal> {
    if workflow.form != Form::Graph {
        return Ok(());
    }
    let before = workflow.steps_before(to);
    let steps = before.into_iter().filter_map(|it| workflow.find_step(it));
    steps.into_iter().try_for_each(|it| check_unreported(known, state, it))
}

/// Returns what to warn of in the evidence that a report gives.
pub(crate) fn check_evidence(
    draft: &Draft<'_>,
    step: &Step,
    report: &Report,
) -> Result<Vec<String>, Refusal> {
    criteria::check(step, report, draft.known.policy.evidence)
}

/// Returns what was seen, or which guard does not hold.
pub(crate) fn check(
    draft: &Draft<'_>,
    step: &Step,
    part: Option<&PartSpec>,
    command: &ReportStep,
) -> Result<Verified, Stop> {
    let rigor = command.terms.rigor;
    // What the report itself lacks comes first: after that, the same report is good once the files are.
    let warnings = check_evidence(draft, step, &command.report)?;
    if rigor == Rigor::Full {
        needs::check(draft, step, part)?;
    }
    let artifacts = produces::check(draft, step, part, rigor)?;
    if rigor == Rigor::Presence {
        return Ok(Verified { artifacts, warnings, ..Verified::default() });
    }
    let checks = checks::check(draft, step)?;
    // Asking git costs a process, so it is asked only where files matter.
    let is_watched = !step.produces.is_empty() || !step.checks.is_empty();
    let git = if is_watched { draft.known.git()?.cloned() } else { None };
    Ok(Verified { artifacts, checks, git, warnings })
}
