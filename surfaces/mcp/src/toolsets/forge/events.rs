//! What others are told of a pipeline: a line of JSON for everything that happens, in a file that
//! all projects share.
//!
//! It is told once a change is kept, from one place. That nobody could be told is no reason for a
//! change to fail.

use definition::StepName;
use engine::{Entry, Event, GateReason, Recorded, Ruling, find_agent, find_starter};
use runtime::{Outcome, View};
use serde::Serialize;
use serde_json::Value;

use super::{
    drive::gate,
    place::Folder,
    state_doc::{COMPLETED, SETUP},
    stated::Stated,
};
use crate::tool::Call;

/// How large the file becomes before it is put aside.
const LOG_BYTES_MAX: u64 = 10 * 1024 * 1024;

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

/// Tells of what a change of the pipeline in a workspace led to.
pub(in crate::toolsets::forge) async fn tell(
    call: &Call<'_>,
    workspace: &Folder,
    outcome: &Outcome,
) {
    let Some(path) = &call.options.forge.events_log else { return };
    let log = Folder::named(call, path);
    let text = outcome.file.as_ref().map(|it| it.text.as_str()).unwrap_or_default();
    let after = After { view: &outcome.view, stated: Stated::read(text) };
    for event in lines(&outcome.events, workspace, &after) {
        let Ok(line) = serde_json::to_string(&event) else { continue };
        let added = log.parent().append(call, log.name(), line, LOG_BYTES_MAX).await;
        if let Err(problem) = added {
            tracing::warn!("`{}` could not be added to: {problem}", log.as_str());
            return;
        }
    }
}

/// A pipeline after a change.
struct After<'a> {
    view: &'a View,
    stated: Stated,
}

/// Returns what is told of the events of one change. Nothing is told twice.
fn lines(events: &[Recorded], workspace: &Folder, after: &After<'_>) -> Vec<ForgeEvent> {
    let spec_name = after.view.state.vars.get("spec_name").and_then(Value::as_str);
    let mut told: Vec<ForgeEvent> = Vec::new();
    for recorded in events {
        for Word { event, phase, outcome, detail } in words(&recorded.event, events, after) {
            if told.iter().any(|it| it.event == event && it.phase == phase) {
                continue;
            }
            told.push(ForgeEvent {
                event,
                phase,
                spec_name: spec_name.unwrap_or_default().to_owned(),
                workspace: workspace.as_str().to_owned(),
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

fn words(event: &Event, events: &[Recorded], after: &After<'_>) -> Vec<Word> {
    let state = &after.view.state;
    match event {
        Event::RunStarted(started) => {
            let effort = started.vars.get("effort").and_then(Value::as_str).unwrap_or_default();
            let word = Word::new("pipeline-init", SETUP, "in_progress");
            vec![word.with(format!("effort={effort}"))]
        }
        Event::StepStarted { step, part: None, details, .. } => {
            let begun = Word::new("phase-start", step.as_str(), "in_progress");
            // Where somebody is sent out it is known with which model.
            let agent = details.get("model").and_then(|_| find_sent(step, after.view));
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
        Event::RunForked { .. }
        | Event::RunResumed { .. }
        | Event::StepEntered { .. }
        | Event::StepStarted { .. }
        | Event::StepReported { .. }
        | Event::StepCompleted(_)
        | Event::StepFailed { .. }
        | Event::StepSkipped { .. }
        | Event::StepReopened { .. }
        | Event::StepRetried { .. }
        | Event::VerdictGiven { .. }
        | Event::PartsPlanned { .. }
        | Event::PartPlaced(_)
        | Event::FileLeft { .. }
        | Event::GateOpened(_)
        | Event::GateAnswered { .. }
        | Event::GateWithdrawn { .. }
        | Event::ContextChanged { .. }
        | Event::VarsChanged { .. }
        | Event::ModelAsked(_)
        | Event::EntryRecorded { .. }
        | Event::LeaseTaken(_)
        | Event::LeaseReleased { .. }
        | Event::DriftAccepted { .. }
        | Event::RunPlaced(_)
        | Event::MoveMade { .. }
        | Event::RuleFired { .. }
        | Event::ItemAdded { .. }
        | Event::ItemClosed { .. }
        | Event::JournalRotated(_)
        | Event::LineInserted { .. }
        | Event::ChoreDone { .. }
        | Event::ChoreFailed { .. }
        | Event::WorkEnded
        | Event::KeyGivenUp
        | Event::RunReopened { .. } => Vec::new(),
    }
}

/// Returns the agent that is sent out for a phase, if one is.
fn find_sent(step: &StepName, view: &View) -> Option<String> {
    let step = view.workflow.find_step(step)?;
    let agent = find_agent(&view.workflow, &view.state, step)?;
    find_starter(&view.workflow, &view.state, step).is_none().then_some(agent)
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
