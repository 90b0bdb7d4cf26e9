//! Everything that can be asked of a run. Commands are imperative, and may be refused.

mod advance;

use alloc::{boxed::Box, string::String, vec::Vec};
use core::time::Duration;

use definition::{Digest, PartId, PartSpec};
use serde_json::{Map, Value};

use crate::{ChoreOutcome, Entry, FileClaim, GitDeed, How, PartPlaced, Report};

pub use advance::{Advance, Done, Note, Onward};

/// A request to change a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    StartRun(Box<StartRun>),
    /// Begin a run where a file says that the work is.
    AdoptRun(Box<StartRun>, Box<FileClaim>),
    /// Take in what someone wrote into a file that is made from the run.
    TakeEdit(Box<FileClaim>),
    /// Note that what someone wrote into a file of the run was not taken in. Sent by the server
    /// itself, before it writes the file again.
    NoteReplaced {
        path: String,
        problem: String,
        /// Where the text is kept; `None` where there was none.
        kept: Option<String>,
    },
    /// Take a step up: an attempt begins.
    StartStep(StartStep),
    /// Say how a step went.
    ReportStep(Box<ReportStep>),
    /// Say that an attempt came to nothing, and stay.
    FailStep {
        step: String,
        reason: String,
        details: Map<String, Value>,
    },
    /// Make a step whose attempt came to nothing ready for another.
    RetryStep {
        step: String,
        details: Map<String, Value>,
    },
    /// Come back to a run with a belief about where it is and what was done.
    ResumeRun(Box<ResumeRun>),
    /// Answer the gate that the run waits at.
    AnswerGate(Box<AnswerGate>),
    /// Pass on that the person agrees to a step that they are asked about.
    ApproveStep {
        step: String,
    },
    /// Hold a step, so that nobody else works on it.
    ClaimStep(ClaimStep),
    /// Hold a held step longer. Its lease gets another end, and nothing is recorded.
    ExtendLease {
        generation: u64,
        /// `None`: what the step says.
        duration: Option<Duration>,
    },
    /// Let a held step go.
    ReleaseStep {
        generation: u64,
    },
    RecordEntry {
        step: Option<String>,
        entry: Entry,
    },
    SetVars {
        set: Map<String, Value>,
    },
    /// Make a change that the workflow has a name for.
    Move(Box<MakeMove>),
    /// Go to a step, whatever leads there.
    GoTo {
        step: String,
        passing: GatePolicy,
    },
    /// Leave a step out, and go on with the one after it.
    SkipStep {
        step: String,
    },
    /// Put a step to a person, whether or not its work is done.
    AskPerson {
        step: String,
    },
    /// Make the parts of a set known, in place of those there are.
    PlanParts {
        set: String,
        parts: Vec<PartSpec>,
    },
    /// Say how far a part is.
    PlacePart(PartPlaced),
    /// Say how the action at hand went, pass on what a person said, and go on.
    Advance(Box<Advance>),
    AddItem {
        text: String,
    },
    CloseItem {
        id: u64,
    },
    CancelRun {
        reason: String,
    },
    /// End the run well.
    CompleteRun {
        details: Map<String, Value>,
        context: ContextChange,
        /// Also with steps that are not done, where the definition lets it.
        early: bool,
    },
    FailRun {
        reason: String,
        /// Where it failed. `None`: at the current step.
        step: Option<String>,
        /// What went wrong, and in which step if that is said.
        errors: Vec<(Option<String>, Entry)>,
    },
    /// Go on with a failed or cancelled run; by force also with one that waits for a person.
    ReopenRun {
        reason: String,
        force: bool,
    },
    /// Let another run begin with the key of one that is over.
    GiveUpKey,
    /// The time of the current attempt is over. Sent by the server itself.
    ExpireStep,
    /// Say how a chore went. Sent by the server itself.
    ReportChore(Box<ReportChore>),
    /// Have a run that comes from a copy or from elsewhere ask at the gates that it owes an answer
    /// at; `goes_on`: also finish what its log was cut off in. Sent by the server itself.
    SettleRun {
        goes_on: bool,
    },
    /// The same, but the run comes no further than to the next step: whether that is left out, asks a
    /// person or falls into parts is found out by anyone who goes on.
    StopAtNextStep(Box<Self>),
    /// Several commands that are one: all of them happen, or none.
    All(Vec<Self>),
}

