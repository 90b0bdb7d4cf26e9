//! The work on a step or a part: begun, reported, judged and sent back.

use alloc::string::String;

use definition::{Finding, PartId, PartSpec, StepName};

use super::{
    effort::{effort_of, end_attempt, name_part, step_of},
    gate::{left_out, pass},
    trail::{lead, tell},
};
use crate::{
    Artifact, AttemptStatus, Choice, Entry, Judged, Lease, Noted, PartPlaced, Passage, Progress,
    Recorded, Report, Ruling, RunState, Seen, SkipCause, SkipReason, StepCompleted,
};

/// A step, and the part of it that an event is about.
type Place<'a> = (&'a StepName, Option<&'a PartId>);

/// The run comes to a step.
pub(super) fn enter(
    state: &mut RunState,
    recorded: &Recorded,
    step: &StepName,
    decision: Option<&Choice>,
) {
    state.reasoning = decision.and_then(|it| it.reasoning.clone());
    state.deferral = None;
    lead(state, step.as_str());
    state.is_work_done = false;
    state.stated = None;
    if let Some(before) = state.current.replace(step.clone()) {
        state.leases.retain(|(held, _), _| *held != before);
    }
    let entered = step_of(state, step);
    entered.visits += 1;
    entered.entered_at = Some(recorded.at);
    entered.entered_by = recorded.seq;
    entered.agreed = None;
    entered.passage = Passage::Owed;
    entered.ruling = None;
    entered.effort.await_attempt(recorded.steady);
    entered.effort.started_at = None;
}

/// An attempt begins.
pub(super) fn start(
    state: &mut RunState,
    recorded: &Recorded,
    (step, part): Place<'_>,
    (attempt, seen): (u32, &[Artifact]),
) {
    state.stated = None;
    let effort = effort_of(state, step, part);
    effort.await_attempt(recorded.steady);
    effort.attempts = attempt;
    effort.seen = seen.to_vec();
    effort.progress = Progress::Active;
    effort.started_at = Some(recorded.at);
}

/// An agent tells how far it is.
pub(super) fn report(state: &mut RunState, (step, part): Place<'_>, report: &Report) {
    effort_of(state, step, part).report = Some(report.clone());
    tell(state, step.as_str(), report);
}

/// The work is done.
pub(super) fn complete(state: &mut RunState, recorded: &Recorded, completed: &StepCompleted) {
    let StepCompleted { step, part, report, artifacts, git, .. } = completed;
    let effort = effort_of(state, step, part.as_ref());
    end_attempt(effort, Progress::Done, recorded);
    effort.report = Some(report.clone());
    effort.completed_by = Some(completed.completed_by());
    effort.git.clone_from(git);
    effort.failure = None;
    effort.feedback = None;
    effort.done_by = recorded.seq;
    effort.tell(recorded.seq, None);
    for artifact in artifacts {
        let seen = Seen { artifact: artifact.clone(), step: step.clone() };
        state.artifacts.insert_mut(artifact.path.clone(), seen);
    }
    state.leases.remove(&(step.clone(), part.clone()));
    tell(state, step.as_str(), report);
}

/// An attempt failed.
pub(super) fn fail(
    state: &mut RunState,
    recorded: &Recorded,
    (step, part): Place<'_>,
    (reason, report): (&str, Option<&Report>),
) {
    let effort = effort_of(state, step, part);
    end_attempt(effort, Progress::Ready, recorded);
    effort.failure = Some(String::from(reason));
    effort.trouble = AttemptStatus::Failed;
    effort.tell(recorded.seq, None);
    if let Some(report) = report {
        effort.report = Some(report.clone());
        tell(state, step.as_str(), report);
    }
    state.leases.remove(&(step.clone(), part.cloned()));
}

/// A step whose attempt failed is ready for another.
pub(super) fn retry(state: &mut RunState, recorded: &Recorded, step: &StepName) {
    let effort = effort_of(state, step, None);
    effort.await_attempt(recorded.steady);
    effort.trouble = AttemptStatus::Retried;
}

/// The work is left out.
pub(super) fn skip(
    state: &mut RunState,
    recorded: &Recorded,
    (step, part): Place<'_>,
    why: SkipReason,
) {
    if part.is_none() {
        let passage = left_out(state, step, why);
        pass(state, step, passage);
    }
    let effort = effort_of(state, step, part);
    effort.progress = Progress::Skipped;
    effort.skipped = recorded.event.skip_cause();
    effort.ended_at = Some(recorded.at);
    if effort.skipped != Some(SkipCause::NotMeant) {
        effort.tell(recorded.seq, None);
    }
    state.leases.remove(&(step.clone(), part.cloned()));
}

