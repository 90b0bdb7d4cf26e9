//! A gate opens: what is asked, what is shown, and the digest that an answer is bound to.

use alloc::{
    string::{String, ToString as _},
    vec::Vec,
};

use definition::{
    Answers, Condition, Digest, Effect, Gate, GateOption, Hasher, PartId, Step, StepName, Workflow,
};

use super::{Draft, EvalContext, condition_failed, left_out, scope, verdict};
use crate::{
    Artifact, CompletedBy, Event, FileFact, GateReason, How, OpenGate, Refusal, Report, Ruling,
    RunState, SkipReason, Standing, StepCompleted, Stop, guard, invariant,
};

/// Why work is done that nobody reported.
pub(super) const APPROVED: (CompletedBy, &str) = (CompletedBy::Approved, "it was approved");

/// Opens the gate of `step`, if it has one and it is not passed by its own condition. Returns
/// whether the run waits now.
pub(super) fn open(draft: &mut Draft<'_>, step: &Step, report: &Report) -> Result<bool, Stop> {
    let Some(gate) = &step.gate else { return Ok(false) };
    let sight = EvalContext::of_report(Some(report));
    let scope = scope(draft.workflow, &draft.state, sight);
    let fails = |error| condition_failed(step, &error);
    let ask = gate.ask.render(&scope).map_err(fails)?;
    let artifacts = shown(draft, step, gate)?;
    let is_held = match &gate.holds {
        Some(holds) => holds.evaluate(&scope).map_err(fails)?,
        None => false,
    };
    if !is_held && was_agreed(draft, step, &ask, &artifacts) {
        return Ok(false);
    }
    let may_pass = !is_personal(draft, gate) || invariant::is_fixed(gate.unless.as_ref());
    let is_automatic = match &gate.unless {
        Some(unless) => may_pass && !is_held && unless.evaluate(&scope).map_err(fails)?,
        None => false,
    };
    let is_automatic = is_automatic && is_reviewed(draft, gate)?;
    if is_automatic {
        let digest = digest(&draft.state, step, None, &ask, &artifacts);
        answer_by_condition(draft, step, gate, digest);
        return Ok(false);
    }
    let why = GateReason::Gate;
    let asked = Asked {
        part: None,
        beside: Vec::new(),
        why,
        ask,
        options: gate.options.clone(),
        artifacts,
    };
    push(draft, step, asked, gate.answers);
    Ok(true)
}

/// Whether the review that a gate goes by approved or was overruled, or there is none.
pub(super) fn is_reviewed(draft: &Draft<'_>, gate: &Gate) -> Result<bool, Stop> {
    let review = gate.reviewed.as_ref().and_then(|it| draft.workflow.find_step(it));
    let Some(step) = review else { return Ok(true) };
    let ruling = draft.state.step(&step.name).and_then(|it| it.ruling);
    let is_passed = matches!(ruling, Some(Ruling::Approved | Ruling::Promoted));
    Ok(is_passed || verdict::is_approved(draft, step)?)
}

/// Refuses to go on from `step` while its gate holds the run back.
pub(super) fn check_free(draft: &Draft<'_>, step: &Step) -> Result<(), Refusal> {
    let Some(holds) = step.gate.as_ref().and_then(|it| it.holds.as_ref()) else { return Ok(()) };
    if draft.holds(Some(holds), step, EvalContext::default())? {
        let condition = holds.source().to_string();
        return Err(Refusal::GateHeld { step: step.name.clone(), condition });
    }
    Ok(())
}

/// Whether only a person's own answer counts at a gate, asked or not.
pub(super) fn is_personal(draft: &Draft<'_>, gate: &Gate) -> bool {
    invariant::is_personal(draft.workflow, gate, draft.known.gates)
}

pub(super) fn needs_person(draft: &Draft<'_>, step: &Step) -> Refusal {
    let is_asked = draft.before.asks_at(&step.name, None);
    Refusal::GateNeedsPerson { step: step.name.clone(), is_asked, is_begun: true }
}

