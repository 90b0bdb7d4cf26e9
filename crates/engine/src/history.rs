//! What happened to a run, as far as files and people want to be told of it later: each attempt,
//! failure, question, end and visit, the text that a file had when it was last taken in, and how
//! often each kind of event happened.
//!
//! The state says where a run is. This says how it got there. Files are rendered from both, so a
//! file format needs no state of its own. Everything here folds from stored events.

mod fold;
mod passing;

use alloc::{
    collections::BTreeMap,
    string::{String, ToString as _},
    vec::Vec,
};
use core::fmt;

use definition::{PartId, StepName};
use rpds::VectorSync;
use serde_json::{Map, Value};

use crate::{Entry, Event, How, Ruling, Shared, SkipReason, Timestamp};

pub(crate) use fold::note;
pub use passing::{Closings, Passed, PassedBy, Passing, Return, SentBack};

/// What happened to a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct History {
    /// The text of the run's file when it was last taken in.
    pub placed: Option<Shared<Placed>>,
    /// How often each kind of event happened.
    pub counts: Shared<Counts>,
    /// The attempts at each step as a whole, oldest first.
    pub attempts: Shared<BTreeMap<StepName, VectorSync<Attempt>>>,
    /// The last attempt that was begun, also at a part.
    pub dispatch: Option<Shared<Dispatch>>,
    pub failures: VectorSync<Failure>,
    /// Every question that was put to a person.
    pub asked: VectorSync<Asked>,
    pub ends: VectorSync<Ended>,
    pub reopenings: VectorSync<Reopening>,
    pub visits: VectorSync<Visit>,
    /// What the archive of the journal got.
    pub archived: VectorSync<Archived>,
    /// Which keys of the context were given a value or removed, and when.
    pub context: VectorSync<Touched>,
    /// When each variable was last given a value, other than by a file.
    pub vars: Shared<BTreeMap<String, Mark>>,
    /// Which steps count as done, and how the run got past them.
    pub passing: Passing,
}

/// Since when a part is planned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedPart {
    pub mark: Mark,
    /// Whether a caller named it, rather than the definition.
    pub by_hand: bool,
}

/// The event by which something happened, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Mark {
    pub seq: u64,
    pub at: Timestamp,
}

/// A file's text, as it was taken in.
#[derive(Clone, PartialEq)]
pub struct Placed {
    pub mark: Mark,
    pub text: String,
    /// The counts when it was taken in: what was counted since is not in the text.
    pub counts: Shared<Counts>,
}

/// How often each kind of event happened, and when last. Each file format counts the kinds that it
/// shows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counts(BTreeMap<Kind, (u64, Mark)>);

/// A kind of event, told apart where files do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kind {
    /// See [`Event::kind`].
    pub event: &'static str,
    /// `part` for an event about a part, `automatic` for an answer that nobody gave, and the type
    /// of an entry. Empty otherwise.
    pub of: &'static str,
}

/// One attempt at a step.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// When it was begun, made ready by a retry, or reported without having been begun.
    pub opened: Mark,
    /// An agent may say more than once that it begins.
    pub starts: Vec<Begun>,
    /// What was said with the retry that made it ready.
    pub retry: Option<Shared<Map<String, Value>>>,
    /// The first error that was recorded while it was open.
    pub fault: Option<(Mark, String)>,
    pub end: Option<AttemptEnd>,
}

/// An agent said that it begins.
#[derive(Debug, Clone, PartialEq)]
pub struct Begun {
    pub mark: Mark,
    pub details: Shared<Map<String, Value>>,
    /// Whether parts of any step were planned then.
    pub has_parts: bool,
}

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq)]
pub struct AttemptEnd {
    pub mark: Mark,
    pub how: AttemptOutcome,
    /// What was reported with it.
    pub details: Shared<Value>,
}

/// What came of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptOutcome {
    Done,
    Failed,
    /// The run was cancelled while it was under way.
    Interrupted,
    /// The run ended or was reopened while it was open, and nobody worked on it.
    Dropped,
}

/// An attempt was handed out, at a step or a part of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Dispatch {
    pub mark: Mark,
    pub step: StepName,
    pub part: Option<PartId>,
    pub details: Map<String, Value>,
}

/// An attempt at a step or a part came to nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    pub mark: Mark,
    pub step: StepName,
    pub part: Option<PartId>,
    pub reason: String,
    /// What was reported with it.
    pub details: Shared<Value>,
}

/// A question that was put to a person.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    pub opened: Mark,
    pub step: StepName,
    pub part: Option<PartId>,
    pub why: crate::GateReason,
    pub ask: String,
    /// `None` while it is open, and where it was asked again.
    pub closed: Option<Closed>,
}

/// How a question was closed.
#[derive(Debug, Clone, PartialEq)]
pub struct Closed {
    pub mark: Mark,
    pub how: Closing,
}

/// What closed a question.
#[derive(Debug, Clone, PartialEq)]
pub enum Closing {
    Answered {
        answer: String,
        how: How,
        by: String,
        feedback: String,
    },
    Withdrawn,
    /// The run ended.
    Ended,
    /// The run was reopened although it waited.
    Reopened,
}

