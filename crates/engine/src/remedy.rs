//! What helps after a refusal: the kind of next action, with its data. Each dialect and the command
//! line word it by their own calls; the words here name none.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt;

use definition::StepName;

use crate::{Refusal, Status};

/// What kind of next action helps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remedy {
    /// Find out which runs there are.
    FindRun,
    /// Name the run by its id.
    NameRun {
        run: String,
    },
    /// Give one of these values.
    Pick {
        what: Pick,
        among: Vec<String>,
    },
    StartAnother,
    /// Reopen the run, which failed or was cancelled.
    Reopen,
    /// Continue with the run where it is.
    Continue,
    /// Work on this step.
    Work {
        step: String,
    },
    Begin {
        step: StepName,
    },
    Finish {
        steps: Vec<StepName>,
    },
    /// Go to this step, and have a person answer its gate.
    PassGate {
        step: StepName,
    },
    /// Do what comes before this step; a person is asked there.
    WorkTowards {
        step: StepName,
    },
    /// Leave out what would begin the run behind this step.
    BeginBefore {
        step: StepName,
    },
    /// Have the person answer the open gate. The agent may pass the answer on if it is relayed.
    AskPerson {
        is_relayed: bool,
    },
    /// Look at what the gate shows now, then answer.
    AnswerAgain,
    /// Give another answer than the one that sends the work back.
    AnswerOtherwise,
    /// Make this condition false.
    Clear {
        condition: String,
    },
    /// Read the status of the run.
    Look,
    LookAtHistory,
    /// Someone else works on it.
    Wait {
        holder: String,
    },
    Claim,
    WriteFile {
        path: String,
    },
    FixFile {
        path: String,
    },
    /// Restore the files, or say that the run continues with them as they are.
    AcceptFiles,
    /// Change the run by a call, not by its file.
    UseCalls,
    GiveEvidence,
    /// Say the verdict; where it is read from a file, write it there.
    GiveVerdict {
        words: Vec<String>,
        is_read: bool,
    },
    PlanParts,
    FixParts,
    /// Give the answer that has the work done again.
    SendBack {
        answer: String,
    },
    FinishItems,
    /// Fix what went wrong, then retry.
    FixCause,
    /// Fix a value, then retry.
    FixValue,
    FixContext,
    FixWorkflow {
        name: Option<String>,
    },
    GiveKey {
        pattern: String,
    },
    /// Use the run that has the key, or another key.
    ShareKey {
        run: String,
    },
    NewRequestId,
    /// Give less, or write it to a file.
    Shorten,
    /// Nest it less, or write it to a file.
    Flatten,
    /// A person must allow what the project runs.
    Trust,
    /// Work on the run from its own folder.
    WorkThere {
        root: String,
    },
    Upgrade,
    Nothing,
}

/// What one of several values is given for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pick {
    Run,
    Workflow,
    Flow,
    Step,
    Next,
    Part,
    Move,
    Item,
    Answer,
    Variable,
}

