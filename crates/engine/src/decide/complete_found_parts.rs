//! A report on a fanned-out step that names no part: the parts whose files are there are done.

use alloc::string::String;

use definition::{PartSpec, Step, Whole};

use super::{
    Draft, EvalContext, change_context, complete_step, flow, lease, mode::Mode, open_parts, parts,
    review::Judged, then::Then, verdict,
};
use crate::{
    CompletedBy, Event, FileFact, Outcome, Progress, Refusal, ReopenCause, ReportStep, Rigor,
    Standing, Stop, guard,
};

/// Whether a report is one on whatever is there.
pub(super) fn is_meant(step: &Step, command: &ReportStep) -> bool {
    let whole = step.each.as_ref().map(|it| it.whole);
    command.part.is_none()
        && whole == Some(Whole::Found)
        && command.terms.rigor == Rigor::Full
        && command.report.outcome() == Outcome::Success
}

pub(super) fn take(
    draft: &mut Draft<'_>,
    mode: Mode,
    step: &Step,
    command: &ReportStep,
) -> Result<Then, Stop> {
    lease::check(draft, step, None, command.holder.as_ref())?;
    change_context::apply(draft, &command.context)?;
    if !open_parts::is_planned(&draft.state, step) {
        parts::plan(draft, step)?;
        if draft.state.standing != Standing::Running {
            return Ok(Then::Stay);
        }
        if !open_parts::is_planned(&draft.state, step) {
            return Err(nothing(draft, step).into());
        }
        return flow::settle_parts(draft, mode, step);
    }
    let before = draft.mark();
    miss(draft, step)?;
    let mut is_any = false;
    let mut open = open_parts::open(&draft.state, step);
    open.retain(|it| !open_parts::is_personal(draft.workflow, &draft.state, step, it));
    let has_given_out = open.iter().any(|it| is_begun(draft, step, it));
    for part in open {
        let files = guard::find_files(draft, step, Some(&part))?;
        let is_there = !files.is_empty() && files.iter().all(|(_, is_there)| *is_there);
        if has_given_out && is_untouched(draft, step, &part, &files)? {
            continue;
        }
        // Anyone who only goes on has not said that a review is as it must be.
        if !is_there
            || (mode.by == CompletedBy::FoundReview
                && !verdict::is_given(draft, step, Some(&part))?)
        {
            continue;
        }
        is_any = true;
        let judged = complete_step::finish(draft, mode, step, Some(&part), command)?;
        if let Judged::Moved(then) = judged {
            flow::run(draft, mode, then)?;
            if draft.state.standing != Standing::Running {
                return Ok(Then::Stay);
            }
        }
    }
    // A report that finds nothing is none, unless it found that something is gone.
    let is_rejected =
        |it: &PartSpec| draft.state.part_progress(&step.name, &it.id) == Progress::Rejected;
    let has_rejected = draft.state.parts_of(step).iter().any(is_rejected);
    if !is_any && !has_rejected && !draft.has_moved(before) {
        return Err(nothing(draft, step).into());
    }
    flow::settle_parts(draft, mode, step)
}

fn is_begun(draft: &Draft<'_>, step: &Step, part: &PartSpec) -> bool {
    draft.state.part_progress(&step.name, &part.id) == Progress::Active
}

/// Whether a part is to be done again, and was neither given out since nor changed by anyone: its
/// files are those of the time before.
fn is_untouched(
    draft: &Draft<'_>,
    step: &Step,
    part: &PartSpec,
    files: &[(String, bool)],
) -> Result<bool, Stop> {
    if is_begun(draft, step, part) {
        return Ok(false);
    }
    for (path, _) in files {
        let seen = draft.state.artifacts.get(path).map(|it| &it.artifact.sha256);
        let FileFact::Present { sha256, .. } = draft.file(path)? else { return Ok(false) };
        if seen != Some(sha256) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Work whose file is gone is not done.
fn miss(draft: &mut Draft<'_>, step: &Step) -> Result<(), Stop> {
    for part in draft.state.parts_of(step).to_vec() {
        let only = step.each.as_ref().and_then(|it| it.only.as_ref());
        let is_meant = draft.holds(only, step, EvalContext::of_part(Some(&part)))?;
        if !is_meant || draft.state.part_progress(&step.name, &part.id) != Progress::Done {
            continue;
        }
        let files = guard::find_files(draft, step, Some(&part))?;
        if let Some((path, _)) = files.into_iter().find(|(_, is_there)| !is_there) {
            let feedback = alloc::format!("`{path}` is gone");
            let (step, part) = (step.name.clone(), Some(part.id));
            let cause = Some(ReopenCause::FileGone { path });
            draft.push(Event::StepReopened { step, part, feedback, cause });
        }
    }
    Ok(())
}

/// Says which file is missed first.
fn nothing(draft: &Draft<'_>, step: &Step) -> Refusal {
    let part = open_parts::open(&draft.state, step).into_iter().next();
    let promised = crate::find_promised(draft.workflow, &draft.state, step, part.as_ref());
    let starter = crate::find_starter(draft.workflow, &draft.state, step).map(|(path, _)| path);
    let path = starter.or_else(|| promised.into_iter().next()).unwrap_or_default();
    Refusal::ArtifactMissing { step: step.name.clone(), path }
}
