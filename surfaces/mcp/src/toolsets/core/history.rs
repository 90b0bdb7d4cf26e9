//! The log of a run as rows: what happened, and where a report has them the orchestrator's own
//! columns.

use definition::FINISH;
use engine::{Event, Recorded};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::cut;

/// One event of a run.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Row {
    seq: u64,
    at: String,
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    step_name: Option<String>,
    summary: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome_status: Option<String>,
    /// Where the report or answer led.
    #[serde(skip_serializing_if = "Option::is_none")]
    determined_next_step: Option<String>,
    /// The whole report.
    #[serde(skip_serializing_if = "Option::is_none")]
    user_report: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
}

/// Returns the rows of a part of a log that ends where the log ends.
pub(super) fn rows(events: &[Recorded]) -> Vec<Row> {
    (0..events.len()).filter_map(|index| row(events.get(index..)?)).collect()
}

/// Returns the row of the first of `events`; what follows tells where it led.
fn row(events: &[Recorded]) -> Option<Row> {
    let (recorded, later) = events.split_first()?;
    let said = Said::of(&recorded.event);
    let next = said.leads_on.then(|| find_next(later)).flatten();
    let report = said.report.and_then(|it| serde_json::to_value(it).ok());
    let by = recorded.by.name.clone().or_else(|| recorded.by.client.clone());
    Some(Row {
        seq: recorded.seq,
        at: recorded.at.to_string(),
        kind: recorded.event.kind().to_owned(),
        step_name: said.step.map(ToOwned::to_owned),
        summary: recorded.event.describe(),
        outcome_status: said.outcome.map(ToOwned::to_owned),
        determined_next_step: next,
        user_report: report.map(cut::report),
        by,
    })
}

/// Returns the step that was entered before anything else was said.
fn find_next(later: &[Recorded]) -> Option<String> {
    let mut next = None;
    for recorded in later {
        match &recorded.event {
            Event::StepEntered { step, .. } => next = Some(step.to_string()),
            Event::RunCompleted => return Some(FINISH.to_owned()),
            other if Said::of(other).leads_on => break,
            Event::GateOpened(_) => break,
            _ => {}
        }
    }
    next
}

/// What an event says in the orchestrator's words.
#[derive(Default)]
struct Said<'a> {
    step: Option<&'a str>,
    outcome: Option<&'a str>,
    report: Option<&'a engine::Report>,
    /// Whether it may be what made the run go on.
    leads_on: bool,
}

impl<'a> Said<'a> {
    fn of(event: &'a Event) -> Self {
        let at = |step: &'a definition::StepName| Self {
            step: Some(step.as_str()),
            ..Self::default()
        };
        let reported = |step: &'a str, report: Option<&'a engine::Report>| Self {
            step: Some(step),
            outcome: report.map(|it| it.status.as_str()),
            report,
            leads_on: true,
        };
        match event {
            Event::RunResumed { assumed, report, .. } => {
                Self { outcome: Some("RESUMING"), ..reported(assumed, Some(report)) }
            }
            Event::StepReported { step, report, .. } => reported(step.as_str(), Some(report)),
            Event::StepCompleted(it) => reported(it.step.as_str(), Some(&it.report)),
            Event::StepFailed { step, report, .. } => reported(step.as_str(), report.as_ref()),
            Event::GateAnswered { step, .. } => Self { leads_on: true, ..at(step) },
            Event::StepEntered { step, .. }
            | Event::StepStarted { step, .. }
            | Event::StepSkipped { step, .. }
            | Event::StepReopened { step, .. }
            | Event::VerdictGiven { step, .. }
            | Event::EntryRecorded { step, .. }
            | Event::LeaseReleased { step, .. } => at(step),
            Event::GateOpened(gate) => at(&gate.step),
            Event::LeaseTaken(lease) => at(&lease.step),
            Event::RunStarted(_)
            | Event::RunForked { .. }
            | Event::PartsPlanned { .. }
            | Event::ContextChanged { .. }
            | Event::VarsChanged { .. }
            | Event::DriftAccepted { .. }
            | Event::RunCompleted
            | Event::RunFailed { .. }
            | Event::RunCancelled { .. }
            | Event::RunReopened { .. } => Self::default(),
        }
    }
}
