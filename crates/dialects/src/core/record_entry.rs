//! `record_entry`: something worth keeping that moves nothing.

use engine::{Command, Entry, Event, RunId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Map;

use super::{
    run,
    words::{Failure, Tried},
};
use crate::kit::{self, Ask, Caller, Done, Hints, InvalidArguments, Outcome, Tool};

/// The parameters.
#[derive(Deserialize, JsonSchema)]
pub(super) struct RecordEntry {
    /// Run id or key
    #[schemars(extend("x-names" = ["run"]))]
    instance_id: String,
    /// Kind of entry
    r#type: Kind,
    /// What to keep; of a metric its name
    text: String,
    /// To the question
    answer: Option<String>,
    /// Of an error
    severity: Option<String>,
    /// Of a metric
    value: Option<f64>,
    /// Of a metric
    unit: Option<String>,
    /// Of a note
    tags: Option<Vec<String>>,
    /// Default: current
    step: Option<String>,
    /// For safe retries
    #[expect(dead_code, reason = "the server reads it before the call")]
    request_id: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Error,
    Question,
    Metric,
    Note,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Answer {
    instance_id: String,
    r#type: Kind,
    step_name: String,
    run: String,
    seq: u64,
}

impl kit::Answer for Answer {}

impl Tool for RecordEntry {
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = "record_entry";
    const TITLE: &'static str = "Record an entry";
    const DESCRIPTION: &'static str = "Keep an error, a question and its answer, a metric or a \
        note for the agent that resumes the run.";
    const HINTS: Hints = Hints::ADDS;

    fn ask(self, caller: &Caller) -> Result<Ask, Failure> {
        let person = caller.person;
        let warnings = self.unused().into_iter().collect();
        let command = Command::RecordEntry { entry: self.entry()?, step: self.step };
        let tried = Tried::new(
            person,
            format!("Failed to record an entry for instance '{}'", self.instance_id),
        );
        let kind = self.r#type;
        Ok(run::find::<Self>(self.instance_id, tried.clone(), move |run| {
            let say = move |outcome| {
                let answer = recorded(run, kind, &outcome);
                Self::say(Done { answer, warnings, then: None })
            };
            run::change(run, command, None, tried.or_fail::<Self, _, _>(say))
        }))
    }
}

fn recorded(run: RunId, kind: Kind, outcome: &Outcome) -> Answer {
    let (mut step_name, mut seq) = (String::new(), outcome.now.view.state.length);
    for recorded in &outcome.events {
        if let Event::EntryRecorded { step, .. } = &recorded.event {
            (step_name, seq) = (step.to_string(), recorded.seq);
        }
    }
    let (instance_id, run) = (run.to_string(), run.short());
    Answer { instance_id, r#type: kind, step_name, run, seq }
}

impl RecordEntry {
    fn entry(&self) -> Result<Entry, InvalidArguments> {
        let Self { answer, severity, value, unit, tags, .. } = self;
        let text = self.text.clone();
        Ok(match self.r#type {
            Kind::Error => {
                Entry::Error { message: text, severity: severity.clone(), details: Map::new() }
            }
            Kind::Question => {
                let lacking =
                    || InvalidArguments::missing(Self::NAME, "answer", "a question needs it");
                let answer = answer.clone().ok_or_else(lacking)?;
                Entry::Question { question: text, answer, answered_at: None }
            }
            Kind::Metric => {
                let lacking =
                    || InvalidArguments::missing(Self::NAME, "value", "a metric needs it");
                let value = (*value).ok_or_else(lacking)?;
                Entry::Metric { name: text, value, unit: unit.clone() }
            }
            Kind::Note => Entry::Note { text, tags: tags.clone().unwrap_or_default() },
        })
    }

    /// Names what was given but belongs to another kind of entry.
    fn unused(&self) -> Option<String> {
        let kind = self.r#type;
        let given = [
            ("answer", self.answer.is_some() && kind != Kind::Question),
            ("severity", self.severity.is_some() && kind != Kind::Error),
            ("value", self.value.is_some() && kind != Kind::Metric),
            ("unit", self.unit.is_some() && kind != Kind::Metric),
            ("tags", self.tags.is_some() && kind != Kind::Note),
        ];
        let names: Vec<String> =
            given.iter().filter(|it| it.1).map(|it| format!("`{}`", it.0)).collect();
        (!names.is_empty())
            .then(|| format!("ignored, as the entry has no such thing: {}", names.join(", ")))
    }
}
