//! What others are told of a pipeline: a line of JSON for everything that happens, in a file that
//! all projects share.
//!
//! It is told once a change is kept, of the log alone, so that it is the same anyone who made the
//! change: an agent, a person at the terminal, or someone who wrote into the state file.

use definition::{StepName, Workflow};
use engine::Appended;
use engine::{Entry, Event, GateReason, Recorded, Ruling, RunState, find_agent, find_starter};
use serde::Serialize;
use serde_json::Value;

use super::{
    gate,
    state_file::{COMPLETED, SETUP, StateFile, Status},
};

/// Something that happened, as others are told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct ForgeEvent {
    event: &'static str,
    phase: String,
    spec_name: String,
    workspace: String,
    /// To the second.
    timestamp: String,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

/// Returns the lines about a change of a pipeline.
pub(super) fn tell(workflow: &Workflow, change: &Appended<'_>) -> Vec<String> {
    let Appended { before, after, events } = *change;
    if !is_told(events) {
        return Vec::new();
    }
    let is_edit = events.iter().any(|it| is_placed(&it.event));
    let was = if is_edit { StateFile::of(workflow, before) } else { StateFile::default() };
    let after = After { workflow, state: after, was, stated: StateFile::of(workflow, after) };
    let lines = lines(events, &after);
    lines.iter().filter_map(|it| serde_json::to_string(it).ok()).collect()
}

/// Whether there may be anything to tell of a change. A pipeline that was found as it is did not
/// happen here.
pub(super) fn is_told(events: &[Recorded]) -> bool {
    let has = |is: fn(&Event) -> bool| events.iter().any(|it| is(&it.event));
    let is_found = has(is_begun) && has(is_placed);
    !is_found && (has(is_telling) || (has(is_usage) && is_report(events)))
}

fn is_begun(event: &Event) -> bool {
    matches!(event, Event::RunStarted(_))
}

fn is_placed(event: &Event) -> bool {
    matches!(event, Event::RunPlaced(_))
}

fn is_usage(event: &Event) -> bool {
    matches!(event, Event::EntryRecorded { entry: Entry::Usage { .. }, .. })
}

/// Whether there may be words for an event by itself.
fn is_telling(event: &Event) -> bool {
    matches!(
        event,
        Event::RunStarted(_)
            | Event::RunForked { .. }
            | Event::RunPlaced(_)
            | Event::StepStarted { part: None, .. }
            | Event::StepCompleted(_)
            | Event::GateAnswered { part: None, .. }
            | Event::VerdictGiven { part: None, .. }
            | Event::GateOpened(_)
            | Event::RunFailed { .. }
            | Event::RunCancelled { .. }
            | Event::RunCompleted { .. }
    )
}

/// A pipeline after a change.
struct After<'a> {
    workflow: &'a Workflow,
    state: &'a RunState,
    /// What the state file said before, where someone wrote into it.
    was: StateFile,
    stated: StateFile,
}

/// Returns what is told of the events of one change. Nothing is told twice.
fn lines(events: &[Recorded], after: &After<'_>) -> Vec<ForgeEvent> {
    let state = after.state;
    let spec_name = state.vars.get("spec_name").and_then(Value::as_str).unwrap_or_default();
    let (root, key) = (state.root().trim_end_matches('/'), state.key().unwrap_or_default());
    let mut told: Vec<ForgeEvent> = Vec::new();
    for recorded in events {
        for Word { event, phase, outcome, detail } in words(&recorded.event, events, after) {
            if told.iter().any(|it| it.event == event && it.phase == phase) {
                continue;
            }
            told.push(ForgeEvent {
                event,
                phase,
                spec_name: spec_name.to_owned(),
                workspace: format!("{root}/{key}"),
                timestamp: seconds(&recorded.at.to_string()),
                outcome,
                detail,
            });
        }
    }
    told
}

/// What is told of an event, without where and when.
struct Word {
    event: &'static str,
    phase: String,
    outcome: &'static str,
    detail: Option<String>,
}

impl Word {
    fn new(event: &'static str, phase: &str, outcome: &'static str) -> Self {
        Self { event, phase: phase.to_owned(), outcome, detail: None }
    }

