//! What agents said of late and what was handed out, for a language model and for late reports.

use alloc::string::{String, ToString as _};

use definition::{Decider, PartId, StepName};

use crate::{Event, Progress, Recorded, Report, RunState, Told};

/// How many of the last reports a language model is shown.
const TRAIL_MAX: usize = 5;
/// The most of one report that is kept for it, in characters.
const TRAIL_CHARS_MAX: usize = 500;

/// Notes which action is handed out, and which one is reported or answered.
pub(super) fn hand(state: &mut RunState, recorded: &Recorded) {
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

/// Keeps what an agent said, for a language model to see.
pub(super) fn tell(state: &mut RunState, step: &str, report: &Report) {
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
pub(super) fn lead(state: &mut RunState, next: &str) {
    if let Some(last) = state.trail.last_mut() {
        last.next = Some(String::from(next));
    }
}