/// The gate lets the run pass by its own condition.
pub(super) fn answer_by_condition(draft: &mut Draft<'_>, step: &Step, gate: &Gate, digest: Digest) {
    let unless = gate.unless.as_ref().map(Condition::source).unwrap_or_default();
    draft.push(Event::GateAnswered {
        step: step.name.clone(),
        part: None,
        answer: approving(&gate.options),
        how: How::Automatic,
        by: alloc::format!("`{unless}` holds"),
        feedback: String::new(),
        digest,
        is_implied: false,
    });
}

/// Asks at the first gate that the run is past without an answer that counts. Returns whether there
/// is one.
pub(super) fn ask_owed(draft: &mut Draft<'_>) -> Result<bool, Stop> {
    if draft.state.standing != Standing::Running {
        return Ok(false);
    }
    let owed = invariant::owed(draft.workflow, &draft.state, draft.known.gates);
    let Some(step) = owed.first().and_then(|it| draft.workflow.find_step(it)) else {
        return Ok(false);
    };
    ask_now(draft, step, GateReason::Owed)?;
    Ok(true)
}

/// Asks again at the gate of the current step, if it was approved and what was approved is not what
/// is there now. Returns whether it does.
pub(super) fn ask_current(draft: &mut Draft<'_>) -> Result<bool, Stop> {
    let step = draft.current()?;
    let is_passed = draft.state.awaits_choice() && is_changed(draft, step)?;
    if is_passed {
        ask_done(draft, step)?;
    }
    Ok(is_passed)
}

/// Whether what was approved at the gate of a step is not what is there now.
pub(super) fn is_changed(draft: &Draft<'_>, step: &Step) -> Result<bool, Stop> {
    let approved = draft.state.step(&step.name).map(|it| it.approved.as_slice());
    let approved = approved.unwrap_or_default();
    let paths = || approved.iter().map(|it| it.path.as_str());
    draft.known.need_files(paths())?;
    Ok(draft.artifacts(paths())? != approved)
}

/// Asks again at the gates that a copy of a run has passed, where what was approved is not what is
/// there now. Returns whether there are any.
pub(super) fn ask_changed(draft: &mut Draft<'_>, among: Among) -> Result<bool, Stop> {
    if draft.current().is_ok() && among == Among::All && ask_current(draft)? {
        return Ok(true);
    }
    let current = draft.current().ok().map(|it| &it.name);
    let gates = current.into_iter().flat_map(|it| draft.workflow.guards().before(it));
    let gates: Vec<&Step> = gates.filter_map(|it| draft.workflow.find_step(it)).collect();
    let mut changed = Vec::new();
    for step in gates {
        let is_meant = match (among, &step.gate) {
            (Among::All, _) => true,
            (Among::Personal, gate) => gate.as_ref().is_some_and(|it| is_personal(draft, it)),
        };
        if is_meant && is_changed(draft, step)? {
            changed.push(step);
        }
    }
    // The first is asked last, so that it is the one that is open.
    for step in changed.iter().rev() {
        ask_now(draft, step, GateReason::Owed)?;
    }
    Ok(!changed.is_empty())
}

/// Returns the last gate before `step` that only a person passes and that shows a file, if that file
/// is not the one that they approved. A file that was not there then and says what the definition has
/// it say, `own`, is the one they approved.
pub(super) fn find_replaced<'a>(
    draft: &Draft<'a>,
    step: &StepName,
    (path, own): (&str, Option<&str>),
) -> Result<Option<&'a Step>, Stop> {
    let gates = draft.workflow.guards().before(step);
    let gates: Vec<&Step> = gates.filter_map(|it| draft.workflow.find_step(it)).collect();
    for step in gates.into_iter().rev() {
        let Some(gate) = step.gate.as_ref().filter(|it| is_personal(draft, it)) else { continue };
        let approved = draft.state.step(&step.name).map(|it| it.approved.as_slice());
        let approved = approved.unwrap_or_default().iter().find(|it| it.path == path);
        if approved.is_none()
            && !paths_of(draft.workflow, &draft.state, step, gate)?.iter().any(|it| it == path)
        {
            continue;
        }
        let is_own =
            approved.is_none() && own.is_some() && text_of(draft, path)? == own.map(str::trim);
        let is_replaced = !is_own && draft.artifacts([path].into_iter())?.first() != approved;
        return Ok(is_replaced.then_some(step));
    }
    Ok(None)
}

