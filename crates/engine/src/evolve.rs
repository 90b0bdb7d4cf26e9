//! Folds one event into the state. Cannot fail: what happened, happened.

mod effort;
mod place;

use alloc::{
    boxed::Box,
    string::{String, ToString as _},
};

use definition::{Decider, Digest, Effect, FINISH, PartId, StepName};

use crate::{
    Answered, Artifact, AttemptStatus, Entry, Event, GateReason, How, Journal, Judged, Lease,
    Noted, OpenGate, Passage, PendingRules, Progress, Recorded, Report, Ruling, RunId, RunStarted,
    RunState, Seen, SkipCause, SkipReason, Standing, StepCompleted, Surface, Told, history,
};
use effort::{effort_of, end_attempt, fail, forgive, interrupt, name_part, step_of};
use place::{is_of_placing, place};

/// How many of the last reports a language model is shown.
const TRAIL_MAX: usize = 5;
/// The most of one report that is kept for it, in characters.
const TRAIL_CHARS_MAX: usize = 500;

/// Returns the state that a whole log folds into.
pub fn fold<'a>(run: RunId, log: impl IntoIterator<Item = &'a Recorded>) -> RunState {
    log.into_iter().fold(RunState::new(run), evolve)
}

/// Returns `state` as it is after `recorded`.
pub fn evolve(mut state: RunState, recorded: &Recorded) -> RunState {
    state.length = recorded.seq;
    state.updated_at = recorded.at;
    state.steady = recorded.steady;
    if state.unasked == PendingRules::Placed && !is_of_placing(&recorded.event) {
        state.unasked = PendingRules::Nothing;
    }
    if state.origin.as_ref().is_some_and(|it| it.journal) {
        state.journal.add(recorded);
    }
    hand(&mut state, recorded);
    history::note(&mut state, recorded);
    state.claims_asked &= !ends_claim(&recorded.event);
    match &recorded.event {
        Event::RunStarted(started) => {
            state.started_at = recorded.at;
            state.context = started.context.clone().into();
            state.vars = started.vars.clone().into();
            state.origin = Some(RunStarted::clone(started).into());
            state.standing = Standing::Running;
        }
        Event::RunForked { from, seq } => {
            state.forked_from = Some((*from, *seq));
            // Nobody has ever held a step of the copy.
            state.leases.clear();
            // What is on the branch by now was there before the copy.
            state.branch = None;
            state.first_branch = None;
        }
        Event::RunResumed { assumed, report, reasoning } => {
            state.reasoning = Some(reasoning.clone());
            tell(&mut state, assumed, report);
        }
        Event::StepEntered { step, decision } => {
            state.reasoning = decision.as_ref().and_then(|it| it.reasoning.clone());
            state.deferral = None;
            lead(&mut state, step.as_str());
            state.is_work_done = false;
            state.stated = None;
            if let Some(before) = state.current.replace(step.clone()) {
                state.leases.retain(|(held, _), _| *held != before);
            }
            let entered = step_of(&mut state, step);
            entered.visits += 1;
            entered.entered_at = Some(recorded.at);
            entered.entered_by = recorded.seq;
            entered.agreed = None;
            entered.passage = Passage::Owed;
            entered.ruling = None;
            entered.effort.await_attempt(recorded.steady);
            entered.effort.started_at = None;
        }
        Event::StepStarted { step, part, attempt, seen, .. } => {
            state.stated = None;
            let effort = effort_of(&mut state, step, part.as_ref());
            effort.await_attempt(recorded.steady);
            effort.attempts = *attempt;
            effort.seen.clone_from(seen);
            effort.progress = Progress::Active;
            effort.started_at = Some(recorded.at);
        }
        Event::StepReported { step, part, report } => {
            effort_of(&mut state, step, part.as_ref()).report = Some(report.clone());
            tell(&mut state, step.as_str(), report);
        }
        Event::StepCompleted(completed) => complete(&mut state, recorded, completed),
        Event::StepFailed { step, part, reason, report, .. } => {
            let effort = effort_of(&mut state, step, part.as_ref());
            end_attempt(effort, Progress::Ready, recorded);
            effort.failure = Some(reason.clone());
            effort.trouble = AttemptStatus::Failed;
            effort.tell(recorded.seq, None);
            if let Some(report) = report {
                effort.report = Some(report.clone());
                tell(&mut state, step.as_str(), report);
            }
            state.leases.remove(&(step.clone(), part.clone()));
        }
        Event::StepSkipped { step, part, why, .. } => {
            if part.is_none() {
                let passage = left_out(&state, step, *why);
                pass(&mut state, step, passage);
            }
            let effort = effort_of(&mut state, step, part.as_ref());
            effort.progress = Progress::Skipped;
            effort.skipped = recorded.event.skip_cause();
            effort.ended_at = Some(recorded.at);
            if effort.skipped != Some(SkipCause::NotMeant) {
                effort.tell(recorded.seq, None);
            }
            state.leases.remove(&(step.clone(), part.clone()));
        }
        Event::StepReopened { step, part, feedback, .. } => {
            state.is_work_done = false;
            let reopened = step_of(&mut state, step);
            reopened.agreed = None;
            reopened.passage = Passage::Owed;
            let effort = effort_of(&mut state, step, part.as_ref());
            effort.await_attempt(recorded.steady);
            effort.reopened = recorded.event.reopen_cause();
            effort.answered = None;
            effort.judged.take_if(|it| it.is_passed);
            effort.tell(recorded.seq, None);
            if !feedback.is_empty() {
                effort.feedback = Some(feedback.clone());
            }
        }
        Event::StepRetried { step, .. } => {
            let effort = effort_of(&mut state, step, None);
            effort.await_attempt(recorded.steady);
            effort.trouble = AttemptStatus::Retried;
        }
        Event::VerdictGiven { step, part, of, verdict, ruling, findings } => {
            if *ruling != Ruling::Approved {
                effort_of(&mut state, of, part.as_ref()).revisions += 1;
            }
            step_of(&mut state, step).ruling = Some(*ruling);
            let judged = effort_of(&mut state, step, part.as_ref());
            judged.findings.clone_from(findings);
            let (verdict, by) = (verdict.clone(), recorded.seq);
            judged.judged = Some(Judged { verdict, is_passed: *ruling == Ruling::Approved, by });
            judged.tell(recorded.seq, None);
            let is_passed = matches!(ruling, Ruling::Approved | Ruling::Promoted);
            if is_passed && judged.progress == Progress::Rejected {
                judged.progress = Progress::Done;
            }
            // A review that wants more is not done itself.
            if *ruling == Ruling::Revised {
                judged.progress = Progress::Rejected;
            }
        }
        Event::PartsPlanned { set, parts, .. } if parts.is_empty() => {
            state.parts.remove(set);
        }
        Event::PartsPlanned { set, parts, .. } => {
            state.parts.insert(set.clone(), parts.clone());
        }
        Event::PartPlaced(placed) => {
            let effort = effort_of(&mut state, &placed.step, Some(&placed.part));
            effort.progress = placed.progress.unwrap_or(effort.progress);
            effort.revisions = placed.revisions.unwrap_or(effort.revisions);
            effort.answered = effort.answered.filter(|_| effort.progress.is_settled());
            if placed.progress.is_some() || placed.verdict.is_some() {
                let is_passed = effort.progress != Progress::Rejected;
                let judged = |verdict| Judged { verdict, is_passed, by: recorded.seq };
                effort.judged = placed.verdict.clone().map(judged);
                effort.tell(recorded.seq, placed.progress);
            }
            name_part(&mut state, placed);
        }
        Event::FileLeft { path, text: None, .. } => {
            state.artifacts.remove_mut(path);
        }
        Event::FileLeft { path, text: Some(text), .. } => {
            if let Some(step) = state.current.clone() {
                let (sha256, size) = (Digest::of(text.as_bytes()), text.len() as u64);
                let artifact = Artifact { path: path.clone(), sha256, size };
                state.artifacts.insert_mut(path.clone(), Seen { artifact, step });
            }
        }
        Event::FileReplaced { .. } => {}
        Event::GateOpened(gate) => {
            if gate.why.is_own() {
                step_of(&mut state, &gate.step).passage = Passage::Owed;
            }
            state.standing = Standing::Waiting(gate.clone());
        }
        Event::GateWaived { step } => pass(&mut state, step, Passage::Claimed),
        Event::GateAnswered { .. } => answer(&mut state, recorded),
        Event::GateWithdrawn { .. } => state.standing = Standing::Running,
        Event::ContextChanged { set, removed } => {
            for key in removed {
                state.context.remove(key);
            }
            state.context.extend(set.clone());
        }
        Event::VarsChanged { set } => state.vars.extend(set.clone()),
        Event::ModelAsked(asked) => {
            state.reasoning.clone_from(&asked.reasoning);
            state.deferral = asked.failure.as_ref().map(|it| it.message.clone());
            state.advised = asked.next.clone().map(|it| (recorded.at, it));
        }
        Event::EntryRecorded { step, entry } => {
            let (seq, at) = (recorded.seq, recorded.at);
            spend(&mut state, entry);
            if matches!(entry, Entry::Error { .. }) {
                state.error_count = state.error_count.saturating_add(1);
                let effort = effort_of(&mut state, step, None);
                if effort.progress == Progress::Active {
                    effort.trouble = AttemptStatus::Faulty;
                }
            }
            let noted = Noted { seq, at, step: step.clone(), entry: entry.clone() };
            state.entries.push_back_mut(noted);
        }
        Event::LeaseTaken(lease) => {
            state.generation = lease.generation;
            // A lease lasts as long as it says, whatever the wall clock did when it was taken.
            let until = lease.until.translate(recorded.at, recorded.steady);
            let held = Lease { until, ..lease.clone() };
            state.leases.insert((lease.step.clone(), lease.part.clone()), held);
        }
        Event::LeaseReleased { step, part, .. } => {
            state.leases.remove(&(step.clone(), part.clone()));
        }
        Event::DriftAccepted { artifacts, gone } => {
            for path in gone {
                state.artifacts.remove_mut(path);
            }
            for artifact in artifacts {
                if let Some(seen) = state.artifacts.get_mut(&artifact.path) {
                    seen.artifact = artifact.clone();
                }
            }
        }
        Event::RunPlaced(placement) => place(&mut state, recorded, placement),
        Event::ItemAdded { item } => state.items.push(item.clone()),
        Event::ItemClosed { id } => {
            let open = state.items.iter_mut().find(|it| it.id == *id && !it.is_done);
            open.into_iter().for_each(|it| it.is_done = true);
        }
        Event::JournalRotated(_) => state.journal = Journal::default(),
        Event::MoveMade { .. } | Event::RuleFired { .. } => {}
        Event::LineInserted { .. } => {}
        Event::ChoreDone { name, deed, pushed, .. } => {
            state.chores.remove(name);
            state.follow_chore(deed, pushed.as_ref());
        }
        Event::BranchSeen { name, base, is_taken } => {
            state.take_branch(name, base.as_deref(), *is_taken);
        }
        Event::ChoreFailed { name, is_passed: true, .. } => {
            state.chores.remove(name);
        }
        Event::ChoreFailed { name, reason, is_passed: false, .. } => {
            state.chores.insert(name.clone(), reason.clone());
        }
        Event::WorkEnded => state.is_work_done = true,
        Event::RunCompleted { .. } => {
            let is_imported = recorded.by.surface == Surface::Import;
            state.ended_elsewhere = is_imported.then_some(recorded.seq);
            lead(&mut state, FINISH);
            end(&mut state, recorded, |_| Standing::Completed);
        }
        Event::RunFailed { reason, step, .. } => {
            // A second word on why it failed does not move the place where it did.
            let is_first = !matches!(state.standing, Standing::Failed { .. });
            if let Some(step) = step.as_ref().filter(|_| is_first) {
                fail(effort_of(&mut state, step, None), reason, recorded);
                state.stated = Some(step.clone());
            }
            let reason = reason.clone();
            end(&mut state, recorded, |gate| Standing::Failed { reason, gate });
        }
        Event::RunCancelled { reason } => {
            let reason = reason.clone();
            interrupt(&mut state);
            end(&mut state, recorded, |gate| Standing::Cancelled { reason, gate });
        }
        Event::KeyGivenUp => state.gave_up_key = true,
        Event::RunReopened { .. } => {
            state.gave_up_key = false;
            state.standing = Standing::Running;
            state.ended_at = None;
            interrupt(&mut state);
            forgive(&mut state);
            state.stated = None;
            if let Some(step) = state.current.clone() {
                let effort = effort_of(&mut state, &step, None);
                effort.attempts = 0;
                effort.since = Some(recorded.steady);
            }
        }
    }
    state
}

