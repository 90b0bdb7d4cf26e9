//! Everything that can be asked of a run. Commands are imperative, and may be refused.

use alloc::{boxed::Box, string::String, vec::Vec};
use core::time::Duration;

use definition::{Digest, PartId};
use serde_json::{Map, Value};

use crate::{Entry, How, Report};

/// A request to change a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    StartRun(Box<StartRun>),
    /// Take a step up: an attempt begins.
    StartStep {
        step: String,
        part: Option<PartId>,
    },
    /// Say how a step went.
    ReportStep(Box<ReportStep>),
    /// Come back to a run with a belief about where it is and what was done.
    ResumeRun(Box<ResumeRun>),
    /// Name the step that comes next, where the agent decides.
    ChooseStep {
        next: String,
    },
    /// Answer the gate that the run waits at.
    AnswerGate(Box<AnswerGate>),
    /// Hold a step, so that nobody else works on it.
    ClaimStep(ClaimStep),
    /// Let a held step go.
    ReleaseStep {
        generation: u64,
    },
    RecordEntry {
        step: Option<String>,
        entry: Entry,
    },
    ChangeContext(ContextChange),
    SetVars {
        set: Map<String, Value>,
    },
    CancelRun {
        reason: String,
    },
    FailRun {
        reason: String,
    },
    /// Go on with a failed or cancelled run.
    ReopenRun {
        reason: String,
        force: bool,
    },
    /// The time of the current attempt is over. Sent by the server itself.
    ExpireStep,
    /// Finish what the log of a copy was cut off in. Sent by the server itself.
    SettleRun,
}

/// How a run begins.
#[derive(Debug, Clone, PartialEq)]
pub struct StartRun {
    pub key: Option<String>,
    pub flow: Option<String>,
    pub context: Map<String, Value>,
    pub vars: Map<String, Value>,
    pub root: String,
}

/// What an agent says of a step.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportStep {
    pub part: Option<PartId>,
    /// Names the step it is about.
    pub report: Report,
    pub context: ContextChange,
    /// The step to go to, where the agent decides.
    pub next: Option<String>,
    pub holder: Option<Holder>,
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
    /// What was shown to whoever answers. `None`: what was shown when the gate opened.
    pub digest: Option<Digest>,
}

/// Which of a gate's options is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The one that lets the run go on.
    Approve,
    /// The one that sends the work back.
    Reject,
    Named(String),
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
    /// Returns a stable name for logs, tables and fingerprints.
    pub fn name(&self) -> &'static str {
        match self {
            Self::StartRun(_) => "start_run",
            Self::StartStep { .. } => "start_step",
            Self::ReportStep(_) => "report_step",
            Self::ResumeRun(_) => "resume_run",
            Self::ChooseStep { .. } => "choose_step",
            Self::AnswerGate(_) => "answer_gate",
            Self::ClaimStep(_) => "claim_step",
            Self::ReleaseStep { .. } => "release_step",
            Self::RecordEntry { .. } => "record_entry",
            Self::ChangeContext(_) => "change_context",
            Self::SetVars { .. } => "set_vars",
            Self::CancelRun { .. } => "cancel_run",
            Self::FailRun { .. } => "fail_run",
            Self::ReopenRun { .. } => "reopen_run",
            Self::ExpireStep => "expire_step",
            Self::SettleRun => "settle_run",
        }
    }
}

/// What a report's free `status` word means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Success,
    Failure,
    /// Neither: the step goes on, unless the definition says otherwise.
    Open,
}

impl Report {
    /// Returns what the status means. The words are those that agents use.
    pub fn outcome(&self) -> Outcome {
        match self.status.trim().to_lowercase().as_str() {
            "success" | "succeeded" | "successful" | "completed" | "complete" | "done" | "ok"
            | "passed" | "finished" => Outcome::Success,
            "failure" | "failed" | "fail" | "error" => Outcome::Failure,
            _ => Outcome::Open,
        }
    }

    /// Returns why the step failed, in the agent's own words.
    pub fn reason(&self) -> String {
        let words = [self.error.as_deref(), self.message.as_deref(), self.result.as_str()];
        let found = words.into_iter().flatten().find(|it| !it.trim().is_empty());
        String::from(found.unwrap_or("the agent reported a failure without a reason"))
    }
}
