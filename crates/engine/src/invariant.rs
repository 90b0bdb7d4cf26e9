//! What holds of every run, whatever moved it: it is past a gate only if that gate was answered in a
//! way that counts, and a failure leads forward only along a route that is declared for failures.
//!
//! A property of a definition and a log. [`crate::decide`] compares the run before and after each
//! decision by it; [`audit`] runs the same check over a stored history.
//!
//! Everything that an agent says (an answer that it passes on, a step that it leaves out, a jump by
//! force, a file, a value at the start) counts as much as an answer that it passes on, and no more.

mod approval;
mod failure;

use alloc::{format, string::String, vec::Vec};

use definition::{Answers, Condition, Gate, PartId, PartSpec, Step, StepName, Workflow};

use crate::{
    AttemptStatus, Event, GateReason, How, Progress, Recorded, Refusal, Report, RunId, RunState,
    Standing, Surface,
    decide::{EvalContext, open_parts, scope},
    evolve,
};
pub(crate) use approval::about;
use approval::counts;
use failure::{check_failure, is_for_failures};
pub(crate) use failure::{is_for_failure, may_follow_failure};

/// What must never be true of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Violation {
    /// The run is past a gate without an answer that counts.
    GateOwed {
        gate: StepName,
        /// Where the run is.
        at: StepName,
        /// Whether only a person's own answer counts there.
        is_personal: bool,
    },
    /// The run was completed before a gate that leads to its end.
    EndedEarly { gate: StepName, is_personal: bool },
    /// A part for a person is settled, or its step left, without their answer.
    PartOwed { step: StepName, part: PartId },
    /// A fanned-out step was completed as a whole before its parts were known, so that nobody could
    /// see whether one is for a person.
    PartsUnknown { step: StepName },
    /// A step with parts that may be for a person was neither done nor left out.
    PartsLeft { step: StepName },
    /// A failed step led forward, although no route is declared for its failure.
    FailedForward { from: StepName, to: StepName },
}

/// A violation in a stored history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The event by which it came about.
    pub seq: u64,
    pub violation: Violation,
}

impl Violation {
    /// Returns a stable name.
    pub fn code(&self) -> &'static str {
        match self {
            Self::GateOwed { .. } => "gate_owed",
            Self::EndedEarly { .. } => "ended_early",
            Self::PartOwed { .. } => "part_owed",
            Self::PartsUnknown { .. } => "parts_unknown",
            Self::PartsLeft { .. } => "parts_left",
            Self::FailedForward { .. } => "failed_forward",
        }
    }

    /// Returns what is wrong, in a line.
    pub fn describe(&self) -> String {
        match self {
            Self::GateOwed { gate, at, .. } => {
                format!(
                    "the run reached `{at}` without an answer that counts at the gate of `{gate}`"
                )
            }
            Self::EndedEarly { gate, .. } => {
                format!(
                    "the run was completed without an answer that counts at the gate of `{gate}`"
                )
            }
            Self::PartOwed { step, part } => {
                format!("part `{part}` of `{step}` is for a person, who did not answer")
            }
            Self::PartsUnknown { step } => {
                format!("`{step}` was completed before its parts were known")
            }
            Self::PartsLeft { step } => {
                format!("the run is past `{step}`, whose parts may be for a person")
            }
            Self::FailedForward { from, to } => {
                format!("a failure of `{from}` led forward to `{to}`")
            }
        }
    }

    /// Returns how a decision is refused that would have led from `before` to this.
    pub(crate) fn refusal(self, before: &RunState) -> Refusal {
        match self {
            Self::GateOwed { gate, is_personal: true, .. }
            | Self::EndedEarly { gate, is_personal: true } => {
                let is_asked = before.asks_at(&gate, None);
                Refusal::GateNeedsPerson { step: gate, is_asked, is_begun: true }
            }
            Self::PartOwed { step, part } => {
                let is_asked = before.asks_at(&step, Some(&part));
                Refusal::PartNeedsPerson { step, part, is_asked, is_begun: true }
            }
            Self::GateOwed { gate, at, is_personal: false } => {
                Refusal::GateNotAsked { step: gate, to: at }
            }
            Self::EndedEarly { gate, is_personal: false } => {
                Refusal::StepsOpen { open: [gate].into() }
            }
            Self::PartsUnknown { step } => Refusal::PartsUnknown { step },
            Self::PartsLeft { step } => Refusal::StepsOpen { open: [step].into() },
            Self::FailedForward { from, to } => Refusal::FailedForward { from, to },
        }
    }
}