/// Whether the person whom a file says to be asked is asked by now, or the run has moved on.
fn ends_claim(event: &Event) -> bool {
    matches!(event, Event::GateOpened(_) | Event::StepEntered { .. } | Event::StepStarted { .. })
}

/// Notes which action is handed out, and which one is reported or answered.
fn hand(state: &mut RunState, recorded: &Recorded) {
    let is_under_way = |step: &StepName, part: &Option<PartId>| {
        let effort = state.effort(step, part.as_ref());
        effort.is_some_and(|it| it.progress == Progress::Active) && !state.handed.is_answered()
    };
    let is_begun = |event: &Event| matches!(event, Event::StepStarted { step, part, .. } if !is_under_way(step, part));
    let is_new = matches!(recorded.event, Event::GateOpened(_)) || is_begun(&recorded.event);
    if is_new {
        (state.handed.action, state.handed.at) = (recorded.seq, recorded.at);
    }
    // Events of one append have one time.
    let is_apart = recorded.at != state.handed.answered_at;
    let is_end = matches!(
        recorded.event,
        Event::RunCancelled { .. } | Event::RunFailed { .. } | Event::RunReopened { .. }
    );
    if is_end && is_apart {
        // What was reported before counts no more, so nothing repeats it.
        (state.handed.action, state.handed.answered) = (recorded.seq, None);
    }
    if !recorded.event.is_answer() {
        return;
    }
    // What comes later was not asked for, unless the run went on by itself.
    let is_passing =
        matches!(recorded.event, Event::StepSkipped { .. } | Event::GateAnswered { .. });
    if state.handed.is_answered() && is_apart && !is_passing {
        state.handed.action = recorded.seq;
    }
    state.handed.answered = Some(state.handed.action);
    state.handed.answered_at = recorded.at;
}