impl Refusal {
    /// Returns what helps.
    pub fn remedy(&self) -> Remedy {
        match self {
            Self::RunUnknown(_) => Remedy::FindRun,
            Self::RunElsewhere { run, .. } => Remedy::NameRun { run: run.clone() },
            Self::RunExists(_) | Self::RunEnded { status: Status::Completed } => {
                Remedy::StartAnother
            }
            Self::RunEnded { .. } => Remedy::Reopen,
            Self::RunNotEnded { .. } => Remedy::Continue,
            Self::WorkflowInvalid { name, .. } | Self::WorkflowIncomplete { name, .. } => {
                Remedy::FixWorkflow { name: Some(name.clone()) }
            }
            Self::GateBypassed { .. } | Self::PartSetUnknown { .. } => {
                Remedy::FixWorkflow { name: None }
            }
            Self::DefinitionUnreadable(_) => Remedy::Upgrade,
            Self::StepNotCurrent { current: step, .. } => Remedy::Work { step: step.clone() },
            Self::StepNotFailed { step, .. }
            | Self::FailedForward { from: step, .. }
            | Self::GateMissing { step } => Remedy::Work { step: step.to_string() },
            Self::StepNotBegun { step } => Remedy::Begin { step: step.clone() },
            Self::StepOutOfOrder { before, .. } => {
                Remedy::Finish { steps: [before.clone()].into() }
            }
            Self::StepsOpen { open } => Remedy::Finish { steps: open.clone() },
            Self::StepPassed { .. } | Self::NothingDue => Remedy::Nothing,
            Self::GateNotAsked { step, .. } => Remedy::PassGate { step: step.clone() },
            Self::RulesInvalid { path, .. }
            | Self::ArtifactInvalid { path, .. }
            | Self::FileUnreadable { path, .. } => Remedy::FixFile { path: path.clone() },
            Self::NeedMissing { path, .. } | Self::ArtifactMissing { path, .. } => {
                Remedy::WriteFile { path: path.clone() }
            }
            Self::RunMoved { .. }
            | Self::LeaseStale { .. }
            | Self::ChoreNotDue { .. }
            | Self::GateNotOpen => Remedy::Look,
            Self::StepHeld { holder, .. } => Remedy::Wait { holder: holder.clone() },
            Self::LeaseUnknown(_) => Remedy::Claim,
            Self::EvidenceMissing { .. } | Self::EvidenceEmpty { .. } => Remedy::GiveEvidence,
            Self::ItemsFull { .. } => Remedy::FinishItems,
            Self::CheckFailed { .. } | Self::ChoreDue { .. } => Remedy::FixCause,
            Self::CheckNotAllowed { .. } => Remedy::Trust,
            Self::VerdictUnknown { words, is_read, .. } => {
                Remedy::GiveVerdict { words: words.clone(), is_read: *is_read }
            }
            Self::PartsUnknown { .. } => Remedy::PlanParts,
            Self::PartsInvalid { back: Some(answer), .. } => {
                Remedy::SendBack { answer: answer.clone() }
            }
            Self::PartsInvalid { back: None, .. } => Remedy::FixParts,
            Self::GateOpen { is_relayed, .. } => Remedy::AskPerson { is_relayed: *is_relayed },
            Self::EditRefused { .. } => Remedy::UseCalls,
            Self::GateNeedsPerson { step, is_asked, is_begun }
            | Self::PartNeedsPerson { step, is_asked, is_begun, .. } => {
                let step = step.clone();
                match (is_begun, is_asked) {
                    (false, _) => Remedy::BeginBefore { step },
                    (true, false) => Remedy::WorkTowards { step },
                    (true, true) => Remedy::AskPerson { is_relayed: false },
                }
            }
            Self::GateHeld { condition, .. } => Remedy::Clear { condition: condition.clone() },
            Self::GateStale { .. } => Remedy::AnswerAgain,
            Self::RoundsSpent { .. } => Remedy::AnswerOtherwise,
            Self::ArtifactsDrifted { .. } => Remedy::AcceptFiles,
            Self::KeyInvalid { pattern, .. } | Self::KeyMissing { pattern, .. } => {
                Remedy::GiveKey { pattern: pattern.clone() }
            }
            Self::KeyTaken { run, .. } => Remedy::ShareKey { run: run.clone() },
            Self::ContextInvalid { .. }
            | Self::VarInvalid { .. }
            | Self::Empty { .. }
            | Self::ParameterInvalid { .. } => Remedy::FixValue,
            Self::ConditionFailed { .. } => Remedy::FixContext,
            Self::TooLarge { .. } => Remedy::Shorten,
            Self::TooDeep { .. } => Remedy::Flatten,
            Self::RequestConflict(_) => Remedy::NewRequestId,
            Self::SeqUnknown { .. } => Remedy::LookAtHistory,
            Self::WorkspaceNotHere { root } => Remedy::WorkThere { root: root.clone() },
            Self::RunAmbiguous { runs, .. } => pick(Pick::Run, runs),
            Self::WorkflowUnknown { known, .. } => pick(Pick::Workflow, known),
            Self::FlowUnknown { known, .. } => pick(Pick::Flow, known),
            Self::StepUnknown { known: steps, .. }
            | Self::StepNotEntered { entered: steps, .. } => pick(Pick::Step, steps),
            Self::NextNotAllowed { allowed: steps, .. }
            | Self::ChoiceOpen { choices: steps, .. } => pick(Pick::Next, steps),
            Self::PartNotNamed { open: parts, .. }
            | Self::PartUnknown { known: parts, .. }
            | Self::PartNotReady { ready: parts, .. } => pick(Pick::Part, parts),
            Self::MoveUnknown { known: moves, .. } | Self::MoveNotAllowed { legal: moves, .. } => {
                pick(Pick::Move, moves)
            }
            Self::ItemUnknown { open, .. } => pick(Pick::Item, open),
            Self::AnswerUnknown { options, .. } => pick(Pick::Answer, options),
            Self::VarUnknown { known, .. } => pick(Pick::Variable, known),
        }
    }
}

fn pick<T: ToString>(what: Pick, among: &[T]) -> Remedy {
    Remedy::Pick { what, among: among.iter().map(ToString::to_string).collect() }
}

