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

use definition::{Diagnostic, Digest, ParseError, Workflow};
use engine::{
    Bounds, Card, Command, ForkPoint, Graphs, Hits, Invalid, KeyFilter, Known, Listed, Listing,
    Note, Page, Recorded, Refusal, RunFile, RunFilter, RunId, StartRun, Taken, Timestamp, View,
};

use super::{
    answer::Said,
    files::{Files, Write},
};
use crate::Options;

/// What is done with what was seen or done.
pub type Next<T, N> = Box<dyn FnOnce(T) -> N + Send>;

/// What a tool asks for first.
pub enum Ask {
    Look(Look<Self>),
    Do(Deed, Next<Result<Outcome, Stopped>, Tell>),
    /// To have another run changed as well, if what was done calls for it.
    Both(Deed, (RunId, Second), Next<Result<Outcome, Stopped>, Tell>),
    /// To have a file written as well, if what was done calls for it.
    Also(Deed, Also, Next<Result<Outcome, Stopped>, Tell>),
    /// To have a run changed; and where that leaves a question to a person open, changed again once
    /// they have answered it, wherever they do. Says whether it is open still when the time is over.
    Await(Await, Next<Result<(Outcome, bool), Stopped>, Tell>),
    /// To have the sessions on graphs looked after.
    Tend(Upkeep, Next<Result<Tended, Stopped>, Tell>),
    /// To have a run begun that works from a file.
    Begin(Box<Begin>, Next<Result<Outcome, NotBegun>, Tell>),
    /// To have a file written.
    Write(Write, Next<Result<(), String>, Tell>),
    /// To have a file made beside those of a workflow, unless there is one: whether it was.
    Make(&'static str, String, String, Next<Result<bool, String>, Tell>),
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
    /// These keys of a workflow, but one whose run goes on comes first.
    Live(&'static str, Vec<String>, Next<Result<Vec<String>, Stopped>, N>),
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
    /// The workflow of this name that new runs are begun with.
    Workflow(&'static str, Next<Result<Workflow, Refusal>, N>),
    Files(Files<N>),
    /// A page of runs, once sessions on graphs were looked after.
    Sessions(RunFilter, Next<Result<Page, Stopped>, N>),
    /// A run that may have only a file, which is taken in, and what was noticed of that; `None` where
    /// there is neither.
    Session(RunId, Next<Result<Option<Noticed>, Unadopted>, N>),
    /// Why a command would be refused now; `None` where it would be taken.
    Trial(View, Box<Command>, Next<Option<Refusal>, N>),
    /// Notes that the agent was shown the newest action of a run.
    Shown(View, Next<(), N>),
    /// An id that no run has.
    NewRun(Next<RunId, N>),
    /// The graphs in a folder of the project, which is remembered; `None` where there is none.
    Folder(String, Next<Result<Option<Graphs>, String>, N>),
    /// The graphs in this folder and in the one that is remembered, with their files.
    Library(String, Next<Vec<(String, Workflow)>, N>),
    /// The workflow of this name that the server knows.
    Listed(String, Next<Result<Listed, Refusal>, N>),
    /// All workflows that the server knows.
    Shipped(Next<Vec<Listed>, N>),
    /// A graph in a file of the project; `None` where there is no file.
    Graph(String, Next<Result<Option<ReadGraph>, String>, N>),
    /// Texts that are searched by meaning, and which of them fit a query.
    Index(Indexing, Next<Indexed, N>),
}

/// A run, and what was noticed of its file.
pub type Noticed = (Snapshot, Vec<String>);

/// A graph as it was read, and what is doubtful about it.
pub type ReadGraph = Result<(Workflow, Vec<Diagnostic>), ParseError>;

/// Texts for the index.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Indexing {
    /// Whether everything that it holds is dropped first.
    pub is_cleared: bool,
    /// The id, the version and the text of each.
    pub texts: Vec<(String, u64, String)>,
    pub query: Option<String>,
}

/// What the index holds then.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Indexed {
    /// How many texts were new or had changed.
    pub news: usize,
    pub count: usize,
    pub bytes: usize,
    /// The ids of all texts, and how near each is to the query, best first.
    pub hits: Vec<(String, f64)>,
}

/// What is done for sessions on graphs besides answering calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Upkeep {
    /// Those that only a file knows are taken in.
    TakeIn,
    /// Those that have been over for so long are put away.
    PutAway(Duration),
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tended {
    pub count: usize,
    pub problems: Vec<String>,
}

/// Why a session cannot be seen.
#[derive(Debug, Clone, PartialEq)]
pub enum Unadopted {
    /// Its file does not have the definition of this workflow, and nothing goes by its name.
    DefinitionMissing(String),
    /// The name of its file, and the problem.
    Unreadable(String, String),
    Stopped(Stopped),
}

/// What is to be done.
pub enum Deed {
    Start {
        workflow: String,
        start: Box<StartRun>,
    },
    /// A run is started and changed at once. Where its key was taken meanwhile, the run that has it
    /// is changed.
    StartWith {
        workflow: String,
        start: Box<StartRun>,
        command: Box<Command>,
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
    /// Begins a run of a workflow that is handed in.
    Begin {
        workflow: Arc<Workflow>,
        run: RunId,
        start: Box<StartRun>,
    },
    /// Begins a run in the place of another. That is changed first so that it is over, if it is not,
    /// and its file is kept under this name.
    Replace {
        run: RunId,
        command: Option<Box<Command>>,
        aside: String,
        workflow: String,
        start: Box<StartRun>,
    },
    /// Changes a run so that it is over, and puts its file away.
    PutAway {
        run: RunId,
        command: Option<Box<Command>>,
    },
}

/// Returns what another run is to be told of what was done.
pub type Second = Box<dyn FnOnce(&Outcome) -> Option<Command> + Send>;
/// Returns which file is to be written after what was done.
pub type Also = Box<dyn FnOnce(&Outcome) -> Option<Write> + Send>;

/// How a run is changed on which a person is asked something.
pub struct Await {
    pub run: RunId,
    pub command: Box<Command>,
    /// Whose file the run has, and its key.
    pub workflow: &'static str,
    pub key: String,
    /// What they are asked.
    pub asked: Digest,
    /// How long they are waited for.
    pub patience: Duration,
}

/// A run that works from a file: it is written first, and goes again if nothing is begun.
pub struct Begin {
    pub deed: Deed,
    pub file: Write,
    /// Written besides. Nothing fails for that.
    pub besides: Option<Write>,
}

/// Why a run was not begun.
#[derive(Debug, Clone, PartialEq)]
pub enum NotBegun {
    /// The file could not be written, and why.
    Unwritten(String),
    Stopped(Stopped),
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
    /// The other run, where two were changed.
    pub other: Option<Box<Self>>,
    /// What the engine tells besides.
    pub notes: Vec<Note>,
    /// Why the run did not go on, although what was said of it was taken.
    pub halted: Option<Refusal>,
    /// Why the server could not do its part.
    pub undone: Option<Refusal>,
    /// Why the file that goes with it could not be written.
    pub unwritten: Option<String>,
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
    /// The run that the call changed before, where it is made again.
    pub changed: Option<RunId>,
    /// How large anything may be that a caller hands in.
    pub bounds: Bounds,
    pub sent: Sent,
    /// What the settings say of the dialects.
    pub options: Options,
}

/// How a call stands to one that was made before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sent {
    #[default]
    First,
    /// It was made before, and got somewhere.
    Again,
    /// It reports an action that was answered long before, or none that can be told from that.
    Late,
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

impl Outcome {
    /// Returns what was done where nothing was done besides.
    pub fn new(now: Snapshot, events: Vec<Recorded>, file: Option<RunFile>) -> Self {
        Self {
            now,
            events,
            file,
            notices: Vec::new(),
            other: None,
            notes: Vec::new(),
            halted: None,
            undone: None,
            unwritten: None,
        }
    }

    /// Returns what the server did besides and what it could not do, in lines.
    pub fn told(&self) -> Vec<String> {
        let undone = self.undone.as_ref().map(|it| format!("{it} ({})", it.hint()));
        self.notices.iter().cloned().chain(undone).collect()
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

impl fmt::Display for Unadopted {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DefinitionMissing(name) => {
                write!(out, "the definition of workflow `{name}` is missing")
            }
            Self::Unreadable(_, problem) => out.write_str(problem),
            Self::Stopped(stopped) => stopped.fmt(out),
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

impl From<Files<Self>> for Ask {
    fn from(files: Files<Self>) -> Self {
        Self::Look(Look::Files(files))
    }
}

impl From<Files<Self>> for Tell {
    fn from(files: Files<Self>) -> Self {
        Self::Look(Look::Files(files))
    }
}

impl From<Tell> for Ask {
    fn from(tell: Tell) -> Self {
        Self::Tell(tell)
    }
}