/// Follows a decision event by event.
#[derive(Debug, Clone, Default)]
pub(crate) struct Watch {
    /// The step that failed in this decision and has led nowhere yet.
    failed: Option<(StepName, Report)>,
    /// The first violation.
    pub(crate) violation: Option<Violation>,
}

impl Watch {
    /// Whether the run as it is before the next event is needed.
    pub(crate) fn has_failure(&self) -> bool {
        self.failed.is_some()
    }

    /// Looks at an event. `last` is the run just before it, if [`Watch::has_failure`] holds.
    #[expect(clippy::wildcard_enum_match_arm, reason = "only work and failures are judged")]
    pub(crate) fn see(
        &mut self,
        workflow: &Workflow,
        (before, last, after): (&RunState, Option<&RunState>, &RunState),
        event: &Event,
        gates: Option<Answers>,
    ) {
        let violation = match event {
            Event::StepFailed { step, part: None, report, .. } => {
                let report = report.clone().unwrap_or_else(|| Report::failure(step, ""));
                self.failed = Some((step.clone(), report));
                check_rest(workflow, before, after, gates).err()
            }
            Event::StepEntered { step: to, .. } => {
                let failed = self.failed.take().zip(last);
                failed.and_then(|((from, report), last)| {
                    check_failure(workflow, last, (from, to.clone()), &report)
                })
            }
            Event::StepCompleted(completed) => {
                self.failed = None;
                let whole = Some(&completed.step).filter(|_| completed.part.is_none());
                let unknown = whole.and_then(|it| find_unknown_parts(workflow, after, it, gates));
                unknown.or_else(|| check_rest(workflow, before, after, gates).err())
            }
            Event::StepStarted { .. } | Event::StepFailed { .. } | Event::RunCompleted { .. } => {
                self.failed = None;
                check_rest(workflow, before, after, gates).err()
            }
            _ => None,
        };
        self.violation = self.violation.take().or(violation);
    }
}

/// Returns that the parts of a step are not known that is completed as a whole, where one may be for
/// a person.
fn find_unknown_parts(
    workflow: &Workflow,
    state: &RunState,
    step: &StepName,
    gates: Option<Answers>,
) -> Option<Violation> {
    let found = workflow.find_step(step).filter(|_| asks_person(workflow, gates))?;
    let is_known =
        open_parts::is_planned(state, found) || is_left_out_for_sure(workflow, state, found);
    (!is_known).then(|| Violation::PartsUnknown { step: step.clone() })
}

/// Returns the first violation in how a decision leaves the run.
pub(crate) fn check_rest(
    workflow: &Workflow,
    before: &RunState,
    after: &RunState,
    gates: Option<Answers>,
) -> Result<(), Violation> {
    check_parts(workflow, before, after, gates)?;
    // Where a file says that the work is, its parts are not known yet.
    if before.standing != Standing::New {
        let left = jumped(workflow, before, gates);
        let mut jumped = jumped(workflow, after, gates).into_iter();
        if let Some(step) = jumped.find(|it| !left.contains(it)) {
            return Err(Violation::PartsLeft { step: step.clone() });
        }
    }
    let held = owed(workflow, before, gates);
    let Some(gate) = owed(workflow, after, gates).into_iter().find(|it| !held.contains(it)) else {
        return Ok(());
    };
    let is_personal = workflow
        .find_step(gate)
        .and_then(|it| it.gate.as_ref())
        .is_some_and(|it| is_personal(workflow, it, gates));
    Err(match (&after.standing, after.current.clone()) {
        (Standing::Completed, _) | (_, None) => {
            Violation::EndedEarly { gate: gate.clone(), is_personal }
        }
        (_, Some(at)) => Violation::GateOwed { gate: gate.clone(), at, is_personal },
    })
}

