//! One line that says what happened, for histories and logs that people and agents read.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use definition::PartId;

use crate::{Artifact, Entry, Event, GateReason, How, ModelAsked, Ruling, StepCompleted};

/// The most of a text that is quoted, in characters.
const QUOTE_CHARS_MAX: usize = 160;

impl Event {
    /// Returns one line that says what happened.
    pub fn describe(&self) -> String {
        match self {
            Self::RunStarted(it) => {
                let key = it.key.as_ref().map(|key| format!(" `{key}`")).unwrap_or_default();
                let flow = it.flow.as_ref().map(|it| format!(", flow `{it}`")).unwrap_or_default();
                format!("run of `{}`{key} began{flow}", it.workflow)
            }
            Self::RunForked { from, seq } => format!("forked from `{from}` at event {seq}"),
            Self::RunResumed { assumed, reasoning, .. } => {
                format!("resumed, assuming `{assumed}`{}", quoted(reasoning))
            }
            Self::StepEntered { step, decision } => {
                let why = decision.as_ref().and_then(|it| it.reasoning.as_ref());
                let why = why.map(|it| format!(": {it}")).unwrap_or_default();
                format!("entered `{step}`{why}")
            }
            Self::StepStarted { step, part, attempt, .. } => {
                format!("began {}, attempt {attempt}", place(step, part.as_ref()))
            }
            Self::StepReported { step, part, report } => {
                let said = report.message.as_deref().map(quoted).unwrap_or_default();
                format!("reported `{}` on {}{said}", report.status, place(step, part.as_ref()))
            }
            Self::StepCompleted(completed) => describe_completed(completed),
            Self::StepFailed { step, part, reason, .. } => {
                format!("failed {}{}", place(step, part.as_ref()), quoted(reason))
            }
            Self::StepSkipped { step, part, reason, .. } => {
                format!("left out {}: {reason}", place(step, part.as_ref()))
            }
            Self::StepReopened { step, part, feedback, .. } => {
                format!("reopened {}{}", place(step, part.as_ref()), quoted(feedback))
            }
            Self::StepRetried { step, .. } => format!("`{step}` is ready for another attempt"),
            Self::VerdictGiven { step, part, of, verdict, ruling, .. } => {
                let led = match ruling {
                    Ruling::Approved => "approved",
                    Ruling::Revised => "to be revised",
                    Ruling::Promoted => "goes on all the same",
                    Ruling::Asked => "a person is asked",
                    Ruling::Failed => "not met",
                };
                format!("{} judged `{of}`: {verdict}, {led}", place(step, part.as_ref()))
            }
            Self::PartsPlanned { set, parts, .. } if parts.is_empty() => {
                format!("forgot `{set}`, which are to be planned again")
            }
            Self::PartsPlanned { set, parts, .. } => {
                let ids: Vec<String> = parts.iter().map(|it| format!("`{}`", it.id)).collect();
                format!("planned `{set}`: {}", ids.join(", "))
            }
            Self::PartPlaced(it) => {
                let progress = it.progress.map(|it| format!(" {}", it.as_str()));
                let verdict = it.verdict.as_ref().map(|it| format!(", {it}"));
                let revisions = it.revisions.map(|it| format!(", revised {it} times"));
                let title = it.title.as_ref().map(|it| format!(", called `{it}`"));
                let mode = it.mode.as_ref().map(|it| format!(", {it}"));
                let said = [progress, verdict, revisions, title, mode];
                let said: String = said.into_iter().flatten().collect();
                format!("says of {}:{said}", place(&it.step, Some(&it.part)))
            }
            Self::FileLeft { path, text: Some(_), .. } => format!("writes `{path}`"),
            Self::FileLeft { path, text: None, .. } => format!("removes `{path}`"),
            Self::FileReplaced { path, problem, kept: Some(kept) } => format!(
                "`{path}` was not taken in: {problem}; it was replaced from the log, and what was \
                 in it is kept in `{kept}`"
            ),
            Self::FileReplaced { path, problem, kept: None } => format!(
                "`{path}` was not taken in: {problem}; it was replaced from the log, and there was \
                 nothing in it to keep"
            ),
            Self::GateOpened(gate) => {
                let why = match gate.why {
                    GateReason::Gate => "",
                    GateReason::Early => " (early)",
                    GateReason::Part => " (part)",
                    GateReason::VerdictUnknown => " (verdict unknown)",
                    GateReason::AttemptsSpent => " (attempts spent)",
                    GateReason::RevisionsSpent => " (revisions spent)",
                    GateReason::VisitsSpent => " (visits spent)",
                    GateReason::BudgetSpent => " (budget spent)",
                    GateReason::Owed => " (owed)",
                };
                let options: Vec<&str> = gate.options.iter().map(|it| it.name.as_str()).collect();
                let place = place(&gate.step, gate.part.as_ref());
                format!("asks at {place}{why}{} [{}]", quoted(&gate.ask), options.join(", "))
            }
            Self::GateAnswered { step, part, answer, by, is_implied: true, .. } => {
                let place = place(step, part.as_ref());
                format!("`{answer}` at {place}: {by} completed it; nobody was asked")
            }
            Self::GateAnswered { step, part, answer, how, by, feedback, .. } => {
                let how = match how {
                    How::Verified => "",
                    How::Relayed => " (relayed)",
                    How::Automatic => " (automatic)",
                };
                let place = place(step, part.as_ref());
                format!("{by}{how} answered `{answer}` at {place}{}", quoted(feedback))
            }
            Self::GateWithdrawn { step } => format!("asks no more at `{step}`"),
            Self::GateWaived { step } => {
                format!("went on without an answer at the gate of `{step}`")
            }
            Self::ContextChanged { set, removed } => {
                let mut keys: Vec<String> = set.keys().map(|key| format!("`{key}`")).collect();
                keys.extend(removed.iter().map(|key| format!("`{key}` (removed)")));
                format!("context: {}", keys.join(", "))
            }
            Self::VarsChanged { set } => {
                let vars: Vec<String> =
                    set.iter().map(|(name, value)| format!("`{name}` = {value}")).collect();
                format!("variables: {}", vars.join(", "))
            }
            Self::ModelAsked(asked) => describe_asked(asked),
            Self::EntryRecorded { step, entry } => format!("`{step}`: {}", describe_entry(entry)),
            Self::LeaseTaken(lease) => {
                let place = place(&lease.step, lease.part.as_ref());
                let (holder, number) = (&lease.holder, lease.generation);
                format!("`{holder}` holds {place} until {} (lease {number})", lease.until)
            }
            Self::LeaseReleased { step, part, generation } => {
                format!("let go of {} (lease {generation})", place(step, part.as_ref()))
            }
            Self::DriftAccepted { artifacts, gone } => {
                let changed = artifacts.iter().map(|it| &it.path).chain(gone);
                let paths: Vec<String> = changed.map(|it| format!("`{it}`")).collect();
                format!("accepted as they are: {}", paths.join(", "))
            }
            Self::RunPlaced(placement) => format!("taken from `{}`", placement.path),
            Self::MoveMade { name, warnings } => {
                let warned: String = warnings.iter().map(|it| format!("; {it}")).collect();
                format!("`{name}`{warned}")
            }
            Self::RuleFired { rule } => format!("rule `{rule}` fired"),
            Self::ItemAdded { item } => format!("item {} added{}", item.id, quoted(&item.text)),
            Self::ItemClosed { id } => format!("item {id} is done"),
            Self::JournalRotated(rotated) => {
                let chars = rotated.text.chars().count();
                format!("the journal ({chars} characters) was put into the archive")
            }
            Self::LineInserted { path, heading, line } => {
                format!("`{path}`, `{heading}`{}", quoted(line))
            }
            Self::ChoreDone { name, deed, detail, warnings, .. } => {
                let done = if detail.is_empty() { deed.describe() } else { detail.clone() };
                let warned: String = warnings.iter().map(|it| format!("; {it}")).collect();
                format!("chore `{name}`{}{warned}", quoted(&done))
            }
            Self::BranchSeen { name, base: Some(base), .. } => {
                format!("the run works on branch `{name}`, beginning at commit {base}")
            }
            Self::BranchSeen { name, base: None, .. } => {
                format!("the run works on branch `{name}`")
            }
            Self::ChoreFailed { name, deed, reason, is_passed } => {
                let after = if *is_passed { "; the run goes on all the same" } else { "" };
                let what = deed.describe();
                format!("chore `{name}` ({what}) could not be done{}{after}", quoted(reason))
            }
            Self::WorkEnded => "every step is done".to_string(),
            Self::RunCompleted { .. } => "the run is completed".to_string(),
            Self::RunFailed { reason, .. } => format!("the run failed{}", quoted(reason)),
            Self::RunCancelled { reason } => format!("the run was cancelled{}", quoted(reason)),
            Self::KeyGivenUp => "another run may begin with the key".to_string(),
            Self::RunReopened { reason, .. } => format!("the run goes on{}", quoted(reason)),
        }
    }
}

