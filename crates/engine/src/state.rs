//! How far a run has come: the fold of its events, and nothing else.
//!
//! What the commands on a whole run lead to, by where the run is (a test draws it; the first step is
//! `a`, the last is `c`):
//!
//! ```text
//! new                  start     RunStarted StepEntered(a)
//! new                  complete  refused run_unknown
//! new                  fail      refused run_unknown
//! new                  cancel    refused run_unknown
//! new                  reopen    refused run_unknown
//! ready                start     refused run_exists
//! ready                complete  refused steps_open
//! ready                fail      RunFailed
//! ready                cancel    RunCancelled
//! ready                reopen    refused run_not_ended
//! waiting              start     refused run_exists
//! waiting              complete  refused steps_open
//! waiting              fail      RunFailed
//! waiting              cancel    RunCancelled
//! waiting              reopen    refused run_not_ended
//! work ended           start     refused run_exists
//! work ended           complete  RunCompleted
//! work ended           fail      RunFailed
//! work ended           cancel    RunCancelled
//! work ended           reopen    refused run_not_ended
//! completed            start     refused run_exists
//! completed            complete  refused run_ended
//! completed            fail      refused run_ended
//! completed            cancel    refused run_ended
//! completed            reopen    refused run_ended
//! failed               start     refused run_exists
//! failed               complete  refused run_ended
//! failed               fail      RunFailed
//! failed               cancel    RunCancelled
//! failed               reopen    RunReopened
//! failed while waiting start     refused run_exists
//! failed while waiting complete  refused run_ended
//! failed while waiting fail      RunFailed
//! failed while waiting cancel    RunCancelled
//! failed while waiting reopen    RunReopened GateOpened(b gate)
//! cancelled            start     refused run_exists
//! cancelled            complete  refused run_ended
//! cancelled            fail      refused run_ended
//! cancelled            cancel    refused run_ended
//! cancelled            reopen    RunReopened
//! ```
//!
//! Every call works on its own copy of a state. What grows with a run is shared between the copies:
//! to copy a state costs the same after ten events as after ten thousand.

mod step;

use alloc::{boxed::Box, collections::BTreeMap, string::String, vec::Vec};

use definition::{Answers, Decider, Digest, PartId, PartSpec, Step, StepName, WorkflowName};
use rpds::{RedBlackTreeMapSync, VectorSync};
use serde_json::{Map, Value};

use crate::{
    Artifact, Entry, Failure, History, How, Item, Journal, Lease, OpenGate, ReopenCause, RunBranch,
    RunId, RunStarted, Shared, Timestamp,
};

pub use step::{AttemptStatus, Effort, Judged, Passage, Progress, StepState};

/// The state of one run.
#[derive(Debug, Clone, PartialEq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct RunState {
    pub run: RunId,
    /// How many events it is the fold of.
    pub length: u64,
    pub started_at: Timestamp,
    pub updated_at: Timestamp,
    /// When the last event happened by the steady clock.
    pub steady: Timestamp,
    pub ended_at: Option<Timestamp>,
    /// How it began. `None` before it did.
    pub origin: Option<Shared<RunStarted>>,
    /// The run and the event it was copied from.
    pub forked_from: Option<(RunId, u64)>,
    pub standing: Standing,
    /// The step that the run is at.
    pub current: Option<StepName>,
    /// Whether another run may begin with its key, although it would hold it.
    pub gave_up_key: bool,
    /// Where it is said to be by a file or a failure, until it moves. Only shown.
    pub stated: Option<StepName>,
    /// Whether a file says that a person is asked, who is asked only once the run goes on.
    pub claims_asked: bool,
    /// Whether every step is done, and only the run's own end is missing.
    pub is_work_done: bool,
    pub context: Shared<Map<String, Value>>,
    pub vars: Shared<Map<String, Value>>,
    /// What is known of each step that has been touched.
    pub steps: Shared<BTreeMap<StepName, Shared<StepState>>>,
    /// The sets of parts that have been planned.
    pub parts: Shared<BTreeMap<String, Vec<PartSpec>>>,
    /// The files that the server saw when steps were completed, newest by path.
    pub artifacts: RedBlackTreeMapSync<String, Seen>,
    /// Held steps and parts. They end by the steady clock.
    pub leases: BTreeMap<(StepName, Option<PartId>), Lease>,
    /// The number of the newest lease.
    pub generation: u64,
    pub entries: VectorSync<Noted>,
    /// How many of the entries are errors.
    pub error_count: u32,
    pub unasked: PendingRules,
    /// What is to be done, one after another.
    pub items: Shared<Vec<Item>>,
    /// What was noted since it was last put into the archive, where a journal is kept.
    pub journal: Journal,
    /// What attempts took, as far as was said.
    pub usage: Spending,
    /// Why the server could not do a chore, by its name, until it can.
    pub chores: BTreeMap<String, String>,
    /// The branch that the server acts on, once it has seen it.
    pub branch: Option<RunBranch>,
    /// The event that says that the run was completed before it was taken over from elsewhere.
    pub ended_elsewhere: Option<u64>,
    /// The branch that the run began with, while a caller has it work on another.
    pub first_branch: Option<RunBranch>,
    pub answers: VectorSync<Answered>,
    pub handed: Handed,
    /// Why the last step was chosen.
    pub reasoning: Option<String>,
    /// Why a language model did not choose, while the choice is the agent's instead.
    pub deferral: Option<String>,
    /// What a language model chose last, and when.
    pub advised: Option<(Timestamp, String)>,
    /// The last reports, oldest first. Kept where a language model is to see them.
    pub trail: Vec<Told>,
    /// How it got here. For files and people: no decision depends on it, but on whether a file was
    /// ever taken in.
    pub history: Shared<History>,
}