    fn with(self, detail: impl Into<String>) -> Self {
        Self { detail: Some(detail.into()).filter(|it| !it.is_empty()), ..self }
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the stream of events has a word for these only"
)]
fn words(event: &Event, events: &[Recorded], after: &After<'_>) -> Vec<Word> {
    let state = after.state;
    match event {
        Event::RunStarted(started) => {
            let effort = started.vars.get("effort");
            vec![begun(effort)]
        }
        Event::RunForked { .. } => vec![begun(state.vars.get("effort"))],
        Event::StepStarted { step, part: None, details, .. } => {
            let begun = Word::new("phase-start", step.as_str(), "in_progress");
            // Where somebody is sent out it is known with which model.
            let agent = details.get("model").and_then(|_| find_sent(step, after));
            let sent = |it| Word::new("agent-dispatch", step.as_str(), "dispatched").with(it);
            [begun].into_iter().chain(agent.map(sent)).collect()
        }
        Event::EntryRecorded { step, entry: Entry::Usage { model, .. } } if is_report(events) => {
            vec![Word::new("action-complete", step.as_str(), "completed").with(model)]
        }
        Event::StepCompleted(done) if done.part.is_none() => completed(&done.step, after),
        Event::GateAnswered { step, part: None, .. } => completed(step, after),
        Event::VerdictGiven { step, part: None, ruling: Ruling::Revised, .. } => {
            vec![Word::new("revision-required", step.as_str(), "revised")]
        }
        Event::GateOpened(gate) if gate.why != GateReason::Part => {
            vec![Word::new("checkpoint", &gate::name(state, gate), "awaiting_human")]
        }
        Event::RunFailed { step, .. } => {
            let phase = step.as_ref().or(state.current.as_ref()).map(StepName::as_str);
            vec![Word::new("phase-fail", phase.unwrap_or_default(), "failed")]
        }
        Event::RunCancelled { .. } => {
            let phase = state.current.as_ref().map(StepName::as_str);
            vec![Word::new("abandon", phase.unwrap_or_default(), "abandoned")]
        }
        Event::RunCompleted { .. } => {
            vec![Word::new("pipeline-complete", COMPLETED, "completed")]
        }
        Event::RunPlaced(_) => placed(events, after),
        _ => Vec::new(),
    }
}

fn begun(effort: Option<&Value>) -> Word {
    let effort = effort.and_then(Value::as_str).filter(|it| !it.is_empty());
    let detail = effort.map(|it| format!("effort={it}")).unwrap_or_default();
    Word::new("pipeline-init", SETUP, "in_progress").with(detail)
}

/// Returns the agent that is sent out for a phase, if one is.
fn find_sent(step: &StepName, after: &After<'_>) -> Option<String> {
    let (workflow, state) = (after.workflow, after.state);
    let step = workflow.find_step(step)?;
    let agent = find_agent(workflow, state, step)?;
    find_starter(workflow, state, step).is_none().then_some(agent)
}

/// Returns what someone who wrote into the state file has made happen by that.
fn placed(events: &[Recorded], after: &After<'_>) -> Vec<Word> {
    let (was, now) = (&after.was, &after.stated);
    let mut words: Vec<Word> = Vec::new();
    for phase in now.texts("completedPhases").filter(|it| !was.is_completed(it)) {
        words.push(Word::new("phase-complete", phase, "completed"));
    }
    let is_asked = events.iter().any(|it| matches!(it.event, Event::GateOpened(_)));
    let status = |it: &StateFile| it.text("currentPhaseStatus").to_owned();
    if (was.phase(), status(was)) == (now.phase(), status(now)) {
        return words;
    }
    words.extend(match Status::find(&status(now)) {
        Some(Status::InProgress) => Some(Word::new("phase-start", now.phase(), "in_progress")),
        Some(Status::AwaitingHuman) if !is_asked => {
            Some(Word::new("checkpoint", now.phase(), "awaiting_human"))
        }
        Some(Status::Failed) => Some(Word::new("phase-fail", now.phase(), "failed")),
        Some(Status::Abandoned) => Some(Word::new("abandon", now.phase(), "abandoned")),
        Some(Status::Completed) if now.phase() == COMPLETED => {
            Some(Word::new("pipeline-complete", COMPLETED, "completed"))
        }
        Some(Status::AwaitingHuman | Status::Completed | Status::Pending) | None => None,
    });
    words
}

/// Whether what was logged is part of a report, and not only noted.
fn is_report(events: &[Recorded]) -> bool {
    events.iter().any(|it| {
        matches!(
            it.event,
            Event::StepCompleted(_)
                | Event::StepReported { .. }
                | Event::StepReopened { .. }
                | Event::VerdictGiven { .. }
        )
    })
}

/// A phase is complete when the state file says so: not when a review sends it back, nor while a
/// person is still to be asked.
fn completed(step: &StepName, after: &After<'_>) -> Vec<Word> {
    let is_completed = after.stated.is_completed(step.as_str());
    let word = || Word::new("phase-complete", step.as_str(), "completed");
    is_completed.then(word).into_iter().collect()
}

/// Cuts a moment to the second.
fn seconds(moment: &str) -> String {
    let whole = moment.split('.').next().unwrap_or_default().trim_end_matches('Z');
    format!("{whole}Z")
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn a_moment_is_told_to_the_second() {
        assert_eq!(seconds("2026-01-02T03:04:05.000006Z"), "2026-01-02T03:04:05Z");
        assert_eq!(seconds("2026-01-02T03:04:05Z"), "2026-01-02T03:04:05Z");
    }
}