/// Returns the steps with parts that may be for a person, which a run has neither done nor left out
/// and is past all the same.
fn jumped<'a>(
    workflow: &'a Workflow,
    state: &RunState,
    gates: Option<Answers>,
) -> Vec<&'a StepName> {
    let is_over = state.standing == Standing::Completed && state.ended_elsewhere.is_none();
    let at = match (&state.standing, &state.current) {
        (Standing::Running | Standing::Waiting(_), Some(at)) => Some(at),
        _ if is_over && !is_until(workflow, state) => None,
        _ => return Vec::new(),
    };
    if !asks_person(workflow, gates) {
        return Vec::new();
    }
    let is_jumped = |it: &&StepName| {
        let is_open = !state.progress(it).is_settled();
        is_open
            && workflow.find_step(it).is_some_and(|it| !is_left_out_for_sure(workflow, state, it))
    };
    workflow.guards().fan_outs_before(at).filter(is_jumped).collect()
}

fn check_parts(
    workflow: &Workflow,
    before: &RunState,
    after: &RunState,
    gates: Option<Answers>,
) -> Result<(), Violation> {
    let owed = owed_parts(workflow, after, gates);
    if owed.is_empty() {
        return Ok(());
    }
    let held = owed_parts(workflow, before, gates);
    match owed.into_iter().find(|it| !held.contains(it)) {
        Some((step, part)) => Err(Violation::PartOwed { step: step.clone(), part }),
        None => Ok(()),
    }
}

/// Returns the parts for a person that are settled, or that the run has left behind, without an
/// answer that counts.
pub(crate) fn owed_parts<'a>(
    workflow: &'a Workflow,
    state: &RunState,
    gates: Option<Answers>,
) -> Vec<(&'a StepName, PartId)> {
    let is_new = state.standing == Standing::New;
    let is_over = state.standing == Standing::Completed;
    let is_over_elsewhere = is_over && state.ended_elsewhere.is_some();
    if is_new || is_over_elsewhere || !asks_person(workflow, gates) {
        return Vec::new();
    }
    let mut owed = Vec::new();
    for step in workflow.work_steps() {
        let is_personal = |it: &&PartSpec| open_parts::is_personal(workflow, state, step, it);
        let mut personal = state.parts_of(step).iter().filter(is_personal).peekable();
        if personal.peek().is_none() {
            continue;
        }
        let current = state.current.as_ref();
        // A failure leads to the step that is there for it, and to no other.
        let is_detour = has_failed(state, step)
            && current.is_some_and(|it| is_for_failures(workflow, step, it));
        let is_passed = !is_detour && current.is_some_and(|it| workflow.is_ahead(&step.name, it));
        let is_left = is_over || is_passed || state.progress(&step.name).is_settled();
        let is_settled = |it: &&PartSpec| state.part_progress(&step.name, &it.id).is_settled();
        let settled: Vec<&PartSpec> = state.parts_of(step).iter().filter(is_settled).collect();
        let is_owed = |it: &&PartSpec| {
            let effort = state.effort(&step.name, Some(&it.id));
            let progress = effort.map(|it| it.progress).unwrap_or_default();
            let is_left_out = || is_part_left_out_for_sure(workflow, state, step, it);
            let is_answered = effort.and_then(|it| it.answered) == Some(How::Verified);
            let is_passed = settled.iter().any(|other| other.after.contains(&it.id));
            (is_left || is_passed || progress.is_settled())
                && !is_answered
                && !(progress == Progress::Skipped && is_left_out())
        };
        owed.extend(personal.filter(is_owed).map(|it| (&step.name, it.id.clone())));
    }
    owed
}