/// The work is to be done again.
pub(super) fn reopen(
    state: &mut RunState,
    recorded: &Recorded,
    (step, part): Place<'_>,
    feedback: &str,
) {
    state.is_work_done = false;
    let reopened = step_of(state, step);
    reopened.agreed = None;
    reopened.passage = Passage::Owed;
    let effort = effort_of(state, step, part);
    effort.await_attempt(recorded.steady);
    effort.reopened = recorded.event.reopen_cause();
    effort.answered = None;
    effort.judged.take_if(|it| it.is_passed);
    effort.tell(recorded.seq, None);
    if !feedback.is_empty() {
        effort.feedback = Some(String::from(feedback));
    }
}

/// A review `place` judged the work on step `of`.
pub(super) fn judge(
    state: &mut RunState,
    recorded: &Recorded,
    (step, part): Place<'_>,
    of: &StepName,
    (verdict, ruling, findings): (&str, Ruling, &[Finding]),
) {
    if ruling != Ruling::Approved {
        effort_of(state, of, part).revisions += 1;
    }
    step_of(state, step).ruling = Some(ruling);
    let judged = effort_of(state, step, part);
    judged.findings = findings.to_vec();
    let (verdict, by) = (String::from(verdict), recorded.seq);
    judged.judged = Some(Judged { verdict, is_passed: ruling == Ruling::Approved, by });
    judged.tell(recorded.seq, None);
    let is_passed = matches!(ruling, Ruling::Approved | Ruling::Promoted);
    if is_passed && judged.progress == Progress::Rejected {
        judged.progress = Progress::Done;
    }
    // A review that wants more is not done itself.
    if ruling == Ruling::Revised {
        judged.progress = Progress::Rejected;
    }
}

/// A part is said to be somewhere else than it is.
pub(super) fn place_part(state: &mut RunState, recorded: &Recorded, placed: &PartPlaced) {
    let effort = effort_of(state, &placed.step, Some(&placed.part));
    effort.progress = placed.progress.unwrap_or(effort.progress);
    effort.revisions = placed.revisions.unwrap_or(effort.revisions);
    effort.answered = effort.answered.filter(|_| effort.progress.is_settled());
    if placed.progress.is_some() || placed.verdict.is_some() {
        let is_passed = effort.progress != Progress::Rejected;
        let judged = |verdict| Judged { verdict, is_passed, by: recorded.seq };
        effort.judged = placed.verdict.clone().map(judged);
        effort.tell(recorded.seq, placed.progress);
    }
    name_part(state, placed);
}

/// Something is noted about a step.
pub(super) fn record(state: &mut RunState, recorded: &Recorded, step: &StepName, entry: &Entry) {
    let (seq, at) = (recorded.seq, recorded.at);
    spend(state, entry);
    if matches!(entry, Entry::Error { .. }) {
        state.error_count = state.error_count.saturating_add(1);
        let effort = effort_of(state, step, None);
        if effort.progress == Progress::Active {
            effort.trouble = AttemptStatus::Faulty;
        }
    }
    let noted = Noted { seq, at, step: step.clone(), entry: entry.clone() };
    state.entries.push_back_mut(noted);
}

/// Adds up what attempts took.
fn spend(state: &mut RunState, entry: &Entry) {
    let Entry::Usage { tokens, duration_ms, model } = entry else { return };
    let spent = state.usage.tokens.entry(model.clone()).or_default();
    *spent = spent.saturating_add(*tokens);
    state.usage.duration_ms = state.usage.duration_ms.saturating_add(*duration_ms);
}

/// A set of parts is known, or has to be planned again.
pub(super) fn plan(state: &mut RunState, set: &str, parts: &[PartSpec]) {
    if parts.is_empty() {
        state.parts.remove(set);
    } else {
        state.parts.insert(String::from(set), parts.to_vec());
    }
}

/// Someone holds a step or a part.
pub(super) fn hold(state: &mut RunState, recorded: &Recorded, lease: &Lease) {
    state.generation = lease.generation;
    // A lease lasts as long as it says, whatever the wall clock did when it was taken.
    let until = lease.until.translate(recorded.at, recorded.steady);
    let held = Lease { until, ..lease.clone() };
    state.leases.insert((lease.step.clone(), lease.part.clone()), held);
}