/// Which action an agent was given last, and which one the last report was about. An action is
/// known by the event that handed it out, so it is the same in every process and after a crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Handed {
    /// The event that handed the newest action out: an attempt that was begun, or a gate that was
    /// opened. Asking again for an action that is under way does not change it.
    pub action: u64,
    /// When that was.
    pub at: Timestamp,
    /// The action that the last report or answer was about. A report that nobody was asked for is
    /// about itself.
    pub answered: Option<u64>,
    pub answered_at: Timestamp,
}

impl Handed {
    /// Whether the newest action was reported or answered.
    pub fn is_answered(self) -> bool {
        self.answered == Some(self.action)
    }
}

/// Whether a run goes on, and if not, why.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Standing {
    /// It has not begun.
    #[default]
    New,
    Running,
    /// A person is asked.
    Waiting(Box<OpenGate>),
    Completed,
    Failed {
        reason: String,
        /// The gate that was open.
        gate: Option<Box<OpenGate>>,
    },
    Cancelled {
        reason: String,
        gate: Option<Box<OpenGate>>,
    },
}

/// What happened to a run by itself since someone last asked for anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PendingRules {
    #[default]
    Nothing,
    /// It was begun from a file, and rules that are due have not fired.
    Placed,
}

/// What attempts took in all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Spending {
    pub duration_ms: u64,
    /// By the name of the model.
    pub tokens: BTreeMap<String, u64>,
    /// What `tokens` were when a person last let the run go on although the budget was spent.
    pub granted: BTreeMap<String, u64>,
}

/// A file that the server saw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    pub artifact: Artifact,
    pub step: StepName,
}

/// What an agent reported, and where it led.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    pub step: String,
    pub status: String,
    pub message: String,
    pub next: Option<String>,
}

/// An entry, and where it was made.
#[derive(Debug, Clone, PartialEq)]
pub struct Noted {
    pub seq: u64,
    pub at: Timestamp,
    pub step: StepName,
    pub entry: Entry,
}

/// An answer that was given at a gate.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    pub seq: u64,
    pub at: Timestamp,
    pub step: StepName,
    pub part: Option<PartId>,
    pub ask: String,
    pub answer: String,
    pub how: How,
    pub by: String,
    pub feedback: String,
    /// The agent completed the step, and said nothing of a person.
    pub is_implied: bool,
}

impl Spending {
    /// Returns the tokens of all models.
    pub fn total(&self) -> u64 {
        self.tokens.values().fold(0, |sum, it| sum.saturating_add(*it))
    }

    /// Returns the tokens of each model since a person last let the run go on.
    pub fn since_granted(&self) -> impl Iterator<Item = (&str, u64)> {
        let granted = |model: &str| self.granted.get(model).copied().unwrap_or_default();
        let since = move |(model, it): (&'_ String, &u64)| it.saturating_sub(granted(model));
        self.tokens.iter().map(move |it| (it.0.as_str(), since(it)))
    }
}

impl Standing {
    /// Returns whether the run may go on without being reopened.
    pub fn is_live(&self) -> bool {
        matches!(self, Self::Running | Self::Waiting(_))
    }

    /// Returns the gate that waits for an answer, if one does.
    pub fn open_gate(&self) -> Option<&OpenGate> {
        match self {
            Self::Waiting(gate) => Some(gate),
            Self::New
            | Self::Running
            | Self::Completed
            | Self::Failed { .. }
            | Self::Cancelled { .. } => None,
        }
    }
}

impl RunState {
    /// Has only a person's own answer count at the open gate, where the settings say so by now.
    pub fn harden(&mut self, gates: Option<Answers>) {
        if let Standing::Waiting(open) = &mut self.standing {
            open.harden(gates);
        }
    }

    /// Returns the state of a run that has not begun.
    pub fn new(run: RunId) -> Self {
        Self { run, ..Self::default() }
    }

    /// Returns the name of the workflow, once the run has begun.
    pub fn workflow(&self) -> Option<&WorkflowName> {
        self.origin.as_ref().map(|it| &it.workflow)
    }

    /// Returns the digest of the definition that the run is pinned to.
    pub fn definition(&self) -> Option<&Digest> {
        self.origin.as_ref().map(|it| &it.digest)
    }

    /// Returns who decides.
    pub fn decider(&self) -> Decider {
        self.origin.as_ref().map_or(Decider::Declared, |it| it.decider)
    }

    /// Returns the run's own key, if it has one.
    pub fn key(&self) -> Option<&str> {
        self.origin.as_ref()?.key.as_deref()
    }