/// How a run begins.
#[derive(Debug, Clone, PartialEq)]
pub struct StartRun {
    pub key: Option<String>,
    pub flow: Option<String>,
    pub context: Map<String, Value>,
    pub vars: Map<String, Value>,
    pub root: String,
    /// Whether the run goes on from a node of a graph that leads to one other only; otherwise the
    /// caller names that one.
    pub goes_on: bool,
}

/// How a chore went.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportChore {
    pub name: String,
    pub deed: GitDeed,
    pub outcome: ChoreOutcome,
    /// How the run goes on, if it waited for the chore.
    pub then: Option<Onward>,
}

/// An attempt that is to begin.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StartStep {
    pub step: String,
    pub part: Option<PartId>,
    /// What is said of the attempt: who makes it, and how it is called.
    pub details: Map<String, Value>,
    /// Whether an attempt that is under way starts over.
    pub again: bool,
    /// Whether the step's gate is put to the person at once, while the work goes on.
    pub asks: bool,
}

/// What an agent says of a step.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReportStep {
    pub part: Option<PartId>,
    /// Names the step it is about.
    pub report: Report,
    pub context: ContextChange,
    /// The step to go to, where the agent decides.
    pub next: Option<String>,
    pub holder: Option<Holder>,
    pub terms: ReportOptions,
}

/// A change that the workflow has a name for.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MakeMove {
    pub name: String,
    /// `args.NAME` in conditions and templates.
    pub args: Map<String, Value>,
    /// Passes on that the person agreed, where such an answer counts.
    pub is_approved: bool,
}

/// What else a report means, or must meet. The default is a plain report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReportOptions {
    /// Refused unless an attempt was begun.
    pub is_begun: bool,
    pub consent: Consent,
    pub rigor: Rigor,
    pub end: AtEnd,
}

/// Whether a report passes on that the person agreed. It matters where such an answer counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Consent {
    #[default]
    None,
    /// The report means it without saying so. A person who sent the step back has not agreed to
    /// what came of it.
    Implied,
    /// The agent says that the person agreed.
    Stated,
    /// The agent names the step that comes next and does not say that the person agreed: the report is
    /// refused where the agent would have to ask them first.
    Needed,
}

/// How closely a report is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rigor {
    #[default]
    Full,
    /// The files must be there. What is in them, and what a review says, is not asked.
    Presence,
}

/// What may be passed on the way to a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GatePolicy {
    /// Whatever only a person's own answer does not hold.
    #[default]
    Anything,
    /// No gate that nobody was asked at, and the step before it must be done.
    InOrder,
}

/// What happens after the last step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AtEnd {
    #[default]
    Completes,
    /// The run stays open, until it is completed by a command of its own.
    StaysOpen,
}

/// A return to a run.
#[derive(Debug, Clone, PartialEq)]
pub struct ResumeRun {
    /// The step that the agent believes to be on. It need not exist.
    pub assumed: String,
    pub report: ReportStep,
    /// Go on although files are not what they were.
    pub force: bool,
}

/// What to change in the context. Top-level keys only; `null` is a value.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ContextChange {
    pub set: Map<String, Value>,
    pub remove: Vec<String>,
}

/// Who is calling, as far as leases are concerned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    pub name: String,
    /// The lease it was given. Without one the name counts.
    pub generation: Option<u64>,
}

/// An answer at a gate.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerGate {
    pub answer: Answer,
    pub feedback: String,
    /// Who answers, as far as is known.
    pub by: String,
    pub how: How,
    /// What was shown to anyone who answers. `None`: what was shown when the gate opened.
    pub digest: Option<Digest>,
}

impl AnswerGate {
    /// A person's yes that the agent passes on.
    pub(crate) fn relayed() -> Self {
        Self {
            answer: Answer::Approve,
            feedback: String::new(),
            by: String::from("the agent"),
            how: How::Relayed,
            digest: None,
        }
    }
}

/// Which of a gate's options is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The one that lets the run go on.
    Approve,
    /// The one that sends the work back.
    Reject,
    Named(String),
    /// The one with just this name.
    Offered(String),
}

/// A request for a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimStep {
    /// `None`: the current one.
    pub step: Option<String>,
    /// `None` on a fanned-out step: the first part that is free.
    pub part: Option<PartId>,
    pub holder: String,
    /// `None`: what the step says.
    pub duration: Option<Duration>,
}

