//! Steps, parts and attempts.

use alloc::{format, string::String};

use definition::{PartSpec, StepName};

use super::{listed, named, place, quoted};
use crate::{Choice, Entry, Lease, PartPlaced, Report, Ruling, StepCompleted};

pub(super) fn entered(step: &StepName, decision: Option<&Choice>) -> String {
    let why = decision.and_then(|it| it.reasoning.as_ref());
    let why = why.map(|it| format!(": {it}")).unwrap_or_default();
    format!("entered `{step}`{why}")
}

pub(super) fn reported(place: &str, report: &Report) -> String {
    let said = report.said().as_deref().map(quoted).unwrap_or_default();
    format!("reported `{}` on {place}{said}", report.status)
}

pub(super) fn completed(completed: &StepCompleted) -> String {
    let StepCompleted { step, part, report, artifacts, checks, warnings, .. } = completed;
    let mut line = format!("completed {}", place(step, part.as_ref()));
    line.push_str(&report.said().as_deref().map(quoted).unwrap_or_default());
    if !artifacts.is_empty() {
        line.push_str(&format!("; saw {}", named(artifacts.iter().map(|it| &it.path))));
    }
    for check in checks {
        line.push_str(&format!("; ran `{}`", check.run.join(" ")));
    }
    line + &listed(warnings)
}

pub(super) fn judged(place: &str, of: &StepName, verdict: &str, ruling: Ruling) -> String {
    let led = match ruling {
        Ruling::Approved => "approved",
        Ruling::Revised => "to be revised",
        Ruling::Promoted => "goes on all the same",
        Ruling::Asked => "a person is asked",
        Ruling::Failed => "not met",
    };
    format!("{place} judged `{of}`: {verdict}, {led}")
}

pub(super) fn planned(set: &str, parts: &[PartSpec]) -> String {
    if parts.is_empty() {
        return format!("forgot `{set}`, which are to be planned again");
    }
    format!("planned `{set}`: {}", named(parts.iter().map(|it| &it.id)))
}

pub(super) fn placed(it: &PartPlaced) -> String {
    let progress = it.progress.map(|it| format!(" {}", it.as_str()));
    let verdict = it.verdict.as_ref().map(|it| format!(", {it}"));
    let revisions = it.revisions.map(|it| format!(", revised {it} times"));
    let title = it.title.as_ref().map(|it| format!(", called `{it}`"));
    let mode = it.mode.as_ref().map(|it| format!(", {it}"));
    let said: String = [progress, verdict, revisions, title, mode].into_iter().flatten().collect();
    format!("says of {}:{said}", place(&it.step, Some(&it.part)))
}

pub(super) fn held(lease: &Lease) -> String {
    let Lease { holder, generation, until, .. } = lease;
    let place = place(&lease.step, lease.part.as_ref());
    format!("`{holder}` holds {place} until {until} (lease {generation})")
}

pub(super) fn entry(entry: &Entry) -> String {
    match entry {
        Entry::Error { message, severity, .. } => {
            let severity = severity.as_ref().map(|it| format!(" ({it})")).unwrap_or_default();
            format!("error{severity}{}", quoted(message))
        }
        Entry::Question { question, answer, .. } => {
            format!("question{} answered{}", quoted(question), quoted(answer))
        }
        Entry::Metric { name, value, unit } => {
            let unit = unit.as_ref().map(|it| format!(" {it}")).unwrap_or_default();
            format!("metric {name} = {value}{unit}")
        }
        Entry::Note { text, .. } => format!("note{}", quoted(text)),
        Entry::Usage { tokens, duration_ms, model } => {
            let model = if model.is_empty() { "" } else { model };
            format!("took {tokens} tokens and {duration_ms} ms {model}").trim_end().into()
        }
    }
}