fn complete(state: &mut RunState, recorded: &Recorded, completed: &StepCompleted) {
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

/// Notes how the run got past the gate of a step.
fn pass(state: &mut RunState, step: &StepName, passage: Passage) {
    let seq = state.length;
    let passed = step_of(state, step);
    (passed.passage, passed.passed_by) = (passage, seq);
}

/// How the run gets past the gate of a step that is left out: by a person's answer, as that counts.
fn left_out(state: &RunState, step: &StepName, why: SkipReason) -> Passage {
    let answer = state.answers.last().filter(|it| it.step == *step && why == SkipReason::Person);
    match answer.map(|it| it.how) {
        Some(How::Relayed) => Passage::Answered(How::Relayed),
        Some(How::Verified | How::Automatic) | None => Passage::LeftOut(why),
    }
}

/// Adds up what attempts took.
fn spend(state: &mut RunState, entry: &Entry) {
    let Entry::Usage { tokens, duration_ms, model } = entry else { return };
    let spent = state.usage.tokens.entry(model.clone()).or_default();
    *spent = spent.saturating_add(*tokens);
    state.usage.duration_ms = state.usage.duration_ms.saturating_add(*duration_ms);
}

/// Keeps what an agent said, for a language model to see.
fn tell(state: &mut RunState, step: &str, report: &Report) {
    if state.decider() != Decider::Ai {
        return;
    }
    if TRAIL_MAX <= state.trail.len() {
        state.trail.remove(0);
    }
    let words = [report.message.as_deref(), report.error.as_deref(), report.result.as_str()];
    let said = words.into_iter().flatten().find(|it| !it.trim().is_empty()).unwrap_or_default();
    state.trail.push(Told {
        step: step.to_string(),
        status: report.status.chars().take(TRAIL_CHARS_MAX).collect(),
        message: said.chars().take(TRAIL_CHARS_MAX).collect(),
        next: None,
    });
}

/// Notes where the last report led.
fn lead(state: &mut RunState, next: &str) {
    if let Some(last) = state.trail.last_mut() {
        last.next = Some(String::from(next));
    }
}

fn answer(state: &mut RunState, recorded: &Recorded) {
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
        step_of(state, step).approved.clone_from(&gate.artifacts);
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

fn end(
    state: &mut RunState,
    recorded: &Recorded,
    standing: impl FnOnce(Option<Box<OpenGate>>) -> Standing,
) {
    let gate = match core::mem::take(&mut state.standing) {
        Standing::Waiting(gate) => Some(gate),
        Standing::Failed { gate, .. } | Standing::Cancelled { gate, .. } => gate,
        Standing::New | Standing::Running | Standing::Completed => None,
    };
    state.standing = standing(gate);
    state.ended_at = Some(recorded.at);
    state.leases.clear();
}
