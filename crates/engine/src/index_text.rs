//! What of an event a person would search for: goals, reports, errors, answers and notes.

use alloc::{string::String, vec::Vec};

use serde_json::Value;

use crate::{Entry, Event, Report};

/// The most that is taken from one event, in bytes. The rest of a long report is in the log.
const TEXT_BYTES_MAX: usize = 16 * 1024;

/// Returns the text by which `event` is found, if it has any.
#[expect(clippy::wildcard_enum_match_arm, reason = "no other event has a text of its own")]
pub fn index_text(event: &Event) -> Option<String> {
    let mut text = Text::default();
    match event {
        Event::RunStarted(started) => {
            text.add(started.workflow.as_str());
            text.add(started.key.as_deref().unwrap_or_default());
            started.context.values().for_each(|value| text.add_value(value));
        }
        Event::StepReported { report, .. } | Event::RunResumed { report, .. } => {
            text.add_report(report);
        }
        Event::StepCompleted(completed) => text.add_report(&completed.report),
        Event::StepFailed { reason, report, .. } => {
            text.add(reason);
            report.iter().for_each(|report| text.add_report(report));
        }
        Event::StepReopened { feedback, .. } => text.add(feedback),
        Event::VerdictGiven { verdict, .. } => text.add(verdict),
        Event::GateOpened(gate) => text.add(&gate.ask),
        Event::GateAnswered { answer, feedback, by, .. } => {
            [answer, feedback, by].into_iter().for_each(|it| text.add(it));
        }
        Event::ModelAsked(asked) => {
            text.add(asked.reasoning.as_deref().unwrap_or_default());
            text.add(asked.failure.as_ref().map(|it| it.message.as_str()).unwrap_or_default());
        }
        Event::EntryRecorded { entry, .. } => text.add_entry(entry),
        Event::RunFailed { reason, .. }
        | Event::RunCancelled { reason }
        | Event::RunReopened { reason, .. } => text.add(reason),
        Event::RunPlaced(placement) => text.add(&placement.text),
        Event::ItemAdded { item } => text.add(&item.text),
        Event::LineInserted { line, .. } => text.add(line),
        Event::ChoreDone { detail, .. } => text.add(detail),
        Event::ChoreFailed { reason, .. } => text.add(reason),
        Event::BranchSeen { name, .. } => text.add(name),
        _ => {}
    }
    (!text.0.is_empty()).then_some(text.0)
}

#[derive(Default)]
struct Text(String);

impl Text {
    fn add(&mut self, text: &str) {
        let text = text.trim();
        let room = TEXT_BYTES_MAX.saturating_sub(self.0.len());
        if text.is_empty() || room == 0 {
            return;
        }
        if !self.0.is_empty() {
            self.0.push('\n');
        }
        let end = text.floor_char_boundary(room);
        self.0.push_str(text.get(..end).unwrap_or_default());
    }

    /// Adds the strings inside `value`, nearest first.
    fn add_value(&mut self, value: &Value) {
        let mut waiting = Vec::from([value]);
        while let Some(value) = waiting.pop() {
            match value {
                Value::String(text) => self.add(text),
                Value::Array(items) => waiting.extend(items.iter().rev()),
                Value::Object(map) => waiting.extend(map.values()),
                Value::Null | Value::Bool(_) | Value::Number(_) => {}
            }
        }
    }

    fn add_report(&mut self, report: &Report) {
        self.add(report.message.as_deref().unwrap_or_default());
        self.add(report.error.as_deref().unwrap_or_default());
        self.add_value(&report.result);
        self.add_value(&report.details);
    }

    fn add_entry(&mut self, entry: &Entry) {
        match entry {
            Entry::Error { message, details, .. } => {
                self.add(message);
                details.values().for_each(|value| self.add_value(value));
            }
            Entry::Question { question, answer, .. } => {
                self.add(question);
                self.add(answer);
            }
            Entry::Metric { name, .. } => self.add(name),
            Entry::Usage { model, .. } => self.add(model),
            Entry::Note { text, tags } => {
                self.add(text);
                tags.iter().for_each(|tag| self.add(tag));
            }
        }
    }
}