    /// Returns the flow that was chosen, if one was.
    pub fn flow(&self) -> Option<&str> {
        self.origin.as_ref()?.flow.as_deref()
    }

    /// Returns the folder that artifact paths are relative to.
    pub fn root(&self) -> &str {
        self.origin.as_ref().map_or("", |it| &it.root)
    }

    /// Returns what is known of `step`, if it has been touched.
    pub fn step(&self, step: &StepName) -> Option<&StepState> {
        self.steps.get(step).map(|it| &**it)
    }

    /// Returns how far `step` is.
    pub fn progress(&self, step: &StepName) -> Progress {
        self.steps.get(step).map_or(Progress::Idle, |it| it.effort.progress)
    }

    /// Returns the work on `step`, or on one part of it.
    pub fn effort(&self, step: &StepName, part: Option<&PartId>) -> Option<&Effort> {
        let step = self.steps.get(step)?;
        match part {
            Some(part) => step.parts.get(part),
            None => Some(&step.effort),
        }
    }

    /// Returns how far `part` of `step` is.
    pub fn part_progress(&self, step: &StepName, part: &PartId) -> Progress {
        self.effort(step, Some(part)).map_or(Progress::Idle, |it| it.progress)
    }

    /// Returns the parts that `step` is fanned out over, as they were planned.
    pub fn parts_of(&self, step: &Step) -> &[PartSpec] {
        let set = step.each.as_ref().and_then(|each| self.parts.get(&each.parts));
        set.map_or(&[], Vec::as_slice)
    }

    /// Returns the lease on a step or part, if one was given and not let go.
    pub fn lease(&self, step: &StepName, part: Option<&PartId>) -> Option<&Lease> {
        self.leases.get(&(step.clone(), part.cloned()))
    }

    /// Returns whether a person is being asked at a step, about it or about one of its parts.
    pub fn asks_at(&self, step: &StepName, part: Option<&PartId>) -> bool {
        let is_there = |it: &OpenGate| it.step == *step && it.part.as_ref() == part;
        self.standing.open_gate().is_some_and(is_there)
    }

    /// Returns whether work is under way that nobody has reported.
    pub fn is_handed_out(&self) -> bool {
        let current = self.current.as_ref();
        let is_begun = current.is_some_and(|it| self.progress(it) == Progress::Active);
        is_begun && !self.handed.is_answered()
    }

    /// Returns what a person wants changed at the current step, which they sent back and have neither
    /// been asked about again nor agreed to since. It is empty where they gave no reason.
    pub fn sent_back(&self) -> Option<&str> {
        let current = self.current.as_ref()?;
        let effort = self.effort(current, None)?;
        if self.step(current)?.agreed.is_some() {
            return None;
        }
        let is_open = effort.reopened == Some(ReopenCause::Person) && !effort.progress.is_settled();
        let is_open = is_open && self.standing == Standing::Running;
        is_open.then(|| effort.feedback.as_deref().unwrap_or_default())
    }

    /// Returns whether the run stands at a finished step and waits for the agent to choose.
    pub fn awaits_choice(&self) -> bool {
        let is_done = |step: &StepName| self.progress(step).is_settled();
        self.standing == Standing::Running
            && (self.is_work_done || self.decider() != Decider::Declared)
            && self.current.as_ref().is_some_and(is_done)
    }

    /// Returns whether what an agent said of `self` still means the same in `later`: the run is at
    /// the same step, on the same visit, and no gate opened or closed in between.
    pub fn is_same_place(&self, later: &Self) -> bool {
        let visit = |state: &Self| {
            let step = state.current.as_ref().and_then(|it| state.steps.get(it));
            step.map(|it| (it.visits, it.effort.attempts, it.effort.progress.is_settled()))
        };
        let gate = |state: &Self| state.standing.open_gate().map(|it| it.digest.clone());
        self.current == later.current
            && visit(self) == visit(later)
            && gate(self) == gate(later)
            && self.standing.as_str() == later.standing.as_str()
    }

    /// Returns one line that says what the run is about: its goal, task or title, else its key.
    pub fn title(&self) -> String {
        let words = ["title", "goal", "task", "task_description", "description", "summary"];
        let found = words.iter().find_map(|word| self.context.get(*word)?.as_str());
        let line = found.or_else(|| self.key()).unwrap_or_default();
        let line = line.lines().next().unwrap_or_default().trim();
        line.chars().take(TITLE_CHARS_MAX).collect()
    }

    /// Returns the errors that were recorded.
    pub fn errors(&self) -> impl Iterator<Item = &Noted> {
        self.entries.iter().filter(|it| matches!(it.entry, Entry::Error { .. }))
    }

    /// Returns the failures of work that has not been done since, oldest first.
    pub fn open_failures(&self) -> impl Iterator<Item = &Failure> {
        self.history.failures.iter().filter(|it| {
            let effort = self.effort(&it.step, it.part.as_ref());
            effort.is_some_and(|effort| effort.failure.is_some() && effort.done_by < it.mark.seq)
        })
    }
}

/// How much of a goal a list shows.
const TITLE_CHARS_MAX: usize = 120;
