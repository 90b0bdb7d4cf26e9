//! What a tool asks for before it can answer. The caller looks, has it done, and goes on with
//! what came of it.
//!
//! ```text
//! Ask ── Look ──► Ask ── Do ──► Tell ── Look ──► Tell ── Say ──► answer
//! ```
//!
//! A call does at most one thing: what follows a deed can look, but do nothing more.

use std::{fmt, sync::Arc};

use core::time::Duration;

use engine::{
    Card, Command, ForkPoint, Hits, Invalid, KeyFilter, Known, Lease, Listing, Page, Recorded,
    Refusal, RunFile, RunFilter, RunId, StartRun, Taken, Timestamp, View,
};

use super::answer::Said;
use crate::Options;

/// What is done with what was seen or done.
pub type Next<T, N> = Box<dyn FnOnce(T) -> N + Send>;

/// What a tool asks for first.
pub enum Ask {
    Look(Look<Self>),
    Do(Deed, Next<Result<Outcome, Stopped>, Tell>),
    /// To have a lease last longer; without a duration, as long as its step says.
    Extend(RunId, u64, Option<Duration>, Next<Result<Lease, Stopped>, Tell>),
    Tell(Tell),
}

/// What a tool asks for once nothing more is done.
pub enum Tell {
    Look(Look<Self>),
    Say(Said),
}

/// What is looked at, and what goes on with it.
pub enum Look<N> {
    /// The run that a text means: an id, the beginning of one, or a key.
    Run(String, Next<Result<RunId, Stopped>, N>),
    /// The first of these keys of a workflow that has a file, with the run that it belongs to. What
    /// others wrote into the file is taken in.
    File(&'static str, Vec<String>, Next<Result<Option<(Snapshot, RunFile)>, Stopped>, N>),
    /// Where new runs of a workflow are worked on, and what a file beside theirs says.
    Beside(&'static str, &'static str, Next<Beside, N>),
    /// A run as it is now, or as it was after an event.
    View(RunId, Option<u64>, Next<Result<Snapshot, Stopped>, N>),
    /// A run once it has more than so many events, or this time is over.
    Wait(RunId, u64, Duration, Next<Result<Snapshot, Stopped>, N>),
    /// So many events of a run, the newest before this one.
    History(RunId, Option<u64>, usize, Next<Result<Vec<Recorded>, Stopped>, N>),
    /// What a new agent needs to know of a run, in so many tokens.
    Brief(View, Option<usize>, Next<Result<String, Stopped>, N>),
    Runs(RunFilter, Next<Result<Page, Stopped>, N>),
    Keyed(KeyFilter, Next<Result<Listing, Stopped>, N>),
    /// The files of a workflow in these folders, and meanwhile a page of its runs.
    Survey(&'static str, Vec<String>, KeyFilter, Next<Result<(Taken, Listing), Stopped>, N>),
    /// The events that fit a text best, of one run or of all: so many left out, so many shown.
    Search(String, Option<RunId>, (u32, u32), Next<Result<Hits, Stopped>, N>),
    Workflows(Next<(Vec<Arc<Card>>, Vec<Invalid>), N>),
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq)]
pub enum Deed {
    Start {
        workflow: String,
        start: Box<StartRun>,
    },
    /// `by` is what the caller calls itself.
    Change {
        run: RunId,
        command: Box<Command>,
        by: Option<String>,
    },
    /// The run stays as it is: a copy of its first events is changed, under a key of its own.
    ChangeCopy {
        run: RunId,
        length: u64,
        key: String,
        command: Box<Command>,
    },
    Fork {
        run: RunId,
        point: ForkPoint,
        key: Option<String>,
    },
    /// The answer that a person gave to the caller's program is taken at the run's gate.
    TakeReply(RunId),
}

/// What was done.
#[derive(Debug, Clone)]
pub struct Outcome {
    pub now: Snapshot,
    pub events: Vec<Recorded>,
    /// The run's file, where it has one.
    pub file: Option<RunFile>,
    /// What the server did besides, for the caller to know.
    pub notices: Vec<String>,
}

/// A run, and what is known beside it when it is looked at.
#[derive(Debug, Clone)]
pub struct Snapshot {
    pub view: View,
    pub known: Known,
    /// By the wall clock, for people.
    pub at: Timestamp,
}

/// What is beside the files of a workflow.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Beside {
    pub root: String,
    /// `None` where there is no such file.
    pub text: Option<String>,
}

/// Who calls.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Caller {
    pub person: Person,
    /// Whether the caller can be given a task to look after, instead of being kept waiting.
    pub takes_tasks: bool,
    /// The folder of the project.
    pub root: String,
    /// The time now, for people.
    pub at: Timestamp,
    pub options: Options,
}

/// How far the caller's program reaches the person before it. A dialect need not know the reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Person<R = ()> {
    /// It cannot ask.
    #[default]
    OutOfReach,
    /// It can ask, but nothing shows that the answer is the person's own: it counts as passed on.
    Unproven,
    /// It can ask.
    Reachable,
    /// It asked, and this was answered.
    Answered(R),
    /// It asked, and was not answered: why.
    Silent(&'static str),
}

impl<R> Person<R> {
    /// Returns the same without the reply.
    pub fn reach(&self) -> Person {
        match self {
            Self::OutOfReach => Person::OutOfReach,
            Self::Unproven => Person::Unproven,
            Self::Reachable => Person::Reachable,
            Self::Answered(_) => Person::Answered(()),
            Self::Silent(why) => Person::Silent(why),
        }
    }
}

/// Why nothing came of it.
#[derive(Debug, Clone, PartialEq)]
pub enum Stopped {
    /// The rules do not allow it.
    Refused(Refusal),
    /// The world failed.
    Failed(Fault),
}

/// A failure that no rule explains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub code: &'static str,
    pub message: String,
    pub hint: String,
    /// Whether the same call may work in a moment.
    pub passes: bool,
}

impl Stopped {
    /// Returns the stable name that callers match on.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Refused(refusal) => refusal.code(),
            Self::Failed(fault) => fault.code,
        }
    }
}

impl fmt::Display for Stopped {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) => refusal.fmt(out),
            Self::Failed(fault) => out.write_str(&fault.message),
        }
    }
}

impl From<Refusal> for Stopped {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<Look<Self>> for Ask {
    fn from(look: Look<Self>) -> Self {
        Self::Look(look)
    }
}

impl From<Look<Self>> for Tell {
    fn from(look: Look<Self>) -> Self {
        Self::Look(look)
    }
}

impl From<Tell> for Ask {
    fn from(tell: Tell) -> Self {
        Self::Tell(tell)
    }
}