fn describe_completed(completed: &StepCompleted) -> String {
    let StepCompleted { step, part, report, artifacts, checks, warnings, .. } = completed;
    let mut line = format!("completed {}", place(step, part.as_ref()));
    line.push_str(&report.message.as_deref().map(quoted).unwrap_or_default());
    if !artifacts.is_empty() {
        line.push_str(&format!("; saw {}", paths(artifacts)));
    }
    for check in checks {
        line.push_str(&format!("; ran `{}`", check.run.join(" ")));
    }
    for warning in warnings {
        line.push_str(&format!("; {warning}"));
    }
    line
}

fn describe_asked(asked: &ModelAsked) -> String {
    let ModelAsked { step, next, reasoning, failure, usage, warnings } = asked;
    let mut line = match (next, failure) {
        (_, Some(failure)) => {
            let why = quoted(&failure.message);
            format!("after `{step}` the model did not choose ({}){why}", failure.kind.as_str())
        }
        (next, None) => {
            let next = next.as_deref().unwrap_or_default();
            let why = reasoning.as_deref().map(quoted).unwrap_or_default();
            format!("after `{step}` the model chose `{next}`{why}")
        }
    };
    let (tokens_in, tokens_out) = (usage.tokens_in, usage.tokens_out);
    line.push_str(&format!(
        " [{}, {tokens_in} + {tokens_out} tokens, {} ms]",
        usage.model, usage.latency_ms
    ));
    for warning in warnings {
        line.push_str(&format!("; {warning}"));
    }
    line
}

fn describe_entry(entry: &Entry) -> String {
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

fn place(step: &impl ToString, part: Option<&PartId>) -> String {
    let step = step.to_string();
    part.map_or_else(|| format!("`{step}`"), |part| format!("part `{part}` of `{step}`"))
}

fn paths(artifacts: &[Artifact]) -> String {
    let paths: Vec<String> = artifacts.iter().map(|it| format!("`{}`", it.path)).collect();
    paths.join(", ")
}

fn quoted(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.is_empty() {
        return line;
    }
    let mut cut: String = line.chars().take(QUOTE_CHARS_MAX).collect();
    if cut.len() < line.len() {
        cut.push('…');
    }
    format!(": {cut}")
}
