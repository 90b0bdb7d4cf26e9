//! The log of a run as rows: what happened, and where a report has them the orchestrator's own
//! columns.

use definition::FINISH;
use engine::{Event, Recorded};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

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
    user_report: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
}

/// Returns the rows of a part of a log that ends where the log ends.
pub(super) fn rows(events: &[Recorded]) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut current = None;
    for (index, recorded) in events.iter().enumerate() {
        let later = events.get(index + 1..).unwrap_or_default();
        let said = Said::of(&recorded.event);
        if let Role::Arrives(step) = said.role {
            current = Some(step);
        }
        let next = match said.role {
            Role::Leads => find_next(recorded, later),
            // Nothing was decided but to stay.
            Role::Stays => find_next(recorded, later).or(current),
            Role::Arrives(_) | Role::Waits | Role::None => None,
        };
        rows.push(row(recorded, said, next));
    }
    rows
}

fn row(recorded: &Recorded, said: Said<'_>, next: Option<&str>) -> Row {
    let report = said.report.and_then(|it| serde_json::to_value(it).ok());
    let by = recorded.by.name.clone().or_else(|| recorded.by.client.clone());
    Row {
        seq: recorded.seq,
        at: recorded.at.to_string(),
        kind: recorded.event.kind().to_owned(),
        step_name: said.step.map(ToOwned::to_owned),
        summary: recorded.event.describe(),
        outcome_status: said.outcome.map(ToOwned::to_owned),
        determined_next_step: next.map(ToOwned::to_owned),
        user_report: report.as_ref().and_then(Value::as_object).map(cut::report),
        by,
    }
}

/// Returns the step that was arrived at before anyone said anything else. Events of one command
/// have one time: what a command says twice (a return, and the report with it) is said once.
fn find_next<'a>(said: &Recorded, later: &'a [Recorded]) -> Option<&'a str> {
    let mut next = None;
    for recorded in later {
        match Said::of(&recorded.event).role {
            Role::Arrives(step) => next = Some(step),
            Role::Waits => break,
            Role::Leads | Role::Stays if recorded.at != said.at => break,
            Role::Leads | Role::Stays | Role::None => {}
        }
    }
    next
}

/// What an event says in the orchestrator's words.
#[derive(Clone, Copy)]
struct Said<'a> {
    step: Option<&'a str>,
    outcome: Option<&'a str>,
    report: Option<&'a engine::Report>,
    role: Role<'a>,
}

/// What an event does for the course of a run.
#[derive(Clone, Copy)]
enum Role<'a> {
    None,
    /// It may make the run go on.
    Leads,
    /// So it may, and else the run stays where it is.
    Stays,
    /// The run is now here.
    Arrives(&'a str),
    /// The run waits for a person.
    Waits,
}

impl<'a> Said<'a> {
    #[expect(clippy::wildcard_enum_match_arm, reason = "all other events are about the run")]
    fn of(event: &'a Event) -> Self {
        let plain = |step: Option<&'a str>, role: Role<'a>| Self {
            step,
            outcome: None,
            report: None,
            role,
        };
        let reported = |step: &'a str, report: Option<&'a engine::Report>, role: Role<'a>| Self {
            step: Some(step),
            outcome: report.map(|it| it.status.as_str()),
            report,
            role,
        };
        match event {
            Event::RunResumed { assumed, report, .. } => {
                let said = reported(assumed, Some(report), Role::Stays);
                Self { outcome: Some("RESUMING"), ..said }
            }
            Event::StepReported { step, report, .. } => {
                reported(step.as_str(), Some(report), Role::Stays)
            }
            Event::StepCompleted(it) => reported(it.step.as_str(), Some(&it.report), Role::Leads),
            Event::StepFailed { step, report, .. } => {
                reported(step.as_str(), report.as_ref(), Role::Leads)
            }
            Event::StepEntered { step, .. } => {
                plain(Some(step.as_str()), Role::Arrives(step.as_str()))
            }
            Event::GateOpened(gate) => plain(Some(gate.step.as_str()), Role::Waits),
            Event::GateAnswered { step, .. } => plain(Some(step.as_str()), Role::Leads),
            Event::ModelAsked(asked) => plain(Some(asked.step.as_str()), Role::None),
            Event::StepStarted { step, .. }
            | Event::StepSkipped { step, .. }
            | Event::StepReopened { step, .. }
            | Event::StepRetried { step, .. }
            | Event::GateWithdrawn { step }
            | Event::GateWaived { step }
            | Event::VerdictGiven { step, .. }
            | Event::EntryRecorded { step, .. }
            | Event::LeaseReleased { step, .. } => plain(Some(step.as_str()), Role::None),
            Event::LeaseTaken(lease) => plain(Some(lease.step.as_str()), Role::None),
            Event::RunCompleted { .. } => plain(None, Role::Arrives(FINISH)),
            _ => plain(None, Role::None),
        }
    }
}