impl fmt::Display for Remedy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = match self {
            Self::NameRun { run } => {
                return write!(out, "to use that run, name it by its id: `{run}`");
            }
            Self::Pick { what, among } => return what.write(out, among),
            Self::Work { step } => return write!(out, "continue with step `{step}`"),
            Self::Begin { step } => return write!(out, "start step `{step}` first"),
            Self::Finish { steps } => return write!(out, "finish first: {}", quoted(steps)),
            Self::PassGate { step } => {
                return write!(out, "go to step `{step}` first, and have a person answer its gate");
            }
            Self::WorkTowards { step } => {
                return write!(
                    out,
                    "do the work that leads to step `{step}`, as the status says; the person is \
                     asked there"
                );
            }
            Self::BeginBefore { step } => {
                return write!(
                    out,
                    "start the run without what leads past step `{step}`; the person is asked there"
                );
            }
            Self::Clear { condition } => {
                return write!(out, "make `{condition}` false, then have the person answer");
            }
            Self::Wait { holder } => {
                return write!(
                    out,
                    "if you are `{holder}`, say so; otherwise work on something else, or claim the \
                     step when the lease ends"
                );
            }
            Self::WriteFile { path } => return write!(out, "write `{path}`, then retry"),
            Self::FixFile { path } => return write!(out, "fix `{path}`, then retry"),
            Self::GiveVerdict { words, is_read: true } => {
                let words = words.join(", ");
                return write!(out, "write a line `## Verdict: WORD` with one of: {words}");
            }
            Self::GiveVerdict { words, is_read: false } => {
                return write!(out, "give the verdict, one of: {}", words.join(", "));
            }
            Self::SendBack { answer } => {
                return write!(out, "answer `{answer}`, so that the list is made again");
            }
            Self::GiveKey { pattern } => return write!(out, "give a key that matches `{pattern}`"),
            Self::ShareKey { run } => {
                return write!(
                    out,
                    "continue with run `{run}`, give another key, or cancel that run"
                );
            }
            Self::FixWorkflow { name: Some(name) } => {
                return write!(out, "fix the definition of workflow `{name}`");
            }
            Self::WorkThere { root } => {
                return write!(
                    out,
                    "use a server that was started in `{root}`; if the project was moved or copied \
                     here, cancel the run and start it again"
                );
            }
            Self::FindRun => "name a run of this project",
            Self::StartAnother => "start another run",
            Self::Reopen => "reopen the run, or start another",
            Self::Continue => "continue with the run: there is nothing to reopen",
            Self::AskPerson { is_relayed: true } => "ask the person, and pass their answer on",
            Self::AskPerson { is_relayed: false } => {
                "tell the person to answer it themselves, and retry when they have"
            }
            Self::AnswerAgain => "look at it again, then answer with the new digest",
            Self::AnswerOtherwise => "give another of the answers",
            Self::Look => "read the status of the run",
            Self::LookAtHistory => "read the history of the run",
            Self::Claim => "claim the step first",
            Self::AcceptFiles => {
                "restore the files, or say that you continue with them as they are"
            }
            Self::UseCalls => "change the run by a call, not by editing its file",
            Self::GiveEvidence => "say for each criterion, by its key, what shows that it is met",
            Self::PlanParts => "say what the parts are first",
            Self::FixParts => "fix the list of parts, then retry",
            Self::FinishItems => "finish some of them, or begin another list",
            Self::FixCause => "fix the cause, then retry",
            Self::FixValue => "fix the value, then retry",
            Self::FixContext => "add what is missing to the context, then retry",
            Self::FixWorkflow { name: None } => "fix the definition of the workflow",
            Self::NewRequestId => "use a new id for a new request",
            Self::Shorten => "shorten it, or write it to a file and report the path",
            Self::Flatten => "flatten it, or write it to a file and report the path",
            Self::Trust => "a person must allow what this project runs; do not allow it yourself",
            Self::Upgrade => "use the version of milepost that wrote the run, or a newer one",
            Self::Nothing => "there is nothing to do",
        };
        out.write_str(plain)
    }
}

impl Pick {
    fn write(self, out: &mut fmt::Formatter<'_>, among: &[String]) -> fmt::Result {
        if among.is_empty() {
            return out.write_str("there are none");
        }
        let lead = match self {
            Self::Run => "write more of the id",
            Self::Next => "choose one of",
            Self::Answer => "answer one of",
            Self::Move => "allowed now",
            Self::Item => "open items",
            Self::Workflow | Self::Flow | Self::Step | Self::Part | Self::Variable => "name one of",
        };
        write!(out, "{lead}: {}", quoted(among))
    }
}

fn quoted<T: fmt::Display>(names: &[T]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}
