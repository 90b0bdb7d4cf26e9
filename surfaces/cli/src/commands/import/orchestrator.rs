//! What the original's rows mean in our words: a run's row and its reports become a log.
//!
//! The original kept only the newest context, and of each report what was said and when. Events
//! get the original's times, and those that it did not note follow from what it did.

use definition::{Decider, FINISH, StepName, Workflow};
use engine::{
    Actor, Choice, CompletedBy, Entry, Event, FailCause, Outcome, Recorded, Report, RunId,
    RunStarted, StepCompleted, Surface, Timestamp,
};
use serde_json::{Map, Value};
use store::{OriginalReport, OriginalRun};

/// The word that the original wrote for a return to a run.
const RESUMING: &str = "RESUMING";

/// What a run is pinned to from now on.
pub(super) struct Home<'a> {
    pub(super) workflow: &'a Workflow,
    pub(super) decider: Decider,
    pub(super) root: &'a str,
}

/// A run in our words.
#[derive(Debug)]
pub(super) struct Converted {
    pub(super) run: RunId,
    pub(super) events: Vec<Recorded>,
    /// What could not be read.
    pub(super) doubts: Vec<String>,
}

/// Converts a run, or says why it cannot be taken.
pub(super) fn convert(
    original: &OriginalRun,
    reports: &[OriginalReport],
    home: &Home<'_>,
) -> Result<Converted, String> {
    let Some(run) = RunId::parse(&original.id.to_lowercase()) else {
        return Err(format!("`{}` is not a UUID", original.id));
    };
    let is_known_status =
        ["RUNNING", "SUSPENDED", "COMPLETED", "FAILED"].contains(&original.status.as_str());
    if !is_known_status {
        return Err(format!("its status `{}` is not known", original.status));
    }
    let is_live = matches!(original.status.as_str(), "RUNNING" | "SUSPENDED");
    let is_finished = original.step == FINISH || original.status == "COMPLETED";
    let current = StepName::parse(&original.step);
    let has_step = current.as_ref().is_ok_and(|it| home.workflow.find_step(it).is_some());
    if is_live && !is_finished && !has_step {
        let (step, workflow) = (&original.step, &original.workflow);
        return Err(format!(
            "it is at step `{step}`, which workflow `{workflow}` does not have now"
        ));
    }
    let mut log = Log::default();
    log.start(original, home);
    let first = reports.first().filter(|it| it.outcome.as_deref() != Some(RESUMING));
    let first = first.map_or(&original.step, |it| &it.step);
    if let Some(step) = StepName::parse(first).ok().filter(|it| it.as_str() != FINISH) {
        log.enter(&step, None);
    }
    for report in reports {
        log.add_report(report);
    }
    if let (false, Ok(step)) = (is_finished, current) {
        log.arrive(&step, original.updated_at.as_deref());
    }
    log.end(original, is_finished);
    Ok(Converted { run, events: log.events, doubts: log.doubts })
}

/// A log in the making.
#[derive(Default)]
struct Log {
    events: Vec<Recorded>,
    doubts: Vec<String>,
    now: Timestamp,
    current: Option<StepName>,
    /// Whether the current step was reported done.
    is_done: bool,
    /// Why the last attempt failed.
    failure: Option<String>,
}

impl Log {
    fn start(&mut self, original: &OriginalRun, home: &Home<'_>) {
        let context = match original.context.as_deref().map(serde_json::from_str) {
            None | Some(Ok(Value::Null)) => Map::new(),
            Some(Ok(Value::Object(context))) => context,
            Some(Ok(_) | Err(_)) => {
                self.doubts.push("its context is not a JSON object, and was left out".to_owned());
                Map::new()
            }
        };
        self.at(original.created_at.as_deref());
        self.push(Event::RunStarted(Box::new(RunStarted {
            goes_on: false,
            workflow: home.workflow.name.clone(),
            digest: home.workflow.digest.clone(),
            decider: home.decider,
            key: None,
            flow: home.workflow.flow.clone(),
            context,
            vars: vars(home.workflow),
            root: home.root.to_owned(),
            journal: home.workflow.journal,
        })));
    }

    fn add_report(&mut self, original: &OriginalReport) {
        self.at(original.at.as_deref());
        let Ok(step) = StepName::parse(&original.step) else {
            self.doubts.push(format!("a report on a step `{}` was left out", original.step));
            return;
        };
        let report = self.read_report(original);
        if original.outcome.as_deref() == Some(RESUMING) {
            let unsaid = || "the original did not say more".to_owned();
            let reasoning = original.reasoning.clone().unwrap_or_else(unsaid);
            self.push(Event::RunResumed { assumed: original.step.clone(), report, reasoning });
        } else {
            self.enter(&step, None);
            self.judge(&step, report);
        }
        if let Some(message) = original.error.clone().filter(|it| !it.is_empty()) {
            let entry = Entry::Error { message, severity: None, details: Map::new() };
            self.push(Event::EntryRecorded { step, entry });
        }
        let next = original.next.as_deref().filter(|it| !it.is_empty() && *it != FINISH);
        if let Some(Ok(next)) = next.map(StepName::parse) {
            let reasoning = original.reasoning.clone();
            self.enter(&next, Some(Choice { by: Decider::Ai, reasoning }));
        }
    }