/// Whether only a person's own answer settles a part that is for one.
pub(crate) fn asks_person(workflow: &Workflow, gates: Option<Answers>) -> bool {
    gates == Some(Answers::Verified) || workflow.answers == Answers::Verified
}

/// Returns the gates that a run is past without an answer that counts, in the order of their steps.
/// None while it asks for one of them: it goes no further until it has all.
pub(crate) fn owed<'a>(
    workflow: &'a Workflow,
    state: &RunState,
    gates: Option<Answers>,
) -> Vec<&'a StepName> {
    let guards = workflow.guards();
    if guards.all().is_empty() {
        return Vec::new();
    }
    let is_due = |it: &&StepName| !counts(workflow, state, it, gates);
    match &state.standing {
        // A run that does not go on is past nothing. Going on with it is checked then.
        Standing::New | Standing::Failed { .. } | Standing::Cancelled { .. } => Vec::new(),
        Standing::Completed if state.ended_elsewhere.is_some() => Vec::new(),
        Standing::Completed if is_until(workflow, state) => {
            let own = state.current.iter().flat_map(|it| guards.before(it));
            own.filter(is_due).collect()
        }
        Standing::Completed => guards.before_end(state.current.as_ref()).filter(is_due).collect(),
        Standing::Waiting(open) if open.why == GateReason::Owed => Vec::new(),
        Standing::Running | Standing::Waiting(_) => {
            let before = state.current.iter().flat_map(|it| guards.before(it));
            before.filter(is_due).collect()
        }
    }
}

/// Returns the gates before `to` without an answer that counts.
pub(crate) fn owed_before<'a>(
    workflow: &'a Workflow,
    state: &RunState,
    to: &StepName,
    gates: Option<Answers>,
) -> Vec<&'a StepName> {
    let before = workflow.guards().before(to);
    before.filter(|it| !counts(workflow, state, it, gates)).collect()
}

/// Returns the gates without an answer that counts that a run must pass to be completed at `from`.
pub(crate) fn owed_before_end<'a>(
    workflow: &'a Workflow,
    state: &RunState,
    from: &StepName,
    gates: Option<Answers>,
) -> Vec<&'a StepName> {
    let before = workflow.guards().before_end(Some(from));
    before.filter(|it| !counts(workflow, state, it, gates)).collect()
}

/// Whether only a person's own answer counts at a gate.
pub(crate) fn is_personal(workflow: &Workflow, gate: &Gate, gates: Option<Answers>) -> bool {
    let own = gate.answers.unwrap_or(workflow.answers);
    gates == Some(Answers::Verified) || own == Answers::Verified
}

/// Returns the step at whose gate only a person's own answer counts: the one that a run waits at, has
/// passed without such an answer, or works on now.
#[must_use]
pub fn find_personal<'a>(
    workflow: &'a Workflow,
    state: &RunState,
    gates: Option<Answers>,
) -> Option<&'a StepName> {
    let has_personal = |step: &&Step| {
        let gate = step.gate.as_ref().filter(|it| is_personal(workflow, it, gates));
        gate.is_some() && !counts(workflow, state, &step.name, gates)
    };
    if let Some(open) = state.standing.open_gate() {
        let step = workflow.find_step(&open.step).filter(|_| open.is_personal());
        return step.map(|it| &it.name);
    }
    let owed = owed(workflow, state, gates);
    let steps = owed.into_iter().chain(state.current.as_ref());
    steps.filter_map(|it| workflow.find_step(it)).find(has_personal).map(|it| &it.name)
}

/// Whether a condition looks at nothing that a caller can set.
pub(crate) fn is_fixed(condition: Option<&Condition>) -> bool {
    condition.is_some_and(|it| it.mentions_only(&["settings"]))
}