/// A run ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Ended {
    pub mark: Mark,
    pub how: Ending,
    /// What it was before: the stable name of its standing. A question that was just answered does
    /// not count as open.
    pub from: &'static str,
    /// Where it was; `None` before anyone took up a step. For a failure where it happened, as far as
    /// that was said.
    pub step: Option<StepName>,
    /// Whether the step failed with it: a step that is done does not, nor one of a run that had
    /// failed before.
    pub fails_step: bool,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Ending {
    Completed { details: Shared<Map<String, Value>> },
    Failed { reason: String },
    Cancelled { reason: String },
}

/// A run that had ended, or waited, went on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reopening {
    pub mark: Mark,
    pub forced: bool,
    /// What it was before: the stable name of its standing.
    pub from: &'static str,
    /// Where it goes on. `None` where all work was done.
    pub step: Option<StepName>,
}

/// What happened at a step, whose order matters to a reader.
#[derive(Debug, Clone, PartialEq)]
pub struct Visit {
    pub mark: Mark,
    pub step: StepName,
    pub part: Option<PartId>,
    pub what: Visited,
}

/// What happened at a step.
#[derive(Debug, Clone, PartialEq)]
pub enum Visited {
    Entered,
    /// With what was reported.
    Completed(Shared<Value>),
    Skipped {
        why: SkipReason,
        reason: String,
    },
    Reopened,
    Judged {
        of: StepName,
        ruling: Ruling,
    },
}

/// What the archive of a journal got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Archived {
    pub mark: Mark,
    pub text: String,
}

/// Keys of the context that were given a value or removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touched {
    pub mark: Mark,
    /// Each key, and whether its value changed.
    pub keys: Vec<(String, bool)>,
    pub removed: Vec<String>,
}

impl History {
    /// Returns the attempts at a step as a whole, oldest first.
    pub fn attempts_at(&self, step: &StepName) -> impl Iterator<Item = &Attempt> {
        self.attempts.get(step).into_iter().flatten()
    }

    /// Returns the event by which the run's file was last taken in; 0 where it never was.
    pub fn placed_by(&self) -> u64 {
        self.placed.as_ref().map_or(0, |it| it.mark.seq)
    }
}

impl Counts {
    /// Returns how often events of this kind happened.
    pub fn count(&self, kind: Kind) -> u64 {
        self.0.get(&kind).map_or(0, |it| it.0)
    }

    /// Returns when an event of this kind last happened.
    pub fn last(&self, kind: Kind) -> Option<Mark> {
        self.0.get(&kind).map(|it| it.1)
    }

    /// Returns how many events happened that `counts` counts.
    pub fn sum(&self, counts: impl Fn(Kind) -> bool) -> u64 {
        let counted = self.0.iter().filter(|(kind, _)| counts(**kind));
        counted.fold(0, |sum, (_, it)| sum.saturating_add(it.0))
    }

    /// Returns the last event that `counts` counts.
    pub fn newest(&self, counts: impl Fn(Kind) -> bool) -> Option<Mark> {
        self.0.iter().filter(|(kind, _)| counts(**kind)).map(|(_, it)| it.1).max()
    }

    fn add(&mut self, kind: Kind, mark: Mark) {
        let entry = self.0.entry(kind).or_default();
        *entry = (entry.0.saturating_add(1), mark);
    }
}

impl Kind {
    /// Returns the kind of an event.
    pub fn of(event: &Event) -> Self {
        let of_part = |part: &Option<PartId>| if part.is_some() { "part" } else { "" };
        let of = if let Event::StepCompleted(completed) = event {
            of_part(&completed.part)
        } else if let Event::StepStarted { part, .. }
        | Event::StepFailed { part, .. }
        | Event::StepSkipped { part, .. }
        | Event::StepReopened { part, .. } = event
        {
            of_part(part)
        } else if let Event::GateAnswered { how: How::Automatic, .. } = event {
            "automatic"
        } else if let Event::EntryRecorded { entry, .. } = event {
            match entry {
                Entry::Error { .. } => "error",
                Entry::Question { .. } => "question",
                Entry::Metric { .. } => "metric",
                Entry::Usage { .. } => "usage",
                Entry::Note { .. } => "note",
            }
        } else {
            ""
        };
        Self { event: event.kind(), of }
    }
}

impl Ended {
    /// Whether the run failed with it, and had not failed before.
    pub fn is_first_failure(&self) -> bool {
        matches!(self.how, Ending::Failed { .. }) && self.from != "failed"
    }
}

impl Attempt {
    /// Whether it may still lead somewhere: it has not ended, and nothing went wrong with it.
    pub fn is_sound(&self) -> bool {
        self.end.is_none() && self.fault.is_none()
    }
}

/// A text may be large, and a state is printed to measure it: so its letters are not escaped.
impl fmt::Debug for Placed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Placed {{ mark: {:?}, text: {} }}", self.mark, self.text)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [self.event.to_string(), self.of.to_string()];
        formatter.write_str(parts.join(".").trim_end_matches('.'))
    }
}
