//! An agent comes back with a belief about where the run is. The run knows better, and says so.

use alloc::{
    format,
    string::{String, ToString as _},
};

use definition::Step;

use super::{Draft, NAME_BYTES_MAX, change_context, check_size, end_run, report_step};
use crate::{Event, Outcome, ReportStep, ResumeRun, Standing, Stop};

/// How the believed step lies to the one that the run is at.
enum Belief {
    Same,
    Earlier,
    Later,
    Unknown,
}

pub(super) fn decide(draft: &mut Draft<'_>, resume: &ResumeRun) -> Result<(), Stop> {
    check_size("the assumed step", resume.assumed.len(), NAME_BYTES_MAX)?;
    report_step::check_report(draft, &resume.report.report)?;
    if let Standing::Waiting(gate) = &draft.state.standing {
        let reasoning = format!("the run waits for a person at `{}`", gate.step);
        return record(draft, resume, reasoning);
    }
    draft.check_running()?;
    let step = draft.current()?;
    if draft.state.awaits_choice() && resume.report.next.is_none() {
        let reasoning = format!("`{}` is done, and the next step is to be chosen", step.name);
        return record(draft, resume, reasoning);
    }
    end_run::accept_drift(draft, resume.force)?;
    let belief = compare(draft, step, &resume.assumed);
    let outcome = resume.report.report.outcome();
    let is_taken = match (&belief, outcome) {
        (Belief::Same, Outcome::Success | Outcome::Failure) | (Belief::Later, Outcome::Success) => {
            true
        }
        (Belief::Same | Belief::Later | Belief::Earlier | Belief::Unknown, _) => {
            draft.state.awaits_choice()
        }
    };
    let reasoning = explain(&belief, &resume.assumed, step, is_taken);
    if !is_taken {
        return record(draft, resume, reasoning);
    }
    push(draft, resume, reasoning);
    let mut command: ReportStep = resume.report.clone();
    command.report.step_id = step.name.to_string();
    report_step::take(draft, step, &command)
}

/// Notes that the agent came back, and takes nothing of its report but the context.
fn record(draft: &mut Draft<'_>, resume: &ResumeRun, reasoning: String) -> Result<(), Stop> {
    push(draft, resume, reasoning);
    Ok(change_context::apply(draft, &resume.report.context)?)
}

fn push(draft: &mut Draft<'_>, resume: &ResumeRun, reasoning: String) {
    draft.push(Event::RunResumed {
        assumed: resume.assumed.clone(),
        report: resume.report.report.clone(),
        reasoning,
    });
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
