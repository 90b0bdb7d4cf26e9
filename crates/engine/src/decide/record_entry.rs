//! Something worth keeping is written down. It moves nothing.

use alloc::{
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use super::{Draft, NAME_BYTES_MAX, check_depth, check_size};
use crate::{Entry, Event, Refusal, Stop};

pub(super) fn decide(draft: &mut Draft<'_>, step: Option<&str>, entry: &Entry) -> Result<(), Stop> {
    draft.check_begun()?;
    // A run that is over can still be explained, but nothing can go wrong in it any more.
    if matches!(entry, Entry::Error { .. }) && !draft.state.standing.is_live() {
        let status = draft.state.standing.status();
        return Err(Refusal::RunEnded { status }.into());
    }
    keep(draft, step, entry)
}

/// Writes an entry down, however the run stands.
pub(super) fn keep(draft: &mut Draft<'_>, step: Option<&str>, entry: &Entry) -> Result<(), Stop> {
    let step = match step {
        Some(named) => {
            let found = draft.workflow.find_step_loosely(named);
            found.ok_or_else(|| draft.step_unknown(named))?
        }
        None => draft.current()?,
    };
    check_entry(draft, entry)?;
    let entry = if draft.workflow.journal { told_apart(draft, entry) } else { entry.clone() };
    draft.push(Event::EntryRecorded { step: step.name.clone(), entry });
    Ok(())
}

/// Marks what could pass for a person's answer in a journal that is read as text.
fn told_apart(draft: &Draft<'_>, entry: &Entry) -> Entry {
    let mut entry = entry.clone();
    match &mut entry {
        Entry::Note { text, .. } | Entry::Error { message: text, .. } => mark(draft, text),
        Entry::Question { question, answer, .. } => {
            mark(draft, question);
            mark(draft, answer);
        }
        Entry::Metric { .. } | Entry::Usage { .. } => {}
    }
    entry
}

fn mark(draft: &Draft<'_>, text: &mut String) {
    if text.lines().any(|it| is_like_answer(draft, it)) {
        let marked = |it: &str| {
            if is_like_answer(draft, it) { format!("> {it}") } else { it.to_string() }
        };
        *text = text.split('\n').map(marked).collect::<Vec<_>>().join("\n");
    }
}

/// Whether a line reads like one that the journal has of an answer at a gate.
fn is_like_answer(draft: &Draft<'_>, line: &str) -> bool {
    let line = line.trim_start();
    let stamped = line.strip_prefix('[').and_then(|it| it.split_once(']'));
    let said = stamped.map_or(line, |(_, rest)| rest.trim_start());
    let gates = draft.workflow.steps.iter().filter(|it| it.gate.is_some());
    let rest = gates.filter_map(|it| said.strip_prefix(it.name.as_str())?.strip_prefix(':'));
    rest.take(1).any(|it| it.contains(", says "))
}

fn check_entry(draft: &Draft<'_>, entry: &Entry) -> Result<(), Refusal> {
    let text = match entry {
        Entry::Error { message, .. } => message,
        Entry::Question { question, .. } => question,
        Entry::Metric { name, value, .. } => {
            if !value.is_finite() {
                let problem = "it must be a finite number".into();
                return Err(Refusal::ParameterInvalid { field: "value".into(), problem });
            }
            name
        }
        Entry::Note { text, .. } => text,
        Entry::Usage { model, .. } => {
            return check_size("the name of the model", model.len(), NAME_BYTES_MAX);
        }
    };
    if text.trim().is_empty() {
        return Err(Refusal::Empty { what: "the entry".into() });
    }
    if let Entry::Error { details, .. } = entry {
        check_depth("the entry", details.values())?;
    }
    let bytes = serde_json::to_string(entry).map_or(0, |it| it.len());
    check_size("the entry", bytes, draft.known.bounds.text_bytes_max)
}
