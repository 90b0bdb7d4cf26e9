//! `record_entry`: something worth keeping that moves nothing.

use engine::{Command, Entry, Event};
use runtime::ExecuteError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Map;

use super::{run, words::Failure};
use crate::tool::{Call, Done, Hints, InvalidArguments, Tool};

pub(super) struct RecordEntry;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Parameters {
    /// Run id or key
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
    /// Makes a retry safe
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

impl Tool for RecordEntry {
    type Parameters = Parameters;
    type Answer = Answer;
    type Failure = Failure;
    const NAME: &'static str = "record_entry";
    const TITLE: &'static str = "Record an entry";
    const DESCRIPTION: &'static str = "Keep an error, a question with its answer, a metric or a \
        note with the run, for the agent that resumes it.";
    const HINTS: Hints = Hints::ADDS;

    async fn call(call: &Call<'_>, parameters: Parameters) -> Result<Done<Answer>, Failure> {
        let warnings = unused(&parameters).into_iter().collect();
        let entry = entry(&parameters)?;
        let instance = parameters.instance_id.clone();
        let answer = record(call, parameters, entry).await.map_err(|error| {
            Failure::new(&format!("Failed to record an entry for instance '{instance}'"), &error)
        })?;
        Ok(Done { answer, warnings, then: None })
    }
}

async fn record(
    call: &Call<'_>,
    parameters: Parameters,
    entry: Entry,
) -> Result<Answer, ExecuteError> {
    let run = call.runtime.find_run(&parameters.instance_id).await?;
    let command = Command::RecordEntry { step: parameters.step, entry };
    let outcome = run::execute(call, run, command, parameters.request_id).await?;
    let (mut step_name, mut seq) = (String::new(), outcome.view.state.length);
    for recorded in &outcome.events {
        if let Event::EntryRecorded { step, .. } = &recorded.event {
            (step_name, seq) = (step.to_string(), recorded.seq);
        }
    }
    let (instance_id, run) = (run.to_string(), run.short());
    Ok(Answer { instance_id, r#type: parameters.r#type, step_name, run, seq })
}

fn entry(parameters: &Parameters) -> Result<Entry, InvalidArguments> {
    let Parameters { answer, severity, value, unit, tags, .. } = parameters;
    let text = parameters.text.clone();
    Ok(match parameters.r#type {
        Kind::Error => {
            Entry::Error { message: text, severity: severity.clone(), details: Map::new() }
        }
        Kind::Question => {
            let lacking =
                || InvalidArguments::missing(RecordEntry::NAME, "answer", "a question needs it");
            let answer = answer.clone().ok_or_else(lacking)?;
            Entry::Question { question: text, answer, answered_at: None }
        }
        Kind::Metric => {
            let lacking =
                || InvalidArguments::missing(RecordEntry::NAME, "value", "a metric needs it");
            let value = (*value).ok_or_else(lacking)?;
            Entry::Metric { name: text, value, unit: unit.clone() }
        }
        Kind::Note => Entry::Note { text, tags: tags.clone().unwrap_or_default() },
    })
}

/// Names what was given but belongs to another kind of entry.
fn unused(parameters: &Parameters) -> Option<String> {
    let kind = parameters.r#type;
    let given = [
        ("answer", parameters.answer.is_some() && kind != Kind::Question),
        ("severity", parameters.severity.is_some() && kind != Kind::Error),
        ("value", parameters.value.is_some() && kind != Kind::Metric),
        ("unit", parameters.unit.is_some() && kind != Kind::Metric),
        ("tags", parameters.tags.is_some() && kind != Kind::Note),
    ];
    let names: Vec<String> =
        given.iter().filter(|it| it.1).map(|it| format!("`{}`", it.0)).collect();
    (!names.is_empty())
        .then(|| format!("ignored, as the entry has no such thing: {}", names.join(", ")))
}