/// Whether a definition leaves a step out for a reason that no caller can set.
pub(crate) fn is_left_out_for_sure(workflow: &Workflow, state: &RunState, step: &Step) -> bool {
    let flow = state.flow().filter(|it| workflow.flow.as_deref() == Some(*it));
    let skips = flow.and_then(|it| workflow.flows.get(it)).map(|it| &it.skips);
    let is_always = |it: &Condition| {
        let scope = scope(workflow, state, EvalContext::default());
        is_fixed(Some(it)) && it.evaluate(&scope).unwrap_or(false)
    };
    skips.is_some_and(|it| it.contains(&step.name))
        || step.skip_when.as_ref().is_some_and(is_always)
}

/// Whether a definition leaves a part out of a step for a reason that no caller can set.
pub(crate) fn is_part_left_out_for_sure(
    workflow: &Workflow,
    state: &RunState,
    step: &Step,
    part: &PartSpec,
) -> bool {
    let only = step.each.as_ref().and_then(|it| it.only.as_ref());
    let only = only.filter(|it| it.mentions_only(&["settings", "part"]));
    only.is_some_and(|it| {
        let scope = scope(workflow, state, EvalContext::of_part(Some(part)));
        !it.evaluate(&scope).unwrap_or(true)
    })
}

/// Whether a run was to end at the step where it is.
fn is_until(workflow: &Workflow, state: &RunState) -> bool {
    let Some(until) = &workflow.stretch.until else { return false };
    let named = until.evaluate(&scope(workflow, state, EvalContext::default()));
    let named = named.ok().and_then(|it| it.as_str().map(String::from));
    let named = named.filter(|it| !it.is_empty());
    named.is_some() && named.as_deref() == state.current.as_ref().map(StepName::as_str)
}

/// Whether the last attempt at a step, or at a part of it, failed.
fn has_failed(state: &RunState, step: &Step) -> bool {
    let has_failed = |part: Option<&PartId>| {
        let effort = state.effort(&step.name, part);
        effort.is_some_and(|it| it.trouble == AttemptStatus::Failed)
    };
    has_failed(None) || state.parts_of(step).iter().any(|it| has_failed(Some(&it.id)))
}

/// Returns every violation in a stored history.
///
/// The run is compared before and after each decision. What a copy has from its original may be half
/// of a decision, and what was imported nobody decided here: both are judged as if they began where
/// the run was taken over.
pub fn audit(
    workflow: &Workflow,
    run: RunId,
    log: &[Recorded],
    gates: Option<Answers>,
) -> Vec<Found> {
    let mut state = RunState::new(run);
    let mut found = Vec::new();
    let is_imported = |it: &Recorded| it.by.surface == Surface::Import;
    let imported = log.iter().take_while(|it| is_imported(it)).count();
    let (imported, own) = log.split_at(imported);
    state = imported.iter().fold(state, evolve);
    if let (Some(last), []) = (imported.last(), own) {
        let rest = check_rest(workflow, &RunState::new(run), &state, gates).err();
        found.extend(rest.map(|violation| Found { seq: last.seq, violation }));
    }
    let is_fork = |it: &Recorded| matches!(it.event, Event::RunForked { .. });
    let mut decisions = own.chunk_by(Recorded::is_together).enumerate().peekable();
    while let Some((place, decision)) = decisions.next() {
        let is_copied = decision.iter().any(is_fork);
        let is_taken = is_copied || place == 0;
        let before = if is_taken { RunState::new(run) } else { state.clone() };
        let mut watch = Watch::default();
        for recorded in decision {
            let last = watch.has_failure().then(|| state.clone());
            state = evolve(state, recorded);
            watch.see(workflow, (&before, last.as_ref(), &state), &recorded.event, gates);
            let violation = watch.violation.take();
            found.extend(violation.map(|violation| Found { seq: recorded.seq, violation }));
        }
        let is_cut = decisions.peek().and_then(|(_, it)| it.first()).is_some_and(is_fork);
        if is_cut {
            continue;
        }
        let seq = decision.last().map_or(0, |it| it.seq);
        let rest = check_rest(workflow, &before, &state, gates).err();
        let is_new = |it: &Violation| found.last().is_none_or(|last: &Found| last.violation != *it);
        found.extend(rest.filter(is_new).map(|violation| Found { seq, violation }));
    }
    found
}
