//! Questions to a person: asked, answered, and passed without an answer.

use alloc::boxed::Box;

use definition::{Effect, StepName};

use super::effort::{effort_of, step_of};
use crate::{
    Answered, Event, GateReason, How, OpenGate, Passage, Recorded, RunState, SkipReason, Standing,
};

/// A person is asked.
pub(super) fn open(state: &mut RunState, gate: &OpenGate) {
    if gate.why.is_own() {
        step_of(state, &gate.step).passage = Passage::Owed;
    }
    state.standing = Standing::Waiting(Box::new(gate.clone()));
}

pub(super) fn answer(state: &mut RunState, recorded: &Recorded) {
    let Event::GateAnswered { step, part, answer, how, by, feedback, digest, is_implied } =
        &recorded.event
    else {
        return;
    };
    if *how == How::Automatic {
        pass(state, step, Passage::Answered(*how));
        return;
    }
    let asked = core::mem::replace(&mut state.standing, Standing::Running);
    let options = asked.open_gate().map(|gate| gate.options.as_slice()).unwrap_or_default();
    let effect = options.iter().find(|it| it.name == *answer).map(|it| it.effect.clone());
    let is_early = asked.open_gate().is_some_and(|it| it.why == GateReason::Early);
    if is_early && effect == Some(Effect::Approve) {
        step_of(state, step).agreed = Some(digest.clone());
    }
    let own = asked.open_gate().filter(|it| it.why.is_own());
    if let Some(gate) = own.filter(|_| effect == Some(Effect::Approve)) {
        let approved = step_of(state, step);
        approved.approved.clone_from(&gate.artifacts);
        approved.approved_about.clone_from(&gate.about);
        pass(state, step, Passage::Answered(*how));
    }
    let is_part = asked.open_gate().is_some_and(|it| it.why == GateReason::Part);
    if is_part && matches!(effect, Some(Effect::Approve | Effect::Skip)) {
        effort_of(state, step, part.as_ref()).answered = Some(*how);
    }
    let is_budget = asked.open_gate().is_some_and(|it| it.why == GateReason::BudgetSpent);
    if is_budget && effect == Some(Effect::Approve) {
        state.usage.granted.clone_from(&state.usage.tokens);
    }
    state.answers.push_back_mut(Answered {
        seq: recorded.seq,
        at: recorded.at,
        step: step.clone(),
        part: part.clone(),
        ask: asked.open_gate().map(|gate| gate.ask.clone()).unwrap_or_default(),
        answer: answer.clone(),
        how: *how,
        by: by.clone(),
        feedback: feedback.clone(),
        is_implied: *is_implied,
    });
    match effect {
        Some(Effect::Back(_)) => step_of(state, step).rounds += 1,
        // The question stands: anyone who reopens the run is asked again.
        Some(Effect::Fail | Effect::Cancel) => state.standing = asked,
        Some(Effect::Approve | Effect::Skip) | None => {}
    }
}

/// Notes how the run got past the gate of a step.
pub(super) fn pass(state: &mut RunState, step: &StepName, passage: Passage) {
    let seq = state.length;
    let passed = step_of(state, step);
    (passed.passage, passed.passed_by) = (passage, seq);
}

/// How the run gets past the gate of a step that is left out: by a person's answer, as that counts.
pub(super) fn left_out(state: &RunState, step: &StepName, why: SkipReason) -> Passage {
    let answer = state.answers.last().filter(|it| it.step == *step && why == SkipReason::Person);
    match answer.map(|it| it.how) {
        Some(How::Relayed) => Passage::Answered(How::Relayed),
        Some(How::Verified | How::Automatic) | None => Passage::LeftOut(why),
    }
}
