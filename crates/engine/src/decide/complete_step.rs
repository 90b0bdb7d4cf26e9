//! Work that is done is taken in: its guards are checked, a review is judged by, and the run goes on.

use alloc::{string::String, vec::Vec};

use definition::{PartSpec, Step};

use super::{
    Draft, EvalContext, ask_model, ask_model::Advice, files, flow, gate, left_out, mode::Mode,
    parts, react, review, review::Judged, route, rulebook, then::Then, verdict,
};
use crate::{Artifact, Event, ReopenCause, ReportStep, Rigor, StepCompleted, Stop, guard};

/// Completes the current step, or a part of it, if its guards let it be left. A language model may
/// have said what comes next.
pub(super) fn complete(
    draft: &mut Draft<'_>,
    mode: Mode,
    step: &Step,
    part: Option<&PartSpec>,
    (command, advice): (&ReportStep, Option<Advice>),
) -> Result<Then, Stop> {
    if let Some(next) = command.next.as_deref().filter(|_| part.is_none()) {
        guard::check_evidence(draft, step, &command.report)?;
        route::check_named(draft, step, next, &command.report)?;
    }
    if let Judged::Moved(then) = finish(draft, mode, step, part, command)? {
        return Ok(then);
    }
    if part.is_some() {
        return flow::settle_parts(draft, mode, step);
    }
    let report = &command.report;
    let Some(advice) = advice.filter(|_| command.next.is_none() && draft.has_model()) else {
        return flow::after_work(draft, mode, step, report, command.next.as_deref());
    };
    if gate::open(draft, step, report)? {
        return Ok(Then::Stay);
    }
    ask_model::follow(draft, mode, step, advice, EvalContext::of_report(Some(report)))
}

/// Takes work in that is done, and what a review says. Nothing follows from it yet.
pub(super) fn finish(
    draft: &mut Draft<'_>,
    mode: Mode,
    step: &Step,
    part: Option<&PartSpec>,
    command: &ReportStep,
) -> Result<Judged, Stop> {
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
        return Ok(Judged::Moved(Then::Stay));
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
            by: Some(mode.by),
        }
        .into(),
    ));
    // Those of a part go with the report on it.
    if step.each.is_none() || part.is_some() {
        react::react(draft, step, &step.on.done, EvalContext::of_part(part))?;
    }
    parts::forget(draft, &changed)?;
    if !is_judged {
        return Ok(Judged::Passed);
    }
    match rulebook::judge(draft, mode, step)? {
        Judged::Passed => review::judge(draft, mode, step, part, report),
        moved @ Judged::Moved(_) => Ok(moved),
    }
}

/// Returns the files that are not what they were when a step left them last.
fn find_changed(draft: &Draft<'_>, artifacts: &[Artifact]) -> Vec<String> {
    let is_changed = |it: &&Artifact| {
        draft.state.artifacts.get(&it.path).is_some_and(|seen| seen.artifact != **it)
    };
    artifacts.iter().filter(is_changed).map(|it| it.path.clone()).collect()
}