impl Command {
    /// Returns how a run begins, if that is what is asked.
    pub fn start(&self) -> Option<&StartRun> {
        if let Self::All(commands) = self {
            return commands.iter().find_map(Self::start);
        }
        if let Self::StartRun(start) | Self::AdoptRun(start, _) = self { Some(start) } else { None }
    }

    /// Returns a stable name for logs, tables and fingerprints.
    pub fn name(&self) -> &'static str {
        self.row().0
    }

    /// Returns what the server must know of a command before it has it decided.
    pub fn traits(&self) -> Traits {
        self.row().1
    }

    /// Returns how the run goes on once its chores are done, if that is asked.
    pub fn onward(&self) -> Option<&Onward> {
        if let Self::Advance(advance) = self { advance.onward.as_ref() } else { None }
    }

    /// The table of commands.
    fn row(&self) -> (&'static str, Traits) {
        let plain = Traits::default();
        let of_place = Traits { speaks_of_place: true, ..plain };
        let aside = Traits { is_aside: true, ..plain };
        let of_work = Traits { waits_for_chores: true, ..of_place };
        match self {
            Self::StartRun(_) => ("start_run", plain),
            Self::AdoptRun(..) => ("adopt_run", aside),
            Self::TakeEdit(_) => ("take_edit", Traits { is_aside: true, ..of_place }),
            Self::NoteReplaced { .. } => ("note_replaced", aside),
            Self::StartStep(_) => ("start_step", plain),
            Self::ReportStep(_) => ("report_step", of_work),
            Self::FailStep { .. } => ("fail_step", of_place),
            Self::RetryStep { .. } => ("retry_step", plain),
            Self::ResumeRun(_) => ("resume_run", of_work),
            Self::AnswerGate(_) => ("answer_gate", of_place),
            Self::ApproveStep { .. } => ("approve_step", of_place),
            Self::ClaimStep(_) => ("claim_step", plain),
            Self::ExtendLease { .. } => ("extend_lease", plain),
            Self::ReleaseStep { .. } => ("release_step", plain),
            Self::RecordEntry { .. } => ("record_entry", plain),
            Self::SetVars { .. } => ("set_vars", plain),
            // A consent is to what was asked, and to nothing else.
            Self::Move(made) => ("move", Traits { speaks_of_place: made.is_approved, ..plain }),
            Self::GoTo { .. } => ("go_to", plain),
            Self::SkipStep { .. } => ("skip_step", of_place),
            Self::AskPerson { .. } => ("ask_person", of_place),
            Self::PlanParts { .. } => ("plan_parts", plain),
            Self::PlacePart(_) => ("place_part", plain),
            Self::Advance(advance) => ("advance", advance.traits()),
            Self::AddItem { .. } => ("add_item", plain),
            Self::CloseItem { .. } => ("close_item", plain),
            Self::CancelRun { .. } => ("cancel_run", plain),
            Self::CompleteRun { .. } => ("complete_run", plain),
            Self::FailRun { .. } => ("fail_run", plain),
            Self::ReopenRun { .. } => ("reopen_run", plain),
            Self::GiveUpKey => ("give_up_key", aside),
            Self::ExpireStep => ("expire_step", Traits { is_aside: true, ..of_place }),
            Self::ReportChore(_) => ("report_chore", aside),
            Self::SettleRun { .. } => ("settle_run", plain),
            Self::StopAtNextStep(command) => {
                ("halting", Traits { leaves_chores: true, ..command.traits() })
            }
            Self::All(commands) => ("all", Traits::of_all(commands)),
        }
    }
}

/// What the server must know of a command before it has it decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is asked by itself")]
pub struct Traits {
    /// It is refused while a chore is due, so that is tried before.
    pub waits_for_chores: bool,
    /// It leaves the chores that it makes due to others.
    pub leaves_chores: bool,
    /// It is about the place where its sender saw the run, and not about a later one.
    pub speaks_of_place: bool,
    /// It is not what a call asks for, but what must be known before: what a file says, what the
    /// clock says, what came of a chore.
    pub is_aside: bool,
}

impl Traits {
    fn of_all(commands: &[Command]) -> Self {
        let has = |is: fn(Self) -> bool| commands.iter().any(|it| is(it.traits()));
        Self {
            waits_for_chores: has(|it| it.waits_for_chores),
            // The last one says how far the run goes.
            leaves_chores: commands.last().is_some_and(|it| it.traits().leaves_chores),
            speaks_of_place: has(|it| it.speaks_of_place),
            is_aside: false,
        }
    }
}