/// Whether a gate before `step` that only a person passes shows a file.
pub(super) fn shows(draft: &Draft<'_>, step: &StepName, path: &str) -> Result<bool, Refusal> {
    for name in draft.workflow.guards().before(step) {
        let Some(step) = draft.workflow.find_step(name) else { continue };
        let Some(gate) = step.gate.as_ref().filter(|it| is_personal(draft, it)) else { continue };
        let approved = draft.state.step(name).map(|it| it.approved.as_slice()).unwrap_or_default();
        if approved.iter().any(|it| it.path == path)
            || paths_of(draft.workflow, &draft.state, step, gate)?.iter().any(|it| it == path)
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns what a file says, without the space around it.
fn text_of<'a>(draft: &'a Draft<'_>, path: &str) -> Result<Option<&'a str>, Stop> {
    match draft.file(path)? {
        FileFact::Present { text, .. } => Ok(text.as_deref().map(str::trim)),
        FileFact::Missing | FileFact::Unreadable(_) => Ok(None),
    }
}

/// Asks again what a person is being asked, if it reads otherwise by now or the step was tried again:
/// an answer counts for what it was given to.
pub(super) fn ask_reworded(draft: &mut Draft<'_>) -> Result<(), Stop> {
    let Some(now) = draft.state.standing.open_gate().cloned() else { return Ok(()) };
    let Some(step) = draft.workflow.find_step(&now.step) else { return Ok(()) };
    let is_own = now.why.is_own() && now.part.is_none() && step.gate.is_some();
    let ask = if is_own { ask_of(draft, step)? } else { now.ask.clone() };
    let digest = digest(&draft.state, step, now.part.as_ref(), &ask, &now.artifacts);
    if digest == now.digest {
        return Ok(());
    }
    draft.push(Event::GateWithdrawn { step: step.name.clone() });
    if is_own {
        return ask_now(draft, step, now.why);
    }
    Ok(ask_again(draft, now)?)
}

/// Which gates are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Among {
    All,
    /// Those at which only a person's own answer counts.
    Personal,
}

/// Refuses to leave a question behind that only a person's own answer ends. `is_any`: also the one
/// of a step's own gate, which is owed wherever the run goes.
pub(super) fn check_dismissible(draft: &Draft<'_>, is_any: bool) -> Result<(), Refusal> {
    let Standing::Waiting(open) = &draft.state.standing else { return Ok(()) };
    let is_held = is_any || !matches!(open.why, GateReason::Gate | GateReason::Early);
    if is_held && open.is_personal() {
        return Err(refusal(open));
    }
    Ok(())
}

/// Whether a step that is left out has a gate that must be answered all the same: it holds the run
/// back, or only a person's own answer counts there and a caller may have set what leaves it out.
pub(super) fn is_due_anyway(draft: &Draft<'_>, step: &Step) -> bool {
    if check_free(draft, step).is_err() {
        return true;
    }
    let is_guarding = draft.workflow.guards().all().iter().any(|it| it.gate == step.name);
    let gate = step.gate.as_ref().filter(|_| is_guarding);
    gate.is_some_and(|it| is_personal(draft, it))
        && !invariant::is_left_out_for_sure(draft.workflow, &draft.state, step)
}

/// Returns what the gate of a step asks.
pub(super) fn ask_of(draft: &Draft<'_>, step: &Step) -> Result<String, Refusal> {
    let Some(gate) = &step.gate else { return Ok(String::new()) };
    let scope = scope(draft.workflow, &draft.state, EvalContext::default());
    gate.ask.render(&scope).map_err(|error| condition_failed(step, &error))
}

/// Work that the run goes on from although nobody reported it is done.
pub(super) fn settle_work(
    draft: &mut Draft<'_>,
    step: &Step,
    (by, message): (CompletedBy, &str),
) -> Result<(), Refusal> {
    if draft.state.progress(&step.name).is_settled() {
        return Ok(());
    }
    if let Some(skip) = left_out::find_skip(draft, step)? {
        draft.push(skip.event(step, SkipReason::Person));
    } else {
        guard::check_unreported(draft.known, &draft.state, step)?;
        let report = Report::passed(&step.name, message);
        let completed = StepCompleted::unseen(step.name.clone(), None, report, by);
        draft.push(Event::StepCompleted(completed.into()));
    }
    Ok(())
}

/// Whether a person agreed to just this before the work was reported.
fn was_agreed(draft: &Draft<'_>, step: &Step, ask: &str, artifacts: &[Artifact]) -> bool {
    let agreed = draft.state.step(&step.name).and_then(|it| it.agreed.as_ref());
    agreed == Some(&digest(&draft.state, step, None, ask, artifacts))
}

/// Puts the gate of `step` to the person before the work is reported.
pub(super) fn ask_early(draft: &mut Draft<'_>, step: &Step) -> Result<(), Stop> {
    ask_now(draft, step, GateReason::Early)
}

/// Puts the gate of `step` to the person because a file says that one is asked.
pub(super) fn ask_placed(draft: &mut Draft<'_>, step: &Step) -> Result<(), Stop> {
    let is_done = draft.state.progress(&step.name).is_settled();
    ask_now(draft, step, if is_done { GateReason::Gate } else { GateReason::Early })
}

/// Puts the gate of `step` to the person as if its work had been reported.
pub(super) fn ask_done(draft: &mut Draft<'_>, step: &Step) -> Result<(), Stop> {
    ask_now(draft, step, GateReason::Gate)
}

pub(super) fn ask_now(draft: &mut Draft<'_>, step: &Step, why: GateReason) -> Result<(), Stop> {
    let Some(gate) = &step.gate else {
        return Err(Refusal::GateMissing { step: step.name.clone() }.into());
    };
    let scope = scope(draft.workflow, &draft.state, EvalContext::default());
    let ask = gate.ask.render(&scope).map_err(|error| condition_failed(step, &error))?;
    let artifacts = shown(draft, step, gate)?;
    let options = gate.options.clone();
    push(
        draft,
        step,
        Asked { part: None, beside: Vec::new(), why, ask, options, artifacts },
        gate.answers,
    );
    Ok(())
}

/// Asks a person something that the definition has no gate for: about a step, or one part of it.
pub(super) fn ask(
    draft: &mut Draft<'_>,
    step: &Step,
    part: Option<PartId>,
    why: GateReason,
    question: (String, Vec<(&str, Effect)>),
) -> Result<(), Stop> {
    ask_together(draft, step, part.into_iter().collect(), why, question)
}

/// Asks a person one thing about several parts.
pub(super) fn ask_together(
    draft: &mut Draft<'_>,
    step: &Step,
    parts: Vec<PartId>,
    why: GateReason,
    (ask, options): (String, Vec<(&str, Effect)>),
) -> Result<(), Stop> {
    let mut parts = parts.into_iter();
    let (part, beside) = (parts.next(), parts.collect());
    let option = |(name, effect): (&str, Effect)| GateOption { name: name.to_string(), effect };
    let options = options.into_iter().map(option).collect();
    let asked = Asked { part, beside, why, ask, options, artifacts: left_by(draft, step) };
    push(draft, step, asked, None);
    Ok(())
}

/// Asks the same again, of the run as it is now: the answer is bound to that.
pub(super) fn ask_again(draft: &mut Draft<'_>, mut open: OpenGate) -> Result<(), Refusal> {
    let Some(step) = draft.workflow.find_step(&open.step) else {
        return Err(draft.step_unknown(open.step.as_str()));
    };
    open.harden(draft.known.gates);
    open.digest = digest(&draft.state, step, open.part.as_ref(), &open.ask, &open.artifacts);
    open.about = invariant::about(draft.workflow, &draft.state, step);
    open.opened_at = draft.known.now;
    draft.push(Event::GateOpened(open.into()));
    Ok(())
}

/// Returns why a run that waits takes nothing but an answer.
pub(super) fn refusal(gate: &OpenGate) -> Refusal {
    Refusal::GateOpen { step: gate.step.clone(), is_relayed: !gate.is_personal() }
}

/// What an answer is bound to: everything that was shown.
pub(crate) fn digest(
    state: &RunState,
    step: &Step,
    part: Option<&PartId>,
    ask: &str,
    artifacts: &[Artifact],
) -> Digest {
    let attempts = state.effort(&step.name, part).map_or(0, |it| it.attempts);
    let hasher = Hasher::default()
        .field(state.run.as_bytes())
        .field(step.name.as_str())
        .field(part.map_or("", PartId::as_str))
        .field(attempts.to_le_bytes())
        .field(ask);
    artifacts
        .iter()
        .fold(hasher, |hasher, it| hasher.field(&it.path).field(it.sha256.as_str()))
        .finish()
}

struct Asked {
    part: Option<PartId>,
    beside: Vec<PartId>,
    why: GateReason,
    ask: String,
    options: Vec<GateOption>,
    artifacts: Vec<Artifact>,
}

fn push(draft: &mut Draft<'_>, step: &Step, asked: Asked, answers: Option<Answers>) {
    let Asked { part, beside, why, ask, options, artifacts } = asked;
    let digest = digest(&draft.state, step, part.as_ref(), &ask, &artifacts);
    let answers = match draft.known.gates {
        Some(hardened) => hardened,
        None => answers.unwrap_or(draft.workflow.answers),
    };
    draft.push(Event::GateOpened(
        OpenGate {
            step: step.name.clone(),
            part,
            beside,
            why,
            ask,
            options,
            answers,
            artifacts,
            digest,
            about: invariant::about(draft.workflow, &draft.state, step),
            opened_at: draft.known.now,
        }
        .into(),
    ));
}

/// Returns what the person is to look at: what the gate names, else what the step left behind.
fn shown(draft: &Draft<'_>, step: &Step, gate: &Gate) -> Result<Vec<Artifact>, Stop> {
    if gate.show.is_empty() {
        let left = left_by(draft, step);
        let paths = || left.iter().map(|it| it.path.as_str());
        draft.known.need_files(paths())?;
        return draft.artifacts(paths());
    }
    let paths = paths_of(draft.workflow, &draft.state, step, gate)?;
    draft.known.need_files(paths.iter().map(String::as_str))?;
    draft.artifacts(paths.iter().map(String::as_str))
}

/// Returns the files that a person must have seen to answer: those that were there when the question
/// came up, and those that the gate shows once they are there.
pub(crate) fn paths_shown(
    workflow: &Workflow,
    state: &RunState,
    step: &Step,
    open: &OpenGate,
) -> Result<Vec<String>, Refusal> {
    let mut paths: Vec<String> = open.artifacts.iter().map(|it| it.path.clone()).collect();
    let own = step.gate.as_ref().filter(|_| open.why.is_own() && open.part.is_none());
    for path in own.map_or(Ok(Vec::new()), |it| paths_of(workflow, state, step, it))? {
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    Ok(paths)
}

fn paths_of(
    workflow: &Workflow,
    state: &RunState,
    step: &Step,
    gate: &Gate,
) -> Result<Vec<String>, Refusal> {
    let scope = scope(workflow, state, EvalContext::default());
    let rendered = gate.show.iter().map(|it| it.render(&scope));
    rendered.collect::<Result<_, _>>().map_err(|error| condition_failed(step, &error))
}

fn left_by(draft: &Draft<'_>, step: &Step) -> Vec<Artifact> {
    let of_step = draft.state.artifacts.values().filter(|it| it.step == step.name);
    of_step.map(|it| it.artifact.clone()).collect()
}

fn approving(options: &[GateOption]) -> String {
    let found = options.iter().find(|it| it.effect == Effect::Approve);
    found.map_or_else(|| String::from("approve"), |it| it.name.clone())
}
