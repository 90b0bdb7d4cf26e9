//! An agent comes back with a belief about where the run is. The run knows better, and says so.

use alloc::{
    format,
    string::{String, ToString as _},
};

use definition::Step;

use super::{Draft, change_context, end_run, report_step};
use crate::{Event, Outcome, ReportStep, ResumeRun, Stop};

/// How the believed step lies to the one that the run is at.
enum Belief {
    Same,
    Earlier,
    Later,
    Unknown,
}

pub(super) fn decide(draft: &mut Draft<'_>, resume: &ResumeRun) -> Result<(), Stop> {
    draft.check_running()?;
    let step = draft.current()?;
    end_run::accept_drift(draft, resume.force)?;
    let belief = compare(draft, step, &resume.assumed);
    let outcome = resume.report.report.outcome();
    let is_taken = match (&belief, outcome) {
        (Belief::Same, Outcome::Success | Outcome::Failure) | (Belief::Later, Outcome::Success) => {
            true
        }
        (Belief::Same | Belief::Later, _) | (Belief::Earlier | Belief::Unknown, _) => false,
    };
    let reasoning = explain(&belief, &resume.assumed, step, is_taken);
    draft.push(Event::RunResumed {
        assumed: resume.assumed.clone(),
        report: resume.report.report.clone(),
        reasoning,
    });
    if !is_taken {
        return Ok(change_context::apply(draft, &resume.report.context)?);
    }
    let mut command: ReportStep = resume.report.clone();
    command.report.step_id = step.name.to_string();
    report_step::take(draft, step, &command)
}

fn compare(draft: &Draft<'_>, current: &Step, assumed: &str) -> Belief {
    let place = |step: &Step| draft.workflow.steps.iter().position(|it| it.name == step.name);
    let Some(believed) = draft.workflow.find_step_loosely(assumed) else { return Belief::Unknown };
    match place(believed).cmp(&place(current)) {
        core::cmp::Ordering::Equal => Belief::Same,
        core::cmp::Ordering::Less => Belief::Earlier,
        core::cmp::Ordering::Greater => Belief::Later,
    }
}

fn explain(belief: &Belief, assumed: &str, current: &Step, is_taken: bool) -> String {
    let current = &current.name;
    match (belief, is_taken) {
        (Belief::Same, true) => format!("both stand at `{current}`; the report is taken"),
        (Belief::Same, false) => format!("both stand at `{current}`; go on with it"),
        (Belief::Earlier, _) => {
            format!("`{assumed}` lies before `{current}`, where the run is; do not do it again")
        }
        (Belief::Later, true) => {
            format!("`{assumed}` lies after `{current}`, which is taken as done")
        }
        (Belief::Later, false) => {
            format!("`{assumed}` lies after `{current}`, which is not done yet")
        }
        (Belief::Unknown, _) => {
            format!("the workflow has no step `{assumed}`; the run is at `{current}`")
        }
    }
}
