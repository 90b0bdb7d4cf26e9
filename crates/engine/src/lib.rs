//! What may happen next. Pure: no clock, no file, no network, no chance.
//!
//! ```text
//! command ─┐                       ┌─► events ──evolve──► state ──next──► action
//! state ───┼─► decide(workflow) ───┤
//! known ───┘                       ├─► questions: look, and decide again
//!                                  └─► refusal: a code, a message, a way out
//! ```
//!
//! What must be known of the world is asked for ([`Question`]) and handed in ([`Known`]); what
//! mattered is in the events, so that folding a log ([`fold`]) never looks again.
#![no_std]

extern crate alloc;

mod cause;
mod chore;
mod command;
mod decide;
mod describe;
mod drift;
mod event;
mod evolve;
mod file_claim;
mod folder;
mod fork;
mod guard;
mod history;
mod id;
mod index_text;
mod invariant;
mod journal;
mod known;
mod legacy;
mod listing;
mod next;
mod offers;
mod probe;
mod promised_file;
mod refusal;
mod remedy;
mod shared;
mod state;
mod status;
mod summary;
mod time;
mod view;
mod worked;

pub use cause::{CompletedBy, FailCause, ReopenCause, SkipCause};
pub use chore::{Chore, ChoreOutcome, GitDeed, Pushed, RunBranch, find_chore, find_unseen_branch};
pub use command::{
    Advance, Answer, AnswerGate, AtEnd, ClaimStep, Command, Consent, ContextChange, Done,
    GatePolicy, Holder, MakeMove, Note, Onward, ReportChore, ReportOptions, ReportStep, ResumeRun,
    Rigor, StartRun, StartStep, Traits,
};
pub use decide::{
    Decided, awaits_revision, decide, find_due, lease_until, resolve_decider, target_name,
};
pub use drift::{Shown, find_drift, find_shown};
pub use event::{
    Actor, Artifact, CheckRun, Choice, DecodeError, EVENT_VERSION, Entry, Event, GateReason, Git,
    How, Item, Lease, ModelAsked, ModelFailure, ModelFailureKind, OpenGate, Outcome, PartPlaced,
    Recorded, Report, Ruling, RunStarted, SkipReason, StepCompleted, Surface, Usage,
};
pub use evolve::{evolve, fold};
pub use file_claim::{ClaimedPart, ClaimedProgress, ClaimedStatus, FileClaim};
pub use folder::{Kept, LINT_IGNORE, LINT_IGNORE_TEXT, Stat, Subfolder, Walked, Wanted};
pub use fork::{ForkPoint, fork};
pub use history::{
    Archived, Asked, Attempt, AttemptEnd, AttemptOutcome, Begun, Closed, Closing, Closings, Counts,
    Dispatch, Ended, Ending, Failure, History, Kind, Mark, Passed, PassedBy, Passing, Placed,
    PlannedPart, Reopening, Return, SentBack, Touched, Visit, Visited,
};
pub use id::RunId;
pub use index_text::index_text;
pub use invariant::{Found, Violation, audit, find_personal};
pub use journal::{Journal, JournalRotated, journal_line};
pub use known::{
    Bounds, CheckFact, Fact, FileFact, Known, ModelFact, Policy, Question, Standpoint, Stop,
};
pub use listing::{
    Card, Cursor, GRAPH_BYTES_MAX, Graphs, Hit, Hits, Invalid, KeyFilter, Listed, Listing, Order,
    Page, Row, RunFilter, Taken, Unreadable, Unseen,
};
pub use next::{
    Action, comes_again, find_agent, find_needed, find_promised, find_required, find_starter, next,
};
pub use offers::{Needs, Offer, Offers, What, offers};
pub use probe::{Probe, probe, probe_approval, probe_in_turn};
pub use promised_file::{
    Appended, Basis, Edits, EventLog, Layout, Projection, Reading, Rebased, SideFile,
    SideFileChange, SideFileWrite,
};
pub use refusal::Refusal;
pub use remedy::{Pick, Remedy};
pub use shared::Shared;
pub use state::{
    Answered, AttemptStatus, Effort, Handed, Judged, Noted, Passage, PendingRules, Progress,
    RunState, Seen, Spending, Standing, StepState, Told,
};
pub use status::Status;
pub use summary::{Summary, last_step, summary};
pub use time::Timestamp;
pub use view::{RunFile, View};
pub use worked::{find_said, find_worked};
