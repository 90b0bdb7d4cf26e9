//! A gate opens: what is asked, what is shown, and the digest that an answer is bound to.

use alloc::{
    string::{String, ToString as _},
    vec::Vec,
};

use definition::{Answers, Digest, Effect, Gate, GateOption, Hasher, PartId, Step};

use super::{Draft, Sight, condition_failed, scope};
use crate::{Artifact, Event, GateReason, How, OpenGate, Refusal, Report, RunState, Stop};

/// Opens the gate of `step`, if it has one and it is not passed by its own condition. Returns
/// whether the run waits now.
pub(super) fn open(draft: &mut Draft<'_>, step: &Step, report: &Report) -> Result<bool, Stop> {
    let Some(gate) = &step.gate else { return Ok(false) };
    let sight = Sight::of_report(Some(report));
    let scope = scope(draft.workflow, &draft.state, sight);
    let fails = |error| condition_failed(step, &error);
    let ask = gate.ask.render(&scope).map_err(fails)?;
    let artifacts = shown(draft, step, gate)?;
    if was_agreed(draft, step, &ask, &artifacts) {
        return Ok(false);
    }
    let is_automatic = match &gate.unless {
        Some(unless) => unless.evaluate(&scope).map_err(fails)?,
        None => false,
    };
    if is_automatic {
        let unless = gate.unless.as_ref().map(definition::Condition::source).unwrap_or_default();
        draft.push(Event::GateAnswered {
            step: step.name.clone(),
            part: None,
            answer: approving(&gate.options),
            how: How::Automatic,
            by: alloc::format!("`{unless}` holds"),
            feedback: String::new(),
            digest: digest(&draft.state, step, None, &ask, &artifacts),
        });
        return Ok(false);
    }
    let why = GateReason::Gate;
    let asked = Asked { part: None, why, ask, options: gate.options.clone(), artifacts };
    push(draft, step, asked, gate.answers);
    Ok(true)
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

fn ask_now(draft: &mut Draft<'_>, step: &Step, why: GateReason) -> Result<(), Stop> {
    let Some(gate) = &step.gate else {
        return Err(Refusal::GateMissing { step: step.name.clone() }.into());
    };
    let scope = scope(draft.workflow, &draft.state, Sight::default());
    let ask = gate.ask.render(&scope).map_err(|error| condition_failed(step, &error))?;
    let artifacts = shown(draft, step, gate)?;
    let options = gate.options.clone();
    push(draft, step, Asked { part: None, why, ask, options, artifacts }, gate.answers);
    Ok(())
}

/// Asks a person something that the definition has no gate for.
pub(super) fn ask(
    draft: &mut Draft<'_>,
    step: &Step,
    part: Option<PartId>,
    why: GateReason,
    (ask, options): (String, Vec<(&str, Effect)>),
) -> Result<(), Stop> {
    let option = |(name, effect): (&str, Effect)| GateOption { name: name.to_string(), effect };
    let options = options.into_iter().map(option).collect();
    let asked = Asked { part, why, ask, options, artifacts: left_by(draft, step) };
    push(draft, step, asked, None);
    Ok(())
}

/// Asks the same again, of a copy of the run: its answer is bound to the copy.
pub(super) fn ask_again(draft: &mut Draft<'_>, mut open: OpenGate) -> Result<(), Refusal> {
    let Some(step) = draft.workflow.find_step(&open.step) else {
        return Err(draft.step_unknown(open.step.as_str()));
    };
    open.digest = digest(&draft.state, step, open.part.as_ref(), &open.ask, &open.artifacts);
    open.opened_at = draft.known.now;
    draft.push(Event::GateOpened(open.into()));
    Ok(())
}

/// Returns why a run that waits takes nothing but an answer.
pub(super) fn refusal(gate: &OpenGate) -> Refusal {
    let is_relayed = gate.answers == Answers::Relayed;
    Refusal::GateOpen { step: gate.step.clone(), is_relayed }
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
    why: GateReason,
    ask: String,
    options: Vec<GateOption>,
    artifacts: Vec<Artifact>,
}

fn push(draft: &mut Draft<'_>, step: &Step, asked: Asked, answers: Option<Answers>) {
    let Asked { part, why, ask, options, artifacts } = asked;
    let digest = digest(&draft.state, step, part.as_ref(), &ask, &artifacts);
    let answers = match draft.known.gates {
        Some(hardened) => hardened,
        None => answers.unwrap_or(draft.workflow.answers),
    };
    draft.push(Event::GateOpened(
        OpenGate {
            step: step.name.clone(),
            part,
            why,
            ask,
            options,
            answers,
            artifacts,
            digest,
            opened_at: draft.known.now,
        }
        .into(),
    ));
}

/// Returns what the person is to look at: what the gate names, else what the step left behind.
fn shown(draft: &Draft<'_>, step: &Step, gate: &Gate) -> Result<Vec<Artifact>, Stop> {
    if gate.show.is_empty() {
        return Ok(left_by(draft, step));
    }
    let scope = scope(draft.workflow, &draft.state, Sight::default());
    let rendered = gate.show.iter().map(|it| it.render(&scope));
    let paths: Vec<String> =
        rendered.collect::<Result<_, _>>().map_err(|error| condition_failed(step, &error))?;
    draft.known.need_files(paths.iter().map(String::as_str))?;
    draft.known.artifacts(paths.iter().map(String::as_str))
}

fn left_by(draft: &Draft<'_>, step: &Step) -> Vec<Artifact> {
    let of_step = draft.state.artifacts.values().filter(|it| it.step == step.name);
    of_step.map(|it| it.artifact.clone()).collect()
}

fn approving(options: &[GateOption]) -> String {
    let found = options.iter().find(|it| it.effect == Effect::Approve);
    found.map_or_else(|| String::from("approve"), |it| it.name.clone())
}
