//! An agent comes back with a belief about where the run is. The run knows better, and says so.

use alloc::{
    format,
    string::{String, ToString as _},
};

use definition::Step;

use super::{
    Draft, NAME_BYTES_MAX, ask_model, change_context, check_size, end_run, flow, lease, mode::Mode,
    report_step,
};
use crate::{ContextChange, Event, Outcome, ReportStep, ResumeRun, Standing, Stop};

/// How the believed step lies to the one that the run is at.
enum Belief {
    Same,
    Earlier,
    Later,
    Unknown,
}

pub(super) fn decide(draft: &mut Draft<'_>, mode: Mode, resume: &ResumeRun) -> Result<(), Stop> {
    check_size("the assumed step", resume.assumed.len(), NAME_BYTES_MAX)?;
    draft.check_report(&resume.report.report)?;
    if let Standing::Waiting(gate) = &draft.state.standing {
        let reasoning = format!("the run waits for a person at `{}`", gate.step);
        return record(draft, resume, reasoning);
    }
    draft.check_running()?;
    let step = draft.current()?;
    let asks_model = draft.has_model() && resume.report.next.is_none() && step.each.is_none();
    if draft.state.awaits_choice() && resume.report.next.is_none() && !asks_model {
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
    if asks_model {
        return reconcile(draft, mode, step, resume, is_taken);
    }
    if !is_taken {
        return record(draft, resume, reasoning);
    }
    push(draft, resume, reasoning);
    let mut command: ReportStep = resume.report.clone();
    command.report.step_id = step.name.to_string();
    let then = report_step::take(draft, mode, step, (&command, None))?;
    flow::run(draft, mode, then)
}

/// Has a language model say where the agent is to go on. Where its word cannot be had, the rule
/// counts that holds without one.
fn reconcile(
    draft: &mut Draft<'_>,
    mode: Mode,
    step: &Step,
    resume: &ResumeRun,
    is_taken: bool,
) -> Result<(), Stop> {
    let belief = compare(draft, step, &resume.assumed);
    lease::check(draft, step, None, resume.report.holder.as_ref())?;
    push(draft, resume, describe(&belief, &resume.assumed, step));
    change_context::apply(draft, &resume.report.context)?;
    let advice = ask_model::ask(draft, step, &resume.report.report, Some(&resume.assumed))?;
    let is_away = advice.to == ask_model::Way::Open;
    let is_kept = !advice.leaves(step) && !draft.state.awaits_choice();
    if is_kept && !(is_away && is_taken) {
        ask_model::stay(draft, advice);
        return Ok(());
    }
    // The context is changed already, and the model has had the last word on it.
    let mut command = ReportStep { context: ContextChange::default(), ..resume.report.clone() };
    command.report.step_id = step.name.to_string();
    let then = report_step::take(draft, mode, step, (&command, Some(advice)))?;
    flow::run(draft, mode, then)
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

/// How the belief lies to where the run is.
fn describe(belief: &Belief, assumed: &str, current: &Step) -> String {
    let current = &current.name;
    match belief {
        Belief::Same => format!("both stand at `{current}`"),
        Belief::Earlier => format!("`{assumed}` lies before `{current}`, where the run is"),
        Belief::Later => format!("`{assumed}` lies after `{current}`, where the run is"),
        Belief::Unknown => {
            format!("the workflow has no step `{assumed}`; the run is at `{current}`")
        }
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
