//! One line that says what happened, for histories and logs that people and agents read.

mod gate;
mod run;
mod work;
mod world;

use alloc::{
    format,
    string::{String, ToString as _},
    vec::Vec,
};
use core::fmt::Display;

use definition::PartId;

use crate::Event;

/// The most of a text that is quoted, in characters.
const QUOTE_CHARS_MAX: usize = 160;

impl Event {
    /// Returns one line that says what happened.
    pub fn describe(&self) -> String {
        let at = |step, part: &Option<PartId>| place(step, part.as_ref());
        match self {
            Self::RunStarted(it) => run::started(it),
            Self::RunForked { from, seq } => format!("forked from `{from}` at event {seq}"),
            Self::RunResumed { assumed, reasoning, .. } => {
                format!("resumed, assuming `{assumed}`{}", quoted(reasoning))
            }
            Self::RunPlaced(placement) => format!("taken from `{}`", placement.path),
            Self::RunCompleted { .. } => "the run is completed".to_string(),
            Self::RunFailed { reason, .. } => format!("the run failed{}", quoted(reason)),
            Self::RunCancelled { reason } => format!("the run was cancelled{}", quoted(reason)),
            Self::RunReopened { reason, .. } => format!("the run goes on{}", quoted(reason)),
            Self::KeyGivenUp => "another run may begin with the key".to_string(),
            Self::WorkEnded => "every step is done".to_string(),
            Self::ContextChanged { set, removed } => run::context(set, removed),
            Self::VarsChanged { set } => run::vars(set),
            Self::ModelAsked(asked) => run::asked(asked),
            Self::StepEntered { step, decision } => work::entered(step, decision.as_ref()),
            Self::StepStarted { step, part, attempt, .. } => {
                format!("began {}, attempt {attempt}", at(step, part))
            }
            Self::StepReported { step, part, report } => work::reported(&at(step, part), report),
            Self::StepCompleted(completed) => work::completed(completed),
            Self::StepFailed { step, part, reason, .. } => {
                format!("failed {}{}", at(step, part), quoted(reason))
            }
            Self::StepSkipped { step, part, reason, .. } => {
                format!("left out {}: {reason}", at(step, part))
            }
            Self::StepReopened { step, part, feedback, .. } => {
                format!("reopened {}{}", at(step, part), quoted(feedback))
            }
            Self::StepRetried { step, .. } => format!("`{step}` is ready for another attempt"),
            Self::VerdictGiven { step, part, of, verdict, ruling, .. } => {
                work::judged(&at(step, part), of, verdict, *ruling)
            }
            Self::PartsPlanned { set, parts, .. } => work::planned(set, parts),
            Self::PartPlaced(placed) => work::placed(placed),
            Self::EntryRecorded { step, entry } => format!("`{step}`: {}", work::entry(entry)),
            Self::LeaseTaken(lease) => work::held(lease),
            Self::LeaseReleased { step, part, generation } => {
                format!("let go of {} (lease {generation})", at(step, part))
            }
            Self::GateOpened(gate) => gate::opened(gate),
            Self::GateAnswered { .. } => gate::answered(self),
            Self::GateWithdrawn { step } => format!("asks no more at `{step}`"),
            Self::GateWaived { step } => {
                format!("went on without an answer at the gate of `{step}`")
            }
            Self::MoveMade { name, warnings } => format!("`{name}`{}", listed(warnings)),
            Self::RuleFired { rule } => format!("rule `{rule}` fired"),
            Self::ItemAdded { item } => format!("item {} added{}", item.id, quoted(&item.text)),
            Self::ItemClosed { id } => format!("item {id} is done"),
            Self::JournalRotated(rotated) => world::rotated(&rotated.text),
            Self::LineInserted { path, heading, line } => {
                format!("`{path}`, `{heading}`{}", quoted(line))
            }
            Self::FileLeft { path, text: Some(_), .. } => format!("writes `{path}`"),
            Self::FileLeft { path, text: None, .. } => format!("removes `{path}`"),
            Self::FileReplaced { path, problem, kept } => {
                world::replaced(path, problem, kept.as_deref())
            }
            Self::DriftAccepted { artifacts, gone } => world::accepted(artifacts, gone),
            Self::ChoreDone { .. } | Self::ChoreFailed { .. } => world::chore(self),
            Self::BranchSeen { name, base, .. } => world::branch(name, base.as_deref()),
        }
    }
}

fn place(step: impl Display, part: Option<&PartId>) -> String {
    part.map_or_else(|| format!("`{step}`"), |part| format!("part `{part}` of `{step}`"))
}

/// Each of these after a semicolon.
fn listed(warnings: &[String]) -> String {
    warnings.iter().map(|it| format!("; {it}")).collect()
}

/// Names, each in backticks.
fn named<T: Display>(names: impl IntoIterator<Item = T>) -> String {
    let names: Vec<String> = names.into_iter().map(|it| format!("`{it}`")).collect();
    names.join(", ")
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