    fn judge(&mut self, step: &StepName, report: Report) {
        let step = step.clone();
        match report.outcome() {
            Outcome::Success => {
                self.is_done = true;
                self.push(Event::StepCompleted(Box::new(StepCompleted {
                    step,
                    part: None,
                    report,
                    artifacts: Vec::new(),
                    checks: Vec::new(),
                    git: None,
                    warnings: Vec::new(),
                    by: Some(CompletedBy::Report),
                })));
            }
            Outcome::Failure => {
                let reason = report.reason();
                self.failure = Some(reason.clone());
                let (report, cause) = (Some(report), Some(FailCause::Report));
                self.push(Event::StepFailed { step, part: None, reason, report, cause });
            }
            Outcome::Open => self.push(Event::StepReported { step, part: None, report }),
        }
    }

    /// Stands at the step that the original stood at.
    fn arrive(&mut self, step: &StepName, at: Option<&str>) {
        self.at(at);
        self.enter(step, None);
    }

    /// Enters a step, unless the run is there and it is not done.
    fn enter(&mut self, step: &StepName, decision: Option<Choice>) {
        if self.current.as_ref() == Some(step) && !self.is_done {
            return;
        }
        self.current = Some(step.clone());
        self.is_done = false;
        self.push(Event::StepEntered { step: step.clone(), decision });
    }

    fn end(&mut self, original: &OriginalRun, is_finished: bool) {
        self.at(original.completed_at.as_deref().or(original.updated_at.as_deref()));
        let status = &original.status;
        let note = format!("taken over from an orchestrator-mcp-server, where it was {status}");
        if let Some(step) = self.current.clone() {
            let entry = Entry::Note { text: note, tags: vec!["import".to_owned()] };
            self.push(Event::EntryRecorded { step, entry });
        }
        match status.as_str() {
            "FAILED" => {
                let reason = self.failure.take();
                let reason =
                    reason.unwrap_or_else(|| "it had failed before it came here".to_owned());
                self.push(Event::RunFailed { reason, step: None, cause: None });
            }
            _ if is_finished => self.push(Event::RunCompleted { details: Map::new() }),
            _ => {}
        }
    }

    /// Reads a report; what cannot be read becomes its message.
    fn read_report(&mut self, original: &OriginalReport) -> Report {
        let text = original.report.as_deref().unwrap_or("{}");
        let status = original.outcome.clone().unwrap_or_default();
        let read = serde_json::from_str::<Map<String, Value>>(text).ok().and_then(|mut map| {
            map.entry("step_id").or_insert_with(|| Value::String(original.step.clone()));
            map.entry("status").or_insert_with(|| Value::String(status.clone()));
            serde_json::from_value(Value::Object(map)).ok()
        });
        read.unwrap_or_else(|| {
            self.doubts.push(format!("a report on `{}` was kept as text", original.step));
            let message = Some(text.to_owned());
            Report { step_id: original.step.clone(), status, message, ..Report::default() }
        })
    }

    /// Moves on to a moment of the original. Times that cannot be read, or lie before the last,
    /// stay where the log is.
    fn at(&mut self, text: Option<&str>) {
        let read = text.map(parse_moment);
        if let Some(None) = read {
            let text = text.unwrap_or_default();
            self.doubts.push(format!("the time `{text}` cannot be read"));
        }
        if let Some(Some(at)) = read {
            self.now = self.now.max(at);
        }
    }

    fn push(&mut self, event: Event) {
        let seq = self.events.last().map_or(1, |it| it.seq + 1);
        let client = Some("orchestrator-mcp-server".to_owned());
        let by = Actor { name: None, client, surface: Surface::Import };
        self.events.push(Recorded { seq, at: self.now, steady: self.now, by, event });
    }
}

fn vars(workflow: &Workflow) -> Map<String, Value> {
    workflow.vars.iter().map(|(name, var)| (name.clone(), var.default.clone())).collect()
}

/// Reads a moment as the original or `SQLite` wrote it. Without a zone it is UTC.
fn parse_moment(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    let micros = match text.parse::<jiff::Timestamp>() {
        Ok(moment) => moment.as_microsecond(),
        Err(_) => {
            let civil = text.parse::<jiff::civil::DateTime>().ok()?;
            civil.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_microsecond()
        }
    };
    Some(Timestamp(micros))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_every_form_are_read() {
        let shown = |text: &str| parse_moment(text).map(|it| it.to_string());
        let full = Some("2025-05-01T12:34:56.000007Z".to_owned());
        let whole = Some("2025-05-01T12:34:56.000000Z".to_owned());
        assert_eq!(shown("2025-05-01T12:34:56.000007"), full);
        assert_eq!(shown("2025-05-01 12:34:56.000007Z"), full);
        assert_eq!(shown("2025-05-01 12:34:56"), whole);
        assert_eq!(shown("2025-05-01T14:34:56+02:00"), whole);
        assert_eq!(shown("yesterday"), None);
    }
}
